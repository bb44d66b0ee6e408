# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The suite `soak`: what goes on for long leaves nothing behind. LAB_REPLUGS, LAB_CHURN_SCRAPES and LAB_CLOCK_JUMPS say for
how long (tests/lab/run)."""

import itertools
import os
import time
import unittest

import exporter
from guest import churn
from guest import time as guest_time
from labtest import counter_series, daemons, stop_daemons, wait_for
from soak import Soak

EVERY = 0.2    # seconds between two scrapes
# A busy machine may add workers up to their limit.
FLAGS = ["--collector.resource.detail-interval=1s", "--limits.workers=8"]
REPLUGGED = "rxe_dummy"
OTHERS = ("rxe0", "rxe1", "rxe_virtio")
PROMPT = 6     # seconds; a scrape that hangs takes the 12 of scrape.timeout
SETTLE = 20    # scrapes before the start is looked at


def setUpModule():
    exporter.install()
    FLAGS.extend(exporter.patience("12s"))  # what a busy machine delays is not left out
    daemons["default"] = exporter.Exporter(9400, *FLAGS)
    unittest.addModuleCleanup(stop_daemons)
    daemons["default"].wait_until_ready()
    for _ in range(SETTLE):
        daemons["default"].scrape()


class Replugs(Soak):
    def test_a_device_and_its_interface_are_unplugged_and_plugged(self):
        before, times = self.daemon.footprint(), int(os.environ.get("LAB_REPLUGS", "15"))
        replugs = churn.Replugs(times)
        scrapes = there = 0
        while replugs.running():
            begin = time.monotonic()
            page = self.daemon.scrape()
            for device in OTHERS:
                self.assertEqual(page.get("rdma_device_up", device=device), 1)
                self.assertIsNotNone(page.get("rdma_port_packets_total", device=device, direction="tx"), device)
            if page.get("rdma_port_packets_total", device=REPLUGGED, direction="tx") is not None:
                there += 1
                replugs.is_on_a_page()
            scrapes += 1
            time.sleep(max(0, begin + EVERY - time.monotonic()))
        self.assertEqual((replugs.error, replugs.done), (None, times))
        print(f"{times} times, {scrapes} scrapes, {there} of them with the device")
        self.assertGreater(scrapes, times / 10)
        self.assertGreater(there, 0)
        wait_for(lambda: self.daemon.scrape().get("rdma_device_up", device=REPLUGGED) == 1, f"{REPLUGGED} back")
        self.assert_left_nothing(self.daemon, before, *FLAGS)


class QueuePairs(Soak):
    QPS = 50

    def test_queue_pairs_come_and_go_under_scrapes(self):
        before, scrapes = self.daemon.footprint(), int(os.environ.get("LAB_CHURN_SCRAPES", "100"))
        queue_pairs = churn.QueuePairs("rxe0", self.QPS)
        self.addCleanup(queue_pairs.stop)
        seen = set()
        with self.daemon.keep() as scrape:
            for _ in range(scrapes):
                page = scrape()
                seen.add(page.get("rdma_resource_objects", device="rxe0", type="qp"))
                self.assertEqual(page.get("rdma_device_up", device="rxe0"), 1)
        queue_pairs.stop()
        print(f"{scrapes} scrapes, {queue_pairs.programs} programs with {self.QPS} queue pairs each")
        self.assertEqual(queue_pairs.failed, 0)
        self.assertGreater(len(seen), 2, "the queue pairs did not change")
        self.assertLessEqual(max(filter(None, seen)), 1 + self.QPS)
        self.assertEqual(self.daemon.scrape().find("rdma_resource_dump_errors_total", device="rxe0", reason="parse"), {})
        self.assert_left_nothing(self.daemon, before, *FLAGS)


class ClockJumps(Soak):
    """Somebody sets the clock: NTP after the start, a host that slept, a hand that slipped."""

    DAY = 86_400

    def test_scrapes_go_on_with_the_same_values(self):
        values, before = self.counters(self.daemon.scrape()), self.daemon.footprint()
        begun, at = guest_time.time(), guest_time.monotonic()
        self.addCleanup(lambda: self.set_clock(begun + guest_time.monotonic() - at))
        jumps = itertools.cycle((self.DAY, -3 * self.DAY, 0))
        for jump in itertools.islice(jumps, int(os.environ.get("LAB_CLOCK_JUMPS", "6"))):
            self.set_clock(begun + guest_time.monotonic() - at + jump)
            start = time.monotonic()
            page = self.daemon.scrape()
            self.assertLess(time.monotonic() - start, PROMPT)
            self.assertEqual(self.counters(page), values)
            self.assert_collectors_succeed(page)
        self.assert_left_nothing(self.daemon, before, *FLAGS)

    def counters(self, page):
        return {device: counter_series(page, device) for device in ("rxe0", "rxe1")}

    @staticmethod
    def set_clock(seconds):
        guest_time.clock_settime(guest_time.CLOCK_REALTIME, seconds)


IN_ORDER = (Replugs, QueuePairs, ClockJumps)
