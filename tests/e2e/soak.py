# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""What a soak has to show at its end: the daemon holds no more than at its start, and serves what a fresh daemon does."""

import mmap
import os
import tempfile

import footprint
from harness import Exporter, TestCase


class Soak(TestCase):
    """Its daemons have a folder for temporary files of their own."""

    SETTLE = 20  # scrapes, until memory and threads are what they stay
    ROOM = footprint.ROOM

    def setUp(self):
        super().setUp()
        self.temporary = tempfile.mkdtemp(prefix="tmp.", dir=self.folder)

    def start(self, *flags, environment=None, **options):
        # A busy machine gets more workers, up to their limit.
        return Exporter("--limits.workers=8", *flags, environment={"TMPDIR": self.temporary, **(environment or {})}, **options)

    def settle(self, exporter):
        """The footprint of a daemon that has started and served."""
        exporter.wait_for_checks()
        for _ in range(self.SETTLE):
            exporter.scrape()
        return self.footprint(exporter)

    def footprint(self, exporter):
        folders = (self.temporary, exporter.folder)
        return {"memory in kB": exporter.status("VmRSS"), "threads": exporter.status("Threads"),
                "descriptors": exporter.open_files(), "temporary files": sum(len(os.listdir(each)) for each in folders)}

    def grown(self, pid, before, after):
        """footprint.grown() of a process. RSS says nothing of a sanitized one: the address sanitizer keeps freed
        memory, the thread sanitizer remembers accesses."""
        with open(f"/proc/{pid}/exe", "rb") as program, mmap.mmap(program.fileno(), 0, prot=mmap.PROT_READ) as code:
            sanitized = any(code.find(name) != -1 for name in (b"__asan_init", b"__tsan_init"))
        return footprint.grown(before, after, ("memory in kB",) if sanitized else (), self.ROOM)

    def assert_left_nothing(self, exporter, before, fresh, rest=0):
        """fresh: what starts a fresh daemon. rest: how many seconds what could not be read may still be missing (at most
        a minute: task::Backoff)."""

        def grown():
            exporter.scrape()
            return self.grown(exporter.pid, before, self.footprint(exporter))

        self.eventually(lambda: not grown(), 30)
        print(f"{self.id()}: {before} -> {self.footprint(exporter)}")
        self.assertEqual(grown(), {})
        with fresh() as other:
            other.wait_for_checks()
            other.scrape()
            expected = other.scrape().samples.kernel()
            self.eventually(lambda: exporter.scrape().samples.kernel() == expected, rest)
            self.assert_same(exporter.scrape().samples.kernel(), expected)

    def assert_same(self, samples, expected):
        self.assert_has_all(samples, expected)
        self.assert_has_all(expected, samples, "a fresh daemon's page")
