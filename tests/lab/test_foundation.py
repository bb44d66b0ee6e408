#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The daemon on a real kernel: what it serves is what the kernel says, whatever happens to the devices.

Runs as root in the lab's guest with its fabric up (tests/lab/run). One process does it all, because every program
start costs about a tenth of a second there. Each test leaves the devices as it found them.
"""

import os
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "guest"))

import exporter  # noqa: E402
import kernel  # noqa: E402
import traffic  # noqa: E402

DEVICES = ["rxe0", "rxe1", "rxe_dummy", "rxe_virtio"]
NETDEVS = {"rxe0": "ve0", "rxe1": "ve1", "rxe_dummy": "dum0", "rxe_virtio": "eth0"}
RAW_FAMILY = "rdma_port_hw_counters_total"
# The names that Soft-RoCE's counters are served under, written down here a second time on purpose: a counter that is
# exported with the wrong meaning or direction agrees with the exporter's own table. All others are raw.
CURATED = {
    "rdma_sends": ("rdma_port_requests_total", {"direction": "tx", "operation": "send"}),
    "rdma_recvs": ("rdma_port_requests_total", {"direction": "rx", "operation": "send"}),
    "sent_pkts": ("rdma_port_packets_total", {"direction": "tx"}),
    "rcvd_pkts": ("rdma_port_packets_total", {"direction": "rx"}),
    "out_of_seq_request": ("rdma_port_out_of_sequence_total", {}),
    "rcvd_seq_err": ("rdma_port_sequence_naks_total", {"direction": "rx"}),
    "duplicate_request": ("rdma_port_duplicate_requests_total", {}),
    "rcvd_rnr_err": ("rdma_port_rnr_naks_total", {"direction": "rx"}),
    "send_rnr_err": ("rdma_port_rnr_naks_total", {"direction": "tx"}),
    "retry_exceeded_err": ("rdma_port_retries_exceeded_total", {"kind": "transport"}),
    "retry_rnr_exceeded_err": ("rdma_port_retries_exceeded_total", {"kind": "rnr"}),
}
DOWN, ACTIVE = 1, 4

daemons: dict[str, exporter.Exporter] = {}


def setUpModule():
    if not pathlib.Path("/lab/version").exists():
        raise RuntimeError("this runs in the lab's guest only: use tests/lab/run")
    exporter.install()
    daemons["default"] = exporter.Exporter(9400)
    daemons["files"] = exporter.Exporter(9401, "--netlink=off")
    daemons["nobody"] = exporter.Exporter(9402, user=exporter.NOBODY)
    unittest.addModuleCleanup(lambda: [daemon.stop() for daemon in daemons.values()])
    for daemon in daemons.values():
        daemon.wait_until_ready()
    make_every_counter_move()


def make_every_counter_move():
    """Different values in as many counters as perftest can move, so that a mixed-up pair is seen."""
    traffic.run("ib_write_bw", "-n", "20", "-s", "65536")
    traffic.run("ib_send_bw", "-n", "1500", "-s", "1024", "-r", "64", stop_receiver=0.4)
    with Loss("ve0", "3%"):
        traffic.run("ib_send_bw", "-n", "300", "-s", "4096")


class Loss:
    """Packets that a netdev sends are lost while this context lasts."""

    def __init__(self, netdev, share):
        self.netdev, self.share = netdev, share

    def __enter__(self):
        kernel.run("tc", "qdisc", "add", "dev", self.netdev, "root", "netem", "loss", self.share)

    def __exit__(self, *_):
        kernel.run("tc", "qdisc", "del", "dev", self.netdev, "root")


def series_of(device, counter):
    """Key of the series that a Soft-RoCE counter belongs under."""
    name, labels = CURATED.get(counter, (RAW_FAMILY, {"counter": counter}))
    return name, frozenset({"device": device, "port": "1", **labels}.items())


def counter_series(scrape, device):
    """Every kernel counter that a page has of a device."""
    return {key: value for key, value in scrape.kernel_series(device=device).items() if key[0].endswith("_total")}


def readable(series):
    """Series as text, so that a difference can be read."""
    return {f"{name} {' '.join(f'{k}={v}' for k, v in sorted(labels))}": value for (name, labels), value in
            sorted(series.items(), key=lambda item: (item[0][0], sorted(item[0][1])))}


def quiet(scrape, read=kernel.hw_counters):
    """(kernel's values, page) of a moment in which nothing moved: the kernel said the same before and after."""
    for _ in range(10):
        before, page, after = read(), scrape(), read()
        if before == after:
            return before, page
    raise AssertionError("the counters never stood still")


def wait_for(condition, what, timeout=5):
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout} s: {what}")
        time.sleep(0.05)


class LabTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.daemon = daemons["default"]

    def assert_device_complete(self, scrape, device, counters):
        """All counters of a device are served, with the kernel's values, and no others."""
        expected = {series_of(device, name): value for (owner, name), value in counters.items() if owner == device}
        self.assertTrue(expected, f"the kernel has no counters of {device}")
        self.assertEqual(readable(counter_series(scrape, device)), readable(expected))

    def assert_collectors_succeed(self, scrape):
        success = scrape.find("rdma_exporter_collector_success")
        self.assertTrue(success)
        self.assertEqual({key for key, value in success.items() if value != 1}, set())
        self.assertEqual(sum(scrape.find("rdma_exporter_read_errors_total").values()), 0)


class QuietMoment(LabTest):
    """Nothing moves: every value is the one that the kernel shows."""

    @classmethod
    def setUpClass(cls):
        cls.counters, cls.page = quiet(daemons["default"].scrape)

    def test_the_traffic_before_moved_what_the_comparison_needs(self):
        """Zeros on both sides would prove nothing."""
        for name in ("sent_pkts", "rcvd_pkts", "rdma_sends", "rcvd_rnr_err"):
            self.assertGreater(self.counters["rxe0", name], 0, name)
        for name in ("rdma_recvs", "out_of_seq_request", "send_rnr_err"):
            self.assertGreater(self.counters["rxe1", name], 0, name)
        self.assertNotEqual(self.counters["rxe0", "sent_pkts"], self.counters["rxe0", "rcvd_pkts"])

    def test_every_hw_counter_appears_once_with_the_value_of_sysfs(self):
        for device in DEVICES:
            with self.subTest(device=device):
                self.assert_device_complete(self.page, device, self.counters)

    def test_sysfs_and_rdma_statistic_agree_with_each_other(self):
        self.assertEqual(kernel.rdma_statistic(), self.counters)

    def test_devices(self):
        self.assertEqual(kernel.devices(), DEVICES)
        self.assertEqual(self.page.get("rdma_devices"), len(DEVICES))
        for device in DEVICES:
            self.assertEqual(self.page.get("rdma_device_up", device=device), 1)

    def test_device_info(self):
        for device in DEVICES:
            with self.subTest(device=device):
                (_, labels), = self.page.find("rdma_device_info", device=device)
                labels = dict(labels)
                for name in ("node_guid", "sys_image_guid"):
                    self.assertEqual(labels[name], (kernel.CLASS / device / name).read_text().strip())
                self.assertEqual(labels["protocol"], "roce")
                self.assertNotIn("fw_version", labels, "Soft-RoCE has no firmware")
                self.assertNotIn("pci_address", labels, "Soft-RoCE is no PCI function")

    def test_port_state(self):
        for device in DEVICES:
            with self.subTest(device=device):
                self.assertEqual(self.page.get("rdma_port_state", device=device), kernel.port_number(device, "state"))
                self.assertEqual(self.page.get("rdma_port_physical_state", device=device),
                                 kernel.port_number(device, "phys_state"))
                self.assertEqual(self.page.get("rdma_port_up", device=device), 1)

    def test_port_rate(self):
        rates = {device: kernel.rate_bytes(device) for device in DEVICES}
        self.assertEqual(len(set(rates.values())), 3, "the devices were to have different rates")
        for device, rate in rates.items():
            self.assertEqual(self.page.get("rdma_port_rate_bytes_per_second", device=device), rate)

    def test_port_info(self):
        for device, link in kernel.links().items():
            (_, labels), = self.page.find("rdma_port_info", device=device)
            labels = dict(labels)
            self.assertEqual(link["netdev"], NETDEVS[device])
            self.assertEqual(labels["netdev"], NETDEVS[device])
            self.assertEqual(labels["link_layer"], kernel.port_text(device, "link_layer"))

    def test_mtu_is_what_libibverbs_says(self):
        active = set()
        for device, info in kernel.devinfo().items():
            active.add(info["active_mtu"])
            for ours, theirs in (("rdma_port_active_mtu_bytes", "active_mtu"), ("rdma_port_max_mtu_bytes", "max_mtu")):
                self.assertEqual(self.page.get(ours, device=device), int(info[theirs].split()[0]), (ours, device))
        self.assertEqual(len(active), 2, "the devices were to have different MTUs")

    def test_gids_by_type(self):
        for device in DEVICES:
            self.assertEqual(
                {dict(labels)["type"]: value for (_, labels), value in
                 self.page.find("rdma_port_gids", device=device).items() if value},
                kernel.gid_types(device), device)

    def test_what_ethernet_and_soft_roce_lack_is_absent(self):
        for name in ("rdma_port_lid", "rdma_port_sm_lid", "rdma_port_counters_total", "rdma_counters_saturated",
                     "rdma_port_data_bytes_total", "rdma_device_hw_counters_total",
                     "rdma_device_pcie_width_lanes"):
            self.assertEqual(self.page.find(name), {}, name)

    def test_all_collectors_succeed(self):
        self.assert_collectors_succeed(self.page)


