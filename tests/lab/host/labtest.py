# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Shared by the tests: the daemons, the names that they must serve, comparisons."""

import unittest

import exporter
from guest import kernel, traffic
from waiting import wait_for  # noqa: F401  for the tests

DEVICES = ["rxe0", "rxe1", "rxe_dummy", "rxe_virtio"]
NETDEVS = {"rxe0": "ve0", "rxe1": "ve1", "rxe_dummy": "dum0", "rxe_virtio": "eth0"}
RAW_FAMILY = "rdma_port_raw_total"
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


def start_daemons():
    """One as it comes, one without netlink, one without privileges; and traffic, so that there is something to see."""
    exporter.install()
    daemons["default"] = exporter.Exporter(9400)
    daemons["files"] = exporter.Exporter(9401, "--netlink=off")
    daemons["nobody"] = exporter.Exporter(9402, user=exporter.NOBODY)
    unittest.addModuleCleanup(stop_daemons)
    for daemon in daemons.values():
        daemon.wait_until_ready()
    make_every_counter_move()


def stop_daemons():
    for daemon in daemons.values():
        daemon.stop()


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
    name, labels = CURATED.get(counter, (RAW_FAMILY, {"source": "hw_counters", "counter": counter}))
    return name, frozenset({"device": device, "port": "1", **labels}.items())


def counter_series(scrape, device):
    """Every kernel counter that a page has of a device, without those of its network interface."""
    return {key: value for key, value in scrape.kernel_series(device=device).items()
            if key[0].endswith("_total") and "netdev" not in dict(key[1])}


def gid_types(scrape, device):
    """{type: number of GIDs} on a page, as kernel.gid_types() has it."""
    return {dict(labels)["type"]: value for (_, labels), value in
            scrape.find("rdma_port_gids", device=device).items() if value}


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
