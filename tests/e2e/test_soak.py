# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Thousands of reloads leave nothing behind. TEST_RELOADS: their number (by default a few; `scripts/test long`: 10,000)."""

import os
import signal
import threading

import footprint
from marks import slow
from soak import Soak

RELOADS = int(os.environ.get("TEST_RELOADS", "200"))
HANGS_EVERY = 50
LOADED = "rdma_exporter_config_last_reload_successful"


class Reloads(Soak):
    ROOM = {**footprint.ROOM, "threads": 2, "descriptors": 8}  # of one configuration that has not ended yet

    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.folder, "config.yml")
        self.write(4000)
        self.hosts = self.tree(devices=4)

    def write(self, series):
        with open(self.file + ".new", "w", encoding="utf-8") as file:
            file.write(f"limits: {{series_per_device: {series}}}\n")
        os.rename(self.file + ".new", self.file)

    def daemon(self):
        return self.start(f"--config.file={self.file}", "--web.enable-lifecycle", "--scrape.timeout=200ms",
                          sysfs=self.hosts.sys)

    def hang(self, exporter):
        """Reloads while a read is stuck: each earlier configuration waits for it, and after four no other is taken."""
        fifo = self.fifo(self.hosts.devices["mlx5_0"].hw_counter("np_cnp_sent"))
        for series in range(3000, 3006):
            self.write(series)
            exporter.get("/-/reload", method="POST")
            exporter.scrape()
        fifo.replace("5\n")
        self.assertTrue(self.eventually(lambda: fifo.release("5\n")), "no read was stuck")
        self.assertTrue(self.eventually(lambda: exporter.get("/-/reload", method="POST").status == 200, 30))

    @slow(20)
    def test_reloads_under_scrapes_and_stuck_reads_leave_nothing_behind(self):
        with self.daemon() as exporter:
            self.write(4001)
            self.assertEqual(exporter.get("/-/reload", method="POST").status, 200)
            before = self.settle(exporter)
            stop, scrapes = threading.Event(), []

            def scrape():
                while not stop.is_set():
                    scrapes.append(len(exporter.scrape().samples))

            scraping = [threading.Thread(target=scrape) for _ in range(2)]
            for thread in scraping:
                thread.start()
            for i in range(RELOADS):
                if i % HANGS_EVERY == HANGS_EVERY - 1:
                    self.hang(exporter)
                self.write(4000 + i % 7)
                if i % 2:
                    os.kill(exporter.pid, signal.SIGHUP)
                else:
                    self.assertTrue(self.eventually(
                        lambda: exporter.get("/-/reload", method="POST").status == 200, 10), exporter.log()[-2000:])
            stop.set()
            for thread in scraping:
                thread.join(30)
            # A signal says nothing when it has been heard: a configuration that comes later has the files of two open.
            self.assertTrue(self.eventually(lambda: exporter.get("/-/reload", method="POST").status == 200, 10))
            self.assertGreater(len(scrapes), RELOADS / 10)
            print(f"{RELOADS} reloads, {len(scrapes)} scrapes")
            self.assertEqual(exporter.scrape().samples.one(LOADED), 1)
            self.assert_left_nothing(exporter, before, self.daemon)


if __name__ == "__main__":
    import unittest
    unittest.main()
