# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""SYNTHETIC samples of a fleet whose hosts probe each other: the paths and faults of tests/tools/fabric.py, with every
family of the probe that the dashboards query. test_dashboards_names compares names and labels with those of the exporter."""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))

import fabric  # noqa: E402
import probe_series  # noqa: E402

RANGE, EVERY = 600, 60  # seconds
# What panels ask about the whole range; two samples of the others are enough, and promtool has half as much to read.
LONG = ("rdma_probe_attempts_total", "rdma_probe_failures_total", "rdma_probe_retransmit_suspected_total")
ECHOES = 0.2  # a second
OPS = (("write", 1, "op", "retry_exc_err"), ("echo", ECHOES, "echo", "deadline"))  # with how they fail
RTT = 5e-6


class Fleet:
    """`end`: of the samples, in seconds since 1970."""

    def __init__(self, hosts, seed, faults, end):
        self.fabric, self.end = fabric.Fabric(hosts, seed, faults), end

    def series(self):
        """(name, labels, start, rate)"""
        failing = collections.defaultdict(list)  # of each device: the shares of its paths
        for path in self.fabric.paths:
            failing[path[0]].append(self.fabric.failing.get(path, 0))
        for nic in self.fabric.nics():
            yield from self.of_nic(self.fabric.labels(nic), min(failing[nic]))
        for host in range(self.fabric.size):
            yield "rdma_exporter_build_info", {**self.fabric.target(host), "version": "1.0.0"}, 1, 0
        for nic, target in self.fabric.paths:
            labels = self.fabric.labels(nic, port="1", target=f"gpu-{target}", flow="0")
            yield from self.of_path(labels, self.fabric.failing.get((nic, target), 0), self.fabric.lossy.get((nic, target), 0))

    def of_nic(self, device, failing):
        port = {**device, "port": "1"}
        for op, rate, stage, reason in OPS:  # of targets that rotate: they have no name
            yield from counts({**port, "op": op}, rate, stage, reason, failing, lossy=0)
        yield "rdma_probe_connects_total", port, 8, 0
        for role in ("requester", "responder"):
            yield "rdma_probe_qps", {**device, "role": role}, 8, 0
        yield from histogram("rdma_probe_responder_delay_seconds", {**port, "target_group": "all"}, ECHOES)
        for op, rate in (("write", 4), ("echo", 4 * ECHOES)):
            group = {"target": "", "target_group": "all", "op": op, "clock": "host"}
            yield from histogram("rdma_probe_rtt_seconds", {**port, **group}, rate)

    def of_path(self, path, failing, lossy):
        for op, rate, stage, reason in OPS:
            labels = {**path, "op": op}
            yield from counts(labels, rate, stage, reason, failing, lossy if op == "write" else 0)
            yield "rdma_probe_min_rtt_seconds", labels, RTT, 0
        yield "rdma_probe_control_failures_total", {**path, "stage": "tcp", "reason": "not_connected"}, 0, 0
        yield "rdma_probe_up", path, 0 if failing > 0.9 else 1, 0

    def write(self, path):
        """An OpenMetrics file. The number of series."""
        families, count = collections.defaultdict(list), 0
        for name, labels, start, rate in self.series():
            inner = ",".join(f'{label}="{value}"' for label, value in labels.items() if value)
            families[name].append((inner, start, rate))
        with open(path, "w", encoding="ascii") as file:
            for name, found in families.items():
                count += len(found)
                for inner, start, rate in found:
                    first = self.end - (RANGE if name in LONG and rate else EVERY)
                    file.write("".join(f"{name}{{{inner}}} {start + rate * (time - first):.12g} {time}\n"
                                       for time in range(first, self.end + 1, EVERY)))
            file.write("# EOF\n")
        return count


def counts(labels, rate, stage, reason, failing, lossy):
    yield "rdma_probe_attempts_total", labels, 1000, rate
    yield "rdma_probe_failures_total", {**labels, "stage": stage, "reason": reason}, 0, rate * failing
    yield "rdma_probe_retransmit_suspected_total", labels, 0, lossy / fabric.WINDOW


def histogram(name, labels, rate):
    """One whose values are all in the bucket of RTT."""
    for bound in (*map("{:g}".format, probe_series.BOUNDS), "+Inf"):
        yield f"{name}_bucket", {**labels, "le": bound}, 0, rate if float(bound) >= RTT else 0
    yield f"{name}_sum", labels, 0, rate * RTT
    yield f"{name}_count", labels, 0, rate
