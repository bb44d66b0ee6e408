# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The suite `ethernet`: the statistics of a ConnectX and a NetXtreme-E as ethtool -S has them (module labnic). No two have
the same value, so a mixed-up pair is seen. Real RDMA traffic runs over the ConnectX (module labrxe)."""

import collections
import threading
import time
import unittest

import exporter
from guest import Path, kernel, knobs, os, subprocess, traffic
from guest import time as guest_time  # the clock of the counters
from labtest import LabTest, daemons, readable, stop_daemons, wait_for

CARDS = ("cx0", "bcm0")
RAW = "rdma_netdev_raw_total"
SECONDS, RATIO = 1e-6, 0.01  # of the driver's microseconds and percents
# How a statistic must be served, written down here a second time on purpose: name, family, labels, scale.
MEANINGS = {
    "cx0": [
        ("rx_prio3_pause", "rdma_pfc_frames_total", {"priority": "3", "direction": "rx"}, 1),
        ("tx_prio3_pause", "rdma_pfc_frames_total", {"priority": "3", "direction": "tx"}, 1),
        ("rx_prio3_pause_duration", "rdma_pfc_pause_seconds_total", {"priority": "3", "direction": "rx"}, SECONDS),
        ("tx_prio3_pause_duration", "rdma_pfc_pause_seconds_total", {"priority": "3", "direction": "tx"}, SECONDS),
        ("rx_prio3_pause_transition", "rdma_pfc_transitions_total", {"priority": "3", "direction": "rx"}, 1),
        ("tx_pause_storm_warning_events", "rdma_netdev_pause_storm_events_total", {"level": "warning"}, 1),
        ("tx_pause_storm_error_events", "rdma_netdev_pause_storm_events_total", {"level": "error"}, 1),
        ("rx_prio5_bytes", "rdma_priority_bytes_total", {"priority": "5", "direction": "rx"}, 1),
        ("tx_prio0_packets", "rdma_priority_packets_total", {"priority": "0", "direction": "tx"}, 1),
        ("rx_discards_phy", "rdma_netdev_discards_total", {"direction": "rx", "reason": "port_buffer"}, 1),
        ("rx_err_lane_2_phy", "rdma_netdev_lane_bit_errors_total", {"lane": "2"}, 1),
        ("link_down_events_phy", "rdma_netdev_link_down_events_total", {}, 1),
        ("outbound_pci_stalled_rd", "rdma_netdev_pcie_stalled_ratio", {"operation": "read"}, RATIO),
        ("outbound_pci_stalled_wr", "rdma_netdev_pcie_stalled_ratio", {"operation": "write"}, RATIO),
    ],
    "bcm0": [
        ("rx_pfc_ena_frames_pri3", "rdma_pfc_frames_total", {"priority": "3", "direction": "rx"}, 1),
        ("tx_pfc_ena_frames_pri4", "rdma_pfc_frames_total", {"priority": "4", "direction": "tx"}, 1),
        *((f"pfc_pri{prio}_{direction}_duration_us", "rdma_pfc_pause_seconds_total",
           {"priority": str(prio), "direction": direction}, SECONDS) for prio in range(8) for direction in ("rx", "tx")),
        ("pfc_pri7_tx_transitions", "rdma_pfc_transitions_total", {"priority": "7", "direction": "tx"}, 1),
        ("rx_pause_frames", "rdma_netdev_pause_frames_total", {"direction": "rx"}, 1),
        ("rx_fec_uncorrectable_blocks", "rdma_netdev_fec_blocks_total", {"result": "uncorrectable"}, 1),
        ("link_down_events", "rdma_netdev_link_down_events_total", {}, 1),
    ],
}
# About the reading, not read.
ABOUT = ("rdma_netdev_info", "rdma_netdev_statistics_age_seconds")
SERVERS = {"mlx5_0": "10.8.0.1", "mlx5_1": "10.8.0.2"}


def setUpModule():
    exporter.install()
    for netdev in CARDS:
        knobs.Knobs("labnic", netdev).set("*=1000")
    knobs.Knobs("labnic", "cx0").set("outbound_pci_stalled_rd=42", "outbound_pci_stalled_wr=17")
    flags = ("--metrics.set=full", "--collector.ethtool.interval=0ms", "--collector.ethtool.raw-exclude=",
             "--scrape.timeout=14s", "--collector.ethtool.timeout=14s")
    daemons["default"] = exporter.Exporter(9400, *exporter.only("ethtool"), *flags)
    unittest.addModuleCleanup(stop_daemons)
    daemons["default"].wait_until_ready()
    daemons["default"].scrape()


def statistics(netdev):
    """{name: value} of `ethtool -S`."""
    pairs = (line.rpartition(":") for line in kernel.run("ethtool", "-S", netdev).splitlines()[1:])
    return {name.strip(): int(value) for name, _, value in pairs}


def still(netdev, scrape):
    """(statistics, page) of a moment in which nothing moved."""
    for _ in range(10):
        before, page, after = statistics(netdev), scrape(), statistics(netdev)
        if before == after:
            return before, page
    raise AssertionError(f"the statistics of {netdev} never stood still")


def served(page, netdev):
    """What a page has of an interface's statistics."""
    return {key: value for key, value in page.find(netdev=netdev).items()
            if key[0] not in ABOUT and not key[0].startswith("rdma_exporter_")}


