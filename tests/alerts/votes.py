#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Precision and recall of the alerts of mixin/rules/votes.libsonnet, in meshes with one seeded fault each.

Synthetic: hosts probe a ring of four per rail as in src/probe/mesh/selection.cpp, with one path to another leaf, and counts
follow from the fault. promtool evaluates the shipped rules; each seed is a test of its own in one file.

    tests/alerts/votes.py [SEEDS]    prints the table of docs/PROBE.md (25 seeds for each kind of fault)"""

import collections
import pathlib
import random
import re
import subprocess
import tempfile

import yaml

import cases

RING, RAILS, LEAF = 4, 2, 8
KINDS = ("none", "noise", "nic", "lossy nic", "host", "target hung off", "lossy target", "rail", "lossy rail", "path",
         "lossy path", "two nics")
LOSSES = (0.02, 0.05, 0.2)
RETRIES = 3  # as probe.retry
BLAME = ("RdmaProbeNicFailing", "RdmaProbeTargetFailing", "RdmaProbeFabricFailing", "RdmaProbePathFailing")
MINUTES = 22


class Mesh:
    """Hosts h0.. with RAILS adapters each. Of each path, (from, to, rail): the shares of probes that fail, and of packets
    that are lost."""

    def __init__(self, seed, kind):
        self.random = random.Random(f"{seed} {kind}")
        self.kind = kind
        self.hosts = self.random.choice((16, 24))
        self.paths = {}
        self.losses = collections.defaultdict(float)
        for rail in range(RAILS):
            order = list(range(self.hosts))
            self.random.shuffle(order)
            for place, host in enumerate(order):
                leaf = [other for other in order if other // LEAF == host // LEAF]
                at = leaf.index(host)
                near = [leaf[(at + step) % len(leaf)] for step in range(1, RING + 1)]
                far = next(other for other in order[place:] + order[:place] if other // LEAF != host // LEAF)
                for target in (*near, far):
                    self.paths[host, target, rail] = 0.0
        self.silent = set()  # hosts whose exporter does not answer
        self.expected = set()
        getattr(self, "fault_" + kind.replace(" ", "_"))()

    def lose(self, chosen, share):
        """In one direction: an operation crosses both, once for each try."""
        for path in self.paths:
            if chosen(*path):
                self.losses[path] = share
                self.paths[path] = share ** (RETRIES + 1)

    def fail(self, chosen, share=1.0):
        for path in self.paths:
            if chosen(*path):
                self.paths[path] = share

    def some_host(self):
        return self.random.randrange(self.hosts)

    def fault_none(self):
        pass

    def fault_noise(self):
        """Every path loses some probes and packets, below what counts as failing."""
        for path in self.paths:
            self.paths[path] = self.random.choice((0, 0, 0, 0.01, 0.05))
            self.losses[path] = self.random.choice((0, 0, 0, 0.002, 0.005))

    def fault_nic(self, count=1):
        nics = [(host, self.random.randrange(RAILS)) for host in self.random.sample(range(self.hosts), count)]
        share = self.random.choice((0.2, 0.5, 1.0))  # of the probes fail, whichever end the adapter is
        for host, rail in nics:
            self.fail(lambda source, target, on, host=host, rail=rail: on == rail and host in (source, target), share)
            self.expected.add(("RdmaProbeNicFailing", f"h{host}", f"mlx5_{rail}"))

    def fault_lossy_nic(self):
        nic = (self.some_host(), self.random.randrange(RAILS))
        self.lose(lambda source, target, rail: nic in ((source, rail), (target, rail)), self.random.choice(LOSSES))
        self.expected.add(("RdmaProbeNicFailing", f"h{nic[0]}", f"mlx5_{nic[1]}"))

    def fault_two_nics(self):
        self.fault_nic(2)

    def fault_host(self):
        """All of its adapters, while its exporter answers: one message."""
        host = self.some_host()
        self.fail(lambda source, target, on: host in (source, target))
        self.expected.add(("RdmaProbeNicFailing", f"h{host}", ""))

    def fault_target_hung_off(self):
        """Nobody reaches it, and it probes nobody: its own daemon does not, or is not scraped."""
        host = self.some_host()
        self.fail(lambda source, target, on: target == host)
        self.silent.add(host)
        self.expected.add(("RdmaProbeTargetFailing", f"h{host}", ""))

    def fault_lossy_target(self):
        """The paths to it lose packets, and it probes nobody."""
        host = self.some_host()
        self.lose(lambda source, target, on: target == host, self.random.choice(LOSSES))
        self.silent.add(host)
        self.expected.add(("RdmaProbeTargetFailing", f"h{host}", ""))

    def some_rail(self):
        """Which paths cross it: all of a rail, or those that touch one leaf of it."""
        rail = self.random.randrange(RAILS)
        leaf = self.random.choice((None, self.random.randrange(self.hosts // LEAF)))
        self.expected.add(("RdmaProbeFabricFailing", "", f"mlx5_{rail}"))
        return lambda source, target, on: on == rail and (leaf is None or leaf in (source // LEAF, target // LEAF))

    def fault_rail(self):
        self.fail(self.some_rail())

    def fault_lossy_rail(self):
        self.lose(self.some_rail(), self.random.choice(LOSSES))

    def fault_path(self):
        path = self.random.choice(list(self.paths))
        self.paths[path] = self.random.choice((0.3, 1.0))
        self.expected.add(("RdmaProbePathFailing", f"h{path[0]}", f"mlx5_{path[2]}"))

    def fault_lossy_path(self):
        path = self.random.choice(list(self.paths))
        self.lose(lambda *other: other == path, self.random.choice(LOSSES))
        self.expected.add(("RdmaProbePathFailing", f"h{path[0]}", f"mlx5_{path[2]}"))

    def series(self, cluster):
        """As a page has them, 60 probes a minute, each behind its warm-up."""
        for (source, target, rail), share in self.paths.items():
            if source in self.silent:
                continue
            labels = (f'cluster="{cluster}",job="rdma",instance="h{source}:9400",device="mlx5_{rail}",port="1",'
                      f'target="h{target}",flow="0",op="write"')
            yield f"rdma_probe_attempts_total{{{labels}}}", f"0+60x{MINUTES}"
            yield (f'rdma_probe_failures_total{{{labels},stage="op",reason="retry_exc_err"}}',
                   f"0+{60 * share:g}x{MINUTES}")
            yield (f"rdma_probe_retransmit_suspected_total{{{labels}}}",
                   f"0+{120 * self.losses[source, target, rail]:g}x{MINUTES}")


def blamed(labels):
    """(alert, host, device) of an alert's labels."""
    host = labels.get("target") if labels["alertname"] == "RdmaProbeTargetFailing" else labels.get("instance", "").split(":")[0]
    return labels["alertname"], host, labels.get("device", "")


