# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The packages: the same bytes from two folders; what lintian says; installing, upgrading and removing in a clean root."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from deploytest import REPO, DeployTest, run
from marks import slow
from packages import DEB, RPM, TGZ, VERSION, debian, moment, packages, revision

CONFIG = "etc/rdma_exporter/rdma_exporter.yml"
FLAGS = "etc/default/rdma_exporter"
ENABLED = "etc/systemd/system/multi-user.target.wants/rdma_exporter.service"
DOCUMENTS = "usr/share/doc/rdma-exporter"
FOLDERS = {"docs": DOCUMENTS, "alerts": f"{DOCUMENTS}/examples", "dashboards": f"{DOCUMENTS}/examples",
           "tests/captures": "usr/share/rdma-exporter"}  # where the whole of a folder of the sources is installed
CAPTURE = "usr/share/rdma-exporter/captures/connectx-incident.tar.gz"


def what_the_build_of_the_image_sees(folder):
    """A copy of the sources, without git."""
    lines = (REPO / ".dockerignore").read_text(encoding="utf-8").splitlines()
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--",
                            *[line[1:] for line in lines if line.startswith("!")]], cwd=REPO,
                           stdout=subprocess.PIPE, check=True).stdout
    copy = folder / "another-folder"
    copy.mkdir()
    subprocess.run(f"tar -c --null --files-from=- --ignore-failed-read | tar -x -C '{copy}'", shell=True, cwd=REPO,
                   input=names, stderr=subprocess.DEVNULL, check=True)
    return copy


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@slow(40)
class Again(DeployTest):
    """The longest test: it starts first."""

    def test_two_folders_give_the_same_bytes(self):
        # ccache may hand over what the first build compiled; that a compiler puts no path into the program is the next
        # test's matter.
        folder = self.folder()
        copy = what_the_build_of_the_image_sees(folder)
        run("scripts/package", folder / "out", cwd=copy, env={**moment(), "WITHOUT_TESTS": "1"})
        for name in (DEB, RPM, TGZ, "rdma_exporter.release.cdx.json", "rdma_exporter.portable.cdx.json"):
            self.assertEqual(digest(packages() / name), digest(folder / "out" / name), name)