class WaysToRead(LabTest):
    """Netlink or files, root or nobody: the same numbers."""

    def test_files_alone_serve_the_same_counters(self):
        counters, page = quiet(daemons["files"].scrape)
        for device in DEVICES:
            self.assert_device_complete(page, device, counters)
        self.assert_collectors_succeed(page)

    def test_netlink_is_really_used(self):
        self.daemon.scrape()
        daemons["files"].scrape()
        self.assertGreater(self.daemon.rdma_netlink_sockets(), 0)
        self.assertEqual([file for file in self.daemon.open_files() if "/hw_counters" in file], [])
        self.assertEqual(daemons["files"].rdma_netlink_sockets(), 0)

    def test_no_device_is_held_open(self):
        """The kernel does not let a device go while a program has its verbs device open."""
        for name, daemon in daemons.items():
            daemon.scrape()
            self.assertEqual([file for file in daemon.open_files() if "/dev/infiniband" in file], [], name)

    def test_an_unprivileged_user_gets_the_same_series(self):
        status = pathlib.Path("/proc", str(daemons["nobody"].process.pid), "status").read_text()
        self.assertIn(f"Uid:\t{exporter.NOBODY}", status)
        self.assertIn("CapEff:\t0000000000000000", status)
        for _ in range(10):
            root, nobody, again = (daemons[name].scrape() for name in ("default", "nobody", "default"))
            if root.kernel_series() == again.kernel_series():
                break
        self.assertEqual(readable(nobody.kernel_series()), readable(root.kernel_series()))
        self.assert_collectors_succeed(nobody)
        self.assertGreater(daemons["nobody"].rdma_netlink_sockets(), 0)

    def test_raw_all_serves_every_counter_under_the_kernels_name(self):
        counters, page = quiet(lambda: exporter.once("--raw=all"))
        expected = {(RAW_FAMILY, frozenset({"device": device, "port": "1", "counter": name}.items())): value
                    for (device, name), value in counters.items()}
        self.assertEqual(readable(page.find(RAW_FAMILY)), readable(expected))


