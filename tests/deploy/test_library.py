# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The library of docs/LIBRARY.md: it is installed, the example's CMake finds it, and its page has the daemon's metrics."""

import contextlib
import http.client
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import prom_text
from deploytest import BINARY, REPO, DeployTest, run, timed
from marks import slow
from packages import build

EXAMPLE = REPO / "docs/examples/collectable"
RECORDINGS = ("tests/recordings/soft-roce-host", "tests/captures/connectx-incident.tar.gz")
# Families of the daemon alone (docs/LIBRARY.md), and of prometheus-cpp's own server and the example.
DAEMON = ("process_", "rdma_exporter_http_", "rdma_exporter_config_")
OTHERS = ("exposer_", "example_")
# What no two processes have in common: when, how long, how much memory and how many threads.
OWN = re.compile(r".*_(age|duration)_seconds(_.*)?$|rdma_exporter_(workers|pages_in_flight_bytes|kept_files|scrapes_total)$")
# What is dumped in the background is there with one of the next scrapes; --once waits for it.
SCRAPES = 100


@slow(60)
class Library(DeployTest):
    @classmethod
    def setUpClass(cls):
        cls.prefix = pathlib.Path(tempfile.mkdtemp(prefix="rdma_exporter_prefix."))
        cls.addClassCleanup(shutil.rmtree, cls.prefix)
        with timed("library"):
            build("rdma_exporter", "collectable")
            run("cmake", "--install", "build/release", "--component", "library", "--prefix", cls.prefix)
            run("cmake", "-S", EXAMPLE, "-B", cls.prefix / "example", f"-DCMAKE_PREFIX_PATH={cls.prefix}",
                "-DCMAKE_CXX_FLAGS=-std=c++20 -Wall -Wextra -Wpedantic -Werror")
            run("cmake", "--build", cls.prefix / "example")

    @contextlib.contextmanager
    def example(self, *flags):
        """The port that it serves on."""
        process = subprocess.Popen([self.prefix / "example/example", "127.0.0.1:0", *flags], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, cwd=REPO)
        try:
            yield int(process.stdout.readline())
            process.stdin.close()
            self.assertEqual(process.wait(60), 0)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def page(self, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.addCleanup(connection.close)
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        # A summary of the server without observations is "Nan" there, which is no number.
        lines = answer.read().decode().splitlines(keepends=True)
        return "".join(line for line in lines if not re.match(rf"(# (HELP|TYPE) )?({'|'.join(OTHERS)})", line)).encode()

    def samples(self, page, but=()):
        """prometheus-cpp has le="1" where others have le="1.0"."""
        return {(name, frozenset((label, float(value) if label == "le" else value) for label, value in labels)): value
                for (name, labels), value in prom_text.parse(page).items() if not name.startswith(but)}

    def test_its_families_are_the_daemons_page(self):
        for recording in RECORDINGS:
            with self.subTest(recording), self.example(f"--replay={recording}") as port:
                expected = self.samples(run(BINARY, "--once", f"--replay={recording}").stdout.encode(), DAEMON)
                self.assertGreater(len(expected), 150)
                for _ in range(SCRAPES):
                    found = self.samples(self.page(port))
                    if set(found) == set(expected):
                        break
                self.assertEqual(set(found), set(expected))
                for key, value in expected.items():
                    if not OWN.match(key[0]):
                        close = math.isclose(float(found[key]), float(value), rel_tol=1e-15)
                        self.assertTrue(close, (key, found[key], value))

    def test_types_and_help_are_the_daemons(self):
        def comments(page):
            lines = {line for line in page.decode().splitlines() if line.startswith("# ")}
            return {line for line in lines if not line.split()[2].startswith(OTHERS + DAEMON)}

        with self.example(f"--replay={RECORDINGS[0]}") as port:
            expected = comments(run(BINARY, "--once", f"--replay={RECORDINGS[0]}").stdout.encode())
            for _ in range(SCRAPES):  # what is read in the background comes a little later
                found = comments(self.page(port))
                if found == expected:
                    break
            self.assertEqual(found, expected)

    def test_what_makes_no_sense_is_refused_with_the_daemons_message(self):
        for flags, message in ((["--replay=/nonexistent"], "--replay: "), (["--no-such-flag"], "no-such-flag"),
                               (["--version"], "something other than metrics")):
            done = run(self.prefix / "example/example", "127.0.0.1:0", *flags, check=False)
            self.assertEqual(done.returncode, 1, flags)
            self.assertIn(message, done.stderr)
            self.assertIn("rdma_exporter: ", done.stderr)

    def test_it_shows_nothing_but_its_class(self):
        (library,) = self.prefix.glob("lib/**/librdma_exporter_collectable.so")
        names = run("nm", "-D", "-C", "--defined-only", library).stdout.splitlines()
        strong = [line.split(maxsplit=2)[2] for line in names if line.split()[1] not in "VWu"]
        self.assertTrue(any("Collectable::Collect()" in name for name in strong), strong)
        self.assertEqual([name for name in strong if "rdma_exporter::Collectable" not in name], [])

    def test_a_hanging_read_costs_no_more_than_the_timeout(self):
        """A tree with a FIFO in place of a counter's file, which nobody writes to."""
        tree = self.folder() / "tree"
        run("tests/tools/fake_tree.py", tree, "--devices", "2")
        stuck = next((tree / "sys/class/infiniband/mlx5_1").resolve().glob("ports/1/state"))
        stuck.unlink()
        os.mkfifo(stuck)
        with self.example(f"--path.sysfs={tree}/sys", "--scrape.timeout=1s", "--collector.port.timeout=500ms") as port:
            samples = prom_text.parse(self.page(port))
        up = {dict(labels)["device"] for name, labels in samples if name == "rdma_port_up"}
        self.assertEqual(up, {"mlx5_0"})
        failing = {dict(labels)["device"] for name, labels in samples if name == "rdma_exporter_collector_failing"}
        self.assertEqual(failing, {"mlx5_1"})
