# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A day of a healthy fleet: the events of an ordinary day, as often per host as in a fleet of 500, within the given number of
minutes (1440 are a day; fewer make it denser, and the test harder).

The event rates are an estimate, not a measurement: a rollout reboots an eighth of the hosts, one in eighty reboots by itself,
a job ends on each host, devices of a fifth of the hosts are moved into pods and come back."""

import collections
import random

Silence = collections.namedtuple("Silence", "host start end")  # steps; as docs/ALERTS.md says, ten minutes longer
AFTER = 10


class Day:
    def __init__(self, fleet, start, minutes, seed=1):
        """`start` is a step, and so is a minute."""
        self.fleet, self.start, self.minutes, self.random = fleet, start, minutes, random.Random(seed)
        self.hosts, self.silences = list(fleet.hosts), []
        self.random.shuffle(self.hosts)
        self.reboots()
        self.jobs()
        self.incast()
        self.roll_outs()
        self.maintenance()
        self.pods()
        self.links()

    def some(self, share, least=1):
        """That share of the hosts, others each time until all have been taken."""
        count = max(least, round(share * self.fleet.size))
        taken, self.hosts = self.hosts[:count], self.hosts[count:] + self.hosts[:count]
        return taken

    def when(self, lasting=0):
        return self.start + self.random.randrange(max(1, self.minutes - lasting))

    def reboot(self, host, at, minutes, firmware=None):
        """Ports and addresses come up minutes after the exporter, settings when somebody's script has run."""
        back = at + minutes
        host.silent(at, back)
        host.resets.add(back)
        host.during(back, back + 2, 0, "rdma_port_up")
        host.during(back, back + 2, 1, "rdma_port_physical_state")
        host.during(back, back + 3, 0, "rdma_port_gids", type="RoCE v2")
        host.during(back, back + 6, 0, "rdma_dcb_pfc_enabled", priority="3")
        host.during(back, back + 6, 1024, "rdma_port_active_mtu_bytes")
        host.jump(back + 2, 1, "rdma_netdev_carrier_changes_total", to="down")
        if firmware:
            self.relabel(host, back, "rdma_device_info", fw_version=firmware)
        self.peers_of(host, at, back + 4)

    def relabel(self, host, at, family, **changed):
        for labels, track in list(host.families[family]):
            track.absent.append((at, self.fleet.steps))
            host.add(family, track.base, **{**labels, **changed}).absent.append((0, at))

    def peers_of(self, host, start, end):
        """Those that had connections to a host that is gone wait for it, once, and their probes of it fail."""
        for peer in self.random.sample(self.fleet.hosts, 3):
            peer.jump(start, 8, "rdma_port_retries_exceeded_total", kind="transport")
            peer.during(start, start + 2, 4, "rdma_port_ack_timeouts_total")
        for number, peer in enumerate(self.fleet.hosts):
            for labels, track in peer.families["rdma_probe_failures_total"]:
                if labels["target"] == host.name:
                    track.during(start, end, 1)

    def reboots(self):
        hosts = self.some(1 / 8)
        batch = max(1, self.fleet.size // 60)
        for number, host in enumerate(hosts):  # a kernel and a firmware, rolled out in batches
            at = self.start + number // batch * batch * self.minutes // (len(hosts) + batch)
            self.reboot(host, at, self.random.randrange(8, 20), firmware="28.43.2566")
        for host in self.some(1 / 80):
            self.reboot(host, self.when(30), self.random.randrange(6, 14))

    def jobs(self):
        """Each starts with receivers that are not ready yet, and ends with connections that die, once."""
        left = list(self.fleet.hosts)
        self.random.shuffle(left)
        while left:
            size = self.random.choice((4, 8, 8, 16, 32))
            hosts, left, end = left[:size], left[size:], self.when(15) + 12
            unclean = self.random.random() < 0.3
            for host in hosts:
                self.job_ends(host, end, unclean)
                host.during(end + 2, end + 5, 150, "rdma_port_rnr_naks_total")

    def job_ends(self, host, at, unclean):
        host.jump(at, self.random.randrange(1, 64), "rdma_port_retries_exceeded_total", kind="transport")
        host.jump(at, self.random.randrange(8, 64), "rdma_port_cqe_errors_total")
        host.jump(at, 8, "rdma_port_cqe_flush_errors_total")
        host.during(at, at + 2, 5, "rdma_port_ack_timeouts_total")
        if unclean:  # peers still write to memory that is not registered any more
            host.jump(at, 3, "rdma_port_access_errors_total", side="responder", kind="access")

    def incast(self):
        """Many send to one for minutes: the fabric pauses the senders, the receiver sees marks. And checkpoints: longer, less."""
        for share, minutes, pause in [(0.06, 3, 0.5), (0.06, 5, 0.2), (0.1, 2, 0.6), (0.12, 9, 0.08)] * 3:
            hosts, at = self.some(share, least=2), self.when(minutes + 5)
            for host in hosts[1:]:
                host.during(at, at + minutes, pause, "rdma_pfc_pause_seconds_total", priority="3", direction="rx")
            hosts[0].during(at, at + minutes, 0.05, "rdma_pfc_pause_seconds_total", priority="3", direction="tx")
            hosts[0].during(at, at + minutes, 2e5, "rdma_port_ecn_marked_packets_total")
            hosts[0].during(at, at + minutes, 0.08, "rdma_netdev_pcie_stall_seconds_total")
            hosts[0].jump(at, 20, "rdma_netdev_discards_total", reason="pcie_buffer")
            hosts[0].jump(at + 1, 5, "rdma_priority_discards_total", priority="3", reason="port_buffer")

    def roll_outs(self):
        """Of the exporter, some hosts each minute; of an MTU, a few hosts first and all within the hour; a reload that failed
        and was mended."""
        for number, host in enumerate(self.fleet.hosts):
            at = self.start + 5 + number * (self.minutes - 10) // self.fleet.size
            host.silent(at, at + (1 if number % 3 == 0 else 0))
        first = self.start + self.minutes // 4
        for number, host in enumerate(self.fleet.hosts):
            changed = first + (0 if number < 5 else 20 + number * 30 // self.fleet.size)
            host.during(0, changed, 2048, "rdma_port_active_mtu_bytes")
        for host in self.some(1 / 100):
            at = self.when(10)
            host.during(at, at + 8, 0, "rdma_exporter_config_last_reload_successful")
            host.during(at + 20, at + 23, 1, "rdma_exporter_collector_failing", collector="ethtool")

    def maintenance(self):
        """Hosts that somebody works on, silenced, and hosts that are taken out of service and out of the configuration."""
        for host in self.some(1 / 160):
            at, minutes = self.when(80), 60
            self.reboot(host, at, minutes)
            self.silences.append(Silence(host, at, at + minutes + AFTER))
        for host in self.some(1 / 250):
            host.removed.append((self.when(), self.fleet.steps))

    def pods(self):
        """A device that is moved into the network namespace of a pod is gone until the pod ends. It was so on the day before."""
        for host in self.some(1 / 5):
            at = self.random.randrange(1, 60)
            while at < self.fleet.steps:
                end = at + self.random.randrange(20, 90)
                host.device_gaps.setdefault("mlx5_1", []).append((at, end))
                at = end + self.random.randrange(10, 60)

    def links(self):
        """A link that loses its partner for a moment, and blocks beyond repair now and then."""
        for host in self.some(1 / 200):
            at = self.when(5)
            host.jump(at, 1, "rdma_netdev_carrier_changes_total", to="down")
            host.during(at, at + 1, 0, "rdma_port_up", device="mlx5_0")
        for host in self.some(1 / 60):
            host.jump(self.when(), self.random.randrange(1, 4), "rdma_netdev_fec_blocks_total", result="uncorrectable")
            host.jump(self.when(), 2, "rdma_netdev_pcs_symbol_errors_total")