class Traffic(LabTest):
    """Counters move by what ran over the wire, on the devices it ran over. The kernel adds a few packets of its own
    (acknowledgements, retries under emulation), so the bounds are from below."""

    def moved(self, *command, **options):
        before = self.daemon.scrape()
        traffic.run(*command, **options)
        after = self.daemon.scrape()
        return lambda device, counter: (after.series[series_of(device, counter)]
                                        - before.series[series_of(device, counter)])

    def test_sends(self):
        moved = self.moved("ib_send_bw", "-n", "200", "-s", "4096")
        self.assertGreaterEqual(moved("rxe0", "sent_pkts"), 200)
        self.assertGreaterEqual(moved("rxe1", "rcvd_pkts"), 200)
        self.assertGreaterEqual(moved("rxe0", "rdma_sends"), 200)
        self.assertGreaterEqual(moved("rxe1", "rdma_recvs"), 200)

    def test_writes_need_sixteen_packets_each(self):
        moved = self.moved("ib_write_bw", "-n", "50", "-s", "65536")
        self.assertGreaterEqual(moved("rxe0", "sent_pkts"), 50 * 16)
        self.assertGreaterEqual(moved("rxe1", "rcvd_pkts"), 50 * 16)
        # One-sided: the responder acknowledges, it does not answer packet by packet.
        self.assertLess(moved("rxe1", "sent_pkts"), moved("rxe0", "sent_pkts"))
        for device in ("rxe_dummy", "rxe_virtio"):
            self.assertEqual(moved(device, "sent_pkts"), 0, device)

    def test_lost_packets_show_at_the_end_that_misses_them(self):
        with Loss("ve0", "5%"):
            moved = self.moved("ib_send_bw", "-n", "400", "-s", "4096")
        self.assertGreater(moved("rxe1", "out_of_seq_request"), 0)
        self.assertGreater(moved("rxe0", "completer_retry_err"), 0)


class LinkDown(LabTest):
    def test_a_netdev_set_down_and_up_again(self):
        self.addCleanup(kernel.run, "ip", "link", "set", "dum0", "up")
        kernel.run("ip", "link", "set", "dum0", "down")
        wait_for(lambda: kernel.port_number("rxe_dummy", "state") == DOWN, "rxe_dummy down")
        counters, page = quiet(self.daemon.scrape)
        self.assertEqual(page.get("rdma_port_state", device="rxe_dummy"), DOWN)
        self.assertEqual(page.get("rdma_port_physical_state", device="rxe_dummy"),
                         kernel.port_number("rxe_dummy", "phys_state"))
        self.assertEqual(page.get("rdma_port_up", device="rxe_dummy"), 0)
        self.assertEqual(page.get("rdma_device_up", device="rxe_dummy"), 0)
        self.assertIsNone(page.get("rdma_port_rate_bytes_per_second", device="rxe_dummy"))
        self.assertEqual(page.get("rdma_devices"), len(DEVICES))
        self.assertGreater(counters["rxe_dummy", "link_downed"], 0)
        for device in DEVICES:
            self.assert_device_complete(page, device, counters)
        self.assertEqual(page.get("rdma_port_up", device="rxe0"), 1)

        kernel.run("ip", "link", "set", "dum0", "up")
        wait_for(lambda: kernel.port_number("rxe_dummy", "state") == ACTIVE, "rxe_dummy up")
        page = self.daemon.scrape()
        self.assertEqual(page.get("rdma_port_up", device="rxe_dummy"), 1)
        self.assertEqual(page.get("rdma_device_up", device="rxe_dummy"), 1)
        self.assertEqual(page.get("rdma_port_rate_bytes_per_second", device="rxe_dummy"),
                         kernel.rate_bytes("rxe_dummy"))
        self.assert_collectors_succeed(page)


