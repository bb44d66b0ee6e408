# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Habits of good dashboards, after the rules of grafana/dashboard-linter, and what this project promises of its own."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "dashboards"))

import model  # noqa: E402

UIDS = {"fleet.json": "rdma-fleet", "node.json": "rdma-node", "resources.json": "rdma-resources",
        "probe.json": "rdma-probe", "exporter.json": "rdma-exporter"}
PANELS = {"timeseries", "stat", "bargauge", "table", "heatmap", "state-timeline"}  # none that Grafana has given up
COUNTER = re.compile(r"_(total|bucket|sum|count)$")
OVER_TIME = {"rate", "increase", "changes", "resets", "max_over_time", "min_over_time", "predict_linear"}
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
ANY = 0.001  # where a panel draws the threshold 0 of an alert


class Generated(unittest.TestCase):
    def test_files_are_what_the_mixin_makes(self):
        command = [model.REPOSITORY / "scripts/mixin", "--check"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_threshold_of_ones_own_reaches_the_panels(self):
        """What docs/ALERTS.md tells people to do changes alerts and dashboards alike."""
        with tempfile.TemporaryDirectory() as folder:
            override = pathlib.Path(folder, "own.jsonnet")
            override.write_text("{ alerts+: { RdmaPfcStormTransmitted+: { threshold: 0.42 } } }")
            subprocess.run([model.REPOSITORY / "scripts/mixin", "--config", override, "--output", folder], check=True)
            text = pathlib.Path(folder, "dashboards/node.json").read_text()
        panels = {panel["title"]: panel for panel in json.loads(text)["panels"]}
        steps = panels["Time paused, by priority"]["fieldConfig"]["defaults"]["thresholds"]["steps"]
        self.assertIn(0.42, [step["value"] for step in steps])


class Lint(unittest.TestCase):
    def each_panel(self, check):
        """check(panel) as a subtest of its own."""
        for dashboard in model.dashboards():
            for panel in dashboard.panels:
                with self.subTest(panel=str(panel)):
                    check(panel)

    def each_selector(self, check):
        """check(selector) for every selector of every expression."""
        for dashboard in model.dashboards():
            for where, expression, _, _ in dashboard.expressions():
                with self.subTest(where=where, expression=expression):
                    for selector in model.selectors(expression):
                        check(selector)

    def test_dashboards(self):
        self.assertEqual({d.file: d.data["uid"] for d in model.dashboards()}, UIDS)
        for dashboard in model.dashboards():
            with self.subTest(dashboard=dashboard.file):
                data = dashboard.data
                self.assertTrue(data["title"].startswith("RDMA / ") and data["description"])
                self.assertEqual(data["tags"], ["rdma"])
                self.assertGreaterEqual(data["schemaVersion"], 39)
                self.assertFalse(data["editable"])
                self.assertNotIn("__inputs", data, "the variable chooses the data source, at import and afterwards")
                [link] = data["links"]
                self.assertEqual((link["type"], link["tags"], link["includeVars"], link["keepTime"]),
                                 ("dashboards", ["rdma"], True, True))
                words = [row.split(":")[0] for row in dashboard.rows]
                self.assertEqual(list(dict.fromkeys(words)), ["Alive", "Doing", "Wrong", "Why"])

    def test_variables(self):
        for dashboard in model.dashboards():
            self.assertEqual(list(dashboard.variables)[:5], ["datasource", "job", "instance", "device", "port"])
            sent = " ".join(expression for _, expression, _, _ in dashboard.expressions())
            for name, variable in dashboard.variables.items():
                with self.subTest(dashboard=dashboard.file, variable=name):
                    if name == "datasource":
                        self.assertEqual((variable["type"], variable["query"]), ("datasource", "prometheus"))
                        continue
                    self.assertTrue(variable["includeAll"] and variable["multi"])
                    self.assertEqual(variable["datasource"], DATASOURCE)
                    self.assertEqual((variable["allValue"], variable["refresh"]), (".*", 2))
                    self.assertIn(f'=~"${name}"', sent, "nothing uses it; multi needs =~")

    def test_panels_have_words_and_unit(self):
        for dashboard in model.dashboards():
            titles = [panel.title for panel in dashboard.panels]
            self.assertEqual(len(titles), len(set(titles)), dashboard.file)

        def check(panel):
            self.assertIn(panel.type, PANELS)
            what, mark, todo = panel.data["description"].partition("\n\n**What to do:** ")
            self.assertTrue(what.endswith((".", ")")) and mark and todo, panel.data["description"])
            self.assertTrue(panel.defaults.get("unit"), "no unit")
            self.assertEqual(panel.data["datasource"], DATASOURCE)
            self.assertTrue(panel.data["targets"])
            for target in panel.data["targets"]:
                self.assertTrue(target["expr"].strip())
                self.assertEqual(target["datasource"], DATASOURCE)
            references = [target["refId"] for target in panel.data["targets"]]
            self.assertEqual(references, sorted(set(references)))

        self.each_panel(check)

    def test_panels_lie_side_by_side(self):
        for dashboard in model.dashboards():
            taken = set()
            panels = dashboard.data["panels"]
            self.assertEqual([panel["id"] for panel in panels], list(range(1, len(panels) + 1)))
            for panel in panels:
                place = panel["gridPos"]
                self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
                cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                         for y in range(place["y"], place["y"] + place["h"])}
                self.assertFalse(cells & taken, f"{dashboard.file}: {panel['title']} lies over another panel")
                taken |= cells

    def test_thresholds_are_those_of_alerts(self):
        """Each step is the threshold of an alert that the panel names, of the port's utilization, or 1: one of
        something that should not be."""
        config = model.config()

        def check(panel):
            self.assertLessEqual(set(panel.alerts), set(config["alerts"]))
            allowed = {1, *config["dashboards"]["portUtilization"].values()}
            for name in panel.alerts:
                if "threshold" in config["alerts"][name]:
                    threshold = max(config["alerts"][name]["threshold"], ANY)
                    allowed |= {threshold, -threshold}
            states = {2, 4} if "rdma_port_state" in panel.data["targets"][0]["expr"] else set()
            self.assertLessEqual(set(panel.steps), allowed | states)

        self.each_panel(check)

    def test_every_alert_with_a_threshold_is_named_somewhere(self):
        named = {name for dashboard in model.dashboards() for panel in dashboard.panels for name in panel.alerts}
        with_threshold = {name for name, alert in model.config()["alerts"].items() if "threshold" in alert}
        self.assertLessEqual(with_threshold, named)

    def test_selectors_match_job_and_instance(self):
        for dashboard in model.dashboards():
            for where, expression, _, _ in dashboard.expressions():
                self.assertEqual(model.bare_names(expression), [], f"{where}: metrics without a selector")

        def check(selector):
            self.assertEqual(selector.matchers.get("job"), ("=~", "$job"), selector.name)
            self.assertEqual(selector.matchers.get("instance"), ("=~", "$instance"), selector.name)

        self.each_selector(check)

    def test_counters_are_never_shown_as_they_are(self):
        def check(selector):
            if COUNTER.search(selector.name):
                self.assertIn(selector.function, {"rate", "increase"}, selector.name)
            if selector.range:
                self.assertIn(selector.function, OVER_TIME)

        self.each_selector(check)

    def test_rates_follow_the_time_range(self):
        """A fixed window is blind when the scrape interval is longer, and flat when the range is."""
        def check(selector):
            if selector.function == "rate":
                self.assertIn(selector.range, ("[$__rate_interval]", "[$__range]"))

        self.each_selector(check)

    def test_only_raw_series(self):
        """They work where nobody has loaded our recording rules."""
        def check(selector):
            self.assertNotIn(":", selector.name)

        self.each_selector(check)

    def test_links_to_hosts(self):
        def check(panel):
            for override in panel.data["fieldConfig"]["overrides"]:
                for prop in override["properties"]:
                    if prop["id"] == "links":
                        url = prop["value"][0]["url"]
                        self.assertTrue(url.startswith("/d/rdma-node?"))
                        self.assertIn("${__url_time_range}", url)

        self.each_panel(check)

    def test_annotations(self):
        for dashboard in model.dashboards():
            names = [a["name"] for a in dashboard.data["annotations"]["list"]]
            self.assertEqual(names, ["Alerts", "Exporter started", "Firmware changed"], dashboard.file)
