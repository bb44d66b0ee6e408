# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""What a long test has to show at its end: the daemon holds no more than at its start, and serves what a fresh daemon does."""

import exporter
import footprint
from labtest import LabTest, readable, wait_for

FRESH_PORT = 9407
# Tables are dumped once a minute. A daemon opens a device for a moment to ask for its MTU; a dump that sees this context is
# served until the next one, which must not see it again.
SECONDS = 200
# What a daemon has counted, or last seen, since it runs.
HISTORY = ("rdma_port_carrier_changes", "rdma_events_", "rdma_netdev_carrier", "rdma_device_async")


class Soak(LabTest):
    def assert_left_nothing(self, daemon, before, *flags):
        """`flags` are those that the daemon was started with."""
        after = daemon.footprint()
        print(f"{self.id()}: {before} -> {after}", flush=True)
        self.assertEqual(footprint.grown(before, after), {})
        self.assert_as_fresh(daemon, *flags)

    def assert_as_fresh(self, daemon, *flags):
        fresh = exporter.Exporter(FRESH_PORT, *flags)
        self.addCleanup(fresh.stop)
        fresh.wait_until_ready()
        difference = {}

        def same():
            old, new = (self.present(each.scrape()) for each in (daemon, fresh))
            difference.update(old={key: value for key, value in old.items() if new.get(key) != value},
                              new={key: value for key, value in new.items() if old.get(key) != value})
            return old == new

        try:
            wait_for(same, "the page of a fresh daemon", timeout=SECONDS)
        except AssertionError:
            self.assertEqual(difference["old"], difference["new"])
            raise

    @staticmethod
    def present(page):
        """What the page says of the kernel as it is now."""
        return readable({key: value for key, value in page.kernel_series().items() if not key[0].startswith(HISTORY)})
