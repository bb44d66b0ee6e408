# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The page has every counter of the files, once, in the right unit."""

import os
import re

from harness import Exporter, TestCase, fake_tree, names
from marks import slow

RAW = ("rdma_port_raw_total", "rdma_port_raw_value", "rdma_device_raw_total", "rdma_device_raw_value")


def value_of(path):
    with open(path, encoding="ascii") as file:
        return int(file.read())


def raw_family(kind, port, name):
    suffix = "value" if kind == "hw_counters" and name in names.GAUGES else "total"
    return f"rdma_{'port' if port else 'device'}_raw_{suffix}"


class EveryCounter(TestCase):
    @slow(1)
    def test_raw_all_has_every_file_of_every_driver_verbatim(self):
        tree = self.tree(driver="all")
        with Exporter("--raw=all", "--metrics.set=full", sysfs=tree.sys) as exporter:
            samples = exporter.scrape().samples
        expected = 0
        for device in tree.devices.values():
            for kind, port, name, path in device.counter_files():
                labels = {"device": device.name, "counter": name, **({"port": port, "source": kind} if port else {})}
                with self.subTest(driver=device.driver.pattern, kind=kind, name=name):
                    self.assertEqual(samples.one(raw_family(kind, port, name), **labels), value_of(path))
                expected += 1
        self.assertEqual(sum(len(samples.select(f)) for f in RAW), expected, "raw series without a file")
        self.assertFalse([k for k in samples if ("counter", "lifespan") in k[1]])

    def test_unmapped_all_and_none_differ_only_in_the_raw_families(self):
        tree = self.tree(driver="all")
        pages = {}
        for policy in ("unmapped", "all", "none"):
            with Exporter(f"--raw={policy}", "--metrics.set=full", sysfs=tree.sys) as exporter:
                pages[policy] = exporter.scrape().samples.kernel()
        raw = {p: {k for k in page if k[0] in RAW} for p, page in pages.items()}
        curated = {p: {k: v for k, v in page.items() if k[0] not in RAW} for p, page in pages.items()}
        self.assertEqual(curated["unmapped"], curated["all"])
        self.assertEqual(curated["unmapped"], curated["none"])
        self.assertEqual(raw["none"], set())
        self.assertLess(raw["unmapped"], raw["all"])

    @slow(3)
    def test_in_the_full_set_every_counter_is_served_exactly_once(self):
        """Every file gets a value of its own, and the values on the page are counted."""
        tree = self.tree(driver="all")
        expected, number = {}, 10**9
        for device in tree.devices.values():
            for kind, port, name, path in device.counter_files():
                number += 7919 if kind != "counters" else 7919 * 4
                value = number if kind != "counters" or names.PMA_WIDTHS[name] > 32 else 1 + number % 14
                fake_tree.set_value(path, value)
                factor = 4 if kind == "counters" and name in names.PMA_WORDS else 1
                if value > 14:
                    expected[(device.name, value * factor)] = (kind, port, name)
        with Exporter("--metrics.set=full", sysfs=tree.sys) as exporter:
            samples = exporter.scrape().samples.kernel()
        found = {}
        for k, value in samples.items():
            pair = (dict(k[1]).get("device"), value)
            found.setdefault(pair, []).append(k)
        doubled = {expected[p]: found[p] for p in expected if len(found.get(p, ())) > 1}
        self.assertEqual(doubled, {})
        self.assert_summed([(p[0], *expected[p]) for p in expected if p not in found], tree)

    def assert_summed(self, files, tree):
        """A file whose own value is not on the page must move exactly one series, and by as much as it moved."""
        self.assertLess(len(files), 60, "too many to be parts of sums")
        with Exporter("--metrics.set=full", sysfs=tree.sys) as exporter:
            exporter.scrape()
            before = exporter.scrape().samples.kernel()
            for device, kind, port, name in files:
                path = next(f for k, p, n, f in tree.devices[device].counter_files() if (k, p, n) == (kind, port, name))
                fake_tree.set_value(path, value_of(path) + 3)
                after = exporter.scrape().samples.kernel()
                moved = [after[k] - before[k] for k in before if after[k] != before[k]]
                before = after
                with self.subTest(device=device, name=name):
                    self.assertEqual(moved, [3])

    def test_supported_counters_that_are_zero_are_served(self):
        tree = self.tree(devices=1)
        with Exporter(sysfs=tree.sys) as exporter:
            keys = set(exporter.scrape().samples.kernel())
        for _, _, _, path in tree.devices["mlx5_0"].counter_files():
            fake_tree.set_value(path, 0)
        with Exporter(sysfs=tree.sys) as exporter:
            self.assertEqual(set(exporter.scrape().samples.kernel()), keys)


