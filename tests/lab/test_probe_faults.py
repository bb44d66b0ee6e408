# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Which path a fault is found on: two hosts, each with a kernel of its own and four adapters, one mesh, and one fault at a
time. The control connections use a network of their own. The suite `probe-faults` (tests/lab/run)."""

import contextlib
import json

import exporter
import labtest
import remote
from guest import Path
from labtest import LabTest, daemons, stop_daemons

RAILS = range(4)
DEVICES = [f"roce{rail}" for rail in RAILS]
FLOWS = ("0", "1")
MESH = Path("/tmp/mesh.json")
GUESTS = dict(zip(("host1", "host2"), remote.guests))
OTHER = {"host1": "host2", "host2": "host1"}
CONTROL = {"host1": "10.7.0.1", "host2": "10.7.0.2"}
ATTEMPTS, FAILURES = "rdma_probe_attempts_total", "rdma_probe_failures_total"
RETRANSMITS = "rdma_probe_retransmit_suspected_total"
LOSING = 0.02  # the share of retransmitted probes that makes a path bad: votes.losing of mixin/config.libsonnet
CONTROL_FAILURES = "rdma_probe_control_failures_total"


def wait_for(condition, what, timeout=240):
    """As labtest's, with the patience that two guests on a busy machine need."""
    labtest.wait_for(condition, what, timeout)


def make_rails(name):
    """Interfaces of one wire with networks of their own. Only the one that has an address answers for it."""
    kernel, number = GUESTS[name].kernel, name[-1]
    kernel.run("modprobe", "-a", "macvlan", "sch_ingress", "cls_u32", "act_gact")
    kernel.run("sysctl", "-qw", "net.ipv4.conf.all.arp_ignore=1", "net.ipv4.conf.all.arp_announce=2")
    for rail in RAILS:
        kernel.run("ip", "link", "add", "link", "eth1", "name", f"rail{rail}", "type", "macvlan", "mode", "bridge")
        kernel.run("ip", "address", "add", f"10.6.{rail}.{number}/24", "dev", f"rail{rail}")
        kernel.run("ip", "link", "set", f"rail{rail}", "up")
        kernel.run("rdma", "link", "add", f"roce{rail}", "type", "rxe", "netdev", f"rail{rail}")


def start(name):
    guest = GUESTS[name]
    guest.exporter.install()
    exporter.write_keys(exporter.KEY, guest=guest)
    guest.ask(MESH, "write_text", True, (json.dumps([
        {"targets": [f"{address}:9401"], "labels": {"name": host}} for host, address in CONTROL.items()]),))
    # What takes 20 times as long as usual may be a retransmission. On a busy machine that is more than the default ACK timeout
    # of 67 ms, and less than 268 ms (16).
    daemons[name] = exporter.Exporter(
        9400, "--netlink=off", f"--probe.mesh={MESH}", f"--probe.listen-address={CONTROL[name]}:9401",
        f"--probe.secret-file={exporter.SECRET}", "--probe.device-include=roce.*", f"--probe.flows={len(FLOWS)}",
        "--probe.interval=500ms", "--probe.echo-interval=1s", "--probe.timeout=16", "--probe.max-cpu-percent=100",
        guest=guest)
    daemons[name].wait_until_ready()


def setUpModule():
    for name in GUESTS:
        make_rails(name)
        start(name)


def tearDownModule():
    stop_daemons()


class Seen:
    """A page of a host, by path: (device, flow)."""

    def __init__(self, name):
        self.name, self.page = name, daemons[name].scrape()

    def up(self):
        return {(device, flow): self.page.get("rdma_probe_up", device=device, target=OTHER[self.name], flow=flow)
                for device in DEVICES for flow in FLOWS}

    def sums(self, metric, **labels):
        return {(device, flow): sum(self.page.find(metric, device=device, target=OTHER[self.name], flow=flow,
                                                   **labels).values()) for device in DEVICES for flow in FLOWS}

    def by_device(self, metric, **labels):
        sums = self.sums(metric, **labels)
        return {device: sum(sums[device, flow] for flow in FLOWS) for device in DEVICES}

    def writes(self):
        """Those that were answered, by device."""
        return difference(self.by_device(ATTEMPTS, op="write"), self.by_device(FAILURES, op="write"))


