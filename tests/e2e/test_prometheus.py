# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A real Prometheus server scrapes the daemon."""

import os
import shutil
import time
import unittest

from harness import SELF, Exporter, Fifo, TestCase, fake_tree, temporary_folder
from marks import slow
from prometheus_server import PROMETHEUS, Server


def write_hostile_names(device):
    folder = os.fsencode(device.port() + "/hw_counters/")
    for name in (b"a b,32", b'q"\\', b"new\nline", b"\xff", b"\xfe", b"\xe2\x80\xa8", b"cr\rcr", b"\x01"):
        with open(folder + name, "wb") as file:
            file.write(b"1\n")
    with open(f"{device.dir}/fw_ver", "wb") as file:
        file.write(b'\0\1"\\\n\xff')


@slow(7)
@unittest.skipUnless(PROMETHEUS, "prometheus is not installed")
class Scraped(TestCase):
    """One server for all tests: it takes 5 s until it scrapes for the first time."""

    @classmethod
    def setUpClass(cls):
        cls.place = temporary_folder()
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        kinds = (("zoo", "all", 0), ("moving", "mlx5", 1), ("hostile", "mlx5", 1), ("stuck", "mlx5", 9))
        trees = {job: fake_tree.build(f"{cls.place}/{job}", driver=driver, devices=devices)
                 for job, driver, devices in kinds}
        cls.moving = trees["moving"].devices["mlx5_0"].counter("port_rcv_data")
        fake_tree.set_value(cls.moving, 1000)
        write_hostile_names(trees["hostile"].devices["mlx5_0"])
        fifo = Fifo(trees["stuck"].devices["mlx5_4"].hw_counter("np_cnp_sent"), cls.place)
        cls.addClassCleanup(fifo.release, "0\n")
        cls.exporters = {}
        for job, tree in trees.items():
            cls.exporters[job] = Exporter(sysfs=tree.sys)
            cls.addClassCleanup(cls.exporters[job].__exit__, None, None, None)
        cls.server = Server(cls.place, cls.exporters)
        cls.addClassCleanup(cls.server.stop)
        end = time.monotonic() + 20
        while len(cls.server.query("rdma_devices or up == 0")) < len(trees) and time.monotonic() < end:
            time.sleep(0.1)
        fake_tree.set_value(cls.moving, 2000)

    def assert_up(self, job):
        self.assertEqual(self.server.targets()[job], ("up", ""))
        self.assertEqual([r["value"][1] for r in self.server.query(f'min_over_time(up{{job="{job}"}}[1m])')], ["1"])

    def test_stored_values_equal_the_served_ones(self):
        self.assert_up("zoo")
        served = self.exporters["zoo"].scrape().samples.kernel()
        stored = {}
        own = "|".join(f"{name}.*" for name in SELF)
        for result in self.server.query(f'{{job="zoo",__name__=~"rdma_.*",__name__!~"{own}"}}'):
            labels = {k: v for k, v in result["metric"].items() if k not in ("job", "instance", "__name__")}
            stored[(result["metric"]["__name__"], frozenset(labels.items()))] = float(result["value"][1])
        self.assertEqual(set(stored), set(served))
        for k, value in served.items():
            self.assertEqual(stored[k], float(value), k)
        for name in ("rdma_port_data_bytes_total", "rdma_device_up", "rdma_port_cnp_packets_total"):
            self.assertTrue([k for k in stored if k[0] == name], name)

    def test_counters_that_move_give_an_increase(self):
        self.assert_up("moving")
        series = 'rdma_port_data_bytes_total{job="moving",direction="rx"}[1m]'
        increase = self.eventually(lambda: [r for r in self.server.query(
            f"max_over_time({series}) - min_over_time({series})") if float(r["value"][1]) > 0], seconds=5)
        self.assertEqual([float(r["value"][1]) for r in increase], [4000.0])

    def test_metadata_has_types_and_help(self):
        metadata = self.server.api("metadata")
        self.assertEqual(metadata["rdma_port_data_bytes"][0]["type"], "counter", "OpenMetrics: without _total")
        self.assertEqual(metadata["rdma_device_up"][0]["type"], "gauge")
        self.assertTrue(all(entry[0]["help"] for name, entry in metadata.items() if name.startswith("rdma_")))

    def test_hostile_names_do_not_break_the_target(self):
        self.assert_up("hostile")
        stored = {r["metric"].get("counter") for r in self.server.query('rdma_port_raw_total{source="hw_counters",job="hostile"}')}
        self.assertLessEqual({"a b,32", 'q"\\', "new\nline", "\u2028", "cr\rcr", "\x01"}, stored)

    def test_a_stuck_device_does_not_take_the_target_down(self):
        """The scrape timeout is 1 s here, less than the exporter's own."""
        self.assert_up("stuck")
        self.assertEqual([r["value"][1] for r in self.server.query('rdma_devices{job="stuck"}')], ["9"])
