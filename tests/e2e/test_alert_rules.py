# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The shipped rules are up to date and well-formed, use existing metrics, and each alert has a firing case and a near miss."""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import yaml

import prometheus3
from harness import REPOSITORY, run, temporary_folder
from marks import slow

sys.path.insert(0, os.path.join(REPOSITORY, "tests", "alerts"))
import cases  # noqa: E402
import inventory  # noqa: E402
import native  # noqa: E402

ALERTS = cases.ALERTS
RECORDING = ("recording.rules.yml", "migration/compat.rules.yml", "migration/node_exporter.rules.yml",
             "migration/yuuki.rules.yml")
GENERATED = ("alerts", *(name.removesuffix(".rules.yml") for name in RECORDING))
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
WORDS = set("by without on ignoring group_left group_right offset bool and or unless inf nan".split())


@functools.cache
def described():
    """{family: {label}}"""
    metrics = json.loads(run("--describe=json").stdout)["metrics"]
    return {metric["name"]: set(metric["labels"]) for metric in metrics}


def rules(name):
    return [rule for group in cases.load(ALERTS / name)["groups"] for rule in group["rules"]]


def without_strings(expression):
    return re.sub(r'"[^"]*"', '""', expression)


def metrics_of(expression):
    """{metric: {label of its selectors}} of an expression."""
    text = without_strings(expression)
    text = re.sub(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", " ", text)
    text = re.sub(r"\[[^]]*\]", " ", text)
    found = {}
    for name, call, selector in re.findall(r"(?<![\w.])([a-zA-Z_:][\w:]*)\s*(\()?(?:\{([^}]*)\})?", text):
        if call or name in WORDS or re.fullmatch(r"e\d*|\d*[smhdwy]", name):
            continue
        found.setdefault(name, set()).update(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector))
    return found


def grouping_labels(expression):
    found = re.findall(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)", without_strings(expression))
    return {label.strip() for labels in found for label in labels.split(",") if label.strip()}


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