def alerts_of(meshes):
    """{cluster: {blamed}}; promtool says what it got when nothing was expected."""
    # One test for each: promtool loads 10,000 samples for a query at most.
    test = {"evaluation_interval": "1m", "tests": [
        {"interval": "1m", "input_series": [{"series": name, "values": values} for name, values in mesh.series(cluster)],
         "alert_rule_test": [{"eval_time": f"{MINUTES - 1}m", "alertname": name, "exp_alerts": []} for name in BLAME]}
        for cluster, mesh in meshes.items()]}
    with tempfile.TemporaryDirectory() as folder:
        # Only what votes need: the other rules would be evaluated at every step, too.
        for path in cases.RULES:
            groups = [group for group in cases.load(path)["groups"] if group["name"] in ("rdma-probe", "rdma-probe-votes")]
            (pathlib.Path(folder) / path.name).write_text(yaml.dump({"groups": groups}, sort_keys=False))
        test["rule_files"] = [path.name for path in cases.RULES]
        file = pathlib.Path(folder) / "test.yml"
        file.write_text(yaml.dump(test, sort_keys=False))
        done = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False)
    if " err:" in done.stdout + done.stderr:
        raise AssertionError(done.stdout + done.stderr)
    found = collections.defaultdict(set)
    for text in re.findall(r"Labels:\{(alertname=[^}]*)\}", done.stdout + done.stderr):
        labels = dict(re.findall(r'(\w+)="([^"]*)"', text))
        found[labels["cluster"]].add(blamed(labels))
    return found


def simulate(seeds, kinds=KINDS):
    """{kind: (runs, true, false, missed)} of alerts."""
    meshes = {f"{kind} {seed}": Mesh(seed, kind) for kind in kinds for seed in range(seeds)}
    found = alerts_of(meshes)
    result = {kind: [0, 0, 0, 0] for kind in kinds}
    for cluster, mesh in meshes.items():
        counts = result[mesh.kind]
        counts[0] += 1
        counts[1] += len(found[cluster] & mesh.expected)
        counts[2] += len(found[cluster] - mesh.expected)
        counts[3] += len(mesh.expected - found[cluster])
    return result


def table(result):
    """The table of docs/PROBE.md."""
    lines = ["| Fault | Runs | Blamed rightly | Wrongly | Missed | Precision | Recall |", "|---|---|---|---|---|---|---|"]
    for kind, (runs, right, wrong, missed) in result.items():
        def ratio(part, whole):
            return f"{part / whole:.2f}" if whole else "-"
        lines.append(f"| {kind} | {runs} | {right} | {wrong} | {missed} | {ratio(right, right + wrong)} | {ratio(right, right + missed)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import sys
    print(table(simulate(int(sys.argv[1]) if len(sys.argv) > 1 else 2)))
