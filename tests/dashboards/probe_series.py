# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""SYNTHETIC samples of two hosts that probe each other. test_dashboards_names compares their names and labels with
those of the exporter."""

import math
import random

BOUNDS = (1e-6, 2e-6, 4e-6, 8e-6, 1.6e-5, 3.2e-5, 6.4e-5, 1.28e-4, 5.12e-4, 2.048e-3, 1.6384e-2, 6.5536e-2, 1.048576)
PER_INTERVAL = 40  # probes


class Histogram:
    def __init__(self, name, labels):
        self.name, self.labels = name, labels
        self.counts, self.sum = [0] * (len(BOUNDS) + 1), 0.0

    def observe(self, value):
        self.sum += value
        self.counts[next((i for i, bound in enumerate(BOUNDS) if value <= bound), len(BOUNDS))] += 1

    def samples(self):
        total = 0
        for bound, count in zip((*BOUNDS, math.inf), self.counts):
            total += count
            yield f"{self.name}_bucket", {**self.labels, "le": "+Inf" if bound == math.inf else f"{bound:g}"}, total
        yield f"{self.name}_sum", self.labels, self.sum
        yield f"{self.name}_count", self.labels, total


class Path:
    """One host's probes of another, over one device."""

    def __init__(self, device, target):
        self.port = {"device": device, "port": "1"}
        self.short = {**self.port, "target": target, "flow": "0"}
        self.labels = {**self.short, "op": "write"}
        self.rtt = [Histogram("rdma_probe_rtt_seconds", {**self.port, "target": target, "target_group": "all",
                                                          "op": op, "clock": "host"})
                    for op in ("write", "echo")]
        self.delay = Histogram("rdma_probe_responder_delay_seconds",
                               {"device": device, "port": "1", "target_group": "all"})
        self.attempts = self.failures = self.suspected = 0

    def step(self, chance, bad):
        last = 0.0
        for _ in range(PER_INTERVAL):
            self.attempts += 1
            if bad and chance.random() < 0.06:
                self.failures += 1
                continue
            last = chance.lognormvariate(math.log(4.5e-6), 0.15) * (chance.uniform(4, 30) if bad else 1)
            if bad and chance.random() < 0.02:
                last, self.suspected = 0.0671, self.suspected + 1
            self.rtt[0].observe(last)
            host = chance.lognormvariate(math.log(6e-6), 0.3)
            self.rtt[1].observe(last + host)
            self.delay.observe(host / 2)
        yield from self.samples()

    def samples(self):
        for histogram in (*self.rtt, self.delay):
            yield from histogram.samples()
        yield "rdma_probe_attempts_total", self.labels, self.attempts
        yield "rdma_probe_failures_total", {**self.labels, "stage": "op", "reason": "retry_exc_err"}, self.failures
        yield "rdma_probe_control_failures_total", {**self.short, "stage": "tcp", "reason": "not_connected"}, self.failures
        yield "rdma_probe_retransmit_suspected_total", self.labels, self.suspected
        yield "rdma_probe_up", self.short, 1
        yield "rdma_probe_min_rtt_seconds", self.labels, 4.1e-6
        device = {"device": self.labels["device"]}
        yield "rdma_probe_connects_total", self.port, 1 + self.failures
        yield "rdma_probe_qps", {**device, "role": "requester"}, 2
        yield "rdma_probe_qps", {**device, "role": "responder"}, 2


def series(times, hosts, storm):
    """(time, host, name, labels, value): SYNTHETIC samples of hosts {host: device} that probe each other; paths to the
    first one are slow and fail within `storm`, a pair of times."""
    chance, paths = random.Random(7), {host: Path(device, next(other for other in hosts if other != host))
                                       for host, device in hosts.items()}
    victim = next(iter(hosts))
    for time in times:
        for host, path in paths.items():
            bad = storm[0] <= time < storm[1] and path.labels["target"] == victim
            for name, labels, value in path.step(chance, bad):
                yield time, host, name, labels, value