class Statistics(LabTest):
    def test_every_statistic_is_served_once_with_its_value(self):
        """Whatever the names of the series: no value is missing, none is there twice."""
        for netdev in CARDS:
            with self.subTest(netdev=netdev):
                values, page = still(netdev, self.daemon.scrape)
                scale = {name: factor for name, _, _, factor in MEANINGS[netdev]}
                expected = collections.Counter(round(value * scale.get(name, 1), 9) for name, value in values.items())
                self.assertGreater(len(expected), 250, "nearly all values were to differ")
                self.assertEqual(collections.Counter(round(value, 9) for value in served(page, netdev).values()),
                                 expected)

    def test_meaning_direction_and_unit(self):
        for netdev in CARDS:
            values, page = still(netdev, self.daemon.scrape)
            for name, family, labels, scale in MEANINGS[netdev]:
                with self.subTest(netdev=netdev, name=name):
                    self.assertAlmostEqual(page.get(family, netdev=netdev, **labels), values[name] * scale, places=9)
                    self.assertEqual(page.find(RAW, netdev=netdev, counter=name), {}, "once as itself is enough")

    def test_names_with_blanks(self):
        values, page = still("bcm0", self.daemon.scrape)
        name = "[2]: rx_ucast_packets"
        self.assertEqual(page.get(RAW, netdev="bcm0", counter=name), values[name])

    def test_single_channels_are_left_out_unless_somebody_asks(self):
        names = {dict(labels).get("counter", "") for _, labels in served(exporter.once("--metrics.set=full"), "cx0")}
        self.assertEqual([name for name in names if name.startswith(("rx0_", "tx3_", "ch1_"))], [])
        self.assertGreater(len(names), 50, "of the port as a whole")
        self.assertLess(len(names), 300)

    def test_a_list_of_two_thousand(self):
        self.addCleanup(kernel.run, "ethtool", "-L", "cx0", "combined", "4")
        kernel.run("ethtool", "-L", "cx0", "combined", "16")
        values, page = still("cx0", self.daemon.scrape)
        self.assertGreater(len(values), 1800)
        self.assertEqual(len(served(page, "cx0")), len(values))
        self.assertEqual(page.get(RAW, netdev="cx0", counter="rx15_xdp_tx_cqes"), values["rx15_xdp_tx_cqes"])

    def test_global_pause_is_there_while_it_is_on(self):
        self.addCleanup(kernel.run, "ethtool", "-A", "cx0", "rx", "off", "tx", "off")
        self.assertEqual(self.daemon.scrape().find("rdma_netdev_pause_frames_total", netdev="cx0"), {})
        kernel.run("ethtool", "-A", "cx0", "rx", "on", "tx", "on")
        values, page = still("cx0", self.daemon.scrape)
        for direction in ("rx", "tx"):
            self.assertEqual(page.get("rdma_netdev_pause_frames_total", netdev="cx0", direction=direction),
                             values[f"{direction}_global_pause"])

    def test_an_error_costs_the_statistics_of_that_interface(self):
        with knobs.Knobs("labnic", "cx0").during("errno", 5):
            page = self.daemon.scrape()
            self.assertEqual(served(page, "cx0"), {})
            self.assertGreater(len(served(page, "bcm0")), 200)
            self.assertGreater(sum(page.find("rdma_exporter_read_errors_total", collector="ethtool").values()), 0)
        wait_for(lambda: served(self.daemon.scrape(), "cx0"), "cx0 back", timeout=90)


