# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The synthetic trees have the shape that a kernel gives, and an unrelated reader finds their values."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fake_tree  # noqa: E402
import prom_text  # noqa: E402

NODE_EXPORTER = shutil.which("prometheus-node-exporter")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class TreeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fake_tree.")
        self.addCleanup(shutil.rmtree, self.folder)

    def build(self, name="tree", **options):
        return fake_tree.build(f"{self.folder}/{name}", **options)


class Shape(TreeTest):
    def test_class_entry_and_device_link_lead_to_the_pci_function(self):
        tree = self.build(devices=1)
        entry = f"{tree.sys}/class/infiniband/mlx5_0"
        self.assertEqual(os.readlink(entry), "../../devices/pci0000:00/0000:00:01.0/0000:10:00.0/infiniband/mlx5_0")
        self.assertEqual(os.readlink(f"{entry}/device"), "../../../0000:10:00.0")
        self.assertEqual(read(f"{entry}/device/vendor"), "0x15b3\n")
        self.assertEqual(os.path.basename(os.readlink(f"{entry}/device/driver")), "mlx5_core")
        self.assertEqual(os.listdir(f"{entry}/device/net"), ["eth0"])

    def test_no_link_dangles(self):
        tree = self.build(driver="all")
        links = 0
        for folder, folders, files in os.walk(tree.sys):
            for name in folders + files:
                path = f"{folder}/{name}"
                if os.path.islink(path):
                    links += 1
                    self.assertTrue(os.path.exists(path), path)
        self.assertGreater(links, 50)

    def test_counter_sets_of_the_drivers(self):
        tree = self.build(driver="all")
        counts = {}
        for device in tree.devices.values():
            for kind, port, _, _ in device.counter_files():
                key = (device.name, kind if port else "device_" + kind)
                counts[key] = counts.get(key, 0) + 1
        self.assertEqual(counts[("mlx5_0", "counters")], 21)
        self.assertEqual(counts[("mlx5_0", "hw_counters")], 28)
        self.assertEqual(counts[("mlx5_1", "hw_counters")], 31)  # kernel 6.12
        self.assertEqual(counts[("mlx5_3", "counters")], 42)     # dual port
        self.assertEqual(counts[("bnxt_re0", "hw_counters")], 92)
        self.assertNotIn(("bnxt_re0", "counters"), counts)
        self.assertEqual(counts[("efa_0", "device_hw_counters")], 12)
        self.assertEqual(counts[("rxe0", "hw_counters")], 15)
        self.assertGreater(counts[("hfi1_0", "hw_counters")] + counts[("hfi1_0", "device_hw_counters")], 600)
        hfi1 = tree.devices["hfi1_0"]
        self.assertTrue(os.path.exists(hfi1.device_hw_counter("SDEDscFdCn10,32")))
        self.assertTrue(os.path.exists(hfi1.device_hw_counter("Cce LATriggered")))

    def test_virtual_function_leads_to_its_physical_function(self):
        tree = self.build(devices=1, driver="mlx5-vf")
        device = f"{tree.sys}/class/infiniband/mlx5_0/device"
        self.assertEqual(read(f"{device}/current_link_speed"), "Unknown\n")
        self.assertEqual(read(f"{device}/physfn/current_link_speed"), "32.0 GT/s PCIe\n")

    def test_it_is_marked_as_synthetic(self):
        text = read(f"{self.build(devices=1).root}/SYNTHETIC.md")
        self.assertIn("hw/mlx5/counters.c", text)
        self.assertIn("core/sysfs.c", text)


class Values(TreeTest):
    def contents(self, tree):
        return {f"{d.name}/{k}/{p}/{n}": read(path)
                for d in tree.devices.values() for k, p, n, path in d.counter_files()}

    def test_the_seed_decides_all_values(self):
        first = self.contents(self.build("a", driver="all", seed=7))
        self.assertEqual(first, self.contents(self.build("b", driver="all", seed=7)))
        self.assertNotEqual(first, self.contents(self.build("c", driver="all", seed=8)))

    def test_nothing_starts_saturated(self):
        for device in self.build(devices=40).devices.values():
            for name, bits in fake_tree.names.PMA_WIDTHS.items():
                self.assertLess(int(read(device.counter(name))), (1 << bits) - 1)

    def test_set_value_keeps_the_inode(self):
        device = self.build(devices=1).devices["mlx5_0"]
        path = device.hw_counter("out_of_sequence")
        before = os.stat(path).st_ino
        fake_tree.set_value(path, 5)
        self.assertEqual((read(path), os.stat(path).st_ino), ("5\n", before))

    def test_removed_device_leaves_nothing_and_can_come_back(self):
        tree = self.build(devices=2)
        old = self.contents(tree)
        tree.remove("mlx5_1")
        self.assertEqual(os.listdir(f"{tree.sys}/class/infiniband"), ["mlx5_0"])
        self.assertEqual(os.listdir(f"{tree.sys}/class/net"), ["eth0"])
        tree.seed = 2
        tree.add("mlx5", "mlx5_1")
        self.assertNotEqual(self.contents(tree), old)


class Command(TreeTest):
    def test_it_writes_a_tree_and_refuses_a_full_folder(self):
        command = [sys.executable, fake_tree.__file__, f"{self.folder}/out", "--devices", "2", "--driver", "rxe"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        self.assertIn("2 devices, 30 counter files", done.stdout)
        self.assertEqual(subprocess.run(command, capture_output=True, check=False).returncode, 2)


@unittest.skipUnless(NODE_EXPORTER, "prometheus-node-exporter is not installed")
class SecondReader(TreeTest):
    def scrape(self, tree):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{probe.getsockname()[1]}"
        process = subprocess.Popen(
            [NODE_EXPORTER, "--collector.disable-defaults", "--collector.infiniband", f"--path.sysfs={tree.sys}",
             f"--web.listen-address={address}"], stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        for _ in range(100):
            try:
                with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
                    return prom_text.read(answer.read()).samples
            except OSError:
                time.sleep(0.05)
        raise AssertionError("node_exporter did not answer")

    def test_node_exporter_finds_the_same_values(self):
        tree = self.build(devices=3)
        samples = self.scrape(tree)
        for device in tree.devices.values():
            labels = frozenset({("device", device.name), ("port", "1")})
            for name, metric, factor in (
                    ("unicast_rcv_packets", "node_infiniband_unicast_packets_received_total", 1),
                    ("port_xmit_data", "node_infiniband_port_data_transmitted_bytes_total", 4)):
                expected = int(read(device.counter(name))) * factor
                self.assertEqual(samples[(metric, labels)], expected, metric)


if __name__ == "__main__":
    unittest.main()