class Units(TestCase):
    """Before a file changes under a running daemon, one scrape waits for the end of the collection of the start."""

    def setUp(self):
        super().setUp()
        self.host = self.tree(devices=1)
        self.device = self.host.devices["mlx5_0"]

    def once(self, *flags):
        with Exporter(*flags, sysfs=self.host.sys) as exporter:
            return exporter.scrape().samples

    def test_data_words_are_bytes(self):
        fake_tree.set_value(self.device.counter("port_rcv_data"), 25)
        fake_tree.set_value(self.device.counter("port_xmit_data"), 2**62)
        samples = self.once()
        name = "rdma_port_data_bytes_total"
        self.assertEqual(samples.one(name, device="mlx5_0", port=1, direction="rx"), 100)
        # 2^64 bytes do not fit in 64 bits; a float does hold them.
        self.assertEqual(float(samples.one(name, device="mlx5_0", port=1, direction="tx")), 2.0**64)

    def test_largest_value(self):
        fake_tree.set_value(self.device.counter("port_rcv_packets"), 2**64 - 1)
        self.assertEqual(float(self.once().one("rdma_port_packets_total", direction="rx")), float(2**64 - 1))

    def test_rate_of_every_speed(self):
        rates = {"2.5 Gb/sec (1X SDR)": 312500000, "40 Gb/sec (4X QDR)": 5e9, "100 Gb/sec (4X EDR)": 12.5e9,
                 "400 Gb/sec (4X NDR)": 50e9, "56 Gb/sec (4X FDR)": 7e9, "800 Gb/sec (4X XDR)": 100e9}
        with Exporter(sysfs=self.host.sys) as exporter:
            exporter.scrape()
            for text, value in rates.items():
                fake_tree.set_value(f"{self.device.port()}/rate", text)
                self.assertEqual(exporter.scrape().samples.one("rdma_port_rate_bytes_per_second"), value, text)

    def test_states(self):
        port = self.device.port()
        states = {"0: NOP": 0, "1: DOWN": 1, "2: INIT": 2, "3: ARMED": 3, "4: ACTIVE": 4, "5: ACTIVE_DEFER": 5}
        with Exporter(sysfs=self.host.sys) as exporter:
            exporter.scrape()
            for text, value in states.items():
                fake_tree.set_value(f"{port}/state", text)
                samples = exporter.scrape().samples
                self.assertEqual(samples.one("rdma_port_state"), value)
                self.assertEqual(samples.one("rdma_port_up"), 1 if value == 4 else 0)
                self.assertEqual(samples.one("rdma_device_up"), 1 if value == 4 else 0)
                # A port that is down reports a made-up speed (mlx5: 40 Gb/sec).
                self.assertEqual(len(samples.select("rdma_port_rate_bytes_per_second")), 1 if value == 4 else 0, text)
            for text, value in (("3: Disabled", 3), ("2: Polling", 2), ("7: Phy Test", 7)):
                fake_tree.set_value(f"{port}/phys_state", text)
                self.assertEqual(exporter.scrape().samples.one("rdma_port_physical_state"), value)

    def test_pcie(self):
        samples = self.once()
        self.assertEqual(samples.one("rdma_device_pcie_speed_transfers_per_second"), 32e9)
        self.assertEqual(samples.one("rdma_device_pcie_max_speed_transfers_per_second"), 32e9)
        self.assertEqual(samples.one("rdma_device_pcie_width_lanes"), 16)
        fake_tree.set_value(f"{self.device.pci}/current_link_speed", "2.5 GT/s PCIe")
        fake_tree.set_value(f"{self.device.pci}/current_link_width", "4")
        samples = self.once()
        self.assertEqual(samples.one("rdma_device_pcie_speed_transfers_per_second"), 2.5e9)
        self.assertEqual(samples.one("rdma_device_pcie_width_lanes"), 4)

    def test_pcie_that_is_unknown_is_absent(self):
        for name in ("current_link_speed", "max_link_speed"):
            fake_tree.set_value(f"{self.device.pci}/{name}", "Unknown")
        for name in ("current_link_width", "max_link_width"):
            fake_tree.set_value(f"{self.device.pci}/{name}", "0")
        self.assertFalse([k for k in self.once() if re.match("rdma_device_pcie_(max_)?(speed|width)_", k[0])])

    def test_32_bit_counters_go_on_where_they_wrap(self):
        path = self.device.hw_counter("rx_write_requests")
        name, labels = "rdma_port_requests_total", {"direction": "rx", "operation": "write"}
        with Exporter(sysfs=self.host.sys) as exporter:
            exporter.scrape()
            for raw, served in ((2**32 - 10, 2**32 - 10), (5, 2**32 + 5), (2**32 - 1, 2**33 - 1), (0, 2**33)):
                fake_tree.set_value(path, raw)
                self.assertEqual(exporter.scrape().samples.one(name, **labels), served)

    def test_a_reset_of_a_small_value_is_no_wrap(self):
        path = self.device.hw_counter("rx_write_requests")
        with Exporter(sysfs=self.host.sys) as exporter:
            exporter.scrape()
            for raw in (1000, 5):
                fake_tree.set_value(path, raw)
                self.assertEqual(exporter.scrape().samples.one(
                    "rdma_port_requests_total", direction="rx", operation="write"), raw)

    def test_64_bit_counters_are_not_unwrapped(self):
        path = self.device.hw_counter("np_cnp_sent")
        with Exporter(sysfs=self.host.sys) as exporter:
            exporter.scrape()
            for raw in (2**32 - 10, 5):
                fake_tree.set_value(path, raw)
                self.assertEqual(exporter.scrape().samples.one("rdma_port_cnp_packets_total", direction="tx"), raw)

    def test_saturated_counters_are_flagged(self):
        for name, bits in (("symbol_error", 16), ("link_downed", 8), ("local_link_integrity_errors", 4),
                           ("port_xmit_wait", 32)):
            fake_tree.set_value(self.device.counter(name), (1 << bits) - 1)
        fake_tree.set_value(self.device.counter("port_rcv_packets"), 65535)
        saturated = {dict(k[1])["counter"] for k, v in self.once().select("rdma_port_counters_saturated").items() if v == 1}
        self.assertEqual(saturated, {"symbol_error", "link_downed", "port_xmit_wait"}, "local_link_integrity_errors is in the full set")

    def test_text_of_old_kernels_is_absence(self):
        for name in names.PMA:
            fake_tree.set_value(self.device.counter(name), "N/A (no PMA)")
        samples = self.once()
        self.assertFalse(samples.select("rdma_port_data_bytes_total"))
        self.assertFalse(samples.select("rdma_port_counters_saturated"))
        self.assertFalse({v for v in samples.select("rdma_exporter_read_errors_total").values() if v})
        self.assertEqual(samples.one("rdma_exporter_collector_success", collector="port_counters"), 1)


