#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Two hosts that probe each other, each with a kernel of its own, one list of targets and one configuration for both: by
IPv4, by IPv6 and in a VLAN. The suite `probe-hosts` (tests/lab/run). The second guest runs this file too, and does what
the first tells it."""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "guest"))

import exporter  # noqa: E402
import kernel  # noqa: E402
import labtest  # noqa: E402
from labtest import LabTest, daemons, run_in_order, stop_daemons  # noqa: E402

# As tests/lab/guest/fabric.sh gives them out: each rail of the list is a network.
ADDRESSES = {
    "plain": {"host1": "10.7.0.1", "host2": "10.7.0.2"},
    "six": {"host1": "fd00:7::1", "host2": "fd00:7::2"},
    "vlan": {"host1": "10.7.7.1", "host2": "10.7.7.2"},
}
ME = os.uname().nodename
SECRET, LIST = pathlib.Path("/tmp/probe.psk"), pathlib.Path("/tmp/fleet.json")
OUT = pathlib.Path("/out")
FAILURES = "rdma_probe_failures_total"


def wait_for(condition, what, timeout=240):
    """As labtest's, with the patience that two guests on a busy machine need."""
    labtest.wait_for(condition, what, timeout)


def bracketed(address):
    return f"[{address}]" if ":" in address else address


def start():
    listen = [f"--probe.listen-address={bracketed(rail[ME])}:9401" for rail in ADDRESSES.values()]
    daemons["probe"] = exporter.Exporter(
        9400, "--netlink=off", "--probe.responder", *listen, f"--probe.secret-file={SECRET}",
        f"--probe.discovery.files={LIST}", "--probe.interval=200ms", "--probe.echo-interval=400ms", "--probe.timeout=16",
        "--probe.max-cpu-percent=100")
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
    LIST.write_text(json.dumps([
        {"targets": [f"{bracketed(address)}:9401"], "labels": {"name": f"{host}-{rail}", "rail": rail}}
        for rail, addresses in ADDRESSES.items() for host, address in addresses.items()]))
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


def targets_of(name):
    return [f"{OTHER[name]}-{rail}" for rail in ADDRESSES]


def tagged_packets():
    return int(pathlib.Path("/sys/class/net/eth1.7/statistics/tx_packets").read_text())


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
        def counts(page):
            return {(op, target): page.get("rdma_probe_rtt_seconds_count", op=op, target=target) or 0
                    for op in ("write", "echo") for target in targets_of(name)}
        before = counts(PAGES[name]())

        def sampled():
            page = PAGES[name]()
            return all(page.get("rdma_probe_up", target=target) == 1 for target in targets_of(name)) and all(
                count > before[which] for which, count in counts(page).items())
        wait_for(sampled, f"new samples of {name}")

    def failed(self, name, page=None, **labels):
        """Of each target."""
        page = page or PAGES[name]()
        return {target: sum(page.find(FAILURES, target=target, **labels).values()) for target in targets_of(name)}

    def wait_for_down(self, name, before, **labels):
        def seen():
            page = PAGES[name]()
            return all(page.get("rdma_probe_up", target=target) == 0 and count > before[target]
                       for target, count in self.failed(name, page, **labels).items())
        wait_for(seen, f"{name} misses the other")

    def test_each_probes_the_other_and_not_itself(self):
        for name, read in PAGES.items():
            targets = {dict(labels)["target"] for (_, labels) in read().find("rdma_probe_attempts_total")}
            self.assertEqual(targets, set(targets_of(name)))
            # The other host's end of a lease that the link has cut lasts until a packet tells.
            wait_for(lambda read=read: read().get("rdma_probe_inbound_sessions", device="rxe0") == len(ADDRESSES),
                     f"one session of each target that is {name}")

    def test_a_target_is_probed_from_the_address_in_its_network(self):
        for name, read in PAGES.items():
            expected = {(f"{OTHER[name]}-{rail}", "write", "rxe0", addresses[name], addresses[OTHER[name]])
                        for rail, addresses in ADDRESSES.items()}
            wait_for(lambda read=read, expected=expected: self.sessions(read()) == expected, f"{expected} of {name}")

    def sessions(self, page):
        infos = [dict(labels) for (_, labels) in page.find("rdma_probe_session_info")]
        labels = ("target", "op", "peer_device", "local_address", "peer_address")
        return {tuple(one[label] for label in labels) for one in infos}

    def test_probes_of_the_vlan_are_tagged(self):
        count = lambda: near_page().get("rdma_probe_rtt_seconds_count", op="write", target="host2-vlan")
        writes, packets = count(), tagged_packets()
        wait_for(lambda: count() >= writes + 10, "ten more")
        self.assertGreaterEqual(tagged_packets(), packets + 10, "the side channel alone sends few")

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
