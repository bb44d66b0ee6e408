# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Collectors ethtool_standard, dcb and roce_config on a real kernel: what they serve is what ethtool and dcb print.

The suite `dcb` (tests/lab/run), fabric `scripted`: cx0 and cx1 are a ConnectX to ethtool
and dcb, bcm0 and bcm1 a NetXtreme-E, each below an RDMA device; ve0 and ve1 are veth interfaces below Soft-RoCE.
"""

import json
import threading
import time
import unittest

import exporter
from guest import Path, kernel, knobs
from labtest import daemons

CARDS = ("cx0", "bcm0")
KNOBS = Path("/sys/kernel/debug/labnic")
CONFIGFS = Path("/sys/kernel/config")
# How the standard counters are served, written down here a second time on purpose: a counter that is exported with the
# wrong meaning or direction agrees with the exporter's own table.
ERRORS = "rdma_netdev_mac_errors_total"
CURATED = {
    "SymbolErrorDuringCarrier": ("rdma_netdev_symbol_errors_total", {}),
    "FramesTransmittedOK": ("rdma_netdev_mac_frames_total", {"direction": "tx"}),
    "FramesReceivedOK": ("rdma_netdev_mac_frames_total", {"direction": "rx"}),
    "OctetsTransmittedOK": ("rdma_netdev_mac_bytes_total", {"direction": "tx"}),
    "OctetsReceivedOK": ("rdma_netdev_mac_bytes_total", {"direction": "rx"}),
    "FrameCheckSequenceErrors": (ERRORS, {"direction": "rx", "error": "fcs"}),
    "AlignmentErrors": (ERRORS, {"direction": "rx", "error": "alignment"}),
    "InRangeLengthErrors": (ERRORS, {"direction": "rx", "error": "in_range_length"}),
    "OutOfRangeLengthField": (ERRORS, {"direction": "rx", "error": "out_of_range_length"}),
    "FrameTooLongErrors": (ERRORS, {"direction": "rx", "error": "too_long"}),
    "UnsupportedOpcodesReceived": (ERRORS, {"direction": "rx", "error": "unsupported_opcode"}),
    "MACControlFramesTransmitted": ("rdma_netdev_mac_control_frames_total", {"direction": "tx"}),
    "MACControlFramesReceived": ("rdma_netdev_mac_control_frames_total", {"direction": "rx"}),
    "etherStatsUndersizePkts": ("rdma_netdev_rmon_errors_total", {"error": "undersize"}),
    "etherStatsOversizePkts": ("rdma_netdev_rmon_errors_total", {"error": "oversize"}),
    "etherStatsFragments": ("rdma_netdev_rmon_errors_total", {"error": "fragment"}),
    "etherStatsJabbers": ("rdma_netdev_rmon_errors_total", {"error": "jabber"}),
}
RAW = "rdma_netdev_raw_total"
OURS = ("ethtool_standard", "dcb", "roce_config")
# Only what is tested here (libibverbs takes seconds in the lab), and no sample is missing because the machine is slow.
FLAGS = (*(f"--no-collector.{name}" for name in ("device", "port", "port_counters", "hw_counters", "ethtool")),
         "--metrics.set=full", "--scrape.timeout=5m", *(f"--collector.{name}.timeout=2m" for name in OURS))
daemon: exporter.Exporter = None
LINK_COUNT = kernel.release() >= (6, 4)


def setUpModule():
    global daemon
    exporter.install()
    daemon = daemons["default"] = exporter.Exporter(9400, "--log.level=debug", *FLAGS)
    unittest.addModuleCleanup(lambda: daemon.stop())
    daemon.wait_until_ready()


def scrape():
    return exporter.Scrape(daemon.get("/metrics", timeout=300))


def once(*prefix):
    return exporter.once(*FLAGS, prefix=prefix)


def ethtool(*arguments):
    return json.loads(kernel.run("ethtool", "--json", "-I", *arguments))[0]


def ethtool_text(*arguments):
    """[(name, value)] of the lines that ethtool prints; for what its JSON lacks (-g) or has wrong (-a, in 6.1)."""
    lines = kernel.run("ethtool", "-I", *arguments).splitlines()
    return [tuple(part.strip() for part in line.split(":", 1)) for line in lines if ":" in line]


def dcb(netdev, what):
    return json.loads(kernel.run("dcb", "-j", "-s", what, "show", "dev", netdev))


def numbered(values):
    """dcb prints an array or, for a change, an object of numbers."""
    return dict(enumerate(values)) if isinstance(values, list) else {int(k): v for k, v in values.items()}


def standard_statistics(netdev):
    groups = ethtool("-S", netdev, "--all-groups")
    return {name: value for group in ("eth-phy", "eth-mac", "eth-ctrl", "rmon")
            for name, value in groups.get(group, {}).items() if not isinstance(value, (list, dict))}


def knob(netdev, name, value):
    (KNOBS / netdev / name).write_text(f"{value}\n")


def wait_for(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.1)


PLACES = {}


def place(page, netdev):
    """The labels that every series of the interface has; as they were last, when it has gone."""
    for _, labels in page.find(netdev=netdev):
        PLACES[netdev] = {name: dict(labels)[name] for name in ("device", "port", "netdev")}
        break
    return PLACES[netdev]


class EthernetTest(unittest.TestCase):
    maxDiff = None

    def quiet(self, oracle):
        """What `oracle` says and a page of a moment in which it did not change."""
        for _ in range(10):
            before, page = oracle(), scrape()
            if oracle() == before:
                return before, page
        self.fail("the counters do not rest")

    def assert_no_read_errors(self, page, netdev):
        errors = {key: value for key, value in page.find("rdma_exporter_read_errors_total", device=place(page, netdev)["device"]).items()
                  if value}
        self.assertEqual(errors, {})


class Standard(EthernetTest):
    def test_every_standard_counter_is_served_once_with_the_value_of_ethtool(self):
        for netdev in CARDS:
            with self.subTest(netdev=netdev):
                statistics, page = self.quiet(lambda netdev=netdev: standard_statistics(netdev))
                self.assertGreater(len(statistics), 9)
                expected = {}
                for name, value in statistics.items():
                    family, labels = CURATED.get(name, (RAW, {"counter": name}))
                    expected[family, frozenset({**place(page, netdev), **labels}.items())] = value
                families = {family for family, _ in CURATED.values()} | {RAW}
                served = {key: value for family in families for key, value in page.find(family, netdev=netdev).items()}
                self.assertEqual(served, expected)

    def test_the_lean_set_reads_no_group_of_statistics_that_it_does_not_export(self):
        """The driver reads the card for each group. The least of three: others may read it meanwhile."""
        card = knobs.Knobs("labnic", "cx0")
        reads, pages = {}, {}
        for metrics in ("full", "lean"):
            flags = (*exporter.only("ethtool_standard"), f"--metrics.set={metrics}")
            counts = []
            for _ in range(3):
                before = card.reads()
                pages[metrics] = exporter.once(*flags)
                counts.append(card.reads() - before)
            reads[metrics] = min(counts)
        self.assertEqual(reads["full"] - reads["lean"], 1, "RMON")
        for family in (ERRORS, "rdma_netdev_mac_bytes_total", "rdma_netdev_symbol_errors_total"):
            served = [{key[1] for key in pages[metrics].find(family, netdev="cx0")} for metrics in pages]
            self.assertNotEqual(served[0], set(), family)
            self.assertEqual(*served, family)

    def test_pause(self):
        for netdev in CARDS:
            self.addCleanup(kernel.run, "ethtool", "-A", netdev, "rx", "off", "tx", "off")
            for rx in ("off", "on"):
                kernel.run("ethtool", "-A", netdev, "rx", rx)
                shown, page = self.quiet(lambda netdev=netdev: dict(ethtool_text("-a", netdev)))
                for direction in ("rx", "tx"):
                    self.assertEqual(page.get("rdma_netdev_pause_enabled", netdev=netdev, direction=direction),
                                     shown[direction.upper()] == "on")
                    self.assertEqual(page.get("rdma_netdev_pause_frames_total", netdev=netdev, direction=direction),
                                     int(shown[f"{direction}_pause_frames"]))

    def check_fec(self, netdev, mode):
        shown, page = self.quiet(lambda: ethtool("--show-fec", netdev))
        self.assertEqual(page.get("rdma_netdev_fec_info", netdev=netdev, mode=mode), 1)
        for kind, name in (("corrected", "corrected_blocks"), ("uncorrectable", "uncorrectable_blocks")):
            counted = shown.get("statistics", {}).get(name)
            self.assertEqual(page.get("rdma_netdev_fec_blocks_total", netdev=netdev, result=kind),
                             counted and counted["total"])
            lanes = page.find("rdma_netdev_fec_lane_blocks_total", netdev=netdev, result=kind)
            self.assertEqual([value for _, value in sorted(lanes.items(), key=lambda item: dict(item[0][1])["lane"])],
                             counted.get("lanes", []) if counted else [])

    def test_fec_in_every_mode(self):
        self.addCleanup(kernel.run, "ethtool", "--set-fec", "cx0", "encoding", "rs")
        for mode in ("rs", "baser", "off"):
            kernel.run("ethtool", "--set-fec", "cx0", "encoding", mode)
            with self.subTest(mode=mode):
                self.check_fec("cx0", mode)

    def test_speed_and_rings(self):
        page = scrape()
        self.assertEqual(page.get("rdma_netdev_speed_bytes_per_second", netdev="cx0"), 400e9 / 8)
        self.assertEqual(page.get("rdma_netdev_speed_bytes_per_second", netdev="bcm0"), 200e9 / 8)
        rings = ethtool_text("-g", "cx0")
        for ring in ("rx", "tx"):
            most, now = (int(value) for name, value in rings if name == ring.upper())
            self.assertNotEqual(most, now)
            self.assertEqual(page.get(f"rdma_netdev_{ring}_ring_entries", netdev="cx0"), now)
            self.assertEqual(page.get(f"rdma_netdev_{ring}_ring_entries_max", netdev="cx0"), most)

    def test_a_cable_that_is_pulled(self):
        self.addCleanup(kernel.run, "ip", "link", "set", "cx1", "carrier", "on")
        before = scrape()
        self.assertEqual(before.get("rdma_netdev_link_up", netdev="cx1"), 1)
        self.assertEqual(before.find("rdma_netdev_link_extended_state_info", netdev="cx1"), {})
        kernel.run("ip", "link", "set", "cx1", "carrier", "off")
        # The kernel holds the event back for up to a second, and while there is none the daemon takes the link for up.
        wait_for(lambda: scrape().get("rdma_netdev_link_up", netdev="cx1") == 0, "the page shows the link down")
        page = scrape()
        self.assertEqual(page.get("rdma_netdev_link_extended_state_info", netdev="cx1", state="no_cable"), 1)
        self.assertIsNone(page.get("rdma_netdev_speed_bytes_per_second", netdev="cx1"))
        count = before.get("rdma_netdev_link_down_events_total", netdev="cx1")
        self.assertEqual(count is not None, LINK_COUNT, "Linux 6.4 and later count")
        if LINK_COUNT:
            self.assertEqual(page.get("rdma_netdev_link_down_events_total", netdev="cx1"), count + 1)

    def test_it_takes_no_privilege(self):
        with_root, page = self.quiet(lambda: standard_statistics("cx0"))
        account = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        ours = once(*account)
        for name in ("SymbolErrorDuringCarrier", "FrameCheckSequenceErrors"):
            family, labels = CURATED[name]
            self.assertEqual(ours.get(family, netdev="cx0", **labels), with_root[name])
        # Read again by both: the daemon keeps what costs an adapter many accesses for a while.
        self.assertEqual(ours.find("rdma_dcb_pfc_enabled"), once().find("rdma_dcb_pfc_enabled"))
        self.assertEqual(ours.get("rdma_netdev_roce_cc_parameters_readable", netdev="cx0"), 0, "debugfs is for root")
        self.assertIsNone(page.get("rdma_netdev_roce_cc_parameters_readable", netdev="cx0"), "the lab's card has none")


class Dcb(EthernetTest):
    def test_pfc_is_what_dcb_prints(self):
        for netdev in CARDS:
            with self.subTest(netdev=netdev):
                kernel.run("ethtool", "-S", netdev)  # refreshes the copy that a ConnectX shows
                shown, page = dcb(netdev, "pfc"), once()  # a running one asks a ConnectX now and then
                self.assertEqual(page.get("rdma_dcb_pfc_max_traffic_classes", netdev=netdev), shown["pfc_cap"])
                delay, scale = ("rdma_dcb_cable_length_meters", 1) if netdev == "cx0" else ("rdma_dcb_pfc_delay_bytes", 8)
                self.assertEqual(page.get(delay, netdev=netdev), shown["delay"] / scale)
                for priority, on in numbered(shown["prio_pfc"]).items():
                    self.assertEqual(page.get("rdma_dcb_pfc_enabled", netdev=netdev, priority=str(priority)),
                                     on in (True, "on"))
                for direction, name in (("tx", "requests"), ("rx", "indications")):
                    for priority, frames in numbered(shown[name]).items():
                        self.assertEqual(page.get("rdma_pfc_frames_total", netdev=netdev, direction=direction,
                                                  priority=str(priority)), frames)

    def test_rx_is_this_host_told_to_stop_and_tx_is_this_host_telling_the_others(self):
        """The driver's own names have the direction in plain sight: rx_... are frames that arrived here."""
        before = scrape()
        knob("bcm0", "ctl", "rx_pfc_ena_frames_pri3+=7 tx_pfc_ena_frames_pri3+=11")
        after = scrape()
        for direction, moved in (("rx", 7), ("tx", 11)):
            labels = {"netdev": "bcm0", "priority": "3", "direction": direction}
            self.assertEqual(after.get("rdma_pfc_frames_total", **labels),
                             before.get("rdma_pfc_frames_total", **labels) + moved)

    def test_ets_apps_trust_and_buffers_follow_the_configuration(self):
        self.addCleanup(kernel.run, "dcb", "app", "flush", "dev", "cx0")
        kernel.run("dcb", "pfc", "set", "dev", "cx0", "prio-pfc", "4:on")
        kernel.run("dcb", "ets", "set", "dev", "cx0", "willing", "on", "tc-tsa", "0:ets", "1:ets", "tc-bw", "0:40", "1:60",
                   "prio-tc", "7:6")
        self.assertEqual(once().get("rdma_dcb_trust_info", netdev="cx0", trust="pcp", inferred="true"), 1)
        kernel.run("dcb", "app", "add", "dev", "cx0", "dgram-port-prio", "4791:3", "ethtype-prio", "0x8915:4",
                   "dscp-prio", "26:3")
        page = once()
        self.assertEqual(page.get("rdma_dcb_pfc_enabled", netdev="cx0", priority="4"), 1)
        ets = dcb("cx0", "ets")
        self.assertEqual(page.get("rdma_dcb_ets_willing", netdev="cx0"), 1)
        for tc, tsa in numbered(ets["tc_tsa"]).items():
            self.assertEqual(page.get("rdma_dcb_tsa_info", netdev="cx0", tc=str(tc), tsa=tsa), 1)
            share = numbered(ets["tc_bw"])[tc] / 100 if tsa == "ets" else None
            self.assertEqual(page.get("rdma_dcb_ets_bandwidth_ratio", netdev="cx0", tc=str(tc)), share)
        for priority, tc in numbered(ets["prio_tc"]).items():
            self.assertEqual(page.get("rdma_dcb_priority_tc", netdev="cx0", priority=str(priority)), tc)
        apps = {(dict(labels)["selector"], dict(labels)["protocol"], dict(labels)["priority"])
                for _, labels in page.find("rdma_dcb_app_info", netdev="cx0")}
        self.assertEqual(apps, {("udp", "4791", "3"), ("ethertype", "0x8915", "4"), ("dscp", "26", "3")})
        self.assertEqual(page.get("rdma_dcb_trust_info", netdev="cx0", trust="dscp", inferred="true"), 1)
        buffers = dcb("cx0", "buffer")
        self.assertEqual(page.get("rdma_dcb_port_buffer_bytes", netdev="cx0"), buffers["total_size"])
        for number, size in numbered(buffers["buffer_size"]).items():
            self.assertEqual(page.get("rdma_dcb_buffer_bytes", netdev="cx0", buffer=str(number)), size)
        for priority, number in numbered(buffers["prio_buffer"]).items():
            self.assertEqual(page.get("rdma_dcb_priority_buffer", netdev="cx0", priority=str(priority)), number)


