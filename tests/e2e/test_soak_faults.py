# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Faults of the process that come and go, TEST_FAULTS times (by default a few; `scripts/test long`: 1,000), leave nothing
behind. Those of the clock are in tests/lab/test_soak.py."""

import collections
import contextlib
import errno
import http.client
import itertools
import mmap
import os
import resource
import shutil
import socket
import struct
import subprocess
import unittest

from harness import BINARY, Samples
from marks import slow, timing, timing_only
import prom_text
from soak import Soak

FAULTS = int(os.environ.get("TEST_FAULTS", "10"))
HERE = os.path.dirname(os.path.abspath(__file__))
COLLECTORS = ("device", "port", "events", "resource", "dcb", "roce_config", "ethtool_standard")
REFUSED = "rdma_exporter_http_requests_refused_total"


def forms():
    """Queries, for ever, each of them for another page."""
    sets = [chosen for n in range(len(COLLECTORS)) for chosen in itertools.combinations(COLLECTORS, n)]
    for chosen in itertools.cycle(sets):
        yield "&".join(f"collect[]={name}" for name in ("hw_counters", "port_counters", *chosen))


@slow(10)
@timing
class Flood(Soak):
    """Clients that begin requests and do not end them, and clients that ask for pages and do not read them, of which each
    asks for another one. They come from a unix socket, because the kernel takes less of a page there."""

    READERS, BEGINNERS = 30, 60

    def flood(self, limit=None):
        path = os.path.join(self.folder, "web.sock")
        tree, queries = self.tree(devices=40), forms()

        def start(address=f"unix:{self.folder}/fresh.sock"):
            flags = [f"--limits.pages-in-flight-bytes={limit}"] if limit else []
            return self.start(*flags, f"--web.listen-address={address}", "--raw=all", "--metrics.set=full", sysfs=tree.sys)

        with start(f"unix:{path}") as exporter:
            before = self.settle(exporter)
            for _ in range(3):
                self.wave(exporter, path, queries)
            before["memory in kB"] = exporter.status("VmHWM")  # what a wave needs; the C library may keep it
            for _ in range(FAULTS):
                self.wave(exporter, path, queries)
            refused = exporter.scrape().samples.select(REFUSED, reason="memory")
            self.assert_left_nothing(exporter, before, start)
            return sum(refused.values())

    def wave(self, exporter, path, queries):
        with contextlib.ExitStack() as clients:
            for i in range(self.READERS + self.BEGINNERS):
                client = clients.enter_context(socket.socket(socket.AF_UNIX))
                client.connect(path)
                query = f"?{next(queries)}" if i < self.READERS else ""
                end = "\r\n\r\n" if i < self.READERS else "\r\nX-Slow: "
                client.sendall(f"GET /metrics{query} HTTP/1.1\r\nHost: x{end}".encode())
            exporter.scrape()

    def test_slow_readers_of_many_pages_leave_nothing_behind(self):
        self.flood()

    def test_nor_does_a_full_limit_of_pages(self):
        self.assertGreater(self.flood(limit=2_000_000), FAULTS, "the limit was not reached")


@slow(8)
@timing
class Descriptors(Soak):
    def test_none_left_for_a_while(self):
        tree = self.tree(devices=4)

        def start():
            return self.start(sysfs=tree.sys)

        with start() as exporter:
            before = self.settle(exporter)
            limits = resource.prlimit(exporter.pid, resource.RLIMIT_NOFILE)
            for spare in itertools.islice(itertools.cycle(range(6)), FAULTS):
                held = exporter.connect(timeout=2)
                held.connect()
                with contextlib.ExitStack() as waiting:
                    resource.prlimit(exporter.pid, resource.RLIMIT_NOFILE, (exporter.open_files() + spare, limits[1]))
                    for _ in range(spare + 3):
                        waiting.enter_context(exporter.socket())
                    for _ in range(3):
                        held.request("GET", "/metrics")
                        answer = held.getresponse()
                        self.assertEqual(answer.status, 200)
                        self.assertIn("rdma_device_up", Samples(prom_text.parse(answer.read())).families())
                held.close()
                resource.prlimit(exporter.pid, resource.RLIMIT_NOFILE, limits)
                self.assertTrue(self.eventually(lambda: exporter.get("/-/healthy").status == 200))
            self.assert_left_nothing(exporter, before, start, rest=60)


@slow(15)
@timing_only  # what ships alone: the sanitizers allocate themselves, and no library may be loaded before theirs
@unittest.skipUnless(shutil.which("c++"), "no compiler is installed")
class Allocations(Soak):
    """Fail in every thread, on and off, from one in 61 to one in 20,011."""

    EVERY = (61, 101, 509, 2003, 20011)

    def setUp(self):
        super().setUp()
        library, self.control = f"{self.folder}/failing_new.so", f"{self.folder}/failing_new"
        subprocess.run(["c++", "-O1", "-shared", "-fPIC", "-o", library, f"{HERE}/failing_new.cpp"], check=True)
        with open(self.control, "wb") as file:
            file.write(bytes(8))
        self.environment = {"LD_PRELOAD": library, "FAILING_NEW": self.control}

    def let_fail(self, shared, every):
        shared[:4] = struct.pack("I", every)

    def ask(self, exporter, path):
        """A status, or that the connection has ended."""
        try:
            return exporter.get(path, timeout=10).status
        except (OSError, http.client.HTTPException) as error:
            return type(error).__name__

    def test_each_so_many_th_fails(self):
        tree = self.tree(devices=4)

        def start(environment=None):
            # What finds no memory on a worker is missed at the deadline.
            return self.start("--scrape.timeout=1s", sysfs=tree.sys, environment=environment)

        answers = collections.defaultdict(set)
        with start(self.environment) as exporter, open(self.control, "r+b") as file, mmap.mmap(file.fileno(), 8) as shared:
            before = self.settle(exporter)
            for every in itertools.islice(itertools.cycle(self.EVERY), FAULTS):
                self.let_fail(shared, every)
                for path in ("/metrics", "/metrics?collect[]=hw_counters", "/-/healthy", "/", "/metrics"):
                    answers[every].add(self.ask(exporter, path))
                    self.assertIsNone(exporter.process.poll(), f"one in {every} failed: {exporter.log()[-2000:]}")
                self.let_fail(shared, 0)
                self.assertTrue(self.eventually(lambda: self.ask(exporter, "/metrics") == 200))
            failed, = struct.unpack("I", shared[4:8])
            print(f"{failed} allocations failed; answers where one in so many did: {dict(answers)}")
            self.assertGreater(failed, FAULTS)
            self.assertGreater(len(set().union(*answers.values())), 1, "no request felt it")
            for every, heard in answers.items():
                self.assertNotIn("TimeoutError", heard, f"one in {every}: a request was neither answered nor ended")
            self.assertTrue(self.eventually(lambda: exporter.scrape().samples.select("rdma_device_up"), 60))
            self.assert_left_nothing(exporter, before, start, rest=60)


MAY_MOUNT = shutil.which("unshare") and subprocess.run(
    ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode == 0


@slow(12)
@timing
@unittest.skipUnless(MAY_MOUNT, "this system allows no mount")
class Disk(Soak):
    """Full, and with room again, below the text file."""

    FAILED = "cannot write the text file"

    def start_textfile(self, name):
        """The process, where it writes, and its log."""
        folder, log = f"{self.folder}/{name}", f"{self.folder}/{name}.log"
        os.mkdir(folder)
        with open(log, "wb") as stderr:
            process = subprocess.Popen(
                ["unshare", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs -o size=1M none "$0" && exec "$@"',
                 folder, BINARY, f"--path.sysfs={self.hosts.sys}", f"--textfile={folder}/rdma.prom", "--interval=1s"],
                stdin=subprocess.DEVNULL, stderr=stderr, env={**os.environ, "TMPDIR": self.temporary})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        there = f"/proc/{process.pid}/root{folder}"
        self.assertTrue(self.eventually(lambda: os.path.exists(f"{there}/rdma.prom"), 20))
        return process, there, log

    def footprint_of(self, process):
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            status = dict(line.split(":", 1) for line in file)
        return {"memory in kB": int(status["VmRSS"].split()[0]), "threads": int(status["Threads"]),
                "descriptors": len(os.listdir(f"/proc/{process.pid}/fd")),
                "temporary files": len(os.listdir(self.temporary))}

    @staticmethod
    def fill(path):
        with open(path, "wb", buffering=0) as file:
            for size in (65536, 4096):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(size))

    @staticmethod
    def samples(there):
        with open(f"{there}/rdma.prom", "rb") as file:
            return Samples(prom_text.parse(file.read()))

    def scrapes(self, there):
        return self.samples(there).one("rdma_exporter_scrapes_total")

    @staticmethod
    def said(log, text):
        with open(log, encoding="utf-8") as file:
            return file.read().count(text)

    def test_full_for_a_while(self):
        self.hosts = self.tree(devices=4)
        process, there, log = self.start_textfile("disk")
        self.assertTrue(self.eventually(lambda: self.scrapes(there) > 5, 60))
        before = self.footprint_of(process)
        for i in range(FAULTS):
            self.fill(f"{there}/junk")
            self.assertTrue(self.eventually(lambda: self.said(log, self.FAILED) > i, 30, 0.1))
            last = self.scrapes(there)  # of a page that is whole, if old
            os.unlink(f"{there}/junk")
            self.assertTrue(self.eventually(lambda: self.scrapes(there) > last, 30, 0.1))
        after = self.footprint_of(process)
        print(f"{self.id()}: {before} -> {after}")
        self.assertGreaterEqual(self.said(log, "ENOSPC"), FAULTS)
        self.assertEqual(os.listdir(there), ["rdma.prom"])
        self.assertEqual(self.grown(process.pid, before, after), {})
        _, fresh, _ = self.start_textfile("fresh")
        self.assertTrue(self.eventually(lambda: self.scrapes(fresh) > 1, 30))
        self.assert_same(self.samples(there).kernel(), self.samples(fresh).kernel())


if __name__ == "__main__":
    unittest.main()
