# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The shipped rules are up to date and well-formed, and say what is wrong; each alert has a firing case and a near miss."""

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
from harness import REPOSITORY, temporary_folder
from marks import slow

sys.path.insert(0, os.path.join(REPOSITORY, "tests", "alerts"))
import cases  # noqa: E402
import inventory  # noqa: E402
import native  # noqa: E402
from expressions import RECORDING, metrics_of, rules  # noqa: E402

ALERTS = cases.ALERTS
GENERATED = ("alerts", *(name.removesuffix(".rules.yml") for name in RECORDING))


@slow(30)
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

    @slow(8)
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


@slow(24)
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


if __name__ == "__main__":
    unittest.main()
