# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A fleet, scraped once a minute: for each host the series of one adapter, taken from a page of the exporter, with changing
values and events that affect them.

Series that never change are left out: a rate of 0 raises no alert, and most error counters have one. A second adapter of
each host only shows that it exists and is up. 500 hosts thus have some 25,000 series."""

import random
import re

import cases
import inventory

STEP = 60  # seconds between two scrapes, which are counted from 0
BLOCK = 120  # scrapes in a block of Prometheus
JOB = "rdma"
# Counters of a healthy adapter: (family, some labels, per second). A host has between half and one and a half of it.
# Pause for less than a percent of the time, congestion marks, repairs and bits that error correction mends are there.
TRAFFIC = (
    ("rdma_port_data_bytes_total", {}, 5e9), ("rdma_port_packets_total", {}, 1.25e6),
    ("rdma_priority_packets_total", {"priority": "3"}, 1.25e6), ("rdma_priority_packets_total", {"priority": "0"}, 1e4),
    ("rdma_pfc_pause_seconds_total", {"priority": "3", "direction": "rx"}, 0.008),
    ("rdma_pfc_pause_seconds_total", {"priority": "3", "direction": "tx"}, 0.004),
    ("rdma_pfc_frames_total", {"priority": "3"}, 200),
    ("rdma_netdev_discards_total", {"reason": "port_buffer"}, 1), ("rdma_priority_discards_total", {"priority": "0"}, 1),
    ("rdma_netdev_fec_corrected_bit_errors_total", {}, 1e6), ("rdma_netdev_pcie_stall_seconds_total", {}, 0.01),
    ("rdma_port_rnr_naks_total", {}, 2), ("rdma_port_out_of_sequence_total", {}, 0.5),
    ("rdma_port_sequence_naks_total", {}, 0.2), ("rdma_port_ack_timeouts_total", {}, 0.1),
    ("rdma_port_retransmitted_packets_total", {}, 0.5), ("rdma_port_transmit_wait_ticks_total", {}, 1e5),
)
# Gauges that say something only when they are not 0, and are left out until they do.
VERDICTS = ("rdma_port_counters_saturated", "rdma_config_check", "rdma_exporter_collector_failing")
# Series of the second adapter.
IDENTITY = ("rdma_device_info", "rdma_port_info", "rdma_port_up", "rdma_port_rate_bytes_per_second")
PROBED = ((1, "write"), (7, "write"))  # the next host and the seventh


class Track:
    """A series: a gauge is what it was last told, a counter is the sum of rates and jumps since its host booted."""

    def __init__(self, counter, base):
        self.counter, self.base, self.parts, self.jumps, self.absent = counter, base, [], [], []

    def during(self, start, end, value):
        """The value of a gauge, or what is added to a counter per second. Steps."""
        self.parts.append((start, end, value))

    def jump(self, at, amount):
        self.jumps.append((at, amount))

    def moves(self):
        return self.base or self.parts or self.jumps

    def values(self, steps, resets):
        """One for each step."""
        if not self.counter:
            found = [self.base] * steps
            for start, end, value in self.parts:
                found[start:end] = [value] * (min(end, steps) - start)  # past the end: nothing
            return found
        added = [self.base * STEP] * steps
        for start, end, rate in self.parts:
            for step in range(start, min(end, steps)):
                added[step] += rate * STEP
        for at, amount in self.jumps:
            added[min(at, steps - 1)] += amount
        found, total = [], 1000
        for step, more in enumerate(added):
            total = 0 if step in resets else total + more
            found.append(total)
        return found


class Host:
    def __init__(self, fleet, number):
        self.name, self.fleet = f"gpu{number:03}", fleet
        self.series = {}  # {(family, ((label, value), ...)): Track}
        self.families = {}  # {family: [(labels, Track)]}
        self.resets, self.gaps, self.device_gaps, self.removed = set(), [], {}, []
        own = random.Random(number)
        for (family, labels), value in fleet.template.items():
            self.add(family, 0 if family.endswith("_total") else value, **dict(labels))
        share = 0.5 + own.random()
        for family, wanted, rate in TRAFFIC:
            for track in self.all(family, **wanted) if family in self.families else ():
                track.base = rate * share
        self.add("rdma_exporter_collector_failing", 0, collector="ethtool", device="mlx5_0", reason="busy")
        self.add("up", 1)

    def add(self, family, value, **labels):
        track = self.series[family, tuple(sorted(labels.items()))] = Track(family.endswith("_total"), value)
        self.families.setdefault(family, []).append((labels, track))
        return track

    def all(self, family, **labels):
        found = [track for own, track in self.families.get(family, ()) if labels.items() <= own.items()]
        assert found, f"{family}{labels} is on no page"
        return found

    def device(self, device="mlx5_0"):
        return [track for (_, own), track in self.series.items() if ("device", device) in own]

    def during(self, start, end, value, family, **labels):
        for track in self.all(family, **labels):
            track.during(start, end, value)

    def jump(self, at, amount, family, **labels):
        for track in self.all(family, **labels):
            track.jump(at, amount)

    def silent(self, start, end):
        """The exporter does not answer."""
        self.during(start, end, 0, "up")
        self.gaps.append((start, end))

    def samples(self):
        """(block, lines of OpenMetrics with times), several for each block."""
        steps, target = self.fleet.steps, {"job": JOB, "instance": f"{self.name}:9400"}
        for (family, labels), track in self.series.items():
            if not track.moves() and (track.counter or family in VERDICTS):
                continue
            gaps = self.removed + track.absent + (self.gaps if family != "up" else [])
            gaps = gaps + [gap for device, own in self.device_gaps.items() if ("device", device) in labels for gap in own]
            values = track.values(steps, self.resets)
            absent = {step for start, end in gaps for step in range(start, min(end, steps))}
            inner = ",".join(f'{label}="{value}"' for label, value in (*target.items(), *labels))
            name = family + "{" + inner + "} "
            start = self.fleet.start
            for first in range(0, steps, BLOCK):
                yield first // BLOCK, "".join(f"{name}{values[step]:.12g} {start + step * STEP}\n"
                                              for step in range(first, min(first + BLOCK, steps)) if step not in absent)


class Fleet:
    """`start`: of the first scrape, in seconds since 1970. `steps`: how many scrapes there are."""

    def __init__(self, hosts, start, steps):
        self.start, self.size, self.steps, self.template = start, hosts, steps, template()
        self.hosts = [Host(self, number) for number in range(hosts)]
        for number, host in enumerate(self.hosts):
            for away, op in PROBED:
                target = self.hosts[(number + away) % hosts].name
                probe(host, target, op)


def probe(host, target, op):
    labels = {"device": "mlx5_0", "port": "1", "target": target, "flow": "0", "op": op}
    host.add("rdma_probe_attempts_total", 1, **labels)
    host.add("rdma_probe_failures_total", 0, stage="op", reason="retry_exc_err", **labels)


def used():
    """Families that the rules look at."""
    text = " ".join(rule["expr"] for path in cases.RULES for group in cases.load(path)["groups"] for rule in group["rules"])
    return set(re.findall(r"\brdma_\w+", text))


def template():
    """{(family, labels): value} of a host with one adapter, and what shows a second one. What only verbs or netlink tell is
    that of a Soft-RoCE device on the same page, under the adapter's name."""
    found, wanted = {}, used()
    for page in inventory.adapter_pages():
        for renamed in ({}, {"rxe0": "mlx5_0"}):
            shown = {family for family, _ in found}
            for family, labels, value in samples(page, renamed):
                if family in wanted - shown and of_adapter(family, labels):
                    found[family, tuple(sorted(labels.items()))] = value
    return found


def samples(page, renamed):
    """(family, labels that are not empty, value) of devices, those with other names only if there are any."""
    for series, _, value in (line.rpartition(" ") for line in page.splitlines() if not line.startswith("#")):
        family, labels = inventory.parsed(series)
        if not renamed or labels.get("device") in renamed:
            labels["device"] = renamed.get(labels.get("device"), labels.get("device", ""))
            yield family, {label: text for label, text in labels.items() if text}, float(value)


def of_adapter(family, labels):
    if labels.get("device") == "mlx5_1":
        return family in IDENTITY
    return labels.get("device", "") in ("", "mlx5_0", "cx0") and labels.get("netdev", "") in ("", "cx0") \
        and labels.get("priority", "3") in ("0", "3")