class Removal(LabTest):
    """Devices that go and come back under the same name."""

    def assert_gone(self, page, device):
        """Only `rdma_device_up 0` is left of a device that was seen before."""
        self.assertEqual(readable(page.kernel_series(device=device)), {f"rdma_device_up device={device}": 0})
        self.assertEqual(page.find("rdma_exporter_collector_success", device=device), {})

    def add(self, device):
        if device not in kernel.devices():
            kernel.run("rdma", "link", "add", device, "type", "rxe", "netdev", NETDEVS[device])

    def test_deleted_and_added_again(self):
        self.addCleanup(self.add, "rxe0")
        for daemon in daemons.values():
            self.assertEqual(daemon.scrape().get("rdma_device_up", device="rxe0"), 1)
        index = kernel.device_index("rxe0")
        kernel.run("rdma", "link", "delete", "rxe0")
        for name, daemon in daemons.items():
            with self.subTest(daemon=name, device="deleted"):
                counters, page = quiet(daemon.scrape)
                self.assert_gone(page, "rxe0")
                self.assertEqual(page.get("rdma_devices"), len(DEVICES) - 1)
                for device in DEVICES[1:]:
                    self.assert_device_complete(page, device, counters)

        self.add("rxe0")
        self.assertNotEqual(kernel.device_index("rxe0"), index, "the kernel was to give a new index")
        for name, daemon in daemons.items():
            with self.subTest(daemon=name, device="added again"):
                counters, page = quiet(daemon.scrape)
                self.assertEqual(counters["rxe0", "sent_pkts"], 0, "a new device was to start at 0")
                self.assertEqual(page.get("rdma_device_up", device="rxe0"), 1)
                self.assertEqual(page.get("rdma_devices"), len(DEVICES))
                self.assert_device_complete(page, "rxe0", counters)
        traffic.run("ib_send_bw", "-n", "50", "-s", "4096")
        counters, page = quiet(self.daemon.scrape)
        self.assertGreaterEqual(counters["rxe0", "sent_pkts"], 50)
        self.assert_device_complete(page, "rxe0", counters)

    def test_a_new_device_appears_and_goes_with_its_netdev(self):
        self.addCleanup(lambda: pathlib.Path("/sys/class/net/dum1").exists() and kernel.run("ip", "link", "del", "dum1"))
        kernel.run("ip", "link", "add", "dum1", "type", "dummy")
        kernel.run("ip", "link", "set", "dum1", "up")
        kernel.run("rdma", "link", "add", "rxe_new", "type", "rxe", "netdev", "dum1")
        for name, daemon in daemons.items():
            with self.subTest(daemon=name, device="new"):
                counters, page = quiet(daemon.scrape)
                self.assertEqual(page.get("rdma_devices"), len(DEVICES) + 1)
                self.assertEqual(page.get("rdma_device_up", device="rxe_new"), 1)
                self.assert_device_complete(page, "rxe_new", counters)
        kernel.run("ip", "link", "del", "dum1")
        wait_for(lambda: "rxe_new" not in kernel.devices(), "rxe_new gone")
        for name, daemon in daemons.items():
            with self.subTest(daemon=name, device="gone"):
                page = daemon.scrape()
                self.assert_gone(page, "rxe_new")
                self.assertEqual(page.get("rdma_devices"), len(DEVICES))

    def test_renamed(self):
        """The index stays, the name and the path of every file change."""
        self.addCleanup(lambda: "renamed" in kernel.devices()
                        and kernel.run("rdma", "dev", "set", "renamed", "name", "rxe_virtio"))
        kernel.run("rdma", "dev", "set", "rxe_virtio", "name", "renamed")
        for name, daemon in daemons.items():
            with self.subTest(daemon=name):
                counters, page = quiet(daemon.scrape)
                self.assert_device_complete(page, "renamed", counters)
                self.assert_gone(page, "rxe_virtio")
                self.assertEqual(page.get("rdma_devices"), len(DEVICES))
        kernel.run("rdma", "dev", "set", "renamed", "name", "rxe_virtio")
        for daemon in daemons.values():
            counters, page = quiet(daemon.scrape)
            self.assert_device_complete(page, "rxe_virtio", counters)
            self.assert_gone(page, "renamed")

    def test_deleted_while_a_program_has_it_open(self):
        """The deletion waits for the program. Until then netlink denies the device, while sysfs still has it."""
        self.addCleanup(self.add, "rxe_dummy")
        with open(kernel.uverbs_path("rxe_dummy"), "rb"):
            deletion = subprocess.Popen(["rdma", "link", "delete", "rxe_dummy"])
            self.addCleanup(deletion.wait, 20)
            wait_for(lambda: "rxe_dummy" not in kernel.links(), "rxe_dummy gone from netlink")
            self.assertIn("rxe_dummy", kernel.devices())
            for name, daemon in daemons.items():
                with self.subTest(daemon=name):
                    start = time.monotonic()
                    counters, page = quiet(daemon.scrape)
                    self.assertLess(time.monotonic() - start, 3)
                    for device in ("rxe0", "rxe1", "rxe_virtio"):
                        self.assert_device_complete(page, device, counters)
                        self.assertEqual(page.get("rdma_device_up", device=device), 1)
                        success = page.find("rdma_exporter_collector_success", device=device)
                        self.assertEqual(set(success.values()), {1}, success)
            self.assertIsNone(deletion.poll(), "the deletion was to wait for the open device")
        self.assertEqual(deletion.wait(timeout=20), 0)
        self.assert_gone(self.daemon.scrape(), "rxe_dummy")


