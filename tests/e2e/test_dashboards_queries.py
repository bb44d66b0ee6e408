# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Every query of every panel on a real Prometheus with the minutes of a PFC storm: it parses, returns data with the labels of
its legend, and shows what happened."""

import math
import pathlib
import re
import shutil
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / name) for name in ("alerts", "dashboards", "tools")]

import cases  # noqa: E402
import model  # noqa: E402
import store  # noqa: E402
from marks import slow  # noqa: E402

RANGE = 450  # seconds, all that was recorded
WINDOWS = {"__range": f"{RANGE}s", "__rate_interval": "20s"}
LEGEND = re.compile(r"\{\{(\w+)\}\}")


@slow(8)
@unittest.skipUnless(shutil.which("prometheus"), "prometheus is not installed")
class Queries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        context = store.server()
        cls.server = context.__enter__()
        cls.addClassCleanup(context.__exit__, None, None, None)
        cls.span = cls.server.span
        cls.chosen = {}
        for name in ("job",):  # All of what has no value of its own for it: what its query finds
            variable = model.dashboards()[0].variables[name]
            cls.chosen[name] = "|".join(cls.options(variable["definition"]))

    @classmethod
    def options(cls, definition):
        """Values of label_values(SELECTOR, LABEL)."""
        selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", definition).groups()
        times = {"start": cls.span.start, "end": cls.span.end}
        found = cls.server.api("series", **{"match[]": model.filled_in(selector, {})}, **times)
        return sorted({series[label] for series in found if label in series})

    def ask(self, expression, instant, when=None, **values):
        """Series of one query, each with a number in it."""
        query = model.filled_in(expression, WINDOWS | self.chosen | values)
        if instant:
            when = when or (self.span.storm_end if "ALERTS" in expression else self.span.end)  # most fire meanwhile
            answer = self.server.api("query", query=query, time=when)["result"]
            found = [(series["metric"], [float(series["value"][1])]) for series in answer]
        else:
            times = {"start": self.span.start, "end": self.span.end, "step": 5}
            answer = self.server.api("query_range", query=query, **times)["result"]
            found = [(series["metric"], [float(value) for _, value in series["values"]]) for series in answer]
        return [(labels, values) for labels, values in found if not all(map(math.isnan, values))]

    def panel(self, file, title):
        return next(p for d in model.dashboards() if d.file == file for p in d.panels if p.title == title)

    def shown(self, file, title, when=None, target=0, **values):
        query = self.panel(file, title).data["targets"][target]
        return self.ask(query["expr"], query["instant"], when, **values)

    def test_every_expression_parses(self):
        for dashboard in model.dashboards():
            for where, expression, _, _ in dashboard.expressions():
                with self.subTest(where=where):
                    self.server.api("format_query", query=model.filled_in(expression, WINDOWS))

    def test_every_query_has_data(self):
        for dashboard in model.dashboards():
            for where, expression, instant, _ in dashboard.expressions():
                with self.subTest(where=where, expression=expression):
                    self.assertTrue(self.ask(expression, instant), "nothing")

    def test_labels_of_legends_are_there(self):
        for dashboard in model.dashboards():
            for panel in dashboard.panels:
                for target in panel.data["targets"]:
                    with self.subTest(panel=str(panel), legend=target["legendFormat"]):
                        labels = {label for found, _ in self.ask(target["expr"], target["instant"]) for label in found}
                        self.assertLessEqual(set(LEGEND.findall(target["legendFormat"])), labels)

    def test_columns_of_tables_are_there(self):
        """A column that no query returns stays away without a word."""
        for dashboard in model.dashboards():
            for panel in dashboard.panels:
                for change in panel.data.get("transformations", []):
                    if change["id"] == "organize":
                        with self.subTest(panel=str(panel)):
                            found = {label for target in panel.data["targets"]
                                     for series, _ in self.ask(target["expr"], True) for label in series}
                            if "ALERTS" in panel.data["targets"][0]["expr"]:
                                found |= self.labels_of_alerts()
                            wanted = {name for name in change["options"]["indexByName"] if not name.startswith("Value")}
                            self.assertLessEqual(wanted, found)

    @staticmethod
    def labels_of_alerts():
        """A storm sets off some alerts; others are about devices and ports."""
        return {label for own in cases.all_cases().values() for case in own for labels in case.get("fires", [])
                for label in labels}

    def test_all_is_all_exporters_and_nothing_else(self):
        self.assertEqual(self.chosen, {"job": store.JOB})
        self.assertEqual(self.shown("fleet.json", "Hosts answering")[0][1], [3])
        self.assertEqual(self.shown("exporter.json", "Slowest scrape")[0][1], [0.21])
        hosts = {labels["instance"] for labels, _ in self.shown("exporter.json", "Memory")}
        self.assertEqual(hosts, {"node-a:9400", "node-b:9400", "node-c:9400"})

    def test_a_storm_of_minutes_is_seen_in_an_hour(self):
        """Its share of the hour is 3 %, below all thresholds; of its worst five minutes it is a third."""
        worst, now = ({labels["netdev"]: values[0] for labels, values in
                       self.shown("fleet.json", "Who pauses the fabric", target=target, __range="1h")} for target in (0, 1))
        self.assertGreater(worst["cx0"], 0.3)
        self.assertLess(now["cx0"], 0.01)

    def test_what_is_drawn_below_zero_is_not_negated(self):
        """The legend would say that the maximum of what hurts is negative."""
        for target in (0, 1):
            shares = [value for _, values in self.shown("port.json", "Time paused, by priority", target=target)
                      for value in values if not math.isnan(value)]
            self.assertTrue(shares and min(shares) >= 0)

    def test_choosing_a_device_leaves_its_interface(self):
        for file, title in (("port.json", "Time paused, by priority"), ("host.json", "Packets dropped by the card")):
            found = self.shown(file, title, instance="node-a:9400", device="mlx5_0", port="1")
            self.assertEqual({(labels["instance"], labels["netdev"]) for labels, _ in found}, {("node-a:9400", "cx0")})

    def test_the_storm_is_seen(self):
        end = self.span.storm_end
        self.assertEqual(self.shown("fleet.json", "Hosts pausing the fabric", end)[0][1], [1])
        self.assertEqual(self.shown("fleet.json", "Hosts pausing the fabric", end - 200)[0][1], [0])
        worst = max(self.shown("fleet.json", "Who pauses the fabric"), key=lambda series: series[1])
        self.assertEqual((worst[0]["instance"], worst[0]["netdev"]), ("node-a:9400", "cx0"))
        victim = max(self.shown("fleet.json", "Who is paused"), key=lambda series: series[1])
        self.assertEqual((victim[0]["instance"], victim[0]["netdev"]), ("node-b:9400", "cx1"))
        # 0.78 was played; short windows would see how late the scrapes were.
        shares = self.shown("port.json", "Time paused, by priority", __rate_interval="2m")
        pausing = max(max(values) for _, values in shares)
        self.assertTrue(0.7 < pausing < 0.86, pausing)
        lost = self.shown("fleet.json", "Connections lost")
        self.assertEqual([labels["instance"] for labels, _ in lost], ["node-b:9400"])

    def test_a_port_that_flapped_is_in_the_timeline_and_the_others_are_not(self):
        found = self.shown("fleet.json", "Ports that were down")
        self.assertEqual([(labels["instance"], labels["device"]) for labels, _ in found], [("node-a:9400", "bnxt_re0")])
        self.assertEqual([values for _, values in found][0][:2], [1, 1], "also before it went down")

    def test_one_fault_is_one_critical_alert(self):
        """While the storm lasts: the watchdog of the adapter that pauses."""
        found = [(labels["alertname"], labels["instance"]) for labels, _ in self.shown("fleet.json", "Which alerts fire")
                 if labels["severity"] == "critical"]
        self.assertEqual(found, [("RdmaNicFatal", "node-a:9400")])

    def test_a_host_shows_its_own(self):
        """Not those of the others, of which it is one of hundreds."""
        for title in ("State", "Which alerts fire", "Throughput", "PFC by priority"):
            found = self.shown("host.json", title, instance="node-a:9400")
            self.assertEqual({labels["instance"] for labels, _ in found}, {"node-a:9400"}, title)

    def test_priorities_without_traffic_are_left_out(self):
        found = self.shown("port.json", "Traffic by priority", instance="node-a:9400", device="mlx5_0")
        self.assertEqual({labels["priority"] for labels, _ in found}, {"0", "3"})

    def test_the_line_rate_is_a_share(self):
        chosen = {"instance": "node-b:9400", "device": "mlx5_1"}
        found = self.shown("port.json", "Share of the line rate", **chosen)
        self.assertEqual({labels["instance"] for labels, _ in found}, {"node-b:9400"})
        for labels, values in found:
            numbers = [value for value in values if not math.isnan(value)]
            self.assertTrue(numbers and all(0 <= value <= 1 for value in numbers), (labels, numbers))
        self.assertGreater(max(value for _, values in found for value in values if not math.isnan(value)), 0)

    def test_owners(self):
        rows = {labels["owner"]: values[0] for labels, values in self.shown("resources.json", "Queue pairs by owner",
                                                                            instance="node-b:9400")}
        self.assertEqual(rows["123"], 98, "96 and two that have failed")
        self.assertEqual(self.shown("resources.json", "Queue pairs in error")[0][1], [2])

    def test_inventory_knows_what_is_odd(self):
        """node-c's first device has other firmware than all others."""
        shares = {(labels["instance"], labels["device"]): values[0]
                  for labels, values in self.shown("fleet.json", "Inventory", target=1)}
        self.assertEqual(shares["node-a:9400", "bnxt_re0"], 1)
        self.assertLess(shares["node-c:9400", "mlx5_0"], 1)

    def test_failing_paths_name_the_target(self):
        found = self.shown("probe.json", "Failures, from host to target")
        cells = {labels["target"]: values[0] for labels, values in found}
        self.assertGreater(cells["node-a"], 0.01)
        self.assertEqual(cells["node-b"], 0)

    def test_the_probe_is_narrowed_from_rail_to_host_to_pair(self):
        """At 500 hosts the matrix of all pairs is no picture of anything."""
        rails = {(labels["op"], labels["device"]): values[0] for labels, values in self.shown("probe.json", "Failures, by rail")}
        self.assertGreater(rails["write", "mlx5_1"], 0.01)
        self.assertEqual(rails["write", "mlx5_0"], 0)
        for title, label, worst in (("Worst hosts that probe", "instance", "node-b:9400"), ("Worst targets", "target", "node-a"),
                                    ("Worst paths", "target", "node-a")):
            found = self.shown("probe.json", title, device="mlx5_1")
            self.assertEqual([labels[label] for labels, _ in found], [worst], title)
