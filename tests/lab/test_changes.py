# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The daemon while devices change: links that go down, devices that go, come back or are renamed, other network
namespaces. Each test but those of TheEnd leaves the devices as it found them. Run by test_foundation.py."""

import time

import exporter
from guest import Path, kernel, subprocess, traffic
from labtest import (
    ACTIVE, DEVICES, DOWN, NETDEVS, LabTest, counter_series, daemons, quiet, readable, wait_for)

PROMPT = 6  # seconds; a scrape that hangs takes the 8 of scrape.timeout, one beside a busy build has taken 3.6


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
        self.assertEqual(page.find("rdma_exporter_collector_failing", device=device), {})

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
        self.addCleanup(lambda: Path("/sys/class/net/dum1").exists() and kernel.run("ip", "link", "del", "dum1"))
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
        with Path(kernel.uverbs_path("rxe_dummy")).open("rb"):
            deletion = subprocess.Popen(["rdma", "link", "delete", "rxe_dummy"])
            self.addCleanup(deletion.wait, 20)
            wait_for(lambda: "rxe_dummy" not in kernel.links(), "rxe_dummy gone from netlink")
            self.assertIn("rxe_dummy", kernel.devices())
            for name, daemon in daemons.items():
                with self.subTest(daemon=name):
                    start = time.monotonic()
                    counters, page = quiet(daemon.scrape)
                    self.assertLess(time.monotonic() - start, PROMPT)
                    for device in ("rxe0", "rxe1", "rxe_virtio"):
                        self.assert_device_complete(page, device, counters)
                        self.assertEqual(page.get("rdma_device_up", device=device), 1)
                        self.assertEqual(page.find("rdma_exporter_collector_failing", device=device), {})
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
        wait_for(lambda: self.switch_mode("exclusive"), "exclusive mode")
        self.addCleanup(wait_for, lambda: self.switch_mode("shared"), "shared mode")
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

    def unload(self, module):
        while holders := sorted(holder.name for holder in Path(f"/sys/module/{module}/holders").iterdir()):
            self.unload(holders[0])
        kernel.run("rmmod", module)

    def test_zz_devices_are_seen_when_the_rdma_core_is_loaded_again(self):
        """The directory of all devices goes with the core, and a daemon that uses no netlink does not hold the core."""
        daemon = daemons["files"] = exporter.Exporter(9401, "--netlink=off")
        daemon.wait_until_ready()
        self.assertEqual(daemon.scrape().get("rdma_devices"), 0)
        self.unload("ib_core")
        self.assertFalse(kernel.CLASS.exists())
        self.assertEqual(daemon.scrape().get("rdma_devices"), 0)
        kernel.run("modprobe", "rdma_rxe")
        kernel.run("rdma", "link", "add", "rxe0", "type", "rxe", "netdev", NETDEVS["rxe0"])
        self.assertEqual(daemon.scrape().get("rdma_device_up", device="rxe0"), 1)
        self.assertEqual(daemon.stop(), 0)


IN_ORDER = (LinkDown, Removal, NetworkNamespace, TheEnd)
