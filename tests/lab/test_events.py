# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""What happens between two scrapes: links that flap, devices that come and go, asynchronous events, and what the
daemon does not do about them. The suite `events` (tests/lab/run)."""

import time

import exporter
from guest import Path, kernel, no_netlink, subprocess
from labtest import ACTIVE, DEVICES, LabTest, daemons, stop_daemons, wait_for

CARRIER = "rdma_netdev_carrier_changes_total"
ASYNC = "rdma_device_async_events_total"
RECEIVED = "rdma_exporter_events_received_total"
SOURCE_UP = "rdma_exporter_event_source_up"
LISTENING = "rdma_exporter_async_events_up"
LISTENERS = ("on", "nobody")
# Removing a device takes a quarter of a second here when nobody holds it, and for ever when somebody does.
REMOVAL_SECONDS = 4


def setUpModule():
    exporter.install()
    daemons["default"] = exporter.Exporter(9400)
    daemons["on"] = exporter.Exporter(9401, "--collector.events.async=on")
    daemons["nobody"] = exporter.Exporter(9402, "--collector.events.async=on", user=exporter.NOBODY)
    daemons["deaf"] = exporter.Exporter(9403, before=no_netlink.refuse)
    for daemon in daemons.values():
        daemon.wait_until_ready()
        wait_for(lambda daemon=daemon: daemon.scrape().get("rdma_devices") == len(DEVICES), "all devices")


def tearDownModule():
    stop_daemons()


def has_monitor():
    return kernel.release() >= (6, 12)


def timed(*command):
    start = time.monotonic()
    kernel.run(*command)
    return time.monotonic() - start


def add_device(device, netdev):
    if device not in kernel.devices():
        kernel.run("rdma", "link", "add", device, "type", "rxe", "netdev", netdev)


class EventsTest(LabTest):
    def setUp(self):
        super().setUp()
        self.on = daemons["on"]

    def events(self, daemon, device, event):
        return daemon.scrape().get(ASYNC, device=device, event=event)

    def opened(self, daemon):
        """Its descriptors of verbs devices and of their events."""
        return [file for file in daemon.open_files() if file.startswith("/dev/infiniband") or "infinibandevent" in file]

    def wait_for_events(self, daemon, device, event, count):
        wait_for(lambda: self.events(daemon, device, event) >= count, f"{count} {event} of {device}")


class Sources(EventsTest):
    def test_all_are_heard_without_privileges(self):
        for name in ("default", "nobody"):
            page = daemons[name].scrape()
            for source in ("uevent", "link"):
                self.assertEqual(page.get(SOURCE_UP, source=source), 1, f"{name} {source}")
            self.assertEqual(page.get(SOURCE_UP, source="monitor"), 1 if has_monitor() else None, name)
            self.assertEqual(sum(page.find("rdma_exporter_event_losses_total").values()), 0, name)
            self.assert_collectors_succeed(page)

    def test_a_single_collection_listens_to_nothing(self):
        page = exporter.once("--collector.events.async=on")
        self.assertEqual(page.find(RECEIVED), {})
        self.assertEqual(page.find(LISTENING), {})
        self.assertNotEqual(page.find(CARRIER), {})

    def test_events_can_be_switched_off(self):
        daemon = exporter.Exporter(9404, *(f"--no-collector.{name}" for name in (
            "events", "dcb", "ethtool_standard", "devlink", "config_check")))  # what else has sockets of its own
        self.addCleanup(daemon.stop)
        daemon.wait_until_ready()
        page = daemon.scrape()
        self.assertEqual(page.find(RECEIVED), {})
        self.assertEqual(page.find(CARRIER), {})
        self.assertEqual(set(daemon.netlink_sockets()) - {exporter.NETLINK_RDMA}, set())


class Carrier(EventsTest):
    def changes(self, page):
        return {(dict(labels)["netdev"], dict(labels)["to"]): value for (_, labels), value in page.find(CARRIER).items()}

    def test_it_is_what_the_kernel_counts(self):
        self.assertEqual(self.changes(self.daemon.scrape()), kernel.carrier_changes(("ve0", "ve1", "dum0", "eth0")))

    def test_a_flap_of_300_ms_between_two_scrapes_is_counted(self):
        before = self.daemon.scrape()
        kernel.run("ip", "link", "set", "dum0", "carrier", "off")
        time.sleep(0.3)
        kernel.run("ip", "link", "set", "dum0", "carrier", "on")
        wait_for(lambda: kernel.port_number("rxe_dummy", "state") == ACTIVE, "rxe_dummy up again")
        after = self.daemon.scrape()
        for page in (before, after):
            self.assertEqual(page.get("rdma_port_state", device="rxe_dummy"), ACTIVE, "nobody saw it down")
        for to in ("down", "up"):
            self.assertEqual(after.get(CARRIER, netdev="dum0", to=to), before.get(CARRIER, netdev="dum0", to=to) + 1, to)
            self.assertEqual(after.get(CARRIER, netdev="ve0", to=to), before.get(CARRIER, netdev="ve0", to=to), to)

    def test_flaps_from_before_the_start_are_in_the_first_scrape(self):
        kernel.run("ip", "link", "set", "ve0", "down")
        kernel.run("ip", "link", "set", "ve0", "up")
        page = exporter.once()
        self.assertEqual(self.changes(page), kernel.carrier_changes(("ve0", "ve1", "dum0", "eth0")))
        self.assertGreater(page.get(CARRIER, netdev="ve0", to="down"), 0)


class Async(EventsTest):
    def test_soft_roce_is_left_alone_unless_told(self):
        """It would not let a device go that somebody has open."""
        page = self.daemon.scrape()
        self.assertEqual(page.find(ASYNC), {})
        self.assertEqual(page.find(LISTENING), {})
        self.assertEqual(self.opened(self.daemon), [])
        self.assertNotEqual(self.opened(self.on), [], "the one that was told has it open")
        self.assertEqual(kernel.contexts("rxe0"), len(LISTENERS))

    def test_counters_are_there_before_the_first_event(self):
        page = self.on.scrape()
        for device in DEVICES:
            self.assertEqual(page.get(LISTENING, device=device), 1)
            for event in ("PORT_ERR", "PORT_ACTIVE", "GID_CHANGE"):
                self.assertIsNotNone(page.get(ASYNC, device=device, port="1", event=event), event)
            self.assertEqual(page.get(ASYNC, device=device, event="DEVICE_FATAL"), 0)
        self.assertEqual(page.find(ASYNC, event="LID_CHANGE"), {}, "RoCE has no LIDs")
        self.assertEqual(page.find(ASYNC, event="QP_FATAL"), {}, "nobody but its owner hears of a queue pair")

    def test_a_port_that_flaps_between_two_scrapes(self):
        for name in LISTENERS:
            with self.subTest(daemon=name):
                daemon = daemons[name]
                down, up = (self.events(daemon, "rxe_dummy", event) for event in ("PORT_ERR", "PORT_ACTIVE"))
                kernel.run("ip", "link", "set", "dum0", "down")
                time.sleep(0.3)
                kernel.run("ip", "link", "set", "dum0", "up")
                self.wait_for_events(daemon, "rxe_dummy", "PORT_ACTIVE", up + 1)
                self.assertEqual(self.events(daemon, "rxe_dummy", "PORT_ERR"), down + 1)
                self.assertEqual(self.events(daemon, "rxe_virtio", "PORT_ERR"), 0)

    def test_an_address_that_is_added_is_in_the_gid_table_at_once(self):
        """Otherwise the table is read once a minute."""
        gids = self.on.scrape().get("rdma_port_gids", device="rxe_dummy", type="RoCE v2")
        before = self.events(self.on, "rxe_dummy", "GID_CHANGE")
        self.addCleanup(kernel.run, "ip", "address", "del", "10.9.7.7/24", "dev", "dum0")
        kernel.run("ip", "address", "add", "10.9.7.7/24", "dev", "dum0")
        self.wait_for_events(self.on, "rxe_dummy", "GID_CHANGE", before + 1)
        page = self.on.scrape()
        self.assertEqual(page.get("rdma_port_gids", device="rxe_dummy", type="RoCE v2"), gids + 1)
        self.assertEqual(kernel.gid_types("rxe_dummy"), {"RoCE v2": gids + 1})

    def test_a_storm_costs_neither_threads_nor_events(self):
        flaps = 100
        threads = self.on.threads()
        files = len(self.on.open_files())
        down = self.events(self.on, "rxe_dummy", "PORT_ERR")
        subprocess.run(["ip", "-batch", "-"], input="link set dum0 down\nlink set dum0 up\n" * flaps, text=True, check=True)
        self.wait_for_events(self.on, "rxe_dummy", "PORT_ERR", down + flaps)
        start = time.monotonic()
        page = self.on.scrape()
        self.assertLess(time.monotonic() - start, 2)
        self.assertEqual(page.get(ASYNC, device="rxe_dummy", event="PORT_ERR"), down + flaps)
        self.assertLessEqual(self.on.threads(), threads + 1, "a worker may have been added, no more")
        self.assertLessEqual(len(self.on.open_files()), files + 2)


class Told(EventsTest):
    """What changes rarely is read again when the kernel tells of a change."""

    def test_the_mtu_of_a_netdev(self):
        self.addCleanup(kernel.run, "ip", "link", "set", "dum0", "mtu", "1500")
        for daemon in (daemons["default"], daemons["nobody"]):
            for mtu, path_mtu in (("700", 512), ("1500", 1024)):
                before = daemon.scrape().get(RECEIVED, source="link")
                kernel.run("ip", "link", "set", "dum0", "mtu", mtu)
                wait_for(lambda: daemon.scrape().get(RECEIVED, source="link") > before, "the link message")
                page = daemon.scrape()
                self.assertEqual(page.get("rdma_port_active_mtu_bytes", device="rxe_dummy"), path_mtu)
                self.assertEqual(page.get("rdma_netdev_mtu_bytes", device="rxe_dummy"), int(mtu))

    def test_a_device_that_is_deleted_and_added(self):
        self.addCleanup(add_device, "rxe_dummy", "dum0")
        before = self.daemon.scrape()
        kernel.run("rdma", "link", "delete", "rxe_dummy")
        kernel.run("rdma", "link", "add", "rxe_dummy", "type", "rxe", "netdev", "dum0")
        page = self.daemon.scrape()
        self.assertEqual(page.get("rdma_device_up", device="rxe_dummy"), 1)
        self.assertEqual(page.get("rdma_port_gids", device="rxe_dummy", type="RoCE v2"),
                         kernel.gid_types("rxe_dummy")["RoCE v2"])
        self.assertEqual(page.get("rdma_port_info", device="rxe_dummy", netdev="dum0"), 1)
        for source, messages in ({"uevent": 4} | ({"monitor": 3} if has_monitor() else {})).items():
            wait_for(lambda source=source, messages=messages: self.daemon.scrape().get(RECEIVED, source=source)
                     >= before.get(RECEIVED, source=source) + messages, source)

    def test_a_device_that_is_renamed(self):
        self.addCleanup(lambda: "renamed" in kernel.devices()
                        and kernel.run("rdma", "dev", "set", "renamed", "name", "rxe_virtio"))
        before = self.daemon.scrape().get(RECEIVED, source="uevent")
        kernel.run("rdma", "dev", "set", "rxe_virtio", "name", "renamed")
        page = self.daemon.scrape()
        self.assertEqual(page.get("rdma_device_up", device="renamed"), 1)
        self.assertEqual(page.get("rdma_port_info", device="renamed", netdev="eth0"), 1)
        wait_for(lambda: self.daemon.scrape().get(RECEIVED, source="uevent") > before, "the uevent")
        wait_for(lambda: self.on.scrape().get(LISTENING, device="renamed") == 1, "listening under the new name")
        page = self.on.scrape()
        self.assertIsNone(page.get(LISTENING, device="rxe_virtio"))
        self.assertIsNotNone(page.get("rdma_port_active_mtu_bytes", device="renamed"))

    def test_without_any_source_everything_is_still_found(self):
        """As in a sandbox that allows no AF_NETLINK."""
        deaf = daemons["deaf"]
        self.addCleanup(add_device, "rxe_dummy", "dum0")
        page = deaf.scrape()
        for source in ("uevent", "link"):
            self.assertEqual(page.get(SOURCE_UP, source=source), 0, source)
        self.assertIn("kernel messages are not received", deaf.log.read_text())
        self.assertEqual(deaf.log.read_text().count("source=uevent"), 1, "said once")
        kernel.run("rdma", "link", "delete", "rxe_dummy")
        self.assertEqual(deaf.scrape().get("rdma_device_up", device="rxe_dummy"), 0)
        add_device("rxe_dummy", "dum0")
        page = deaf.scrape()
        self.assertEqual(page.get("rdma_device_up", device="rxe_dummy"), 1)
        self.assertEqual(page.get("rdma_port_info", device="rxe_dummy", netdev="dum0"), 1)
        self.assertEqual(page.get(CARRIER, netdev="dum0", to="up"), kernel.carrier_changes(("dum0",))["dum0", "up"])


class Removal(EventsTest):
    """The kernel waits with the removal of a Soft-RoCE device until nobody has it open."""

    def setUp(self):
        super().setUp()
        self.addCleanup(add_device, "rxe_dummy", "dum0")

    def test_it_waits_for_a_program_that_has_it_open(self):
        """Without this the other tests would show nothing."""
        with Path(kernel.uverbs_path("rxe_dummy")).open("rb"):
            deletion = subprocess.Popen(["rdma", "link", "delete", "rxe_dummy"])
            self.addCleanup(deletion.wait, 20)
            with self.assertRaises(subprocess.TimeoutExpired):
                deletion.wait(REMOVAL_SECONDS)
        self.assertEqual(deletion.wait(20), 0)

    def test_daemons_that_listen_let_go_by_themselves_and_listen_again(self):
        listening = [daemons[name] for name in LISTENERS]
        for daemon in listening:
            self.assertEqual(daemon.scrape().get(LISTENING, device="rxe_dummy"), 1)
        down = self.events(self.on, "rxe_dummy", "PORT_ERR")
        self.assertGreater(down, 0)
        self.assertLess(timed("rdma", "link", "delete", "rxe_dummy"), REMOVAL_SECONDS)
        page = self.on.scrape()
        self.assertEqual(page.get("rdma_device_up", device="rxe_dummy"), 0)
        self.assertIsNone(page.get(LISTENING, device="rxe_dummy"))
        self.assertGreaterEqual(page.get(ASYNC, device="rxe_dummy", event="PORT_ERR"), down, "not forgotten yet")
        add_device("rxe_dummy", "dum0")
        for daemon in listening:
            self.assertEqual(daemon.scrape().get(LISTENING, device="rxe_dummy"), 1)
        self.assertGreaterEqual(self.events(self.on, "rxe_dummy", "PORT_ERR"), down, "a counter does not fall")

    def test_its_netdev_goes(self):
        self.addCleanup(lambda: Path("/sys/class/net/dum1").exists() and kernel.run("ip", "link", "del", "dum1"))
        kernel.run("ip", "link", "add", "dum1", "type", "dummy")
        kernel.run("rdma", "link", "add", "rxe_new", "type", "rxe", "netdev", "dum1")
        wait_for(lambda: self.on.scrape().get(LISTENING, device="rxe_new") == 1, "listening")
        self.assertLess(timed("ip", "link", "del", "dum1"), REMOVAL_SECONDS)
        wait_for(lambda: "rxe_new" not in kernel.devices(), "rxe_new gone")


class TheEnd(EventsTest):
    def test_by_default_nothing_holds_a_device(self):
        """Now with nobody who could have let go in time: the default daemon does not even answer."""
        for name in ("on", "nobody", "deaf"):
            self.assertEqual(daemons[name].stop(), 0)
        self.daemon.scrape()
        self.daemon.pause()
        self.addCleanup(self.daemon.resume)
        self.assertLess(timed("rdma", "link", "delete", "rxe_dummy"), REMOVAL_SECONDS)
        self.assertEqual(self.opened(self.daemon), [])
        self.assertEqual(kernel.contexts("rxe0"), 0)

    def test_z_it_stops_in_time_while_it_listens(self):
        for name, flags in {"default": (), "on": ("--collector.events.async=on",)}.items():
            daemon = daemons[name] if daemons[name].alive() else exporter.Exporter(9405, *flags)
            daemon.wait_until_ready()
            daemon.scrape()
            start = time.monotonic()
            self.assertEqual(daemon.stop(), 0, name)
            self.assertLess(time.monotonic() - start, 2, name)
        self.assertEqual(kernel.contexts("rxe0"), 0)


IN_ORDER = (Sources, Carrier, Async, Told, Removal, TheEnd)
