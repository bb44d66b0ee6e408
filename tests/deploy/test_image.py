# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The container image: built by buildah on a Debian that mmdebstrap made, started on a recording, scraped.

The Dockerfile's stage `build` is the package that the other tests have; that the sources it copies make the same package
is test_packages'. With TEST_IMAGE_COMPILES=1 the stage runs, compiler and all."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from deploytest import REPO, DeployTest, run, timed
from marks import slow
from packages import TGZ, VERSION, debian, packages

BASE = "docker.io/library/debian:bookworm-slim"
IMAGE = "localhost/rdma-exporter:test"
REVISION = "abcdef0"
NOBODY = 65534
CAPTURE = "/usr/share/rdma-exporter/captures/connectx-incident.tar.gz"
# The driver that works inside of other containers, too.
ENVIRONMENT = {**os.environ, "STORAGE_DRIVER": "vfs", "BUILDAH_ISOLATION": "chroot"}


class Buildah:
    """buildah with a storage of its own, which goes with it."""

    def __init__(self):
        self.storage = pathlib.Path(tempfile.mkdtemp(prefix="rdma_exporter_image."))

    def __call__(self, *arguments, **options):
        return run("buildah", "--root", self.storage / "root", "--runroot", self.storage / "run", *arguments,
                   env=ENVIRONMENT, **options)

    def close(self):
        self("rm", "--all", check=False)
        shutil.rmtree(self.storage)

    def make_base(self):
        container = self("from", "scratch").stdout.strip()
        self("add", "-q", container, debian(), "/")
        self("commit", "-q", "--rm", container, BASE)

    def build(self):
        if os.environ.get("TEST_IMAGE_COMPILES"):
            first_stage = []
        else:
            (self.storage / "build/packages").mkdir(parents=True)
            for name in (TGZ, "rdma_exporter.portable.cdx.json", "rdma_exporter.portable.debug.tar.gz"):
                shutil.copy(packages() / name, self.storage / "build/packages")
            first_stage = ["--build-context", f"build={self.storage}/build"]
        self("bud", "--pull-never", "--layers=false", "--format", "oci", *first_stage,
             "--build-arg", f"VERSION={VERSION}", "--build-arg", f"REVISION={REVISION}", "-t", IMAGE, REPO)


