# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The expressions of the shipped rules use metrics and labels that exist, look back as far as they should, and avoid traps."""

import functools
import json
import os
import pathlib
import re
import sys
import unittest

from harness import REPOSITORY, run

sys.path.insert(0, os.path.join(REPOSITORY, "tests", "alerts"))
import cases  # noqa: E402
from expressions import RECORDING, grouping_labels, metrics_of, rules  # noqa: E402

MIGRATION = re.compile("compat|node_exporter|yuuki")

# Prometheus' own, with the labels of every target.
STANDARD = {"up": set(), "scrape_duration_seconds": set()}
TARGET_LABELS = {"cluster", "job", "instance", "severity"}
# What a rule adds to the labels of its expression: by group_left, label_replace, or because a parser cannot tell.
ADDED = {
    "device:rdma_device_pcie_transfers_per_second:product": {"device", "vendor_id", "device_id", "board_id"},
    "port:rdma_port_transmit_wait_ticks:rate": {"vendor_id", "device_id"},
    "port:rdma_port_active_mtu_bytes:by_model": {"vendor_id", "device_id"},
    "netdev_priority:rdma_dcb_pfc_enabled:by_model": {"vendor_id", "device_id"},
    "rdma_queue_utilization": {"queue"},
    "rdma_errors_total": {"error"},
}


@functools.cache
def described():
    """{family: {label}}"""
    metrics = json.loads(run("--describe=json").stdout)["metrics"]
    return {metric["name"]: set(metric["labels"]) for metric in metrics}


class Names:
    """Which metrics exist and which labels they have: described, standard, pending, or made by a recording rule."""

    def __init__(self):
        self.labels = {**described(), **STANDARD, "rdma_exporter_build_info": set()}
        for rule in [rule for name in RECORDING for rule in rules(name)]:
            own = set().union(*(self.of(metric) or set() for metric in metrics_of(rule["expr"])))
            self.labels[rule["record"]] = own | ADDED.get(rule["record"], set())

    def of(self, metric):
        """Labels, or None if there is no such metric."""
        if metric in self.labels:
            return self.labels[metric]
        family, _, suffix = metric.rpartition("_")
        if suffix in ("bucket", "sum", "count") and family in self.labels:
            return self.labels[family] | ({"le"} if suffix == "bucket" else set())
        return None


class MetricsAndLabels(unittest.TestCase):
    def setUp(self):
        self.names = Names()

    def test_every_metric_and_label_exists(self):
        for rule in [rule for name in (*RECORDING, "alerts.rules.yml") for rule in rules(name)]:
            with self.subTest(rule=rule.get("alert") or rule["record"]):
                known = set(TARGET_LABELS)
                metrics = metrics_of(rule["expr"])
                self.assertTrue(metrics)
                for metric, labels in metrics.items():
                    own = self.names.of(metric)
                    self.assertIsNotNone(own, f"no metric {metric}")
                    self.assertLessEqual(labels, own | TARGET_LABELS, metric)
                    known |= own
                known |= set(re.findall(r'count_values by \([^)]*\) \("(\w+)"', rule["expr"]))
                known |= set(re.findall(r', "(\w+)", "[^"]*", "\w*", "', rule["expr"]))  # label_replace
                self.assertLessEqual(grouping_labels(rule["expr"]), known)
                texts = " ".join(rule.get("annotations", {}).values())
                self.assertLessEqual(set(re.findall(r"\$labels\.(\w+)", texts)), known)

    def test_migration_is_loaded_by_nobody_who_does_not_want_it(self):
        """Neither by what docs/ALERTS.md tells people to copy and load, nor by the chart and the overlay."""
        text = pathlib.Path(REPOSITORY, "docs/ALERTS.md").read_text()
        copied, = re.findall(r"cp (\S+) /etc/prometheus/rdma/", text)
        loaded = {path.name for path in pathlib.Path(REPOSITORY).glob(copied)}
        self.assertEqual(loaded, {"alerts.rules.yml", "recording.rules.yml"})
        self.assertEqual([path for path in pathlib.Path(REPOSITORY, "deploy").rglob("*rule*") if MIGRATION.search(path.name)], [])

    def test_label_values_are_ones_that_exist(self):
        """Values of labels that come from the tables of counters."""
        counters = json.loads(run("--describe=json").stdout)["counters"]
        values = {}
        for row in counters:
            for label, value in (row.get("labels") or {}).items():
                values.setdefault((row["metric"], label), set()).add(value)
        checked = 0
        for rule in [*rules("recording.rules.yml"), *rules("alerts.rules.yml")]:
            for metric, selector in re.findall(r"([a-z_]+)\{([^}]*)\}", rule["expr"]):
                for label, operator, wanted in re.findall(r'(\w+)(=~|=)"([^"]*)"', selector):
                    if (metric, label) in values:
                        checked += 1
                        self.assertLessEqual(set(wanted.split("|")), values[metric, label], f"{metric} {label}")
        self.assertGreater(checked, 8)

    def test_no_series_is_made_twice(self):
        """A name that the exporter has is not recorded again under compatibility names, nor one name by two rules."""
        records = [rule["record"] for name in RECORDING for rule in rules(name)]
        self.assertEqual(len(records), len(set(records)))
        own = described()
        bases = {re.sub(r"_(bucket|sum|count)$", "", name) for name in records} | set(records)
        self.assertEqual(bases & set(own), set())