class NetworkNamespace(LabTest):
    """In another network namespace the kernel shows the device but not its hw_counters files; netlink has them."""

    NAME = "other"

    def setUp(self):
        super().setUp()
        kernel.run("ip", "netns", "add", self.NAME)
        self.addCleanup(kernel.run, "ip", "netns", "delete", self.NAME)

    def test_counters_still_come_over_netlink(self):
        inside = ("ip", "netns", "exec", self.NAME)
        self.assertNotIn("hw_counters", kernel.run(*inside, "ls", "/sys/class/infiniband/rxe0/ports/1"))
        counters, page = quiet(lambda: exporter.once(prefix=inside))
        for device in DEVICES:
            self.assert_device_complete(page, device, counters)
            self.assertEqual(page.get("rdma_device_up", device=device), 1)
        self.assert_collectors_succeed(page)

    def test_without_netlink_they_are_absent_and_not_zero(self):
        page = exporter.once("--netlink=off", prefix=("ip", "netns", "exec", self.NAME))
        for device in DEVICES:
            self.assertEqual(counter_series(page, device), {})
            self.assertEqual(page.get("rdma_port_state", device=device), ACTIVE)
        self.assert_collectors_succeed(page)


    def test_in_exclusive_mode_another_namespace_has_no_devices(self):
        """`rdma system set netns exclusive`: not an error, only nothing to see."""
        kernel.run("ip", "netns", "delete", self.NAME)
        self.addCleanup(kernel.run, "ip", "netns", "add", self.NAME)
        wait_for(lambda: self.switch_mode("exclusive"), "exclusive mode", timeout=10)
        self.addCleanup(wait_for, lambda: self.switch_mode("shared"), "shared mode", timeout=10)
        kernel.run("ip", "netns", "add", self.NAME)
        self.addCleanup(kernel.run, "ip", "netns", "delete", self.NAME)
        page = exporter.once(prefix=("ip", "netns", "exec", self.NAME))
        self.assertEqual(readable(page.kernel_series()), {"rdma_devices ": 0})
        self.assertEqual(self.daemon.scrape().get("rdma_devices"), len(DEVICES))

    @staticmethod
    def switch_mode(mode):
        """The kernel refuses while another namespace is there, also one that is still being taken down."""
        return subprocess.run(["rdma", "system", "set", "netns", mode], stderr=subprocess.DEVNULL).returncode == 0


class TheEnd(LabTest):
    """Run last: nothing is put back."""

    def test_the_driver_unloads_under_the_daemons(self):
        kernel.run("modprobe", "-r", "rdma_rxe")
        for name, daemon in daemons.items():
            with self.subTest(daemon=name):
                page = daemon.scrape()
                self.assertEqual(page.get("rdma_devices"), 0)
                self.assertEqual({dict(labels)["device"]: value for (_, labels), value in
                                  page.find("rdma_device_up").items() if dict(labels)["device"] in DEVICES},
                                 dict.fromkeys(DEVICES, 0))
                self.assert_collectors_succeed(page)

    def test_z_they_lived_through_all_of_it_and_stop_within_two_seconds(self):
        for name, daemon in daemons.items():
            with self.subTest(daemon=name):
                self.assertTrue(daemon.alive(), daemon.log.read_text()[-3000:])
                start = time.monotonic()
                self.assertEqual(daemon.stop(), 0)
                self.assertLess(time.monotonic() - start, 2)


def main():
    start = time.monotonic()
    tests = unittest.TestSuite()
    for case in (QuietMoment, WaysToRead, Traffic, LinkDown, Removal, NetworkNamespace, TheEnd):
        tests.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(tests)
    for name, daemon in daemons.items() if not result.wasSuccessful() else ():
        print(f"--- end of the log of the daemon `{name}`:\n{daemon.log.read_text()[-3000:]}")
    for test, reason in result.skipped:
        print(f"SKIPPED {test.id()}: {reason}")
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print(f"lab: {result.testsRun} tests, {failed} failed, {len(result.skipped)} SKIPPED, "
          f"{time.monotonic() - start:.0f} s in the guest, kernel {os.uname().release}", flush=True)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
