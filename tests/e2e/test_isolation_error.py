# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""One file that cannot be read costs one sample."""

import os

from harness import Exporter, TestCase
from marks import slow

# A process that reads its own memory at offset 0 gets EIO.
UNREADABLE = "/proc/self/mem"


def break_file(path):
    os.unlink(path)
    os.symlink(UNREADABLE, path)


def without_info_labels(samples):
    """An info series loses one label with one attribute; here it stays the same series."""
    return {(name, frozenset((k, v) for k, v in labels if not name.endswith("_info") or k in ("device", "port"))): value
            for (name, labels), value in samples.items()}


class OneUnreadableFile(TestCase):
    def lost(self, path_of, raw="all"):
        """Series that a page lacks after one file of mlx5_3 was broken, and the broken page."""
        tree = self.tree(devices=9)
        with Exporter(f"--raw={raw}", "--metrics.set=full", sysfs=tree.sys) as exporter:
            whole = without_info_labels(exporter.scrape().samples.kernel())
        break_file(path_of(tree.devices["mlx5_3"]))
        with Exporter(f"--raw={raw}", "--metrics.set=full", sysfs=tree.sys) as exporter:
            page = exporter.scrape()
        broken = without_info_labels(page.samples.kernel())
        self.assertEqual(set(broken) - set(whole), set(), "series that only the broken page has")
        for k in broken:
            self.assertEqual(broken[k], whole[k], k)
        return sorted(set(whole) - set(broken)), page

    def assert_error_counted(self, page, collector):
        errors = page.samples.select("rdma_exporter_read_errors_total")
        self.assertEqual({k: v for k, v in errors.items() if v != 0}, errors.select(
            collector=collector, device="mlx5_3", reason="EIO"))
        self.assertEqual(errors.one("rdma_exporter_read_errors_total", reason="EIO"),
                         page.samples.one("rdma_exporter_scrapes_total"))
        self.assertEqual(page.samples.one("rdma_exporter_collector_success", collector=collector), 1)

    def test_hw_counter(self):
        lost, page = self.lost(lambda d: d.hw_counter("out_of_sequence"), raw="unmapped")
        self.assertEqual(len(lost), 1, lost)
        self.assertEqual(dict(lost[0][1]), {"device": "mlx5_3", "port": "1"})
        self.assertIn("out_of_sequence", lost[0][0])
        self.assert_error_counted(page, "hw_counters")

    def test_port_counter(self):
        lost, page = self.lost(lambda d: d.counter("port_xmit_data"), raw="unmapped")
        self.assertEqual(lost, [("rdma_port_data_bytes_total", frozenset(
            {("device", "mlx5_3"), ("port", "1"), ("direction", "tx")}))])
        self.assert_error_counted(page, "port_counters")

    def test_saturating_counter_takes_only_its_own_flag_along(self):
        lost, page = self.lost(lambda d: d.counter("symbol_error"), raw="unmapped")
        names = [name for name, _ in lost]
        self.assertEqual([n for n in names if n != "rdma_port_counters_saturated"], ["rdma_port_symbol_errors_total"])
        self.assertLessEqual(len(lost), 2, lost)
        self.assert_error_counted(page, "port_counters")

    def test_raw_counter_goes_with_its_curated_twin(self):
        lost, _ = self.lost(lambda d: d.hw_counter("np_cnp_sent"))
        self.assertEqual(len(lost), 2, lost)

    def test_a_counter_of_a_sum_takes_the_sum_and_nothing_else(self):
        lost, _ = self.lost(lambda d: d.hw_counter("rp_cnp_handled"), raw="unmapped")
        self.assertEqual([name for name, _ in lost], ["rdma_port_cnp_packets_total"], "a partial sum is a wrong number")

    @slow(2)
    def test_attributes(self):
        """Each takes along what is made of it, and no more."""
        made_of = {
            "fw_ver": (), "node_type": (), "node_guid": (), "ports/1/link_layer": (), "device/numa_node": (),
            "device/vendor": (), "ports/1/phys_state": ("rdma_port_physical_state",),
            "ports/1/rate": ("rdma_port_rate_bytes_per_second", "rdma_port_width_lanes"),
            # Up, rate and width are only known where the state is.
            "ports/1/state": ("rdma_device_up", "rdma_port_rate_bytes_per_second", "rdma_port_state", "rdma_port_up",
                              "rdma_port_width_lanes"),
            "device/current_link_speed": ("rdma_device_pcie_speed_transfers_per_second",),
        }
        for path, families in made_of.items():
            with self.subTest(path=path):
                lost, page = self.lost(lambda d, path=path: f"{d.dir}/{path}", raw="unmapped")
                self.assertEqual(tuple(name for name, _ in lost), families)
                self.assertTrue(page.samples.select("rdma_exporter_read_errors_total", reason="EIO", device="mlx5_3"))

    def test_a_gid_table_that_cannot_be_read_is_not_an_empty_one(self):
        tree = self.tree(devices=9)
        folder = f"{tree.devices['mlx5_3'].port()}/gid_attrs/types"
        for slot in os.listdir(folder):
            break_file(f"{folder}/{slot}")
        with Exporter(sysfs=tree.sys) as exporter:
            samples = exporter.scrape().samples
            self.assertFalse(samples.select("rdma_port_gids", device="mlx5_3"))
            self.assertTrue(samples.select("rdma_exporter_read_errors_total", device="mlx5_3", reason="EIO"))

    def test_the_device_link_itself(self):
        tree = self.tree(devices=9)
        device = tree.devices["mlx5_3"]
        with Exporter(sysfs=tree.sys) as exporter:
            whole = exporter.scrape().samples.kernel()
            os.unlink(device.class_link)
            os.symlink("no/such/place", device.class_link)
            broken = exporter.scrape().samples
            self.assert_has_all(broken, whole.without_device("mlx5_3", None))


class Repair(TestCase):
    def test_a_file_that_works_again_is_served_again(self):
        tree = self.tree(devices=9)
        path = tree.devices["mlx5_3"].hw_counter("out_of_sequence")
        with Exporter(sysfs=tree.sys) as exporter:
            whole = exporter.scrape().samples.kernel()
        os.rename(path, f"{self.folder}/kept")
        os.symlink(UNREADABLE, path)
        with Exporter(sysfs=tree.sys) as exporter:
            for _ in range(3):
                samples = exporter.scrape().samples
                # After three failures in a row the file is left alone for a second.
                self.assertEqual(samples.one("rdma_exporter_read_errors_total", device="mlx5_3", reason="EIO"),
                                 min(3, samples.one("rdma_exporter_scrapes_total")))
            os.rename(f"{self.folder}/kept", path)
            self.assertTrue(self.eventually(lambda: exporter.scrape().samples.kernel() == whole, seconds=5))