class PauseStorm(LabTest):
    def test_300_ms_of_pause_per_second_are_a_rate_of_three_tenths(self):
        card = knobs.Knobs("labnic", "cx0")
        self.addCleanup(card.set, "rx_prio3_pause_duration=1262")
        card.set("rx_prio3_pause_duration@300000")
        read = []
        for _ in range(2):
            start = guest_time.monotonic()
            value = self.daemon.scrape().get("rdma_pfc_pause_seconds_total", netdev="cx0", priority="3", direction="rx")
            read.append((start, value, guest_time.monotonic()))
            time.sleep(3)
        (start_1, value_1, end_1), (start_2, value_2, end_2) = read
        moved = value_2 - value_1
        # The kernel was read somewhere between the start and the end of each scrape.
        self.assertGreaterEqual(moved, 0.3 * (start_2 - end_1) - 1e-6)
        self.assertLessEqual(moved, 0.3 * (end_2 - start_1) + 1e-6)

    def test_the_other_end_is_still(self):
        self.assertNotIn("4", [dict(labels)["priority"] for _, labels in
                               self.daemon.scrape().find("rdma_pfc_pause_seconds_total", netdev="cx1")])


class ChangingList(LabTest):
    """The list of a ConnectX changes with its configuration, and nobody tells."""

    def test_pfc_moves_between_priorities_under_scrapes(self):
        """As many names as before, but others: the numbers of one priority never appear under the other."""
        self.addCleanup(kernel.run, "dcb", "pfc", "set", "dev", "cx0", "prio-pfc", "3:on", "4:off")
        right = {}
        for priority in ("3", "4"):
            kernel.run("dcb", "pfc", "set", "dev", "cx0", "prio-pfc", "all:off", f"{priority}:on")
            values = statistics("cx0")
            right |= {("rdma_pfc_frames_total", priority, direction): values[f"{direction}_prio{priority}_pause"]
                      for direction in ("rx", "tx")}
        stop, changes = threading.Event(), []

        def change():
            while not stop.is_set():
                for priority in ("3", "4"):
                    # Now and then the tool takes the answer for another one's ("Protocol error").
                    done = subprocess.run(["dcb", "pfc", "set", "dev", "cx0", "prio-pfc", "all:off", f"{priority}:on"],
                                          stderr=subprocess.DEVNULL)
                    changes.append(done.returncode)

        thread = threading.Thread(target=change)
        thread.start()
        met = collections.Counter()
        try:
            for _ in range(40):
                for (family, labels), value in self.daemon.scrape().find("rdma_pfc_frames_total", netdev="cx0").items():
                    labels = dict(labels)
                    self.assertEqual(value, right[family, labels["priority"], labels["direction"]], labels)
                    met[labels["priority"]] += 1
        finally:
            stop.set()
            thread.join()
        self.assertGreater(changes.count(0), 10)
        self.assertEqual(set(met), {"3", "4"}, "both lists were to be met")

    def grow(self, daemon, *sizes):
        """The list grows right after its names were read, by more and more."""
        card = knobs.Knobs("labnic", "cx0")
        self.addCleanup(card.write, "extra", 0)
        self.addCleanup(card.write, "extra_after_names", 0)
        daemon.scrape()
        for extra in sizes:
            card.write("extra_after_names", extra)
            pages = [daemon.scrape() for _ in range(3)]
            without = [page for page in pages if not served(page, "cx0")]
            self.assertLessEqual(len(without), 1, "more than one sample is lost")
            self.assertEqual(pages[-1].get(RAW, netdev="cx0", counter=f"lab_extra_{extra - 1}"), extra - 1)
            self.assertEqual(len(served(pages[-1], "cx0")), len(statistics("cx0")))

    def test_the_list_grows_between_names_and_values(self):
        self.grow(self.daemon, 1, 200, 1000, 3000)

    def test_the_same_under_the_address_sanitizer(self):
        binary = Path(os.environ.get("ASAN_EXPORTER", "/nowhere"))
        if not binary.is_file():
            self.skipTest("no build/asan/rdma_exporter")
        daemon = exporter.Exporter(9409, *exporter.only("ethtool"), "--collector.ethtool.interval=0ms",
                                   "--metrics.set=full", "--collector.ethtool.raw-exclude=",
                                   "--scrape.timeout=14s", "--collector.ethtool.timeout=14s", binary=binary)
        self.addCleanup(lambda: daemon.alive() and daemon.process.kill())
        daemon.wait_until_ready()
        self.grow(daemon, 1, 200, 800)
        self.assertEqual(daemon.stop(), 0, daemon.log.read_text()[-3000:])
        self.assertNotIn("Sanitizer", daemon.log.read_text())