class Expressions(unittest.TestCase):
    """Traps of PromQL."""

    def test_records_say_level_metric_and_operations(self):
        for rule in rules("recording.rules.yml"):
            self.assertRegex(rule["record"], r"^[a-z_]+:rdma_[a-z_]+:[a-z0-9_]+$")

    def test_histograms_may_be_native_only(self):
        """Each quantile of classic buckets has its twin of the native histogram."""
        found = 0
        for rule in [rule for name in RECORDING for rule in rules(name)]:
            for share, name, window in re.findall(r"histogram_quantile\(([\d.]+), rate\((\w+)_bucket\[(\w+)\]", rule["expr"]):
                found += 1
                self.assertIn(f"histogram_quantile({share}, rate({name}[{window}]))", rule["expr"], rule["record"])
        self.assertGreater(found, 2)

    def test_increase_and_rate_get_counters(self):
        types = {m["name"]: m["type"] for m in json.loads(run("--describe=json").stdout)["metrics"]}
        found = {metric for rule in [*rules("recording.rules.yml"), *rules("alerts.rules.yml")]
                 for metric in re.findall(r"\b(?:rate|increase)\((rdma_\w+)", rule["expr"]) if metric in types}
        self.assertGreater(len(found), 20)
        self.assertEqual({metric for metric in found if types[metric] not in ("counter", "histogram")}, set())

    def test_no_alert_compares_a_raw_total(self):
        for name, rule in cases.alert_rules().items():
            bare = re.sub(r"\b(rate|increase)\([^)]*\)", "", rule["expr"])
            self.assertNotRegex(bare, r"_total\b", name)

    def test_each_side_of_or_has_its_own_comparison(self):
        """`rate(a) or rate(b) > 1` would drop b wherever a exists."""
        sides = [(name, side) for name, rule in cases.alert_rules().items()
                 for side in re.split(r"\bor\b", rule["expr"])[:-1] if re.search(r"\b(rate|increase)\(", side)]
        self.assertTrue(sides)
        for name, side in sides:
            self.assertRegex(side, r"[<>=]=? *[\d.e-]+\s*\)?\s*(and .*)?$", name)


def seconds(duration):
    return sum(int(number) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit]
               for number, unit in re.findall(r"(\d+)([smhd])", duration))


class Times(unittest.TestCase):
    def test_missed_evaluations_of_the_history_reset_nothing(self):
        """What is recorded seldom is read so that it holds for three evaluations; as it is, it is stale after 5 minutes."""
        slow_groups = [group for group in cases.load(cases.RULES[0])["groups"] if "interval" in group]
        self.assertTrue(slow_groups)
        used = 0
        for group in slow_groups:
            for record in [rule["record"] for rule in group["rules"]]:
                for name, rule in [(rule.get("alert") or rule["record"], rule) for rule in (
                        *rules("recording.rules.yml"), *rules("alerts.rules.yml"))]:
                    held = re.findall(rf"last_over_time\({record}(?:{{[^}}]*}})?\[(\w+)\]\)", rule["expr"])
                    self.assertEqual(len(held), rule["expr"].count(record), f"{name}: {record}")
                    used += len(held)
                    for window in held:
                        self.assertGreaterEqual(seconds(window), 3 * seconds(group["interval"]), name)
        self.assertGreater(used, 5)

    def test_alerts_do_not_look_far_back(self):
        """Rulers that read from object storage (Mimir, Thanos) evaluate them each minute; days are for the slow group."""
        hot = [*rules("alerts.rules.yml"), *[rule for group in cases.load(cases.RULES[0])["groups"] if "interval" not in group
                                             for rule in group["rules"]]]
        ranges = {span for rule in hot for span in re.findall(r"\[(\w+)[\]:]", rule["expr"])}
        self.assertGreater(len(ranges), 3)
        self.assertLessEqual(max(map(seconds, ranges)), 15 * 60)
        offsets = {span for rule in hot for span in re.findall(r"\boffset (\w+)", rule["expr"])}
        self.assertTrue(offsets)
        self.assertLessEqual(max(map(seconds, offsets)), 3600)

    def test_maintenance_lasts_as_long_as_alerts_look_back(self):
        text = pathlib.Path(REPOSITORY, "docs/ALERTS.md").read_text()
        after_boot = int(re.search(r"node_boot_time_seconds < (\d+)", text)[1])
        windows = {window: rule.get("alert") or rule["record"]
                   for rule in [*rules("recording.rules.yml"), *rules("alerts.rules.yml")]
                   for window in re.findall(r"\b(?:rate|increase)\([^()]*\[(\w+)\]", rule["expr"])}
        settle, longest = 600, max(windows, key=seconds)
        self.assertGreaterEqual(after_boot, settle + seconds(longest), windows[longest])


if __name__ == "__main__":
    unittest.main()
