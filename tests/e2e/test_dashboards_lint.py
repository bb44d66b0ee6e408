# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Rules for good dashboards, those of grafana/dashboard-linter and our own. test_alert_rules checks that the files are what the
mixin generates."""

import json
import pathlib
import re
import sys
import unittest

from marks import slow

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "dashboards"))

import model  # noqa: E402

UIDS = {f"{name}.json": f"rdma-{name}" for name in ("fleet", "host", "port", "resources", "probe", "exporter")}
OF_ONE_HOST = {"host.json", "port.json"}
PANELS = {"timeseries", "stat", "bargauge", "table", "heatmap", "state-timeline"}  # none that Grafana has given up
COUNTER = re.compile(r"_(total|bucket|sum|count)$")
OVER_TIME = {"last_over_time", "rate", "increase", "changes", "resets", "max_over_time", "min_over_time", "predict_linear"}
WORST = "[5m]"  # the worst five minutes of a range, whatever its length
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
ORIGINS = ["cluster", "job", "instance"]


class Lint(unittest.TestCase):
    def each_panel(self, check, concerns=lambda panel: True):
        """check(panel) as a subtest of its own, for those that it concerns; there are some."""
        panels = [panel for dashboard in model.dashboards() for panel in dashboard.panels if concerns(panel)]
        self.assertTrue(panels)
        for panel in panels:
            with self.subTest(panel=str(panel)):
                check(panel)

    def each_selector(self, check, concerns=lambda selector: True):
        """check(selector) for every selector of every expression that it concerns; there are some."""
        found = [(where, selector) for dashboard in model.dashboards()
                 for where, expression, _, _ in dashboard.expressions()
                 for selector in model.selectors(expression) if concerns(selector)]
        self.assertTrue(found)
        for where, selector in found:
            with self.subTest(where=where, selector=selector.name):
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
                below = ["Below"] if dashboard.file == "host.json" else []
                self.assertEqual(list(dict.fromkeys(words)), ["Alive", "Doing", "Wrong", "Why", *below])

    def test_variables(self):
        for dashboard in model.dashboards():
            self.assertEqual(list(dashboard.variables)[:6], ["datasource", *ORIGINS, "device", "port"])
            sent = " ".join(expression for _, expression, _, _ in dashboard.expressions())
            for name, variable in dashboard.variables.items():
                with self.subTest(dashboard=dashboard.file, variable=name):
                    if name == "datasource":
                        self.assertEqual((variable["type"], variable["query"]), ("datasource", "prometheus"))
                        continue
                    one = name == "instance" and dashboard.file in OF_ONE_HOST
                    self.assertTrue(variable["multi"] and variable["label"])
                    self.assertEqual(variable["includeAll"], not one, "a page about one host begins with one host")
                    self.assertEqual(variable["datasource"], DATASOURCE)
                    self.assertEqual((variable.get("allValue"), variable["refresh"]),
                                     (None if name == "job" or one else ".*", 2),
                                     "all jobs are those of exporters, not those of the whole Prometheus")
                    if name in ORIGINS:
                        self.assertTrue(variable["definition"].startswith("label_values(rdma_exporter_build_info{"))
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

    def test_an_empty_panel_says_why(self):
        """"No data" may be good news, a driver that does not count, or something that is switched off."""
        def check(panel):
            self.assertRegex(panel.defaults.get("noValue", ""), r"^[A-Z].{3,}[^.]$")
            self.assertNotIn(panel.defaults["noValue"].lower(), ("no data", "n/a"))
            if panel.type == "table":  # whose cells would have the same text where they have no value
                self.assertIn("null", [mapping["options"].get("match") for mapping in panel.defaults["mappings"]])

        self.each_panel(check)

    def test_panels_lie_side_by_side(self):
        for dashboard in model.dashboards():
            panels = model.with_folded(dashboard.data)
            self.assertEqual([panel["id"] for panel in panels], list(range(1, len(panels) + 1)))
            rows = [row["panels"] for row in dashboard.rows.values() if row["collapsed"]]
            for together in (dashboard.data["panels"], *rows):
                self.no_overlap(together)

    def no_overlap(self, panels):
        taken = set()
        for panel in panels:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(cells & taken, f"{panel['title']} lies over another panel")
            taken |= cells

    def test_details_are_folded(self):
        """What is in a folded row asks nothing until it is opened: the first screens cost a fleet's Prometheus little."""
        for dashboard in model.dashboards():
            folded = [title for title, row in dashboard.rows.items() if row["collapsed"]]
            self.assertTrue(folded, dashboard.file)
            self.assertEqual([row["collapsed"] for row in dashboard.rows.values()][0], False, "alive or not is seen at once")
            for title, row in dashboard.rows.items():
                self.assertEqual(bool(row["panels"]), row["collapsed"], f"{dashboard.file}: {title}")
            shown = [panel for panel in dashboard.data["panels"] if panel["type"] != "row"]
            self.assertLessEqual(len(shown), 20, dashboard.file)

    def test_no_refresh_asks_for_a_day(self):
        """A fixed window costs the same at each refresh, whatever range somebody looks at; that one is an hour at first."""
        for dashboard in model.dashboards():
            self.assertEqual((dashboard.data["refresh"], dashboard.data["time"]), ("30s", {"from": "now-1h", "to": "now"}))
            for where, expression, _, _ in dashboard.expressions():
                for number, unit in re.findall(r"[\[:](\d+)([smhdwy])", model.STRING.sub("", expression)):
                    self.assertLessEqual(int(number) * {"s": 1, "m": 60}.get(unit, 1e9), 600, where)

    def test_thresholds_are_those_of_alerts(self):
        """Each step is what an alert that the panel names compares with in the rules that ship, the port's utilization, or 1:
        one of something that should not be. A panel turns at >=, an alert fires at >: for 0, next to nothing."""
        config, rules, tiny = model.config(), model.alert_expressions(), 1e-6
        drawn = set()

        def check(panel):
            self.assertLessEqual(set(panel.alerts), set(rules))
            allowed = {1, *config["dashboards"]["portUtilization"].values()}
            allowed |= {2, 4} if "rdma_port_state" in panel.data["targets"][0]["expr"] else set()
            limits = {name: {float(limit) for limit in re.findall(r"> (\d[\d.e+-]*)", rules[name])} for name in panel.alerts}
            for step in panel.steps:
                equal = {name for name, found in limits.items() if abs(step) in found or (0 in found and 0 < abs(step) < tiny)}
                drawn.update((name, abs(step)) for name in equal)
                self.assertTrue(equal or step in allowed, f"{step} is no alert's")

        self.each_panel(check)
        self.assertIn(("RdmaOutOfSequence", 1e-5), drawn)
        self.assertIn(("RdmaPreFecBerHigh", config["alerts"]["RdmaPreFecBerHigh"]["threshold"]), drawn)

    def test_every_alert_with_a_threshold_is_named_somewhere(self):
        named = {name for dashboard in model.dashboards() for panel in dashboard.panels for name in panel.alerts}
        with_threshold = {name for name, alert in model.config()["alerts"].items() if "threshold" in alert}
        self.assertLessEqual(with_threshold, named)

    def test_selectors_match_cluster_job_and_instance(self):
        for dashboard in model.dashboards():
            for where, expression, _, _ in dashboard.expressions():
                self.assertEqual(model.bare_names(expression), [], f"{where}: metrics without a selector")

        def check(selector):
            for label in ORIGINS:
                self.assertEqual(selector.matchers.get(label), ("=~", f"${label}"), selector.name)

        self.each_selector(check)

    def test_counters_are_never_shown_as_they_are(self):
        self.each_selector(lambda counter: self.assertIn(counter.function, {"rate", "increase"}),
                           lambda selector: COUNTER.search(selector.name))
        self.each_selector(lambda window: self.assertIn(window.function, OVER_TIME), lambda selector: selector.range)

    def test_rates_follow_the_time_range(self):
        """A fixed window is blind when the scrape interval is longer, and flat when the range is."""
        self.each_selector(lambda rate: self.assertIn(rate.range, ("[$__rate_interval]", "[$__range]", WORST)),
                           lambda selector: selector.function == "rate")

    def test_groups_have_the_cluster(self):
        for dashboard in model.dashboards():
            for where, expression, _, _ in dashboard.expressions():
                for group in model.GROUPING.findall(expression):
                    own = [label.strip() for label in group.split(",")]
                    if {"job", "instance"} & set(own):
                        self.assertLessEqual({"cluster", "job"}, set(own), where)

    @slow(17)
    def test_other_names_of_labels(self):
        """Those of a site whose series say `site` and `node`, and of one without clusters."""
        for labels, gone in (({"cluster": "site", "instance": "node"}, r"\b(cluster|instance)=|\binstance,|\{\{instance"),
                             ({"cluster": ""}, r"\bcluster\b")):
            for file, data in model.generated(f"{{ labels+: {json.dumps(labels)} }}").items():
                sent = [target[key] for panel in model.with_folded(data) for target in panel.get("targets", [])
                        for key in ("expr", "legendFormat")]
                sent += [variable.get("definition", "") for variable in data["templating"]["list"]]
                for text in sent:
                    self.assertNotRegex(text.replace("$cluster", "").replace("$instance", "") if labels["cluster"] else text,
                                        gone, file)

    def test_only_raw_series(self):
        """They work where nobody has loaded our recording rules."""
        def check(selector):
            self.assertNotIn(":", selector.name)

        self.each_selector(check)

    def test_links_carry_choices_and_time(self):
        """To a dashboard that exists, with what was chosen, what the line says, and the time range."""
        boards = {dashboard.data["uid"]: dashboard for dashboard in model.dashboards()}

        def links(panel):
            return [(override["matcher"]["options"], prop["value"][0]["url"])
                    for override in panel.data["fieldConfig"]["overrides"]
                    for prop in override["properties"] if prop["id"] == "links"]

        def check(panel):
            shown = {name for change in panel.data["transformations"] if change["id"] == "organize"
                     for name in change["options"]["renameByName"].values()}
            for column, url in links(panel):
                uid, query = re.fullmatch(r"/d/([\w-]+)\?(.*)", url).groups()
                parts = query.split("&")
                self.assertEqual((parts[0], parts[-1]), ("${datasource:queryparam}", "${__url_time_range}"))
                self.assertLessEqual({"${cluster:queryparam}", "${job:queryparam}"}, set(parts))
                for name, value in re.findall(r"&var-(\w+)=([^&]+)", url):
                    self.assertIn(name, boards[uid].variables)
                    field = re.fullmatch(r'\$\{__data\.fields\["([^"]+)"\]\}', value)
                    self.assertTrue(field and {field[1], column} <= shown or value == "${__field.name}", url)

        self.each_panel(check, links)

    def test_hosts_lead_to_their_page(self):
        """Wherever a table has a column of hosts."""
        def check(panel):
            text = json.dumps(panel.data["fieldConfig"]["overrides"])
            self.assertRegex(text, r'var-instance=\$\{__data.fields\[\\"Host')

        def has_hosts(panel):
            return panel.type == "table" and '"Host"' in json.dumps(panel.data.get("transformations")) \
                and panel.dashboard.file not in OF_ONE_HOST

        self.each_panel(check, has_hosts)

    def test_annotations(self):
        for dashboard in model.dashboards():
            names = [a["name"] for a in dashboard.data["annotations"]["list"]]
            self.assertEqual(names, ["Alerts", "Exporter started", "Firmware changed"], dashboard.file)
