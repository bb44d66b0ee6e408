# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Every metric and label in a query is one of the exporter or of Prometheus itself."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "dashboards"))

import model  # noqa: E402
import probe_fleet  # noqa: E402
import probe_series  # noqa: E402
import store  # noqa: E402

TARGET = {"cluster", "job", "instance"}
PROMETHEUS = {"up": set(), "scrape_duration_seconds": set(), "scrape_samples_scraped": set(),
              "ALERTS": {"alertname", "alertstate", "severity"}}
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count")}
MADE = re.compile(r'label_(?:join|replace)\([^"]*(?:"[^"]*"[^"]*)*?, "(\w+)", "')


def described():
    done = subprocess.run([store.harness.BINARY, "--describe=json"], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["metrics"]


def families():
    """{series name: labels}."""
    found = [(family["name"], family["type"], family["labels"]) for family in described()]
    known = dict(PROMETHEUS)
    for name, kind, labels in found:
        known[name] = set(labels)
        known |= {name + suffix: {*labels, "le"} for suffix in SUFFIXES.get(kind, ())}
    return known


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.known = families()

    def test_synthetic_series_are_like_those_of_the_exporter(self):
        made = {name: set(labels) for _, _, name, labels, _ in
                probe_series.series([0], {"a": "mlx5_0", "b": "mlx5_1"}, storm=(0, 1))}
        self.assertTrue(made)
        for name, labels in made.items():
            with self.subTest(name=name):
                self.assertEqual(labels, self.known[name] if name.endswith("_bucket") else self.known[name] - {"le"})

    def test_series_of_a_synthetic_fleet_are_like_those_of_the_exporter(self):
        """Labels that are empty are left out of a page; `su` is one of scrape targets."""
        made = list(probe_fleet.Fleet(8, 1, (), 0).series())
        self.assertTrue(made)
        for name, labels, _, _ in made:
            with self.subTest(name=name):
                self.assertLessEqual(set(labels) - TARGET - {"su"}, self.known[name])

    def test_metrics_and_labels_exist(self):
        for dashboard in model.dashboards():
            for where, expression, _, _ in dashboard.expressions():
                with self.subTest(where=where):
                    self.check(expression)

    def check(self, expression):
        labels = set(TARGET)
        self.assertTrue(model.selectors(expression), "no metric")
        for selector in model.selectors(expression):
            for name in selector.names():
                self.assertIn(name, self.known)
                labels |= self.known[name]
                self.assertLessEqual(set(selector.matchers) - TARGET, self.known[name], name)
        self.assertLessEqual(model.grouped_labels(expression), labels | set(MADE.findall(expression)))

    def test_variables_ask_for_labels_that_exist(self):
        for dashboard in model.dashboards():
            for variable in list(dashboard.variables.values())[1:]:
                asked = re.fullmatch(r"label_values\((\w+)\{(.*)\}, (\w+)\)", variable["definition"])
                self.assertLessEqual({asked[3]}, self.known[asked[1]] | TARGET)
                matched = {label for label, _, _ in model.MATCHER.findall(asked[2])}
                self.assertLessEqual(matched, self.known[asked[1]] | TARGET)
