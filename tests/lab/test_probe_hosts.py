#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Two hosts that probe each other, each with a kernel of its own, one list of targets and one configuration for both.
The suite `probe-hosts` (tests/lab/run). The second guest runs this file too, and does what the first tells it."""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "guest"))

import exporter  # noqa: E402
import kernel  # noqa: E402
import labtest  # noqa: E402
from labtest import LabTest, daemons, run_in_order, stop_daemons  # noqa: E402

ADDRESSES = {"host1": "10.7.0.1", "host2": "10.7.0.2"}
ME = os.uname().nodename
SECRET, LIST = pathlib.Path("/tmp/probe.psk"), pathlib.Path("/tmp/fleet.json")
OUT = pathlib.Path("/out")
FAILURES = "rdma_probe_failures_total"


def wait_for(condition, what, timeout=120):
    """As labtest's, with the patience that two guests on a busy machine need."""
    labtest.wait_for(condition, what, timeout)


def start():
    daemons["probe"] = exporter.Exporter(
        9400, "--netlink=off", "--probe.responder", f"--probe.listen-address={ADDRESSES[ME]}:9401",
        f"--probe.secret-file={SECRET}", f"--probe.discovery.files={LIST}", "--probe.interval=200ms",
        "--probe.echo-interval=400ms", "--probe.timeout=16")
    daemons["probe"].wait_until_ready()


def kill():
    daemons["probe"].process.kill()
    daemons["probe"].process.wait()


def link_down():
    kernel.run("ip", "link", "set", "eth1", "down")


def link_up():
    kernel.run("ip", "link", "set", "eth1", "up")


ORDERS = {order.__name__: order for order in (start, kill, link_down, link_up)}


def prepare():
    exporter.install()
    SECRET.write_text("fleet:" + "5a" * 32 + "\n")
    SECRET.chmod(0o400)
    LIST.write_text(json.dumps([{"targets": [f"{address}:9401"], "labels": {"name": name}}
                                for name, address in ADDRESSES.items()]))
    start()


def obey():
    """The second host: does what is ordered and answers with its page; the lab ends it with the first."""
    prepare()
    order, answer = OUT / "order", OUT / "answer"
    while True:
        wait_for(order.exists, "the next order", timeout=3600)
        name = order.read_text()
        order.unlink()
        page = b""
        if name == "page":
            page = daemons["probe"].get("/metrics")
        else:
            ORDERS[name]()
        (OUT / "answer.new").write_bytes(page)
        (OUT / "answer.new").rename(answer)


def tell(order):
    """Has the second host do something; returns what it answers."""
    new, answer = OUT / "peer/order.new", OUT / "peer/answer"
    new.write_text(order)
    new.rename(OUT / "peer/order")
    wait_for(answer.exists, f"that the other host does it: {order}")
    page = answer.read_bytes()
    answer.unlink()
    return page


def near_page():
    return daemons["probe"].scrape()


def far_page():
    return exporter.Scrape(tell("page"))


PAGES = {"host1": near_page, "host2": far_page}
OTHER = {"host1": "host2", "host2": "host1"}


def setUpModule():
    prepare()


def tearDownModule():
    stop_daemons()


class Hosts(LabTest):
    def setUp(self):
        self.wait_for_both()

    def wait_for_both(self):
        for name in PAGES:
            self.wait_for_new_samples(name)

    def wait_for_new_samples(self, name):
        count = lambda page, op: page.get("rdma_probe_rtt_seconds_count", op=op, target=OTHER[name]) or 0
        before = PAGES[name]()

        def sampled():
            page = PAGES[name]()
            return page.get("rdma_probe_up", target=OTHER[name]) == 1 and all(
                count(page, op) > count(before, op) for op in ("write", "echo"))
        wait_for(sampled, f"new samples of {name}")

    def failed(self, name, page=None, **labels):
        return sum((page or PAGES[name]()).find(FAILURES, target=OTHER[name], **labels).values())

    def wait_for_down(self, name, before, **labels):
        def seen():
            page = PAGES[name]()
            return page.get("rdma_probe_up", target=OTHER[name]) == 0 and self.failed(name, page, **labels) > before
        wait_for(seen, f"{name} misses the other")

    def test_each_probes_the_other_and_not_itself(self):
        for name, read in PAGES.items():
            with self.subTest(host=name):
                page = read()
                self.assertEqual({dict(labels)["target"] for (_, labels) in page.find("rdma_probe_attempts_total")},
                                 {OTHER[name]})
                info = [dict(labels) for (_, labels) in page.find("rdma_probe_session_info")]
                self.assertEqual([(one["op"], one["peer_device"], one["local_address"], one["peer_address"]) for one in info],
                                 [("write", "rxe0", ADDRESSES[name], ADDRESSES[OTHER[name]])])
                self.assertEqual(page.get("rdma_probe_inbound_sessions", device="rxe0"), 1)
                for op in ("write", "echo"):
                    self.assertGreater(page.get("rdma_probe_last_rtt_seconds", op=op), 1e-6)

    def test_a_killed_daemon_is_missed_and_found_again(self):
        before = self.failed("host1", stage="control")
        tell("kill")
        self.wait_for_down("host1", before, stage="control")
        tell("start")
        self.wait_for_both()

    def test_a_link_that_goes_down_is_missed_at_both_ends_and_found_again(self):
        before = {name: self.failed(name) for name in PAGES}
        tell("link_down")
        for name in PAGES:
            self.wait_for_down(name, before[name])
        tell("link_up")
        self.wait_for_both()


if __name__ == "__main__":
    if os.environ.get("LAB_HOST") == "2":
        obey()
    sys.exit(run_in_order(Hosts))
