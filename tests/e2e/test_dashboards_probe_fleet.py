# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The dashboard of the probe on a real Prometheus that holds what 500 hosts with eight devices each tell of 16,000 pairs: no
panel has more than somebody can read, and the way from rail to host to pair leads to what is broken. Prints what each query
returns and how long it takes."""

import pathlib
import shutil
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / name) for name in ("dashboards", "tools")]

import model  # noqa: E402
import probe_fleet  # noqa: E402
import store  # noqa: E402
from marks import slow  # noqa: E402

HOSTS, END = 500, 1_700_000_040
READABLE = 20  # lines of a panel; rows and columns of a matrix
FAULTS = ("nic_dead", "leaf_dead")
WINDOWS = {"__range": f"{probe_fleet.RANGE}s", "__rate_interval": "4m"}
RAILS, PAIRS = "Failures, by rail", "Failures, from host to target"


@slow(46)
@unittest.skipUnless(shutil.which("prometheus"), "prometheus is not installed")
class ProbeOfAFleet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        fleet = probe_fleet.Fleet(HOSTS, 1, FAULTS, END)
        cls.nic, cls.leaf = fleet.fabric.truth
        context = store.server(fleet.write)
        cls.server = context.__enter__()
        cls.addClassCleanup(context.__exit__, None, None, None)
        print(f"\n{HOSTS} hosts, {len(fleet.fabric.paths)} paths, {cls.server.span} series")

    def ask(self, target, **chosen):
        """[(labels, last value)]; Prometheus refuses what takes longer than two minutes or 50 million samples."""
        query = model.filled_in(target["expr"], WINDOWS | chosen)
        if target["instant"]:
            return [(one["metric"], float(one["value"][1])) for one in self.server.api("query", query=query, time=END)["result"]]
        found = self.server.api("query_range", query=query, start=END - probe_fleet.RANGE, end=END, step=15)["result"]
        return [(one["metric"], float(one["values"][-1][1])) for one in found]

    def shown(self, title, **chosen):
        panel = next(panel for panel in self.panels() if panel.title == title)
        return self.ask(panel.data["targets"][0], **chosen)

    def panels(self):
        return next(dashboard for dashboard in model.dashboards() if dashboard.file == "probe.json").panels

    def test_every_panel_can_be_read(self):
        for panel in self.panels():
            matrix = [change["options"] for change in panel.data.get("transformations", [])
                      if change["id"] == "groupingToMatrix"]
            for target in panel.data["targets"]:
                began = time.monotonic()
                found = self.ask(target)
                print(f"{panel.title} ({target['refId']}): {len(found)} series, {time.monotonic() - began:.1f} s", end="")
                with self.subTest(panel=panel.title, query=target["refId"]):
                    for side in ("rowField", "columnField") if matrix else ():
                        names = {labels.get(matrix[0][side], "") for labels, _ in found}
                        print(f", {len(names)} {matrix[0][side].removesuffix('Field')}s", end="")
                        self.assertLessEqual(len(names), READABLE)
                        self.assertNotIn("", names)
                    if not matrix:
                        self.assertLessEqual(len(found), READABLE)
                    if panel.title != "Not sent, by stage and reason":  # no control connection fails
                        self.assertTrue(found)
                print()

    def test_the_way_leads_from_rail_to_pair(self):
        rails = {labels["device"]: value for labels, value in self.shown(RAILS) if labels["op"] == "write"}
        self.assertEqual(max(rails, key=rails.get), self.leaf.device)
        rail = {"device": self.nic.device}
        host, share = max(self.shown("Worst hosts that probe", **rail), key=lambda row: row[1])
        self.assertEqual((host["instance"], round(share, 3)), (self.nic.instance, 1))
        target, share = max(self.shown("Worst targets", **rail), key=lambda row: row[1])
        self.assertEqual((target["target"], round(share, 3)), (self.nic.instance.split(":")[0], 1))
        cells = self.shown(PAIRS, **rail)
        own = [value for labels, value in cells if labels["instance"] == self.nic.instance]
        self.assertEqual([round(value, 3) for value in own], [1] * len(own))
        self.assertGreater(len(own), 1, "a red row")

    def test_where_targets_have_a_label_for_the_leaf_it_is_named(self):
        panel = next(panel for panel in model.generated("{ dashboards+: { leaf: 'su' } }")["probe.json"]["panels"]
                     if panel["title"] == RAILS)
        found = self.ask(panel["targets"][0])
        self.assertLessEqual(len({labels["su"] for labels, _ in found}), READABLE)
        worst, share = max(found, key=lambda cell: cell[1])
        self.assertEqual((worst["su"], worst["device"], round(share, 3)), (self.leaf.unit, self.leaf.device, 1))


if __name__ == "__main__":
    unittest.main()
