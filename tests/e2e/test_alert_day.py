# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A day of a healthy fleet wakes nobody and creates at most five tickets; then twenty faults are found in time, each by name.
A real Prometheus evaluates the rules once a minute: version 3 if available, which compares peers fifteen times as fast.

By default the fleet has 200 hosts and the day two and a half hours, with all the events of a day for each host.
TEST_FLEET=500 and TEST_DAY=1440 (scripts/test long) simulate a whole day."""

import collections
import os
import shutil
import sys
import tempfile
import time
import unittest

from harness import REPOSITORY, TestCase
from marks import slow
from prometheus_server import PROMETHEUS, Server
import prometheus3

sys.path.insert(0, os.path.join(REPOSITORY, "tests", "alerts"))
import day  # noqa: E402
import fleet  # noqa: E402
import injected  # noqa: E402
import inventory  # noqa: E402
import ruler  # noqa: E402

HOSTS, MINUTES = int(os.environ.get("TEST_FLEET", 200)), int(os.environ.get("TEST_DAY", 150))
START = 1767225600  # any time at which two hours begin, as blocks of Prometheus do
BEFORE = 70  # minutes in which the rules learn what is usual
TICKETS = 5


NEWER, _ = prometheus3.installed()


def serve(folder, flags):
    """A Prometheus that answers queries."""
    server = Server(folder, {}, *flags, program=NEWER / "prometheus" if NEWER else PROMETHEUS)
    end = time.monotonic() + 60
    while server.api("query", query="1") is None and time.monotonic() < end:
        time.sleep(0.05)
    return server


@slow(32)
@unittest.skipUnless(PROMETHEUS and shutil.which("promtool"), "prometheus is not installed")
class FleetDay(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="rdma_exporter_fleet.")  # on a disk: a whole day is some gigabytes
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.breaks = BEFORE + MINUTES + 20
        cls.fleet = fleet.Fleet(HOSTS, START, cls.breaks + injected.LASTING)
        cls.day = day.Day(cls.fleet, BEFORE, MINUTES)
        cls.faults = injected.Injected(cls.fleet, cls.breaks)
        own = ruler.Ruler(cls.place, serve, ranges=bool(NEWER))
        own.load(sample for host in cls.fleet.hosts for sample in host.samples())
        records, alerts = ruler.rules()
        alerts = [rule for rule in alerts if rule["labels"]["severity"] != "info"]
        end = START + (cls.fleet.steps - 1) * fleet.STEP
        own.record(ruler.needed([rule["expr"] for rule in alerts], records), START, end)
        cls.fired = own.fired(alerts, START, end)

    def step(self, seconds):
        return (seconds - START) // fleet.STEP

    def silenced(self, fired):
        return any(fired.labels.get("instance") == f"{silence.host.name}:9400"
                   and silence.start <= self.step(fired.start) < silence.end for silence in self.day.silences)

    def of_the_day(self):
        return [fired for fired in self.fired if BEFORE <= self.step(fired.start) < self.breaks and not self.silenced(fired)]

    def test_every_series_is_one_that_the_exporter_has(self):
        for family, labels in self.fleet.hosts[0].series:
            self.assertEqual(inventory.unheard(family, dict(labels)), [])

    def test_a_healthy_day_wakes_nobody_and_makes_few_tickets(self):
        told = collections.defaultdict(list)
        for fired in self.of_the_day():
            told[fired.severity].append((fired.alert, self.step(fired.start), fired.labels))
        for severity in ("critical", "warning"):
            counts = dict(collections.Counter(alert for alert, _, _ in told[severity]))
            print(f"\n{HOSTS} hosts, {MINUTES} minutes: {len(told[severity])} {severity} {counts or ''}", end="")
            for alert, step, labels in told[severity]:
                print(f"\n  {step - BEFORE:4} {alert} {labels}", end="")
        self.assertEqual(told["critical"], [])
        self.assertLessEqual(len(told["warning"]), TICKETS, collections.Counter(alert for alert, _, _ in told["warning"]))

    def test_each_fault_is_found_in_time_and_named(self):
        self.assertGreaterEqual(len(self.faults.expected), 20)
        self.assertLessEqual({rule["alert"] for rule in ruler.rules()[1] if rule["labels"]["severity"] == "critical"},
                             {expected.alert for expected in self.faults.expected})
        for expected in self.faults.expected:
            with self.subTest(fault=expected.fault):
                found = [self.step(fired.start) - self.breaks for fired in self.fired
                         if fired.alert == expected.alert and expected.named.items() <= fired.labels.items()
                         and self.step(fired.start) >= self.breaks]
                self.assertTrue(found, f"no {expected.alert} with {expected.named}")
                print(f"\n{expected.fault}: {expected.alert} after {min(found)} of {expected.minutes} minutes", end="")
                self.assertLessEqual(min(found), expected.minutes)


if __name__ == "__main__":
    unittest.main()