def difference(more, less):
    return {key: more[key] - less[key] for key in more}


def risen(before, after):
    return {path for path in before if after[path] > before[path]}


class FaultTest(LabTest):
    def setUp(self):
        """There is no daemon as it comes. Both hosts have had an answer over every path since now."""
        self.wait_until_all_work()
        self.addCleanup(self.wait_until_all_work)

    def wait_until_all_work(self):
        before = {name: Seen(name) for name in GUESTS}

        def work():
            return all(set(now.up().values()) == {1} and risen(before[name].writes(), now.writes()) == set(DEVICES)
                       for name, now in ((name, Seen(name)) for name in GUESTS))
        wait_for(work, "every path of both hosts")

    @contextlib.contextmanager
    def changed(self, name, make, undo):
        GUESTS[name].kernel.run(*make)
        try:
            yield
        finally:
            GUESTS[name].kernel.run(*undo)

    def dropped(self, name, netdev, *match):
        """What arrives at `netdev` and matches goes no further. What a filter drops on its way out, Soft-RoCE would send
        again at once, and the guest would do nothing else."""
        kernel = GUESTS[name].kernel
        kernel.run("tc", "qdisc", "add", "dev", netdev, "clsact")
        return self.changed(name, ("tc", "filter", "add", "dev", netdev, "ingress", "protocol", "ip", "u32",
                                   *match, "action", "drop"), ("tc", "qdisc", "del", "dev", netdev, "clsact"))

    def wait_for_more_writes(self, name, devices, count=5):
        before = Seen(name).writes()
        wait_for(lambda: all(Seen(name).writes()[device] >= before[device] + count for device in devices),
                 f"writes of {devices} of {name}")