class Identity(TestCase):
    def info(self, driver, name="rdma_device_info"):
        tree = self.tree(devices=1, driver=driver)
        with Exporter(sysfs=tree.sys) as exporter:
            samples = exporter.scrape().samples.select(name)
        return [dict(k[1]) for k in samples], next(iter(tree.devices.values()))

    def test_device_info(self):
        (info,), device = self.info("mlx5")
        expected = {"device": "mlx5_0", "fw_version": "28.39.1002", "board_id": "MT_0000000838", "hca_type": "MT4129",
                    "node_guid": "0c42:a103:0000:0000", "driver": "mlx5_core", "pci_address": device.pci_address,
                    "numa_node": "0"}
        self.assertLessEqual(expected.items(), info.items())

    def test_virtual_function_names_its_physical_function_and_shows_its_pcie_link(self):
        tree = self.tree(devices=1, driver="mlx5-vf")
        with Exporter(sysfs=tree.sys) as exporter:
            samples = exporter.scrape().samples
        info = dict(next(iter(samples.select("rdma_device_info")))[1])
        self.assertIn(info["is_vf"], ("1", "true"))
        self.assertEqual(info["physfn"], "0000:10:00.0")
        self.assertEqual(samples.one("rdma_device_pcie_speed_transfers_per_second"), 32e9)

    def test_numa_node_that_is_unknown(self):
        tree = self.tree(devices=1)
        fake_tree.set_value(f"{tree.devices['mlx5_0'].pci}/numa_node", "-1")
        with Exporter(sysfs=tree.sys) as exporter:
            info = dict(next(iter(exporter.scrape().samples.select("rdma_device_info")))[1])
        self.assertIn(info.get("numa_node", ""), ("-1", ""))

    def test_port_info_finds_the_netdev(self):
        (info,), device = self.info("mlx5", "rdma_port_info")
        self.assertLessEqual({"link_layer": "Ethernet", "netdev": device.netdev()}.items(), info.items())

    def test_lids_only_on_infiniband(self):
        for driver, count in (("mlx5-ib", 1), ("mlx5", 0)):
            tree = self.tree(devices=1, driver=driver)
            with Exporter("--metrics.set=full", sysfs=tree.sys) as exporter:
                samples = exporter.scrape().samples
            self.assertEqual(len(samples.select("rdma_port_lid")), count, driver)
            if count:
                self.assertEqual(samples.one("rdma_port_lid"), 17)
                self.assertEqual(samples.one("rdma_port_sm_lid"), 1)

    def test_gids_by_type(self):
        tree = self.tree(devices=1)
        with Exporter(sysfs=tree.sys) as exporter:
            gids = exporter.scrape().samples.select("rdma_port_gids")
        self.assertEqual(sorted(gids.values()), [2, 2], dict(gids))

    def test_two_ports(self):
        tree = self.tree(devices=1, driver="mlx5-dual")
        fake_tree.set_value(f"{tree.devices['mlx5_0'].port(2)}/state", "1: DOWN")
        with Exporter(sysfs=tree.sys) as exporter:
            samples = exporter.scrape().samples
        self.assertEqual(samples.one("rdma_port_up", port=1), 1)
        self.assertEqual(samples.one("rdma_port_up", port=2), 0)
        self.assertEqual(samples.one("rdma_device_up"), 1)
        self.assertEqual(samples.one("rdma_port_data_bytes_total", port=2, direction="rx"),
                         4 * value_of(tree.devices["mlx5_0"].counter("port_rcv_data", 2)))

    def test_software_device_without_a_pci_function(self):
        (info,), device = self.info("rxe")
        self.assertEqual(info["device"], "rxe0")
        self.assertEqual(info.get("pci_address", ""), "")
        self.assertTrue(os.path.exists(f"{device.dir}/parent"))

    def test_a_hw_counter_named_like_a_port_counter_stays_apart(self):
        """rxe has a hw counter link_downed; it is not the link_downed of the PMA."""
        tree = self.tree(devices=1, driver="rxe")
        with Exporter("--raw=all", "--metrics.set=full", sysfs=tree.sys) as exporter:
            samples = exporter.scrape().samples
        self.assertEqual(len(samples.select("rdma_port_raw_total", source="hw_counters", counter="link_downed")), 1)
        self.assertFalse(samples.select("rdma_port_raw_total", source="counters"))