class Traffic(LabTest):
    """RDMA over the ConnectX: what the RDMA device, the card's port and its priority count is the same traffic."""

    def test_writes_on_priority_3(self):
        daemon = exporter.Exporter(9401, "--metrics.set=full", "--collector.ethtool.interval=0ms")
        self.addCleanup(daemon.stop)
        daemon.wait_until_ready()
        before = daemon.scrape()
        tos = 26 << 2  # DSCP 26, which the card maps to priority 3
        traffic.run("ib_write_bw", "-n", "50", "-s", "65536", "--tclass", str(tos),
                    server=("mlx5_1", SERVERS["mlx5_1"]), client=("mlx5_0", SERVERS["mlx5_0"]))
        after = daemon.scrape()

        def moved(family, **labels):
            return after.get(family, **labels) - before.get(family, **labels)

        payload = 50 * 65536
        for name, labels in (("rdma_port_data_bytes_total", {"device": "mlx5_0", "direction": "tx"}),
                             (RAW, {"netdev": "cx0", "counter": "tx_vport_rdma_unicast_bytes"}),
                             ("rdma_priority_bytes_total", {"netdev": "cx0", "priority": "3", "direction": "tx"})):
            self.assertGreaterEqual(moved(name, **labels), payload, name)
            self.assertLess(moved(name, **labels), 3 * payload, name)
        self.assertGreaterEqual(moved("rdma_priority_bytes_total", netdev="cx1", priority="3", direction="rx"), payload)
        self.assertLess(moved("rdma_priority_bytes_total", netdev="cx0", priority="5", direction="tx"), payload / 10)
        self.assertGreaterEqual(moved("rdma_port_requests_total", device="mlx5_1", direction="rx", operation="write"), 50)


