# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The portable program from the tarball: what it needs from a system, and that it works in roots that have only that."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from deploytest import REPO, DeployTest, run
from marks import slow
from packages import DEB, RPM, TGZ, VERSION, packages
from roots import SUITES, VERBS, root_of

# RHEL 9 and its rebuilds; the others that are meant have a newer one (docs/INSTALL.md).
OLDEST_GLIBC = (2, 34)
# On every system. libm is a part of glibc.
SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
CAPTURE = "usr/share/rdma-exporter/captures/connectx-incident.tar.gz"


def unpacked():
    """The folder of the tarball."""
    folder = pathlib.Path(os.environ["DEPLOY_TEST_FOLDER"], "unpacked")
    if not folder.exists():
        new = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
        run("tar", "-x", "-f", packages() / TGZ, "-C", new)
        with contextlib.suppress(OSError):  # another process was quicker
            new.rename(folder)
    return next(folder.iterdir())


def shared_libraries(program):
    return set(re.findall(r"\(NEEDED\).*\[(\S+)\]", run("readelf", "-d", program).stdout))


def symbol_versions(program):
    return set(re.findall(r"@+([\w.]+)", run("readelf", "-W", "--dyn-syms", program).stdout))


def newest_glibc(program):
    return max(tuple(map(int, name.removeprefix("GLIBC_").split("."))) for name in symbol_versions(program)
               if name.startswith("GLIBC_"))


@slow(20)
class Needs(DeployTest):
    @classmethod
    def setUpClass(cls):
        cls.program = unpacked() / "usr/bin/rdma_exporter"

    def test_nothing_but_what_every_system_has(self):
        needed = shared_libraries(self.program)
        self.assertIn("libc.so.6", needed)
        self.assertLessEqual(needed, SYSTEM)

    def test_no_symbol_that_is_newer_than_the_oldest_glibc(self):
        self.assertEqual({name for name in symbol_versions(self.program) if not name.startswith(("GLIBC_", "GCC_"))}, set())
        self.assertLessEqual(newest_glibc(self.program), OLDEST_GLIBC)

    def test_it_offers_no_symbol_to_what_it_loads(self):
        """libibverbs loads libnl; an own libnl that shows would be mixed with that."""
        offered = run("nm", "-D", "--defined-only", self.program).stdout.split()[2::3]
        self.assertEqual([name for name in offered if re.match(r"nl_|nla_|ibv_|SSL_|EVP_|inflate|arc4random|_Z", name)], [])

    def test_the_rpm_asks_for_no_more(self):
        needs = run("rpm", "-q", "-p", "--requires", packages() / RPM).stdout.split("\n")
        libraries = {line.partition("(")[0] for line in needs if ".so" in line}
        self.assertLessEqual(libraries, SYSTEM)

    def test_the_debian_package_stays_dynamic(self):
        self.assertIn("libssl3", run("dpkg-deb", "-f", packages() / DEB, "Depends").stdout)

    def test_licences_of_what_is_inside_are_in_it(self):
        text = (unpacked() / "usr/share/doc/rdma-exporter/NOTICE").read_text(encoding="utf-8")
        for package in ("libssl-dev", "libnl-3-dev", "libcrypt-dev", "libyaml-cpp-dev", "libstdc++-12-dev", "zlib1g-dev",
                        "libdeflate-dev", "libfmt-dev", "libspdlog-dev"):
            self.assertRegex(text, rf"(?m)^{re.escape(package)} \S+ \(source ")


