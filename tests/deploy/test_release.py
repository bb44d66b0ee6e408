# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""scripts/release in a small repository whose packages and tests are stand-ins: what it refuses, what it leaves. That the
real packages are the same bytes twice is test_packages'."""

import hashlib
import os
import shutil

from deploytest import REPO, DeployTest, run

VERSION = "1.2.3"
FILES = {"CMakeLists.txt": f"project(rdma_exporter VERSION {VERSION} LANGUAGES C CXX)\n",
         "CHANGELOG.md": f"# Changelog\n\n## {VERSION}\n",
         ".gitignore": "/build/\n",
         "scripts/test": '#!/bin/sh\n[ "$1" = long ] && git ls-files --error-unmatch CMakeLists.txt\n',
         "scripts/package": '#!/bin/sh\nmkdir -p build/packages\n'
                            'echo "$REVISION $SOURCE_DATE_EPOCH" >"build/packages/${DEB_HOST_ARCH:-amd64}.package"\n',
         "scripts/arm64": '#!/bin/sh\nDEB_HOST_ARCH=arm64 exec "$@"\n',
         "scripts/image": "#!/bin/sh\ncat build/packages/*.package >build/packages/image\n"}


class Release(DeployTest):
    def setUp(self):
        self.need("git", "gpg")
        self.top = self.folder() / "checkout"
        for name, text in FILES.items():
            path = self.top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="ascii")
            path.chmod(0o755)
        shutil.copy(REPO / "scripts/release", self.top / "scripts")
        self.git("init", "-q")
        self.commit()

    def git(self, *arguments):
        return run("git", "-c", "user.name=x", "-c", "user.email=x@localhost", *arguments, cwd=self.top).stdout.strip()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")

    def change(self, name, text):
        (self.top / name).write_text(text, encoding="ascii")
        self.commit()

    def release(self, *arguments, check=False, **more):
        return run("scripts/release", *arguments, cwd=self.top, check=check, env={**os.environ, **more})

    def refused(self, message, *arguments):
        done = self.release(*(arguments or (VERSION,)))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(message, done.stderr)
        self.assertFalse(list(self.top.glob("build/release-*")))

    def test_what_is_in_the_folder(self):
        self.release(VERSION, check=True)
        out = self.top / f"build/release-{VERSION}"
        package = f"{self.git('rev-parse', '--short', 'HEAD')} {self.git('log', '-1', '--format=%ct')}\n"
        files = {"amd64.package": package, "arm64.package": package, "image": 2 * package}
        sums = "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in files.items())
        self.assertEqual({path.name: path.read_text(encoding="ascii") for path in out.iterdir()},
                         {**files, "sha256sums.txt": sums})
        self.assertIn("is there already", self.release(VERSION).stderr)

    def test_the_signature_is_of_the_key(self):
        home = self.folder()
        home.chmod(0o700)
        self.addCleanup(run, "gpgconf", f"--homedir={home}", "--kill", "all", check=False)
        run("gpg", f"--homedir={home}", "--batch", "--passphrase", "", "--quick-gen-key", "releases@localhost", "ed25519", "sign")
        self.release(VERSION, "--key=releases@localhost", check=True, GNUPGHOME=str(home))
        out = self.top / f"build/release-{VERSION}"
        run("gpg", f"--homedir={home}", "--verify", out / "sha256sums.txt.asc", out / "sha256sums.txt")

    def test_another_version_than_the_sources(self):
        self.refused("CMakeLists.txt has another version than 1.2.4", "1.2.4")

    def test_a_version_without_a_section_in_the_changelog(self):
        self.change("CHANGELOG.md", "# Changelog\n\n## Unreleased\n")
        self.refused("CHANGELOG.md has no section")

    def test_changes_that_are_not_committed(self):
        (self.top / "CHANGELOG.md").write_text(FILES["CHANGELOG.md"] + "More.\n", encoding="ascii")
        self.refused("changes that are not committed")

    def test_a_key_that_is_not_there(self):
        self.refused("no secret key", VERSION, "--key=nobody@localhost")

    def test_tests_that_fail(self):
        self.change("scripts/test", "#!/bin/sh\nexit 1\n")
        self.refused("tests fail")

    def test_packages_that_know_where_they_were_made(self):
        self.change("scripts/package", "#!/bin/sh\nmkdir -p build/packages && pwd >build/packages/one.package\n")
        self.refused("the second build gives other bytes")