@slow(20)
class Files(DeployTest):
    def test_the_program_does_not_know_where_it_was_built(self):
        run("tar", "-x", "-f", packages() / TGZ, cwd=(folder := self.folder()))
        program = next(folder.glob("*/usr/bin/rdma_exporter"))
        self.assertNotIn(str(REPO).encode(), program.read_bytes())
        self.assertEqual(run(program, "--version").stdout.splitlines()[0], f"rdma_exporter {VERSION} (revision {revision()})")

    def test_all_three_have_the_same_files(self):
        def relative(names):
            return {name.lstrip("./") for name in names if not name.endswith("/")}

        deb = relative(line.split()[5] for line in run("dpkg-deb", "-c", packages() / DEB).stdout.splitlines())
        tgz = relative(line.split("/", 1)[1] for line in run("tar", "-t", "-f", packages() / TGZ).stdout.splitlines())
        rpm = run("rpm", "-q", "-p", "--qf", "[%{FILEMODES:perms} %{FILENAMES}\n]", packages() / RPM).stdout
        rpm = {line.split()[1].lstrip("/") for line in rpm.splitlines() if not line.startswith("d")}
        self.assertIn("usr/bin/rdma_exporter", deb)
        licences = {f"{DOCUMENTS}/NOTICE"}  # of what is linked statically
        self.assertEqual(deb | licences, tgz)
        self.assertEqual(deb | licences, rpm)

    def test_documents_alerts_dashboards_and_captures_are_in_them(self):
        files = {line.split()[5].removeprefix("./") for line in run("dpkg-deb", "-c", packages() / DEB).stdout.splitlines()}
        for folder, target in FOLDERS.items():
            path = pathlib.PurePath(folder)
            names = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", folder).stdout.split()
            self.assertTrue(names, folder)
            self.assertLessEqual({f"{target}/{pathlib.PurePath(name).relative_to(path.parent)}" for name in names}, files)

    def test_lintian_has_nothing_to_say(self):
        self.need("lintian")
        done = run("lintian", "--allow-root", "--fail-on=error,warning", packages() / DEB, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_the_configuration_of_the_rpm_is_kept(self):
        flags = run("rpm", "-q", "-p", "--qf", "[%{FILENAMES} %{FILEFLAGS:fflags}\n]", packages() / RPM).stdout
        self.assertEqual({line.split()[0] for line in flags.splitlines() if line.endswith(" cn")},
                         {f"/{CONFIG}", f"/{FLAGS}"})


@slow(25)
@unittest.skipIf(os.geteuid() != 0, "chroot needs root")
class Life(DeployTest):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("mmdebstrap"):
            raise unittest.SkipTest("mmdebstrap is not installed")
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="rdma_exporter_root."))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        run("tar", "-x", "-f", debian(), "-C", cls.root)

    def setUp(self):
        self.before = self.files()
        self.put(packages() / DEB)
        self.inside("dpkg", "-i", f"/{DEB}")
        self.addCleanup(self.inside, "dpkg", "-P", "rdma-exporter")

    def put(self, deb):
        shutil.copy(deb, self.root)

    def inside(self, *command):
        return run("chroot", self.root, *command, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
                                                       "DEBIAN_FRONTEND": "noninteractive"})

    def files(self):
        """All but what dpkg and ldconfig remember of having been there."""
        memory = ("var/lib/dpkg", "var/log", "var/cache", "etc/ld.so.cache", "var/lib/systemd/deb-systemd-helper")
        found = {str(path.relative_to(self.root)) for path in self.root.rglob("*")}
        return {path for path in found if not path.startswith(memory) and not path.endswith(".deb")}

    def newer(self):
        """The next version, with another configuration."""
        folder = self.folder()
        run("dpkg-deb", "-R", packages() / DEB, folder / "deb")
        control = folder / "deb/DEBIAN/control"
        control.write_text(control.read_text().replace(f"Version: {VERSION}-1", f"Version: {VERSION}-2"))
        for name in (CONFIG, FLAGS):
            with open(folder / "deb" / name, "a", encoding="utf-8") as file:
                file.write("# of the next version\n")
        run("dpkg-deb", "--root-owner-group", "-Znone", "-b", folder / "deb", folder / "newer.deb")
        self.put(folder / "newer.deb")
        return "/newer.deb"

    def test_it_runs_with_what_it_says_it_needs(self):
        self.assertIn(VERSION, self.inside("rdma_exporter", "--version").stdout)
        self.inside("rdma_exporter", f"--config.file=/{CONFIG}", "--check-config")
        self.assertIn("rdma_devices 0\n", self.inside("rdma_exporter", "--once", "--path.sysfs=/sys").stdout)
        self.assertIn("rdma_devices 4\n", self.inside("rdma_exporter", "--once", f"--replay=/{CAPTURE}").stdout)

    def test_it_is_started_at_boot(self):
        self.assertTrue(os.path.islink(self.root / ENABLED))

    def test_an_upgrade_keeps_what_the_user_has_changed(self):
        changed = self.root / CONFIG
        changed.write_text("log:\n  level: debug\n")
        self.inside("dpkg", "-i", "--force-confdef", "--force-confold", self.newer())
        self.assertEqual(changed.read_text(), "log:\n  level: debug\n")
        self.assertIn("of the next version", (self.root / f"{CONFIG}.dpkg-dist").read_text())
        self.assertIn("of the next version", (self.root / FLAGS).read_text(), "what he has not changed is new")

    def test_an_upgrade_does_not_enable_what_the_user_has_disabled(self):
        os.unlink(self.root / ENABLED)  # systemctl disable
        self.inside("dpkg", "-i", self.newer())
        self.assertFalse(os.path.islink(self.root / ENABLED))

    def test_removing_keeps_the_configuration_and_purging_leaves_nothing(self):
        (self.root / CONFIG).write_text("log:\n  level: debug\n")
        self.inside("dpkg", "-r", "rdma-exporter")
        self.assertFalse((self.root / "usr/bin/rdma_exporter").exists())
        self.assertEqual((self.root / CONFIG).read_text(), "log:\n  level: debug\n")
        self.inside("dpkg", "-P", "rdma-exporter")
        self.assertEqual(self.files() - self.before, set())
