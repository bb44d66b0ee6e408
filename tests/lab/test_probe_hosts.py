# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Two hosts that probe each other, each with a kernel of its own, one list of targets and one configuration for both: by
IPv4, by IPv6 and in a VLAN. The suite `probe-hosts` (tests/lab/run)."""

import json

import exporter
import labtest
import remote
from guest import Path
from labtest import LabTest, daemons, stop_daemons

# As tests/lab/guest/fabric.sh gives them out: each rail of the list is a network.
ADDRESSES = {
    "plain": {"host1": "10.7.0.1", "host2": "10.7.0.2"},
    "six": {"host1": "fd00:7::1", "host2": "fd00:7::2"},
    "vlan": {"host1": "10.7.7.1", "host2": "10.7.7.2"},
}
LIST = Path("/tmp/fleet.json")
FAILURES = "rdma_probe_failures_total"
CONTROL_FAILURES = "rdma_probe_control_failures_total"


def wait_for(condition, what, timeout=240):
    """As labtest's, with the patience that two guests on a busy machine need."""
    labtest.wait_for(condition, what, timeout)


def bracketed(address):
    return f"[{address}]" if ":" in address else address


def start(name):
    listen = [f"--probe.listen-address={bracketed(rail[name])}:9401" for rail in ADDRESSES.values()]
    daemons[name] = exporter.Exporter(
        9400, "--netlink=off", "--probe.responder", *listen, f"--probe.secret-file={exporter.SECRET}",
        f"--probe.discovery.files={LIST}", "--probe.interval=200ms", "--probe.echo-interval=400ms", "--probe.timeout=16",
        "--probe.max-cpu-percent=100", guest=GUESTS[name])
    daemons[name].wait_until_ready()


def prepare(name):
    guest = GUESTS[name]
    guest.exporter.install()
    exporter.write_keys(exporter.KEY, guest=guest)
    guest.ask(LIST, "write_text", True, (json.dumps([
        {"targets": [f"{bracketed(address)}:9401"], "labels": {"name": f"{host}-{rail}", "rail": rail}}
        for rail, addresses in ADDRESSES.items() for host, address in addresses.items()]),))
    start(name)


def page_of(name):
    return daemons[name].scrape()


GUESTS = dict(zip(("host1", "host2"), remote.guests))
OTHER = {"host1": "host2", "host2": "host1"}


def targets_of(name):
    return [f"{OTHER[name]}-{rail}" for rail in ADDRESSES]


def tagged_packets():
    return int(Path("/sys/class/net/eth1.7/statistics/tx_packets").read_text())


def setUpModule():
    for name in GUESTS:
        prepare(name)


def tearDownModule():
    stop_daemons()


class Hosts(LabTest):
    def setUp(self):
        self.wait_for_both()

    def wait_for_both(self):
        for name in GUESTS:
            self.wait_for_new_samples(name)

    def wait_for_new_samples(self, name):
        def counts(page):
            return {(op, target): page.get("rdma_probe_rtt_seconds_count", op=op, target=target) or 0
                    for op in ("write", "echo") for target in targets_of(name)}
        before = counts(page_of(name))

        def sampled():
            page = page_of(name)
            return all(page.get("rdma_probe_up", target=target) == 1 for target in targets_of(name)) and all(
                count > before[which] for which, count in counts(page).items())
        wait_for(sampled, f"new samples of {name}")

    def failed(self, name, page=None, **labels):
        """Of each target."""
        page = page or page_of(name)
        metric = CONTROL_FAILURES if labels.get("stage") == "tcp" else FAILURES
        return {target: sum(page.find(metric, target=target, **labels).values()) for target in targets_of(name)}

    def wait_for_down(self, name, before, **labels):
        def seen():
            page = page_of(name)
            return all(page.get("rdma_probe_up", target=target) == 0 and count > before[target]
                       for target, count in self.failed(name, page, **labels).items())
        wait_for(seen, f"{name} misses the other")

    def test_each_probes_the_other_and_not_itself(self):
        for name in GUESTS:
            targets = {dict(labels)["target"] for (_, labels) in page_of(name).find("rdma_probe_attempts_total")}
            self.assertEqual(targets, set(targets_of(name)))
            # The other host's end of a lease that the link has cut lasts until a packet tells.
            wait_for(lambda name=name: page_of(name).get("rdma_probe_inbound_sessions", device="rxe0") == len(ADDRESSES),
                     f"one session of each target that is {name}")

    def test_a_target_is_probed_from_the_address_in_its_network(self):
        for name in GUESTS:
            expected = {(f"{OTHER[name]}-{rail}", "write", "rxe0", addresses[name], addresses[OTHER[name]])
                        for rail, addresses in ADDRESSES.items()}
            wait_for(lambda name=name, expected=expected: self.sessions(page_of(name)) == expected, f"{expected} of {name}")

    def sessions(self, page):
        infos = [dict(labels) for (_, labels) in page.find("rdma_probe_session_info")]
        labels = ("target", "op", "peer_device", "local_address", "peer_address")
        return {tuple(one[label] for label in labels) for one in infos}

    def test_probes_of_the_vlan_are_tagged(self):
        count = lambda: page_of("host1").get("rdma_probe_rtt_seconds_count", op="write", target="host2-vlan")
        writes, packets = count(), tagged_packets()
        wait_for(lambda: count() >= writes + 10, "ten more")
        self.assertGreaterEqual(tagged_packets(), packets + 10, "the side channel alone sends few")

    def test_a_killed_daemon_is_missed_and_found_again(self):
        before = self.failed("host1", stage="tcp")
        daemons["host2"].process.kill()
        daemons["host2"].process.wait()
        self.wait_for_down("host1", before, stage="tcp")
        start("host2")
        self.wait_for_both()

    def test_a_link_that_goes_down_is_missed_at_both_ends_and_found_again(self):
        before = {name: self.failed(name) for name in GUESTS}
        GUESTS["host2"].kernel.run("ip", "link", "set", "eth1", "down")
        for name in GUESTS:
            self.wait_for_down(name, before[name])
        GUESTS["host2"].kernel.run("ip", "link", "set", "eth1", "up")
        self.wait_for_both()


IN_ORDER = (Hosts,)