class Config(EthernetTest):
    def test_mtu(self):
        page = scrape()
        for netdev in ("cx0", "bcm1", "ve0"):
            mtu = int(Path("/sys/class/net", netdev, "mtu").read_text())
            self.assertEqual(page.get("rdma_netdev_mtu_bytes", netdev=netdev), mtu)

    def test_presets_of_rdma_cm_are_shown_where_somebody_made_them_visible(self):
        kernel.run("modprobe", "rdma_cm", timeout=120)
        if not (CONFIGFS / "rdma_cm").is_dir():
            kernel.run("mount", "-t", "configfs", "none", str(CONFIGFS))
        folder = CONFIGFS / "rdma_cm" / "rxe0"
        self.assertIsNone(once().get("rdma_port_cm_default_tos", device="rxe0"))
        self.assertFalse(folder.exists(), "the exporter makes nothing")
        folder.mkdir()
        self.addCleanup(folder.rmdir)
        (folder / "ports/1/default_roce_tos").write_text("106")
        page = once()
        self.assertEqual(page.get("rdma_port_cm_default_tos", device="rxe0"), 106)
        self.assertEqual(page.get("rdma_port_cm_default_roce_mode_info", device="rxe0",
                                  mode=(folder / "ports/1/default_roce_mode").read_text().strip()), 1)


