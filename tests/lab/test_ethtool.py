# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Driver statistics on a real kernel: the values of the ioctl, the interfaces behind ports, a list that changes."""

import threading
import unittest

import exporter
from guest import kernel, subprocess
from labtest import daemons
from waiting import wait_for

FAMILY = "rdma_netdev_raw_total"


def setUpModule():
    exporter.install()
    # An ordinary user, all statistics, read in every scrape.
    daemons["all"] = exporter.Exporter(9400, "--metrics.set=full", "--collector.ethtool.raw-exclude=",
                                       "--collector.ethtool.interval=0ms", user=exporter.NOBODY)
    daemons["default"] = exporter.Exporter(9401)
    for daemon in daemons.values():
        unittest.addModuleCleanup(daemon.stop)
        daemon.wait_until_ready()


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def served(page, netdev):
    return {dict(labels)["counter"]: value for (_, labels), value in page.find(FAMILY, netdev=netdev).items()}


def role(page, netdev):
    found = page.find("rdma_netdev_info", netdev=netdev)
    return [dict(labels)["role"] for _, labels in found]


class Statistics(unittest.TestCase):
    def test_values_are_those_of_the_ioctl(self):
        for netdev in ("ve0", "ve1", "eth0"):
            with self.subTest(netdev=netdev):
                before = after = page = None
                while before is None or before != after:  # until nothing moved
                    before, page, after = kernel.statistics(netdev), daemons["all"].scrape(), kernel.statistics(netdev)
                self.assertGreater(len(before), 5)
                self.assertEqual(served(page, netdev), before)

    def test_single_rings_are_left_out_by_default(self):
        page = daemons["default"].scrape()
        self.assertEqual(set(served(page, "ve0")), {"peer_ifindex"})
        self.assertEqual(page.get("rdma_netdev_statistics_age_seconds", netdev="ve0") is not None, True)
        self.assertEqual(page.get("rdma_exporter_collector_success", collector="ethtool"), 1)

    def test_scrapes_within_the_interval_get_the_values_with_their_age(self):
        def age():
            return daemons["default"].scrape().get("rdma_netdev_statistics_age_seconds", netdev="eth0")

        wait_for(lambda: age() > 0, "a scrape between two readings")

    def test_a_driver_without_statistics_is_no_error(self):
        page = daemons["all"].scrape()
        self.assertEqual(role(page, "dum0"), ["port"])
        self.assertEqual(served(page, "dum0"), {})
        self.assertEqual(page.find("rdma_exporter_read_errors_total", collector="ethtool"), {})

    def test_the_interface_says_who_it_is(self):
        (_, labels), = daemons["all"].scrape().find("rdma_netdev_info", netdev="eth0")
        labels = dict(labels)
        self.assertEqual((labels["driver"], labels["role"], labels["device"], labels["port"]),
                         ("virtio_net", "port", "rxe_virtio", "1"))
        self.assertRegex(labels["bus_address"], "^[0-9a-f]{4}:")

    def test_an_interface_is_no_rdma_device(self):
        landing_page = daemons["all"].get("/")
        self.assertIn(b"rxe0", landing_page)


class Relations(unittest.TestCase):
    """Soft-RoCE on stacked interfaces."""

    def setUp(self):
        # Gone already where the interface below went first.
        self.addCleanup(subprocess.run, ["rdma", "link", "delete", "rxe_stack"], check=False, capture_output=True)

    def add_rxe(self, netdev):
        subprocess.run(["rdma", "link", "add", "rxe_stack", "type", "rxe", "netdev", netdev], check=True)

    def test_a_bond_leads_to_its_members(self):
        subprocess.run(["modprobe", "bonding", "max_bonds=0"], check=True)
        ip("link", "add", "bond9", "type", "bond")
        self.addCleanup(ip, "link", "delete", "bond9")
        for member in ("dum8", "dum9"):
            ip("link", "add", member, "type", "dummy")
            self.addCleanup(ip, "link", "delete", member)
            ip("link", "set", member, "master", "bond9")
        self.add_rxe("bond9")
        page = daemons["all"].scrape()
        self.assertEqual((role(page, "bond9"), role(page, "dum8"), role(page, "dum9")),
                         (["bond"], ["member"], ["member"]))

    def test_a_macvlan_leads_to_the_interface_below(self):
        subprocess.run(["modprobe", "macvlan"], check=True)
        ip("link", "add", "dum7", "type", "dummy")
        self.addCleanup(ip, "link", "delete", "dum7")
        ip("link", "add", "mac7", "link", "dum7", "type", "macvlan")
        self.add_rxe("mac7")
        page = daemons["all"].scrape()
        self.assertEqual((role(page, "mac7"), role(page, "dum7")), ([], ["lower"]))


class ChangingList(unittest.TestCase):
    """The driver adds and removes statistics while they are read."""

    def test_each_page_has_one_list_or_the_other(self):
        ip("link", "add", "veA", "numrxqueues", "8", "numtxqueues", "8", "type", "veth",
           "peer", "name", "veB", "numrxqueues", "8", "numtxqueues", "8")
        self.addCleanup(ip, "link", "delete", "veA")
        ip("link", "set", "veA", "up")
        subprocess.run(["rdma", "link", "add", "rxe_change", "type", "rxe", "netdev", "veA"], check=True)
        self.addCleanup(subprocess.run, ["rdma", "link", "delete", "rxe_change"], check=True)
        lists = []
        for queues in ("1", "8"):
            subprocess.run(["ethtool", "-L", "veA", "rx", queues], check=True)
            lists.append(set(kernel.statistics("veA")))
        self.assertLess(len(lists[0]), len(lists[1]))
        stop = threading.Event()
        changes = []

        def change():
            while not stop.is_set():
                for queues in ("1", "8"):
                    subprocess.run(["ethtool", "-L", "veA", "rx", queues], check=True)
                    changes.append(queues)

        thread = threading.Thread(target=change)
        thread.start()
        try:
            seen = [set(served(daemons["all"].scrape(), "veA")) for _ in range(25)]
        finally:
            stop.set()
            thread.join()
        self.assertGreater(len(changes), 5)
        for names in seen:
            self.assertIn(names, [*lists, set()], "a reading may be lost, not mixed")
        self.assertTrue(all(names in seen for names in lists), "both lists were met")
