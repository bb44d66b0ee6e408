# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The container image: built by buildah on a Debian that mmdebstrap made, started on the recording, scraped."""

import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import unittest

from deploytest import CACHE, REPO, DeployTest, cached, run

BASE = "docker.io/library/debian:bookworm-slim"
IMAGE = "localhost/rdma-exporter:test"
VERSION, REVISION = "1.2.3", "abcdef0"
NOBODY = 65534
# Layers are kept between runs: what the sources' packages are changes rarely.
STORAGE = CACHE / "containers"
ENVIRONMENT = {**os.environ, "STORAGE_DRIVER": "vfs", "BUILDAH_ISOLATION": "chroot"}


def buildah(*arguments, **options):
    return run("buildah", "--root", STORAGE / "root", "--runroot", STORAGE / "run", *arguments, env=ENVIRONMENT, **options)


def make_base(path):
    run("mmdebstrap", "--variant=minbase", "--format=tar", "bookworm", path)


def build():
    """The image of the Dockerfile; the compiler's cache is this machine's."""
    if buildah("images", "-q", BASE, check=False).returncode:
        container = buildah("from", "scratch").stdout.strip()
        buildah("add", "-q", container, cached("bookworm.tar", make_base), "/")
        buildah("commit", "-q", "--rm", container, BASE)
    ccache = pathlib.Path(os.environ.get("CCACHE_DIR", pathlib.Path.home() / ".cache/ccache"))
    ccache.mkdir(parents=True, exist_ok=True)
    buildah("bud", "--isolation", "chroot", "--pull-never", "--layers", "--format", "oci",
            "--volume", f"{ccache}:/root/.cache/ccache",
            "--build-arg", f"VERSION={VERSION}", "--build-arg", f"REVISION={REVISION}", "-t", IMAGE, REPO)


@unittest.skipIf(os.geteuid() != 0, "buildah needs root here")
class Image(DeployTest):
    @classmethod
    def setUpClass(cls):
        for program in ("buildah", "mmdebstrap"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"{program} is not installed")
        build()
        cls.container = buildah("from", "--pull-never", IMAGE).stdout.strip()
        cls.addClassCleanup(buildah, "rm", cls.container)
        cls.root = pathlib.Path(buildah("mount", cls.container).stdout.strip())

    def config(self):
        return json.loads(buildah("inspect", "--type", "image", IMAGE).stdout)["OCIv1"]

    def test_what_it_says_of_itself(self):
        config = self.config()["config"]
        self.assertEqual(config["User"], f"{NOBODY}:{NOBODY}")
        self.assertEqual(config["StopSignal"], "SIGTERM")
        self.assertEqual(config["Entrypoint"], ["/usr/bin/rdma_exporter"])
        self.assertEqual(list(config["ExposedPorts"]), ["9400"])
        labels = {name.rpartition(".")[2]: value for name, value in config["Labels"].items()}
        self.assertEqual((labels["version"], labels["revision"], labels["licenses"]), (VERSION, REVISION, "Apache-2.0"))

    def test_the_program_knows_its_revision(self):
        self.assertIn(REVISION, buildah("run", self.container, "--", "/usr/bin/rdma_exporter", "--version").stdout)

    def test_nothing_of_the_build_is_in_it(self):
        for path in ("usr/bin/g++", "usr/bin/cmake", "source", "packages", "usr/include/infiniband"):
            self.assertFalse((self.root / path).exists(), path)

    def test_it_is_small(self):
        size = sum(path.lstat().st_size for path in self.root.rglob("*") if path.is_file() and not path.is_symlink())
        print(f"image: {size / 1e6:.0f} MB unpacked")
        self.assertLess(size, 200e6)

    def free_port(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def test_it_serves_the_recording_and_stops_on_its_signal(self):
        port = self.free_port()
        shutil.copytree(REPO / "tests/recordings/soft-roce-host", self.root / "recording", symlinks=True, dirs_exist_ok=True)
        # As a runtime with --read-only does it: the root cannot be written to, the user is the image's.
        inside = ('mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && '
                  f'exec chroot --userspec={self.config()["config"]["User"]} "$0" "$@"')
        process = subprocess.Popen(
            ["unshare", "--mount", "bash", "-c", inside, str(self.root), *self.config()["config"]["Entrypoint"],
             "--replay=/recording", f"--web.listen-address=127.0.0.1:{port}"], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        page = self.page(process, port)
        self.assertIn('rdma_port_up{device="rxe0",port="1"} 1\n', page)
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            self.assertIn(f"Uid:\t{NOBODY}\t{NOBODY}\t{NOBODY}\t{NOBODY}\n", status.readlines())
        process.send_signal(getattr(signal, self.config()["config"]["StopSignal"]))
        self.assertEqual(process.wait(10), 0)

    def page(self, process, port):
        end = time.monotonic() + 30
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            try:
                connection.request("GET", "/metrics")
                return connection.getresponse().read().decode()
            except OSError:
                if process.poll() is not None or time.monotonic() > end:
                    process.kill()
                    raise AssertionError(process.stderr.read()) from None
                time.sleep(0.1)
            finally:
                connection.close()
