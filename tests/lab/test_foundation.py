# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The daemon on a real kernel: what it serves is what the kernel says.

The suite `foundation` (tests/lab/run): these tests, and those of test_changes.py in the same process, because every
program start costs about a tenth of a second in the guest.
"""

import time

import exporter
import test_changes
from guest import Path, kernel, traffic
from labtest import (
    DEVICES, NETDEVS, RAW_FAMILY, LabTest, Loss, daemons, gid_types, quiet, readable,
    series_of, start_daemons)


def setUpModule():
    start_daemons()


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
            self.assertEqual(gid_types(self.page, device), kernel.gid_types(device), device)

    def test_what_ethernet_and_soft_roce_lack_is_absent(self):
        self.assertEqual(self.page.find("rdma_port_raw_total", source="counters"), {})
        for name in ("rdma_port_lid", "rdma_port_sm_lid", "rdma_port_counters_saturated",
                     "rdma_port_data_bytes_total", "rdma_device_raw_total",
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
        status = Path("/proc", str(daemons["nobody"].process.pid), "status").read_text()
        self.assertIn(f"Uid:\t{exporter.NOBODY}", status)
        self.assertIn("CapEff:\t0000000000000000", status)
        # Dumps of resources are made in the background, each daemon at its own time: one may still have those of the
        # traffic before.
        end = time.monotonic() + 150  # more than twice the time between two dumps
        while True:
            root, nobody = (daemons[name].scrape() for name in ("default", "nobody"))
            if nobody.kernel_series() == root.kernel_series() or time.monotonic() > end:
                break
            time.sleep(0.2)
        self.assertEqual(readable(nobody.kernel_series()), readable(root.kernel_series()))
        self.assert_collectors_succeed(nobody)
        self.assertGreater(daemons["nobody"].rdma_netlink_sockets(), 0)

    def test_raw_all_serves_every_counter_under_the_kernels_name(self):
        counters, page = quiet(lambda: exporter.once("--raw=all"))
        same = {"port": "1", "source": "hw_counters"}
        expected = {(RAW_FAMILY, frozenset({"device": device, **same, "counter": name}.items())): value
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


IN_ORDER = (QuietMoment, WaysToRead, Traffic, *test_changes.IN_ORDER)
