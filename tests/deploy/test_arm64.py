# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The packages for arm64, cross-compiled by scripts/arm64: what they are, what they need of a system, that the program
serves under qemu; and the image for both architectures. Only with TEST_ARM64=1, as `scripts/test arm64` has it."""

import functools
import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import unittest

from deploytest import REPO, DeployTest, locked, run, timed
from marks import slow
from packages import TGZ, VERSION, packages
from test_portable import CAPTURE, OLDEST_GLIBC, SYSTEM, newest_glibc, shared_libraries

MINE = REPO / "build/arm64-test"  # below the checkout, which is all that the root of scripts/arm64 has of this machine
DEB = f"rdma-exporter_{VERSION}-1_arm64.deb"
RPM = f"rdma-exporter-{VERSION}-1.aarch64.rpm"
TARBALL = f"rdma_exporter-{VERSION}.linux-arm64"


def setUpModule():
    if not os.environ.get("TEST_ARM64"):
        raise unittest.SkipTest("TEST_ARM64 is not set")
    if os.geteuid() != 0:
        raise unittest.SkipTest("chroot needs root")


def inside(path):
    return pathlib.Path("/source", path.relative_to(REPO))


@functools.cache
def arm64_packages():
    """The folder that they are in, with the tarball unpacked: one for all processes of tests/deploy/run."""
    marker = pathlib.Path(os.environ["DEPLOY_TEST_FOLDER"], "arm64")
    with locked(marker.with_suffix(".lock")):
        if not marker.exists():
            shutil.rmtree(MINE, ignore_errors=True)
            with timed("packages for arm64"):
                run("scripts/arm64", "scripts/package", inside(MINE))
            run("tar", "-x", "-f", f"{TARBALL}.tar.gz", cwd=MINE)
            marker.touch()
    return MINE


def program():
    return arm64_packages() / TARBALL / "usr/bin/rdma_exporter"


def machine(path):
    return re.search(r"Machine: +(.*)", run("readelf", "-h", path).stdout)[1]


@slow(600)
class Packages(DeployTest):
    def test_each_says_that_it_is_for_arm64(self):
        self.assertEqual(run("dpkg-deb", "-f", arm64_packages() / DEB, "Architecture").stdout, "arm64\n")
        self.assertEqual(run("rpm", "-q", "-p", "--qf", "%{ARCH}", arm64_packages() / RPM).stdout, "aarch64")
        self.assertEqual(machine(program()), "AArch64")

    def test_the_debian_package_is_dynamic_and_has_a_program_for_arm64(self):
        self.assertIn("libssl3", run("dpkg-deb", "-f", arm64_packages() / DEB, "Depends").stdout)
        run("dpkg-deb", "-x", arm64_packages() / DEB, folder := self.folder())
        self.assertEqual(machine(folder / "usr/bin/rdma_exporter"), "AArch64")

    def test_the_portable_program_needs_only_what_every_system_has(self):
        self.assertLessEqual(shared_libraries(program()), SYSTEM | {"ld-linux-aarch64.so.1"})
        self.assertLessEqual(newest_glibc(program()), OLDEST_GLIBC)

    def test_a_kernel_with_pages_of_64_kB_can_load_it(self):
        alignments = re.findall(r"^ +LOAD .* (0x[0-9a-f]+)$", run("readelf", "-lW", program()).stdout, re.MULTILINE)
        self.assertTrue(alignments)
        self.assertGreaterEqual(min(int(number, 16) for number in alignments), 65536)

    def test_the_bill_of_materials_is_of_arm64(self):
        for name in ("arm64", "arm64-release"):
            document = json.loads((arm64_packages() / f"rdma_exporter.{name}.cdx.json").read_text(encoding="utf-8"))
            parts = {part["purl"].partition("?")[0].rpartition("/")[2].partition("@")[0]: part["purl"]
                     for part in document["components"]}
            self.assertIn("arch=arm64", parts["libc6"])
            self.assertIn("arch=arm64", parts["libssl-dev" if name == "arm64" else "libssl3"])


@slow(60)
class Serves(DeployTest):
    def qemu(self, *arguments, page=4096):
        return ["scripts/arm64", "qemu-aarch64-static", "-p", str(page), str(inside(program())), *arguments]

    def test_the_version_names_the_architecture(self):
        version = run(*self.qemu("--version")).stdout
        self.assertIn(VERSION, version.splitlines()[0])
        self.assertIn("Linux aarch64", version)

    def served(self, page):
        capture = inside(arm64_packages() / TARBALL / CAPTURE)
        process = subprocess.Popen(self.qemu(f"--replay={capture}", "--web.listen-address=127.0.0.1:0", page=page),
                                   cwd=REPO, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        log = ""
        for line in process.stderr:
            log += line
            if found := re.search(r"msg=listening address=127\.0\.0\.1:(\d+)", line):
                connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
                self.addCleanup(connection.close)
                connection.request("GET", "/metrics")
                return connection.getresponse().read().decode()
        return self.fail(f"it ended: {log}")

    def test_a_recording_whatever_the_size_of_pages(self):
        for page in (4096, 65536):
            with self.subTest(page):
                text = self.served(page)
                self.assertIn('rdma_port_up{device="mlx5_0",port="1"} 1\n', text)
                self.assertIn("rdma_devices 4\n", text)


@slow(120)
class Image(DeployTest):
    """One index for both architectures, of the packages of both."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("buildah"):
            raise unittest.SkipTest("buildah is not installed")
        folder = MINE / "image"
        arm64_packages()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for source in (packages(), arm64_packages()):
            for path in [*source.glob("*.linux-*.tar.gz"), *source.glob("*.cdx.json")]:
                shutil.copy(path, folder)
        with timed("image for both"):
            run("scripts/image", folder)
        cls.layout = folder / "layout"
        cls.layout.mkdir()
        run("tar", "-x", "-f", folder / f"rdma_exporter-{VERSION}.oci.tar", "-C", cls.layout)

    def blob(self, descriptor):
        return self.layout / "blobs" / descriptor["digest"].replace(":", "/")

    def document(self, descriptor):
        return json.loads(self.blob(descriptor).read_text(encoding="utf-8"))

    def images(self):
        """{architecture: manifest}"""
        top = json.loads((self.layout / "index.json").read_text(encoding="utf-8"))["manifests"][0]
        self.assertEqual(top["mediaType"], "application/vnd.oci.image.index.v1+json")
        return {entry["platform"]["architecture"]: self.document(entry) for entry in self.document(top)["manifests"]}

    def test_both_architectures_are_in_the_index(self):
        images = self.images()
        self.assertEqual(set(images), {"amd64", "arm64"})
        for architecture, manifest in images.items():
            config = self.document(manifest["config"])
            self.assertEqual((config["architecture"], config["config"]["User"]), (architecture, "65534:65534"))

    def test_every_program_and_library_is_of_the_architecture(self):
        for architecture, manifest in self.images().items():
            root = self.folder()
            with tarfile.open(self.blob(manifest["layers"][0])) as layer:
                layer.extractall(root)
            binaries = [path for path in [root / "usr/bin/rdma_exporter", *root.rglob("*.so*")]
                        if path.is_file() and not path.is_symlink()]
            self.assertGreater(len(binaries), 10)
            wanted = {"amd64": "Advanced Micro Devices X86-64", "arm64": "AArch64"}[architecture]
            self.assertEqual({machine(path) for path in binaries if path.read_bytes()[:4] == b"\x7fELF"}, {wanted})
            size = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink())
            print(f"image: {architecture}: {size / 1e6:.0f} MB unpacked")
            self.assertLessEqual(size, 35e6)
            materials = json.loads((root / "usr/share/rdma-exporter/sbom.cdx.json").read_text(encoding="utf-8"))
            self.assertEqual({part["purl"].partition("arch=")[2].partition("&")[0] for part in materials["components"]}
                             - {"all"}, {architecture})