class Materials(DeployTest):
    """Bills of materials: CycloneDX 1.5's required fields (bom-1.5.schema.json) and what is known to be inside."""

    def materials(self, preset):
        document = json.loads((packages() / f"rdma_exporter.{preset}.cdx.json").read_text(encoding="utf-8"))
        self.assertEqual((document["bomFormat"], document["specVersion"], document["version"]), ("CycloneDX", "1.5", 1))
        self.assertRegex(document["serialNumber"], r"^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
        self.assertRegex(document["metadata"]["timestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(document["metadata"]["component"]["version"], VERSION)
        refs = [component["bom-ref"] for component in document["components"]]
        self.assertEqual(len(refs), len(set(refs)))
        self.assertEqual([document["dependencies"][0]["dependsOn"]], [sorted(refs)])
        for component in document["components"]:
            self.assertTrue(component["name"] and component["type"] == "library")
            self.assertRegex(component["purl"], r"^pkg:deb/debian/[a-z0-9%.B-]+@[^?]+\?arch=\w+&distro=debian-12$")
        return {(component["name"], component["properties"][1]["value"]) for component in document["components"]}

    def test_of_the_portable_program(self):
        found = self.materials("portable")
        inside = {name for name, use in found if use == "inside"}
        self.assertLessEqual({"libssl-dev", "libnl-3-dev", "libcrypt-dev", "libyaml-cpp-dev", "libre2-dev", "zlib1g-dev",
                              "libfmt-dev", "libspdlog-dev", "libcli11-dev", "nlohmann-json3-dev", "libboost1.74-dev",
                              "libdeflate-dev", "libprotozero-dev", "libexpected-dev", "libstdc++-12-dev"},
                             inside)
        self.assertEqual({name for name in inside if re.match("libg(test|mock)|libbenchmark|libarchive|libxml2|libc6", name)},
                         set())
        self.assertEqual({name for name, use in found if use == "needed"}, {"libc6", "libgcc-s1"})

    def test_of_the_debian_package(self):
        needed = {name for name, use in self.materials("release") if use == "needed"}
        self.assertLessEqual({"libssl3", "libfmt9", "libibverbs1", "libstdc++6"}, needed)


@slow(20)
@unittest.skipIf(os.geteuid() != 0, "chroot needs root")
class Serves(DeployTest):
    """A recording, in a Debian of which there is nothing but the C library; and beside rdma-core."""

    def root(self, suite, *more):
        self.need("mmdebstrap", "unshare")
        root = self.folder()
        run("tar", "-x", "-f", root_of(suite, *more), "-C", root)
        shutil.copytree(unpacked() / "usr", root / "usr", dirs_exist_ok=True)
        return root

    @contextlib.contextmanager
    def started(self, root, *arguments):
        inside = 'mount --rbind /proc "$0/proc" && mount --rbind /sys "$0/sys" && exec chroot "$0" "$@"'
        for name in ("proc", "sys"):
            (root / name).mkdir(exist_ok=True)
        process = subprocess.Popen(["unshare", "--mount", "bash", "-c", inside, root, "/usr/bin/rdma_exporter",
                                    "--web.listen-address=127.0.0.1:0", *arguments], stderr=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            process.stderr.close()

    def page(self, process):
        log = ""
        for line in process.stderr:
            log += line
            if found := re.search(r"msg=listening address=127\.0\.0\.1:(\d+)", line):
                connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
                self.addCleanup(connection.close)
                connection.request("GET", "/metrics")
                return connection.getresponse().read().decode()
        return self.fail(f"it ended: {log}")

    def maps(self, process):
        return pathlib.Path(f"/proc/{process.pid}/maps").read_text(encoding="ascii")

    def served(self, root):
        with self.started(root, f"--replay=/{CAPTURE}") as process:
            return self.page(process)

    def test_where_there_is_only_libc(self):
        for suite in SUITES:
            with self.subTest(suite):
                root = self.root(suite)
                self.assertFalse(list(root.rglob("libibverbs*")) + list(root.rglob("libssl*")) + list(root.rglob("libstdc++*")))
                page = self.served(root)
                self.assertIn('rdma_port_up{device="mlx5_0",port="1"} 1\n', page)
                self.assertIn("rdma_devices 4\n", page)

    def live(self, root):
        """A daemon on a tree without devices behind it, with the kernel's netlink and verbs: shows the calls to libibverbs."""
        run(REPO / "tests/tools/fake_tree.py", root / "tree", "--devices", "1")
        with self.started(root, "--path.sysfs=/tree/sys", "--netlink=on", "--log.level=debug") as process:
            return self.page(process), self.maps(process)

    def test_libibverbs_is_loaded_where_it_is(self):
        for suite in SUITES:
            with self.subTest(suite):
                page, maps = self.live(self.root(suite, *VERBS))
                self.assertIn("rdma_devices 1\n", page)
                self.assertIn("/libibverbs.so.1", maps)

    def test_without_it_only_what_it_tells_is_missing(self):
        page, maps = self.live(self.root("bookworm"))
        self.assertNotIn("libibverbs", maps)
        self.assertIn('rdma_port_up{', page)
        self.assertIn('rdma_exporter_collector_success{collector="port"} 1\n', page)