@slow(30)
@unittest.skipIf(os.geteuid() != 0, "buildah needs root here")
class Image(DeployTest):
    @classmethod
    def setUpClass(cls):
        for program in ("buildah", "mmdebstrap"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"{program} is not installed")
        buildah = Buildah()
        cls.addClassCleanup(buildah.close)
        debian(), packages()
        with timed("image"):
            buildah.make_base()
            buildah.build()
        cls.config = json.loads(buildah("inspect", "--type", "image", IMAGE).stdout)["OCIv1"]["config"]
        container = buildah("from", "--pull-never", IMAGE).stdout.strip()
        cls.root = pathlib.Path(buildah("mount", container).stdout.strip())

    def test_what_it_says_of_itself(self):
        self.assertEqual(self.config["User"], f"{NOBODY}:{NOBODY}")
        self.assertEqual(self.config["StopSignal"], "SIGTERM")
        self.assertEqual(self.config["Entrypoint"], ["/usr/bin/rdma_exporter"])
        self.assertEqual(list(self.config["ExposedPorts"]), ["9400/tcp"])
        labels = {name.removeprefix("org.opencontainers.image."): value for name, value in self.config["Labels"].items()}
        self.assertEqual((labels["title"], labels["version"], labels["revision"], labels["licenses"]),
                         ("rdma_exporter", VERSION, REVISION, "Apache-2.0"))

    def test_what_is_needed_is_in_it_and_nothing_of_the_build(self):
        providers = {path.stem for path in (self.root / "etc/libibverbs.d").iterdir()}
        self.assertLessEqual({"mlx5", "mlx4", "bnxt_re", "irdma", "efa", "rxe", "siw"}, providers)
        libraries = {path.name.partition("-rdmav")[0] for path in self.root.rglob("libibverbs/lib*.so")}
        self.assertEqual({f"lib{name}" for name in providers}, libraries)
        for path in ("bin/sh", "usr/bin/sh", "usr/bin/g++", "usr/bin/apt", "source", "packages", "usr/include"):
            self.assertFalse((self.root / path).exists(), path)
        self.assertEqual([path.name for path in (self.root / "usr/bin").iterdir()], ["rdma_exporter"])
        for path in ("var/lib/apt/lists", "var/cache", "var/log"):
            self.assertEqual([str(file) for file in (self.root / path).rglob("*") if file.is_file()], [])

    def test_no_library_lacks_another_one(self):
        """Each finds what it needs among the files of the image, and nowhere else."""
        there = {path.name for path in self.root.rglob("*.so*")}
        for path in [*self.root.rglob("*.so*"), self.root / "usr/bin/rdma_exporter"]:
            if path.is_file() and not path.is_symlink():
                needed = re.findall(r"\(NEEDED\).*\[(\S+)\]", run("readelf", "-d", path).stdout)
                self.assertLessEqual(set(needed), there, path)

    def test_scanners_find_the_packages_and_the_bill_of_materials(self):
        status = (self.root / "var/lib/dpkg/status").read_text(encoding="utf-8")
        names = re.findall(r"^Package: (\S+)$", status, re.MULTILINE)
        self.assertEqual(sorted(names), ["ca-certificates", "ibverbs-providers", "libc6", "libgcc-s1", "libibverbs1",
                                         "libnl-3-200", "libnl-route-3-200"])
        self.assertEqual(status.count("Status: install ok installed\n"), len(names))
        document = json.loads((self.root / "usr/share/rdma-exporter/sbom.cdx.json").read_text(encoding="utf-8"))
        self.assertEqual(document["metadata"]["component"]["version"], VERSION)

    def test_authorities_of_certificates_are_where_the_program_looks(self):
        link = self.root / "usr/lib/ssl/cert.pem"
        self.assertEqual(os.readlink(link), "/etc/ssl/certs/ca-certificates.crt")
        text = (self.root / "etc/ssl/certs/ca-certificates.crt").read_text(encoding="ascii")
        self.assertGreater(text.count("BEGIN CERTIFICATE"), 100)

    def test_it_is_small(self):
        size = sum(path.lstat().st_size for path in self.root.rglob("*") if path.is_file() and not path.is_symlink())
        print(f"image: {size / 1e6:.0f} MB unpacked")
        self.assertLessEqual(size, 35e6)

    @contextlib.contextmanager
    def started(self, *arguments):
        """The entry point as a runtime starts it with --read-only and --cap-drop=ALL: the image's user, a root that
        cannot be written to, no new rights."""
        inside = ('mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && mount --rbind /proc "$0/proc" && '
                  f'exec setpriv --no-new-privs chroot --userspec={self.config["User"]} "$0" "$@"')
        process = subprocess.Popen(["unshare", "--mount", "bash", "-c", inside, str(self.root),
                                    *self.config["Entrypoint"], *arguments], stderr=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            process.stderr.close()

    def test_it_serves_a_recording_and_stops_on_its_signal(self):
        with self.started(f"--replay={CAPTURE}", "--web.listen-address=127.0.0.1:0") as process:
            page = self.page(self.port(process))
            self.assertIn('rdma_port_up{device="mlx5_0",port="1"} 1\n', page)
            self.assertIn("process_resident_memory_bytes ", page)
            with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                fields = dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)
            self.assertEqual(fields["Uid"], "\t".join([str(NOBODY)] * 4))
            self.assertEqual(fields["Gid"], "\t".join([str(NOBODY)] * 4))
            self.assertEqual((int(fields["CapEff"], 16), fields["NoNewPrivs"]), (0, "1"))
            start = time.monotonic()
            process.send_signal(getattr(signal, self.config["StopSignal"]))
            self.assertEqual(process.wait(60), 0)
            print(f"image: stopped within {time.monotonic() - start:.2f} s")

    def port(self, process):
        """That the kernel has chosen, as the log tells it."""
        log = ""
        for line in process.stderr:
            log += line
            if found := re.search(r"msg=listening address=127\.0\.0\.1:(\d+)", line):
                return int(found[1])
        self.fail(f"it ended: {log}")

    def page(self, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.addCleanup(connection.close)
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()
