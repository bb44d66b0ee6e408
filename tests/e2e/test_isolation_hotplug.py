# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Devices come and go between scrapes."""

import time

from harness import Exporter, TestCase
from marks import slow, timing


class HotPlug(TestCase):
    def setUp(self):
        super().setUp()
        self.host = self.tree(devices=9)

    def test_a_device_that_appears_is_in_the_next_scrape(self):
        with Exporter(sysfs=self.host.sys) as exporter:
            before = exporter.scrape().samples.kernel()
            self.host.add("mlx5")
            after = exporter.scrape().samples.kernel()
            self.assert_has_all(after, before.without_device(None))
            self.assertEqual((before.one("rdma_devices"), after.one("rdma_devices")), (9, 10))
            self.assertEqual(after.one("rdma_device_up", device="mlx5_9"), 1)
            self.assertEqual(len(after.select(device="mlx5_9")), len(after.select(device="mlx5_1")))

    def test_a_device_that_vanishes_is_down_and_has_no_other_series(self):
        with Exporter(sysfs=self.host.sys) as exporter:
            before = exporter.scrape().samples.kernel()
            self.host.remove("mlx5_3")
            for _ in range(3):
                after = exporter.scrape().samples
                self.assert_has_all(after, before.without_device("mlx5_3", None))
                self.assertEqual(after.one("rdma_devices"), 8)
                self.assertEqual(set(after.kernel().select(device="mlx5_3")),
                                 {("rdma_device_up", frozenset({("device", "mlx5_3")}))})
                self.assertEqual(after.one("rdma_device_up", device="mlx5_3"), 0)

    @timing
    def test_it_is_forgotten_after_the_configured_time(self):
        with Exporter("--device.forget-after=1s", sysfs=self.host.sys) as exporter:
            exporter.scrape()
            self.host.remove("mlx5_3")
            begin = time.monotonic()
            self.assertEqual(exporter.scrape().samples.one("rdma_device_up", device="mlx5_3"), 0)
            self.assertTrue(self.eventually(
                lambda: not exporter.scrape().samples.kernel().select(device="mlx5_3"), seconds=3))
            self.assertGreater(time.monotonic() - begin, 0.9)

    def test_a_device_that_was_never_seen_is_not_reported(self):
        with Exporter(sysfs=self.host.sys) as exporter:
            exporter.scrape()
            self.host.add("mlx5", "mlx5_77")
            self.host.remove("mlx5_77")
            self.assertFalse(exporter.scrape().samples.select(device="mlx5_77"))

    def test_the_same_name_with_another_device_behind_it(self):
        with Exporter("--raw=all", "--metrics.set=full", sysfs=self.host.sys) as exporter:
            old = exporter.scrape().samples.kernel().select(device="mlx5_3")
            self.host.remove("mlx5_3")
            self.host.seed = 2
            device = self.host.add("mlx5", "mlx5_3")
            new = exporter.scrape().samples.kernel()
            self.assertEqual(new.one("rdma_devices"), 9)
            self.assertEqual(new.one("rdma_device_up", device="mlx5_3"), 1)
            self.assertEqual(len(new.select(device="mlx5_3")), len(old))
            # No descriptor, 32-bit unwrapping or label of the old one may be left.
            for kind, port, name, path in device.counter_files():
                with open(path, encoding="ascii") as file:
                    self.assertEqual(new.one("rdma_port_raw_total", device="mlx5_3", source=kind, counter=name), int(file.read()), name)
            info = dict(next(iter(new.select("rdma_device_info", device="mlx5_3")))[1])
            self.assertEqual(info["pci_address"], device.pci_address)

    def test_it_comes_back_after_being_down(self):
        with Exporter(sysfs=self.host.sys) as exporter:
            before = exporter.scrape().samples.kernel()
            self.host.remove("mlx5_3")
            exporter.scrape()
            self.host.add("mlx5", "mlx5_3")
            after = exporter.scrape().samples.kernel()
            self.assertEqual(after.one("rdma_device_up", device="mlx5_3"), 1)
            self.assertEqual(len(after.select(device="mlx5_3")), len(before.select(device="mlx5_3")))

    def test_all_go_and_come_back(self):
        with Exporter(sysfs=self.host.sys) as exporter:
            before = exporter.scrape().samples.kernel()
            names = list(self.host.devices)
            for name in names:
                self.host.remove(name)
            empty = exporter.scrape().samples
            self.assertEqual(empty.one("rdma_devices"), 0)
            self.assertEqual(len(empty.select("rdma_device_up")), 9)
            for name in names:
                self.host.add("mlx5", name)
            after = exporter.scrape().samples.kernel()
            # The slot that the first device was in has had an error; the slots now are others.
            had_error = len(before.select("rdma_device_pcie_errors_total", device="mlx5_0", error="BadTLP"))
            self.assertEqual(len(after), len(before) - had_error)

    @slow(1)
    def test_scrapes_while_devices_come_and_go(self):
        with Exporter(sysfs=self.host.sys) as exporter:
            healthy = exporter.scrape().samples.kernel().without_device("mlx5_3", None)

            def work(i):
                if i == 0:
                    for _ in range(30):
                        self.host.remove("mlx5_3")
                        self.host.add("mlx5", "mlx5_3")
                    return
                for _ in range(15):
                    self.assert_has_all(exporter.scrape().samples, healthy)

            self.in_threads(3, work)