class Faults(FaultTest):
    def test_an_adapter_that_is_down_fails_its_rail_and_no_other(self):
        before = {name: Seen(name) for name in GUESTS}
        rail = {("roce1", flow) for flow in FLOWS}
        refused = {"stage": "exchange", "reason": "rejected_no_device"}
        with self.changed("host1", ("ip", "link", "set", "rail1", "down"), ("ip", "link", "set", "rail1", "up")):
            for name in GUESTS:
                wait_for(lambda name=name: all(Seen(name).up()[path] == 0 for path in rail), f"a rail that fails at {name}")
                self.wait_for_more_writes(name, set(DEVICES) - {"roce1"})
            wait_for(lambda: risen(before["host2"].sums(CONTROL_FAILURES, **refused),
                                   Seen("host2").sums(CONTROL_FAILURES, **refused)) == rail, "refusals by host1")
            after = {name: Seen(name) for name in GUESTS}
        for name in GUESTS:
            self.assertEqual(risen(before[name].sums(FAILURES, op="write"), after[name].sums(FAILURES, op="write")), rail)
            self.assertEqual({path for path, up in after[name].up().items() if up == 0}, rail)
        # At the start each host refuses what comes before its own adapters are open.
        self.assertEqual(risen(before["host1"].sums(CONTROL_FAILURES, **refused),
                               after["host1"].sums(CONTROL_FAILURES, **refused)), set(), "host2 refuses nothing now")

    def test_loss_in_one_direction_shows_as_retransmissions_of_that_rail(self):
        before = {name: Seen(name) for name in GUESTS}

        def lossy(name):
            """The rails that an alert takes for lossy, once there are enough probes to tell."""
            now = Seen(name)
            attempts, suspected = (difference(now.by_device(metric, op="write"), before[name].by_device(metric, op="write"))
                                   for metric in (ATTEMPTS, RETRANSMITS))
            return min(attempts.values()) >= 100 and [
                device for device in DEVICES if suspected[device] / attempts[device] >= LOSING]
        with self.changed("host1", ("tc", "qdisc", "add", "dev", "rail2", "root", "netem", "loss", "20%"),
                          ("tc", "qdisc", "del", "dev", "rail2", "root")):
            # What host1 sends is lost: its own requests, and its answers to those of host2.
            for name in GUESTS:
                wait_for(lambda name=name: lossy(name) == ["roce2"], f"retransmissions of roce2 alone at {name}")

    def test_a_black_hole_of_one_udp_port_fails_the_one_flow(self):
        info = next(dict(labels) for (_, labels) in Seen("host1").page.find("rdma_probe_session_info", device="roce3",
                                                                          flow="1"))
        before = Seen("host1").sums(FAILURES, op="write")
        path = ("roce3", "1")
        with self.dropped("host2", "rail3", "match", "ip", "protocol", "17", "0xff", "match", "ip", "sport",
                          info["udp_source_port"], "0xffff"):
            wait_for(lambda: Seen("host1").up()[path] == 0, "a flow that fails")
            self.wait_for_more_writes("host1", DEVICES)
            after = Seen("host1")
            sessions = json.loads(daemons["host1"].get("/probe"))["sessions"]
        self.assertEqual(risen(before, after.sums(FAILURES, op="write")), {path})
        self.assertEqual({which for which, up in after.up().items() if up == 0}, {path})
        failed = {(one["device"], str(one["flow"])): one["last_failure"]["stage"] for one in sessions if not one["up"]}
        self.assertEqual(set(failed), {path})
        # The write gives up after its retransmissions, an echo of the same flow at its deadline. Either may be the latest.
        self.assertIn(failed[path], {"op", "echo"})

    def test_a_host_that_hangs_answers_writes_on_every_rail_and_no_echo(self):
        late = {"op": "echo", "stage": "echo", "reason": "deadline"}
        before = Seen("host1")
        daemons["host2"].pause()
        try:
            everywhere = {(device, flow) for device in DEVICES for flow in FLOWS}
            wait_for(lambda: risen(before.sums(FAILURES, **late), Seen("host1").sums(FAILURES, **late)) == everywhere,
                     "echoes that nobody answers")
            self.wait_for_more_writes("host1", DEVICES)
            after = Seen("host1")
        finally:
            daemons["host2"].resume()
        self.assertEqual(risen(before.sums(FAILURES, op="write"), after.sums(FAILURES, op="write")), set())
        self.assertEqual(set(after.up().values()), {1})

    def test_a_cut_of_the_control_network_fails_no_path(self):
        before = {name: Seen(name) for name in GUESTS}
        with self.dropped("host1", "eth1", "match", "ip", "protocol", "6", "0xff"):
            for name in GUESTS:
                wait_for(lambda name=name: len(risen(before[name].sums(CONTROL_FAILURES, stage="tcp"),
                                                     Seen(name).sums(CONTROL_FAILURES, stage="tcp"))) == 8,
                         f"pings that {name} does not get through")
                self.wait_for_more_writes(name, DEVICES)
            after = {name: Seen(name) for name in GUESTS}
        for name in GUESTS:
            self.assertEqual(risen(before[name].sums(FAILURES, op="write"), after[name].sums(FAILURES, op="write")), set())
            self.assertEqual(set(after[name].up().values()), {1})


class Command(FaultTest):
    """`rdma_exporter probe --mesh` on host1, beside its daemon."""

    def mesh(self, status=0):
        return exporter.probe("--mesh", f"--probe.mesh={MESH}", "--probe.device-include=roce.*", "--count=2", status=status,
                              responder=daemons["host2"])

    def test_it_shows_every_path_and_what_the_failures_have_in_common(self):
        shown = self.mesh()
        for device in DEVICES:
            self.assertRegex(shown, rf"(?m)^{device} port 1 -> host2  write [0-9.]+ [um]s$")
        self.assertIn("This host is one of 2 in the list. 4 of 4 paths work.", shown)
        with self.dropped("host2", "rail0", "match", "ip", "protocol", "17", "0xff"):
            shown = self.mesh(status=1)
        self.assertIn("roce0 port 1 -> host2  fails: op retry_exc_err", shown)
        self.assertIn("3 of 4 paths work.\n1 other path fails.", shown)


IN_ORDER = (Faults, Command)
