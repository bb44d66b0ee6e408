# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Half of the devices and their interfaces hang in every read. The others are still served."""

from harness import Exporter, TestCase
from marks import timing_only

# Each is read by another collector, so that a device that hangs keeps several workers.
PLACES = ("ports/1/counters/port_xmit_data", "ports/1/hw_counters/np_cnp_sent", "ports/1/state", "ports/1/gids/0",
          "fw_ver", "device/net/{netdev}/mtu", "device/net/{netdev}/carrier_changes")
SCRAPES = 300
# The main thread, and those of the background, of which another one starts for a second while one is stuck.
OTHER_THREADS = 1 + 8


def page_workers(exporter):
    return exporter.scrape().samples.one("rdma_exporter_workers")


class HalfOfTheDevicesHang(TestCase):
    def setUp(self):
        super().setUp()
        self.host = self.tree(devices=16)
        with Exporter(sysfs=self.host.sys) as exporter:
            exporter.wait_for_checks()
            self.whole = exporter.scrape().samples.kernel()
        self.hanging = list(self.host.devices.values())[:8]
        gone = [device.name for device in self.hanging]
        gone += [device.netdev() for device in self.hanging]
        self.healthy = type(self.whole)({k: v for k, v in self.whole.items()
                                         if not any(value in gone for _, value in k[1])})
        self.assertGreater(len(self.healthy), 400)
        self.fifos = [self.fifo(f"{device.dir}/{place.format(netdev=device.netdev())}")
                      for device in self.hanging for place in PLACES]

    def assert_healthy(self, page):
        self.assert_has_all(page.samples, self.healthy, "devices that do not hang")
        self.assertEqual(page.samples.one("rdma_devices"), 16)

    @timing_only
    def test_the_others_are_served_in_each_scrape_and_nothing_grows(self):
        for workers in ("32", "512"):
            with self.subTest(workers=workers), Exporter(
                    "--scrape.timeout=1s", f"--limits.workers={workers}", sysfs=self.host.sys) as exporter:
                for _ in range(5):
                    self.assert_healthy(exporter.scrape())
                base = exporter.open_files(), exporter.status("VmRSS"), page_workers(exporter)
                for _ in range(SCRAPES):
                    page = exporter.scrape()
                    self.assert_healthy(page)
                    self.assertLess(page.seconds, 0.7, "nobody waits again for what is stuck")
                self.assertLessEqual(exporter.open_files(), base[0] + 2)
                self.assertLess(exporter.status("VmRSS"), base[1] + 4096)
                self.assertLessEqual(page_workers(exporter), base[2])
                self.assertLess(base[2], int(workers))
                self.assertLessEqual(exporter.status("Threads"), base[2] + OTHER_THREADS)

    def test_they_come_back_by_themselves(self):
        with Exporter("--scrape.timeout=500ms", sysfs=self.host.sys) as exporter:
            for _ in range(20):
                exporter.scrape()
            for fifo in self.fifos:
                fifo.replace("1")

            def back():
                for fifo in self.fifos:
                    fifo.release("1\n")
                success = exporter.scrape().samples.select("rdma_exporter_collector_success")
                return set(success.values()) == {1}

            self.assertTrue(self.eventually(back, seconds=30), "some device did not come back")
