# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The collector module on a real kernel: what it serves of a transceiver or cable is what the tool ethtool decodes of the
same memory; modules that fail, hang or are not there.

The suite `module` (tests/lab/run), fabric `scripted`.
"""

import re
import unittest

import exporter
from guest import cages, kernel, knobs
from labtest import stop_daemons, wait_for
from transceivers import optical_cmis, optical_qsfp28, passive_copper, plug, unplug, words

CARDS = ("cx0", "cx1", "bcm0", "bcm1")
ON = ("--collector.module",)  # off by default
# A family, ethtool's names of its values, and what a unit of ours is in ethtool's.
MEASURED = (("temperature_celsius", r"Module temperature", 1), ("supply_volts", r"Module voltage", 1),
            ("tx_bias_amperes", r"Laser (tx )?bias current( \(Channel \d\))?", 1e3),
            ("tx_power_watts", r"(Transmit avg optical power \(Channel \d\)|Laser output power)", 1e3),
            ("rx_power_watts", r"(Rcvr signal avg optical power ?\(Channel \d\)|Receiver signal average optical power)", 1e3))
LIMITS = {"temperature_celsius": "Module temperature", "supply_volts": "Module voltage", "tx_bias_amperes": "Laser bias current",
          "tx_power_watts": "Laser output power", "rx_power_watts": "Laser rx power"}


def told_by_ethtool(netdev):
    """What `ethtool -m` prints, {name: text}."""
    lines = (line.partition(":") for line in kernel.run("ethtool", "-m", netdev).splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def number(told):
    return float(re.match(r"[-\d.]+", told).group())


def setUpModule():
    exporter.install()
    unittest.addModuleCleanup(stop_daemons)


def once():
    return exporter.once(*ON, *exporter.only("module"), "--metrics.set=full", "--scrape.timeout=2m", "--collector.module.timeout=2m")


class Modules(unittest.TestCase):
    def tearDown(self):
        for netdev in CARDS:
            unplug(netdev)

    def show(self, netdev, memory):
        plug(netdev, memory)
        return once(), told_by_ethtool(netdev)

    def assert_lanes(self, page, told, family, scale, wording):
        lanes = {int(dict(labels)["lane"]): value for (_, labels), value in page.find(f"rdma_netdev_module_{family}", netdev="cx0").items()}
        expected = {int(match[1]): number(value) for name, value in told.items() if (match := re.fullmatch(wording, name))}
        self.assertTrue(expected, sorted(told))
        self.assertEqual(set(lanes), set(expected))
        for lane, value in lanes.items():
            self.assertAlmostEqual(value * scale, expected[lane], delta=0.0051 if scale == 1e3 else 0.01)

    def test_an_optical_qsfp28(self):
        page, told = self.show("cx0", optical_qsfp28())
        self.assertAlmostEqual(page.get("rdma_netdev_module_temperature_celsius", netdev="cx0"),
                               number(told["Module temperature"]), delta=0.01)
        self.assertAlmostEqual(page.get("rdma_netdev_module_supply_volts", netdev="cx0"),
                               number(told["Module voltage"]), delta=0.0001)
        self.assert_lanes(page, told, "tx_bias_amperes", 1e3, r"Laser tx bias current \(Channel (\d)\)")
        self.assert_lanes(page, told, "rx_power_watts", 1e3, r"Rcvr signal avg optical power\(Channel (\d)\)")
        self.assert_lanes(page, told, "tx_power_watts", 1e3, r"Transmit avg optical power \(Channel (\d)\)")
        (found, _), = page.find("rdma_netdev_module_info", netdev="cx0").items()
        labels = dict(found[1])
        self.assertEqual((labels["vendor"], labels["part_number"], labels["serial_number"], labels["media"]),
                         (told["Vendor name"], told["Vendor PN"], told["Vendor SN"], "optical"))
        for level, name in (("high_alarm", "high alarm"), ("low_alarm", "low alarm"), ("high_warning", "high warning"),
                            ("low_warning", "low warning")):
            self.assertAlmostEqual(
                page.get("rdma_netdev_module_temperature_threshold_celsius", netdev="cx0", level=level),
                number(told[f"Module temperature {name} threshold"]), delta=0.01)
            self.assertAlmostEqual(
                page.get("rdma_netdev_module_rx_power_threshold_watts", netdev="cx0", level=level) * 1e3,
                number(told[f"Laser rx power {name} threshold"]), delta=0.0001)

    def test_an_optical_module_with_eight_lanes(self):
        page, told = self.show("cx0", optical_cmis())
        self.assertAlmostEqual(page.get("rdma_netdev_module_temperature_celsius", netdev="cx0"),
                               number(told["Module temperature"]), delta=0.01)
        self.assert_lanes(page, told, "tx_bias_amperes", 1e3, r"Laser tx bias current \(Channel (\d)\)")
        self.assert_lanes(page, told, "rx_power_watts", 1e3, r"Rcvr signal avg optical power \(Channel (\d)\)")
        self.assert_lanes(page, told, "tx_power_watts", 1e3, r"Transmit avg optical power \(Channel (\d)\)")

    def test_passive_copper_has_a_length_and_no_monitors(self):
        page, told = self.show("cx0", passive_copper())
        self.assertEqual(page.get("rdma_netdev_module_cable_length_meters", netdev="cx0"),
                         number(told["Length (Copper or Active cable)"]))
        (found, _), = page.find("rdma_netdev_module_info", netdev="cx0").items()
        self.assertEqual(dict(found[1])["media"], "passive_copper")
        self.assertFalse(page.find("rdma_netdev_module_temperature_celsius", netdev="cx0"))
        self.assertFalse(page.find("rdma_netdev_module_rx_power_watts", netdev="cx0"))

    def test_modules_that_are_real(self):
        """All that ethtool prints of what the exporter serves too, of each recorded memory."""
        for name in cages.recorded():
            if name.endswith("_by_bnxt_en"):
                continue  # garbled by a driver
            with self.subTest(name):
                cages.plug("cx0", name)
                self.assert_as_ethtool(once(), told_by_ethtool("cx0"))
                unplug("cx0")

    def assert_as_ethtool(self, page, told):
        (found, _), = page.find("rdma_netdev_module_info", netdev="cx0").items()
        labels = dict(found[1])
        self.assertEqual((labels["vendor"], labels["part_number"], labels["serial_number"]),
                         (told["Vendor name"], told["Vendor PN"], told["Vendor SN"]))
        compared = 0
        for family, name, scale in MEASURED:
            values = page.find(f"rdma_netdev_module_{family}", netdev="cx0")
            expected = sorted(number(text) for said, text in told.items() if re.fullmatch(name, said))
            if not values:
                continue  # ethtool prints 0 for what passive copper does not have
            self.assertEqual(len(values), len(expected), family)
            for value, of_ethtool in zip(sorted(values.values()), expected):
                self.assertAlmostEqual(value * scale, of_ethtool, delta=0.0051, msg=family)
                compared += 1
            for level in ("high_alarm", "low_alarm", "high_warning", "low_warning"):
                base, _, unit = family.rpartition("_")
                limit = page.get(f"rdma_netdev_module_{base}_threshold_{unit}", netdev="cx0", level=level)
                of_ethtool = told.get(f"{LIMITS[family]} {level.replace('_', ' ')} threshold")
                if limit is not None and of_ethtool is not None:
                    self.assertAlmostEqual(limit * scale, number(of_ethtool), delta=0.0051, msg=f"{family} {level}")
                    compared += 1
        self.assertEqual(bool(compared), labels["media"] != "passive_copper")

    def test_a_module_that_fails_costs_its_own_series(self):
        plug("cx0", optical_qsfp28())
        plug("cx1", passive_copper())
        with knobs.Knobs("labnic", "cx0/module").during("errno", 5):
            page = once()
        self.assertFalse(page.find("rdma_netdev_module_info", netdev="cx0"))
        self.assertTrue(page.find("rdma_netdev_module_info", netdev="cx1"))
        self.assertEqual(page.get("rdma_exporter_read_errors_total", collector="module", device="mlx5_0", reason="EIO"), 1)

    def test_a_cage_without_a_module_is_no_error(self):
        page = once()
        self.assertFalse(page.find("rdma_netdev_module_info"))
        self.assertEqual(page.find("rdma_exporter_read_errors_total", collector="module"), {})

    def test_a_daemon_serves_everything_else_while_a_module_hangs(self):
        """The driver sleeps under the RTNL lock. What takes it waits too; what does not is there at once."""
        plug("cx0", optical_qsfp28())
        daemon = exporter.Exporter(9400, *ON, *exporter.only("module", "port", "hw_counters"), "--collector.module.interval=10s")
        self.addCleanup(daemon.stop)
        knob = knobs.Knobs("labnic", "cx0/module")
        with knob.during("stuck", 1):
            daemon.wait_until_ready()
            wait_for(lambda: knob.reads() > 0, "a reading of the module")
            page = daemon.scrape()
            self.assertFalse(page.find("rdma_netdev_module_info"))
            self.assertEqual(page.get("rdma_port_up", device="mlx5_0", port="1"), 1)
            self.assertTrue(page.find("rdma_port_ack_timeouts_total", device="mlx5_0"))
        wait_for(lambda: daemon.scrape().find("rdma_netdev_module_info", netdev="cx0"), "the module that is read again", timeout=60)

    def test_doctor_says_which_lane_is_dark(self):
        memory = optical_qsfp28()
        memory[0, 34] = words(8000, 8200, 100, 7900)
        plug("cx0", memory)
        _, report = exporter.doctor(*ON, "--sample=0s")
        found = [finding for finding in report["findings"] if finding["check"] == "module" and finding["netdev"] == "cx0"]
        self.assertEqual([finding["verdict"] for finding in found], ["warning"])
        self.assertIn("lane 3 receives 0.01 mW, warning below 0.0513", found[0]["evidence"])