class Trouble(EthernetTest):
    """Interfaces that change under the daemon."""

    def test_what_an_interface_does_not_support_is_absent_and_said_once(self):
        for _ in range(3):
            page = scrape()
            self.assertEqual(page.find("rdma_dcb_pfc_enabled", netdev="ve0"), {})
            self.assertEqual(page.find("rdma_netdev_fec_info", netdev="ve0"), {})
            self.assertEqual(page.get("rdma_netdev_link_up", netdev="ve0"), 1)
            self.assert_no_read_errors(page, "ve0")
        log = daemon.log.read_text()
        for operation in ("DCB", "FEC_GET", "PAUSE_GET", "STATS_GET", "MODULE_GET"):
            self.assertEqual(log.count(f"netdev=ve0 operation={operation}"), 1, operation)

    def test_a_driver_that_fails_costs_its_samples_and_comes_back(self):
        scrape()
        self.addCleanup(knob, "bcm0", "errno", 0)
        knob("bcm0", "errno", 5)
        page = scrape()
        self.assertEqual(page.find("rdma_netdev_fec_info", netdev="bcm0"), {})
        self.assertGreater(page.get("rdma_exporter_read_errors_total", device=place(page, "bcm0")["device"], reason="EIO",
                                    collector="ethtool_standard"), 0)
        self.assertEqual(page.get("rdma_netdev_link_up", netdev="bcm0"), 1)
        self.assertEqual(page.get("rdma_netdev_fec_info", netdev="cx0"), 1)
        knob("bcm0", "errno", 0)
        self.assertEqual(scrape().get("rdma_netdev_fec_info", netdev="bcm0"), 1)

    def scrape_while(self, netdev, *change):
        """A scrape in whose middle `change` happens: each read of the interface takes its time."""
        page = []
        knob(netdev, "delay_ms", 300)
        thread = threading.Thread(target=lambda: page.append(scrape()))
        thread.start()
        time.sleep(0.5)
        kernel.run(*change)
        thread.join()
        return page[0]

    def assert_no_errors_of(self, *netdevs):
        page = scrape()
        for netdev in netdevs:
            self.assert_no_read_errors(page, netdev)
        return page

    def test_an_interface_that_is_renamed_in_mid_scrape(self):
        self.addCleanup(kernel.run, "ip", "link", "set", "cx1", "up")
        self.addCleanup(kernel.run, "ip", "link", "set", "cx9", "name", "cx1")
        scrape()
        kernel.run("ip", "link", "set", "cx1", "down")
        self.assert_no_read_errors(self.scrape_while("cx1", "ip", "link", "set", "cx1", "name", "cx9"), "cx1")
        knob("cx1", "delay_ms", 0)  # debugfs keeps the old name
        wait_for(lambda: scrape().get("rdma_netdev_mtu_bytes", netdev="cx9"), "cx9")
        page = self.assert_no_errors_of("cx1", "cx9")
        self.assertEqual(page.kernel_series(netdev="cx1"), {})
        self.assertGreater(len(page.find("rdma_netdev_mac_frames_total", netdev="cx9")), 0)
        self.assertGreater(len(page.find("rdma_dcb_pfc_enabled", netdev="cx9")), 0)

    def test_an_interface_that_moves_to_another_namespace_in_mid_scrape(self):
        kernel.run("ip", "netns", "add", "elsewhere")
        self.addCleanup(kernel.run, "ip", "netns", "del", "elsewhere")
        self.addCleanup(kernel.run, "ip", "-n", "elsewhere", "link", "set", "bcm1", "netns", "1")
        place(scrape(), "bcm1")
        page = self.scrape_while("bcm1", "ip", "link", "set", "bcm1", "netns", "elsewhere")
        knob("bcm1", "delay_ms", 0)
        self.assert_no_read_errors(page, "bcm1")
        page = self.assert_no_errors_of("bcm1")
        self.assertEqual(page.kernel_series(netdev="bcm1"), {})
        self.assertGreater(len(page.find("rdma_dcb_pfc_enabled", netdev="bcm0")), 0)

    def test_an_interface_that_is_deleted_in_mid_scrape(self):
        kernel.run("ip", "link", "add", "dying", "type", "dummy")
        kernel.run("ip", "link", "set", "dying", "up")
        kernel.run("rdma", "link", "add", "rxe_dying", "type", "rxe", "netdev", "dying")
        wait_for(lambda: scrape().get("rdma_netdev_mtu_bytes", netdev="dying"), "dying")
        # While the scrape is at a card that takes its time, another interface goes.
        self.addCleanup(knob, "cx0", "delay_ms", 0)
        self.assert_no_read_errors(self.scrape_while("cx0", "ip", "link", "del", "dying"), "dying")
        wait_for(lambda: not scrape().kernel_series(netdev="dying"), "no series of it")