@slow(16)
class Generated(unittest.TestCase):
    def test_files_and_tables_are_what_the_mixin_makes(self):
        done = subprocess.run([f"{REPOSITORY}/scripts/mixin", "--check"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_mixin_is_formatted(self):
        files = [str(path) for path in pathlib.Path(REPOSITORY, "mixin").rglob("*sonnet")]
        self.assertGreater(len(files), 10)
        done = subprocess.run(["jsonnetfmt", "--test", *files], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, "jsonnetfmt -i mixin/*.libsonnet mixin/*.jsonnet mixin/*/*.libsonnet")

    def test_another_configuration_changes_thresholds_of_alerts_and_panels_and_nothing_else(self):
        """What docs/ALERTS.md tells people to do."""
        place = pathlib.Path(temporary_folder())
        self.addCleanup(shutil.rmtree, place)
        (place / "own.jsonnet").write_text("{ alerts+: { RdmaAckTimeouts+: { threshold: 7, 'for': '3m' },"
                                           " RdmaPfcStormTransmitted+: { threshold: 0.42 } } }")
        subprocess.run([f"{REPOSITORY}/scripts/mixin", "--config", place / "own.jsonnet", "--output", place / "out"],
                       check=True)
        changed = {name: text for name in GENERATED if
                   (text := (place / f"out/{name}.rules.yml").read_text()) != (ALERTS / f"{name}.rules.yml").read_text()}
        self.assertEqual(list(changed), ["alerts"])
        before = (ALERTS / "alerts.rules.yml").read_text().splitlines()
        differing = [(old.strip(), new.strip()) for old, new in
                     zip(before, changed["alerts"].splitlines(), strict=True) if old != new]
        self.assertEqual(differing, [('expr: netdev_priority:rdma_pfc_pause_seconds:rate{direction="tx"} > 0.1',
                                      'expr: netdev_priority:rdma_pfc_pause_seconds:rate{direction="tx"} > 0.42'),
                                     ("expr: rate(rdma_port_ack_timeouts_total[5m]) > 1",
                                      "expr: rate(rdma_port_ack_timeouts_total[5m]) > 7"), ("for: 10m", "for: 3m")])
        board = json.loads((place / "out/dashboards/port.json").read_text())
        paused, = [panel for panel in board["panels"] if panel["title"] == "Time paused, by priority"]
        steps = paused["fieldConfig"]["defaults"]["thresholds"]["steps"]
        self.assertIn(0.42, [step["value"] for step in steps])


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
class Rules(unittest.TestCase):
    maxDiff = None

    def test_promtool_finds_no_fault(self):
        files = sorted(map(str, ALERTS.rglob("*.rules.yml")))
        done = subprocess.run(["promtool", "check", "rules", "--lint=all", "--lint-fatal", *files], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("SUCCESS"), 6)

    @slow(4)
    def test_each_alert_fires_when_it_should_and_not_on_a_near_miss(self):
        place = temporary_folder()
        self.addCleanup(shutil.rmtree, place)
        if os.environ.get("UPDATE_GOLDEN"):
            cases.TEXTS.write_text(yaml.safe_dump(cases.expanded_texts(place), sort_keys=False, width=110))
            cases.load.cache_clear()
        succeeded, output = cases.promtool_test(cases.test_files(place, cases.read_texts()))
        self.assertTrue(succeeded, output)

    def test_each_alert_has_cases_of_both_kinds(self):
        self.assertEqual(set(cases.all_cases()), set(cases.alert_rules()))
        for alert, own in cases.all_cases().items():
            with self.subTest(alert=alert):
                self.assertTrue([case for case in own if case.get("fires")])
                quiet = [case for case in own if "quiet" in case]
                self.assertTrue(quiet)
                for case in quiet:
                    self.assertTrue(case["series"], "a near miss is not the absence of everything")

    def test_near_misses_use_what_the_alert_looks_at(self):
        """A quiet case without any metric of the expression could not fail."""
        records = {rule["record"]: rule["expr"] for rule in rules("recording.rules.yml")}

        def looks_at(expression):
            for metric in metrics_of(expression):
                yield metric
                if metric in records:
                    yield from looks_at(records[metric])

        for alert, own in cases.all_cases().items():
            used = set(looks_at(cases.alert_rules()[alert]["expr"]))
            for case in own:
                with self.subTest(alert=alert, case=case.get("quiet", "fires")):
                    self.assertTrue({name.partition("{")[0] for name in case["series"]} & used)


    def test_rules_in_the_documentation(self):
        """What somebody copies from docs/ALERTS.md."""
        text = pathlib.Path(REPOSITORY, "docs/ALERTS.md").read_text()
        blocks = [block for block in re.findall(r"```yaml\n(.*?)```", text, re.S) if block.startswith("groups:")]
        self.assertEqual(len(blocks), 1)
        place = pathlib.Path(temporary_folder())
        self.addCleanup(shutil.rmtree, place)
        (place / "rules.yml").write_text(blocks[0])
        done = subprocess.run(["promtool", "check", "rules", "--lint=all", "--lint-fatal", place / "rules.yml"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


@slow(20)
class OnPrometheus3(unittest.TestCase):
    """The same rules, the same cases, the same pages, as the next major version sees them."""

    @classmethod
    def setUpClass(cls):
        folder, why = prometheus3.installed()
        if not folder:
            raise unittest.SkipTest(why)
        cls.promtool = folder / "promtool"
        cls.place = temporary_folder()
        cls.addClassCleanup(shutil.rmtree, cls.place)

    def test_promtool_finds_no_fault(self):
        files = sorted(map(str, ALERTS.rglob("*.rules.yml")))
        done = subprocess.run([self.promtool, "check", "rules", "--lint=all", "--lint-fatal", *files], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("SUCCESS"), 6)

    def test_it_finds_no_fault_in_the_exporter_s_pages(self):
        for page in inventory.recorded_pages(), inventory.synthetic_pages():
            for text in page:
                done = subprocess.run([self.promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), text[:200])

    def test_each_alert_fires_when_it_should_and_not_on_a_near_miss(self):
        succeeded, output = cases.promtool_test(cases.test_files(self.place, cases.read_texts()), self.promtool)
        self.assertTrue(succeeded, output)

    def test_the_same_with_native_histograms_only(self):
        """2.42 has no notation for them. A quantile within a bucket differs by some percent, and so do the texts."""
        chosen = native.cases(cases.all_cases())
        self.assertTrue(any("fires" in case for own in chosen.values() for case in own))
        self.assertTrue(any("quiet" in case for own in chosen.values() for case in own))
        succeeded, output = cases.promtool_test(cases.test_files(self.place, None, chosen), self.promtool)
        self.assertTrue(succeeded, output)


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


class Texts(unittest.TestCase):
    def test_texts_say_where_and_how_much(self):
        self.assertEqual(set(cases.read_texts()), set(cases.alert_rules()))
        for alert, texts in cases.read_texts().items():
            expression = cases.alert_rules()[alert]["expr"]
            firing = [labels for case in cases.all_cases()[alert] for labels in case.get("fires", [])]
            for labels, text in zip(firing, texts, strict=True):
                with self.subTest(alert=alert):
                    self.assertNotRegex(text["description"], r"<no value>|error expanding|\{\{|  |\( |\(\)|%!|%%")
                    for label, value in cases.with_target(labels, None).items():
                        if label not in ("job", "direction") and value not in (None, *re.findall(r'[^"|]+', expression)):
                            self.assertIn(value, text["description"], label)

    def test_every_alert_is_complete(self):
        for name, rule in cases.alert_rules().items():
            with self.subTest(alert=name):
                self.assertIn(rule["labels"]["severity"], ("critical", "warning", "info"))
                self.assertRegex(rule["for"], r"^[1-9]")
                self.assertLess(len(rule["annotations"]["summary"]), 80)
                self.assertEqual(rule["annotations"]["runbook_url"], f"alerts/runbooks/{name}.md", "no host that is nobody's")

    def test_few_alerts_wake_somebody(self):
        """Each of them is about several hosts, or about one that harms others."""
        critical = {name for name, rule in cases.alert_rules().items() if rule["labels"]["severity"] == "critical"}
        self.assertEqual(critical, {"RdmaPortsDown", "RdmaPfcStorm", "RdmaNicFatal", "RdmaConnectionsDying",
                                    "RdmaExportersDown", "RdmaLosslessPriorityDrops"})

    def test_annotations_ask_no_questions(self):
        """A query in a text is evaluated for each alert at each evaluation, and not at all by some rulers."""
        for name, rule in cases.alert_rules().items():
            self.assertNotIn("query", " ".join(rule["annotations"].values()), name)

    def test_the_document_counts_the_alerts(self):
        for path in ("docs/ALERTS.md", "README.md"):
            counts = re.findall(r"(\d+) alerts (?:and|with)", pathlib.Path(REPOSITORY, path).read_text())
            self.assertEqual(set(counts), {str(len(cases.alert_rules()))}, path)


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


if __name__ == "__main__":
    unittest.main()