class InMidScrape(LabTest):
    """Interfaces that are renamed, moved or unplugged while their statistics are read; each read takes its time, and
    holds the lock that the change needs."""

    def scrape_while(self, netdev, change):
        card = knobs.Knobs("labnic", netdev)
        reads, pages = card.reads(), []
        card.write("delay_ms", 300)
        scrape = threading.Thread(target=lambda: pages.append(self.daemon.scrape()))
        scrape.start()
        wait_for(lambda: card.reads() > reads, "a read has begun")
        change()
        scrape.join()
        if card.folder.exists():
            card.write("delay_ms", 0)
        self.assertEqual(len(pages), 1)
        self.assertGreater(len(served(pages[0], "cx0")), 500, "others are whole")
        return pages[0]

    def assert_gone(self, netdev):
        page = self.daemon.scrape()
        self.assertEqual(readable(page.kernel_series(netdev=netdev)), {})
        self.assertEqual(page.find("rdma_exporter_read_errors_total", device=netdev), {})
        self.assertTrue(self.daemon.alive())

    def test_renamed(self):
        self.addCleanup(kernel.run, "ip", "link", "set", "bcm1", "up")
        self.addCleanup(lambda: kernel.run("ip", "link", "set", "other", "name", "bcm1"))
        kernel.run("ip", "link", "set", "bcm1", "down")
        self.scrape_while("bcm1", lambda: kernel.run("ip", "link", "set", "bcm1", "name", "other"))
        wait_for(lambda: served(self.daemon.scrape(), "other"), "the new name")
        self.assert_gone("bcm1")

    def test_moved_to_another_namespace_and_back(self):
        kernel.run("ip", "netns", "add", "elsewhere")
        self.addCleanup(kernel.run, "ip", "netns", "delete", "elsewhere")
        self.scrape_while("bcm1", lambda: kernel.run("ip", "link", "set", "bcm1", "netns", "elsewhere"))
        self.assert_gone("bcm1")
        kernel.run("ip", "-n", "elsewhere", "link", "set", "bcm1", "netns", "1")
        knobs.add("bnxt_re1", "bcm1")  # it went with its interface
        wait_for(lambda: served(self.daemon.scrape(), "bcm1"), "bcm1 back")

    def test_unplugged(self):
        device = Path("/sys/class/net/bcm1/device")
        self.scrape_while("bcm1", lambda: (device / "remove").write_text("1"))
        self.assert_gone("bcm1")
        Path("/sys/bus/pci/rescan").write_text("1")
        wait_for(lambda: Path("/sys/class/net/bcm1").exists(), "bcm1 plugged in")
        knobs.add("bnxt_re1", "bcm1")
        wait_for(lambda: served(self.daemon.scrape(), "bcm1"), "bcm1 back")


class Stuck(LabTest):
    """A card whose firmware does not answer keeps the kernel's one lock of all network interfaces (RTNL)."""

    def test_what_does_not_need_that_lock_stays_whole_and_on_time(self):
        card, timeout = knobs.Knobs("labnic", "cx0"), 3
        daemon = exporter.Exporter(9402, "--raw=all", f"--scrape.timeout={timeout}s", "--collector.ethtool.interval=0ms")
        self.addCleanup(lambda: daemon.alive() and daemon.process.kill())
        daemon.wait_until_ready()
        whole = self.hw_counters(daemon.scrape())
        with card.during("stuck", 1):
            daemon.get("/metrics")
            # Not in every moment: the driver looks 50 times a second whether it may go on.
            wait_for(lambda: daemon.uninterruptible_in("lab_read_begin"), "a read that is stuck")
            threads = []
            for _ in range(20):
                start = time.monotonic()
                page = daemon.get("/metrics")
                self.assertLess(time.monotonic() - start, timeout + 3)
                page = exporter.Scrape(page)
                self.assertEqual(self.hw_counters(page), whole)
                self.assertEqual(page.find("rdma_pfc_frames_total", netdev="cx0"), {}, "what is not read is absent")
                threads.append(daemon.threads())
            # Each job of each interface can be stuck once, some only when they come due, once a minute.
            self.assertLess(threads[-1] - threads[-11], 5, f"a thread for each scrape: {threads}")
        wait_for(lambda: all(daemon.scrape().find("rdma_pfc_frames_total", netdev=netdev) for netdev in CARDS),
                 "all cards back", timeout=90)
        self.assertEqual(daemon.stop(), 0)

    @staticmethod
    def hw_counters(page):
        return {(dict(labels)["device"], dict(labels)["counter"])
                for _, labels in page.find("rdma_port_raw_total", source="hw_counters")}


IN_ORDER = (Statistics, PauseStorm, ChangingList, Traffic, InMidScrape, Stuck)
