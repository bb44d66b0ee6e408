# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A synthetic fabric with a seeded fault, as series that a Prometheus can store and as answers to the queries of
`rdma_exporter fleet`. The number of hosts, their wiring, and the effect of each fault on counters are invented. Names are those
of docs/METRICS.md. A leaf that has lost one of U uplinks spoils 1-(1-1/U)^2 of its paths to other leaves, because probes cross
both directions (docs/PROBE.md).

    tests/tools/fabric.py --hosts 128 --seed 3 --fault leaf_dead > fabric.om   # for promtool tsdb create-blocks-from
"""

import argparse
import collections
import random
import sys

RING = 4        # targets of each NIC
RAILS = 8
PER_UNIT = 32   # hosts that share their leaves; fewer in a small fleet, which has four units
UPLINKS = 8
WINDOW = 600    # seconds
PROBES = 1      # a second
KINDS = ("nic_dead", "host_dead", "leaf_dead", "uplink_dead", "nic_loss", "storm", "incast", "mtu", "firmware", "pcie", "nic_missing",
         "exporter_down", "pfc_off", "link_bad", "host_down", "probe_blocked")
# What the analysis has to say of a fault: kind of problem, and which parts of the component it has to name.
EXPECTED = {"nic_dead": ("nic_unreachable", "instance device"), "host_dead": ("host_unreachable", "instance"),
            "leaf_dead": ("leaf_unreachable", "unit device"), "uplink_dead": ("uplinks_unreachable", "unit device"),
            "nic_loss": ("nic_losing", "instance device"), "storm": ("pfc_storm", "instance device"),
            "incast": ("fabric_congestion", "device"), "mtu": ("mtu_differs", "instance device"),
            "firmware": ("firmware_differs", "instance device"), "pcie": ("pcie_differs", "instance device"),
            "nic_missing": ("nics_missing", "instance"), "exporter_down": ("exporter_down", "instance"),
            "pfc_off": ("pfc_differs", "instance device"), "link_bad": ("link_errors", "instance device"),
            "host_down": ("host_down", "instance"), "probe_blocked": ("probe_blocked", "instance")}
Nic = collections.namedtuple("Nic", "host rail")
Truth = collections.namedtuple("Truth", "kind instance device unit")


class Fabric:
    """hosts of a fleet, by number; rates are per second, settings are values. busy: the share of the fleet on which one
    job runs that makes all of its hosts busy at once. leaves: who knows them, the labels of the scrape targets or discovery."""

    def __init__(self, hosts, seed, faults=(), noise=True, cluster=None, busy=0, leaves="targets"):
        self.random, self.size, self.cluster = random.Random(f"{seed} {hosts}"), hosts, cluster
        self.down, self.missing = set(), set()
        self.values = {name: {} for name in ("mtu", "firmware", "pcie", "pfc")}  # by NIC, only what is not the usual
        self.rates = collections.defaultdict(dict)  # metric -> NIC -> rate
        self.failing, self.lossy = {}, {}           # (NIC, target host) -> share, retransmissions in the window
        self.blocked = {}                           # (NIC, target host) -> why nothing is sent
        self.truth = []
        self.paths = [(Nic(host, rail), (host + step) % hosts) for rail in range(RAILS)
                      for shift in [self.offsets()] for host in range(hosts) for step in shift]
        self.leaves = leaves
        if noise:
            self.noise()
        if busy:
            self.job(busy)
        for fault in faults:
            getattr(self, fault)()

    def offsets(self):
        """A ring whose order is hashed: a target is anywhere."""
        return self.random.sample(range(1, self.size), min(RING, self.size - 1))

    def instance(self, host):
        return f"gpu-{host}:9400"

    def unit(self, host):
        return f"su{host // min(PER_UNIT, -(-self.size // 4))}"

    def nics(self):
        return [Nic(host, rail) for host in range(self.size) for rail in range(RAILS)
                if host not in self.down and Nic(host, rail) not in self.missing]

    def any_nic(self):
        used = {truth.instance for truth in self.truth}
        while True:
            nic = Nic(self.random.randrange(self.size), self.random.randrange(RAILS))
            if self.instance(nic.host) not in used:
                return nic

    def say(self, kind, nic=None, rail=False, unit=False):
        self.truth.append(Truth(kind, self.instance(nic.host) if nic and not unit else "",
                                f"mlx5_{nic.rail}" if nic and rail else "", self.unit(nic.host) if unit else ""))

    # --- what a healthy fleet has

    def noise(self):
        for path in self.random.sample(self.paths, len(self.paths) // 200):  # 0.5 %, each by itself
            if self.random.random() < 0.5:
                self.failing[path] = self.random.uniform(0.1, 0.3)
            else:
                self.lossy[path] = self.random.randrange(3, 8)
        busy = set(self.random.sample(range(self.size), max(1, self.size // 50)))  # what a busy host sends looks late
        for path in self.paths:
            if path[0].host in busy and self.random.random() < 0.9:
                self.lossy[path] = self.random.randrange(4, 40)
        for nic in self.random.sample(self.nics(), self.size // 4):
            self.rates["sends_pause"][nic] = self.random.uniform(0, 0.012)
            self.rates["paused"][nic] = self.random.uniform(0, 0.04)
        for nic in self.random.sample(self.nics(), self.size // 16):
            self.rates["uncorrectable"][nic] = self.random.uniform(0, 5) / WINDOW
            self.rates["retransmitted"][nic] = self.random.uniform(0, 8)

    def job(self, share):
        """Neighbours that a scheduler gave to one job, whose processes take the processors from the probe: what they send
        looks late, on some hosts now and then and on others always. Their NICs are loaded, too."""
        size, first = max(2, round(share * self.size)), self.random.randrange(self.size)
        late = {(first + host) % self.size: self.random.choice((0.3, 0.6, 0.95)) for host in range(size)}
        for path in self.paths:
            if self.random.random() < late.get(path[0].host, 0):
                self.lossy[path] = self.random.randrange(3, 40)
        for nic in self.nics():
            if nic.host in late:
                self.rates["sends_pause"][nic] = self.random.uniform(0, 0.015)
                self.rates["paused"][nic] = self.random.uniform(0, 0.045)
                self.rates["retransmitted"][nic] = self.random.uniform(0, 9)

    # --- faults, each with what it does elsewhere

    def fail_paths(self, crosses, share=1.0, chance=1.0):
        for path in self.paths:
            if crosses(path) and path not in self.blocked and self.random.random() < chance:
                self.failing[path] = share

    def touches(self, path, nic):
        return path[0].rail == nic.rail and nic.host in (path[0].host, path[1])

    def nic_dead(self):
        nic = self.any_nic()
        self.fail_paths(lambda path: self.touches(path, nic))
        self.say("nic_dead", nic, rail=True)

    def host_dead(self):
        nic = self.any_nic()
        self.fail_paths(lambda path: nic.host in (path[0].host, path[1]))
        self.say("host_dead", nic)

    def leaf_dead(self):
        nic = self.any_nic()
        self.fail_paths(lambda path: path[0].rail == nic.rail and self.unit(nic.host) in (self.unit(path[0].host), self.unit(path[1])))
        self.say("leaf_dead", nic, rail=True, unit=True)

    def uplink_dead(self):
        nic = self.any_nic()
        unit = self.unit(nic.host)
        self.fail_paths(lambda path: path[0].rail == nic.rail and (self.unit(path[0].host) == unit) != (self.unit(path[1]) == unit),
                        chance=1 - (1 - 1 / UPLINKS) ** 2)
        self.say("uplink_dead", nic, rail=True, unit=True)

    def nic_loss(self):
        nic = self.any_nic()
        for path in self.paths:
            if self.touches(path, nic) and path not in self.blocked:
                self.lossy[path] = max(0, round(self.random.gauss(12, 3.5)))  # 1 % each way, ten minutes
        self.rates["retransmitted"][nic] = 300
        self.say("nic_loss", nic, rail=True)

    def storm(self):
        nic = self.any_nic()
        while any(truth.kind == "incast" and truth.device == f"mlx5_{nic.rail}" for truth in self.truth):
            nic = self.any_nic()
        self.rates["sends_pause"][nic] = self.random.uniform(0.15, 0.9)
        self.rates["paused"].pop(nic, None)
        if self.random.random() < 0.5:
            self.rates["stalled"][nic] = self.random.uniform(0.2, 0.9)
        for other in self.nics():
            if other.rail == nic.rail and other != nic and self.random.random() < (0.9 if self.unit(other.host) == self.unit(nic.host) else 0.3):
                self.rates["paused"][other] = self.random.uniform(0.06, 0.5)
        self.say("storm", nic, rail=True)

    def incast(self):
        """On a rail without a storm: with one, its pauses would be that one's."""
        storms = {truth.device for truth in self.truth if truth.kind == "storm"}
        nic = self.any_nic()
        while f"mlx5_{nic.rail}" in storms:
            nic = self.any_nic()
        for other in self.nics():
            if other.rail == nic.rail and other != nic and self.random.random() < 0.4:
                self.rates["paused"][other] = self.random.uniform(0.08, 0.5)
        self.truth.append(Truth("incast", "", f"mlx5_{nic.rail}", ""))

    def one_value(self, name, value):
        nic = self.any_nic()
        self.values[name][nic] = value
        self.say(name if name != "pfc" else "pfc_off", nic, rail=True)

    def mtu(self):
        self.one_value("mtu", 1024)

    def firmware(self):
        self.one_value("firmware", "28.36.1010")

    def pcie(self):
        self.one_value("pcie", 8)

    def pfc_off(self):
        self.one_value("pfc", 0)

    def roll_out(self):
        """Half of the hosts have another firmware: nothing to be warned of."""
        for nic in self.nics():
            if nic.host % 2:
                self.values["firmware"][nic] = "28.43.2566"

    def nic_missing(self):
        nic = self.any_nic()
        self.missing.add(nic)
        for table in (self.failing, self.lossy):
            for path in [path for path in table if path[0] == nic]:
                del table[path]
        self.paths = [path for path in self.paths if not self.touches(path, nic)]
        self.say("nic_missing", nic)

    def silent(self, kind, reason):
        """The exporter holds the control connection of the probe: the kernel of a host that is up refuses it."""
        nic = self.any_nic()
        self.down.add(nic.host)
        self.paths = [path for path in self.paths if path[0].host != nic.host]
        self.block(nic.host, reason)
        self.say(kind, nic)

    def block(self, host, reason):
        for path in self.paths:
            if path[1] == host:
                self.blocked[path] = reason
                self.failing.pop(path, None)
                self.lossy.pop(path, None)

    def exporter_down(self):
        self.silent("exporter_down", "ECONNREFUSED")

    def host_down(self):
        self.silent("host_down", "ETIMEDOUT")

    def probe_blocked(self):
        nic = self.any_nic()
        self.block(nic.host, "ECONNREFUSED")
        self.say("probe_blocked", nic)

    def link_bad(self):
        nic = self.any_nic()
        self.rates["uncorrectable"][nic] = 2000 / WINDOW
        self.say("link_bad", nic, rail=True)

    # --- as series

    def labels(self, nic, **more):
        return {**self.target(nic.host), "device": f"mlx5_{nic.rail}", **more}

    def target(self, host):
        """The labels of the scrape target."""
        place = {"su": self.unit(host)} if self.leaves == "targets" else {}
        return {"job": "rdma", "instance": self.instance(host), **place}

    def series(self):
        """(name, labels, start, rate)"""
        for host in range(self.size):
            common = self.target(host)
            yield "up", common, 0 if host in self.down else 1, 0
            if host in self.down:
                continue
            gone = sum(nic.host == host for nic in self.missing)
            yield "rdma_devices", common, RAILS - gone, 0
            yield "rdma_exporter_build_info", {**common, "version": "1.0.0"}, 1, 0
        for nic in self.nics():
            yield from self.of_nic(nic)
        for path in self.paths:
            if path[0] not in self.missing and path[0].host not in self.down:
                yield from self.of_path(path)

    def of_nic(self, nic):
        port = {"port": "1"}
        netdev = {**port, "netdev": f"rail{nic.rail}"}
        value = {name: own.get(nic) for name, own in self.values.items()}
        yield ("rdma_device_info", self.labels(nic, board_id="MT_0000000838", driver="mlx5_core", is_vf="0",
                                               fw_version=value["firmware"] or "28.39.1002"), 1, 0)
        yield "rdma_port_up", self.labels(nic, **port), 1, 0
        yield "rdma_port_physical_state", self.labels(nic, **port), 5, 0
        yield "rdma_port_active_mtu_bytes", self.labels(nic, **port), value["mtu"] or 4096, 0
        yield "rdma_port_rate_bytes_per_second", self.labels(nic, **port), 50_000_000_000, 0
        yield "rdma_port_gids", self.labels(nic, **port, type="RoCE v2"), 2, 0
        yield "rdma_device_pcie_speed_transfers_per_second", self.labels(nic), 32_000_000_000, 0
        yield "rdma_device_pcie_width_lanes", self.labels(nic), value["pcie"] or 16, 0
        yield "rdma_dcb_pfc_enabled", self.labels(nic, **netdev, priority="3"), 1 if value["pfc"] is None else 0, 0
        yield "rdma_dcb_trust_info", self.labels(nic, **netdev, trust="dscp", inferred="yes"), 1, 0
        for direction, own in (("tx", "sends_pause"), ("rx", "paused")):
            yield ("rdma_pfc_pause_seconds_total", self.labels(nic, **netdev, priority="3", direction=direction), 100,
                   self.rates[own].get(nic, 0))
        yield "rdma_netdev_pcie_stall_seconds_total", self.labels(nic, **netdev, operation="write"), 100, self.rates["stalled"].get(nic, 0)
        yield "rdma_netdev_fec_blocks_total", self.labels(nic, **netdev, result="uncorrectable"), 10, self.rates["uncorrectable"].get(nic, 0)
        yield "rdma_port_retransmitted_packets_total", self.labels(nic, **port, scope="all"), 10, self.rates["retransmitted"].get(nic, 0)
        for name, more in (("rdma_port_ack_timeouts_total", port), ("rdma_port_sequence_naks_total", {**port, "direction": "rx"}),
                           ("rdma_port_cnp_packets_total", {**port, "direction": "rx"}),
                           ("rdma_netdev_discards_total", {**netdev, "direction": "rx", "reason": "port_buffer"}),
                           ("rdma_netdev_carrier_changes_total", {**netdev, "to": "down"})):
            yield name, self.labels(nic, **more), 1, 0
        for name, count in (("rdma_resource_objects", 1000), ("rdma_resource_objects_limit", 100_000)):
            yield name, self.labels(nic, type="qp"), count, 0
        yield "rdma_port_data_bytes_total", self.labels(nic, **port, direction="tx"), 10**12, 20_000_000_000

    def of_path(self, path):
        labels = self.labels(path[0], port="1", target=f"gpu-{path[1]}", op="write")
        blocked = self.blocked.get(path)
        if self.leaves == "discovery":
            yield ("rdma_probe_target_info", self.labels(path[0], port="1", target=f"gpu-{path[1]}",
                                                         target_leaf=self.unit(path[1])), 1, 0)
        yield "rdma_probe_attempts_total", labels, 100_000, 0 if blocked else PROBES
        control = self.labels(path[0], port="1", target=f"gpu-{path[1]}", stage="tcp")
        yield ("rdma_probe_control_failures_total", {**control, "reason": blocked or "peer_closed"}, 0,
               PROBES if blocked else 0)
        yield ("rdma_probe_failures_total", {**labels, "stage": "transport", "reason": "RETRY_EXC_ERR"}, 0,
               PROBES * self.failing.get(path, 0))
        yield "rdma_probe_retransmit_suspected_total", labels, 5, self.lossy.get(path, 0) / WINDOW

    def open_metrics(self, out, end, every=60, before=WINDOW + 120):
        """Samples until `end`, seconds since 1970, each `every` seconds."""
        families = collections.defaultdict(list)
        for name, labels, start, rate in self.series():
            labels = {**labels, "cluster": self.cluster} if self.cluster else labels
            families[name].append((",".join(f'{key}="{value}"' for key, value in labels.items()), start, rate))
        for name, all_series in families.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            out.write(f"# TYPE {name.removesuffix('_total')} {kind}\n")
            for labels, start, rate in all_series:
                for time in range(end - before, end + 1, every):
                    out.write(f"{name}{{{labels}}} {start + rate * (time - end + before):.12g} {time}\n")


def write(out, fabrics, end):
    """One file of several fabrics, each with its own label `cluster`."""
    for fabric in fabrics:
        fabric.open_metrics(out, end)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fault", action="append", default=[], choices=[*KINDS, "roll_out"])
    parser.add_argument("--busy", type=float, default=0, help="share of the fleet that a job keeps busy")
    parser.add_argument("--leaves", choices=["targets", "discovery"], default="targets", help="who knows them")
    parser.add_argument("--end", type=int, default=1_700_000_040)
    arguments = parser.parse_args()
    fabric = Fabric(arguments.hosts, arguments.seed, arguments.fault, busy=arguments.busy, leaves=arguments.leaves)
    fabric.open_metrics(sys.stdout, arguments.end)
    sys.stdout.write("# EOF\n")


if __name__ == "__main__":
    main()
