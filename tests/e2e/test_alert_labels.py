# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Every label and value in an alert, an alert's case or a dashboard occurs on a page of the exporter."""

import os
import re
import sys
import unittest

from harness import REPOSITORY

sys.path[:0] = [os.path.join(REPOSITORY, "tests", name) for name in ("alerts", "dashboards")]
import cases  # noqa: E402
import faults  # noqa: E402
import inventory  # noqa: E402
import model  # noqa: E402
import store  # noqa: E402

LITERAL = re.compile(r"[\w.|()-]+")


def named(metric, selector):
    """{label: value}, one for each alternative, of the matchers of a selector that name values."""
    for label, operator, text in re.findall(r'(\w+)\s*(=~|=|!=)\s*"([^"]*)"', selector):
        values = text.split("|") if operator == "=~" else [text]
        yield from ({label: value} for value in values if value and LITERAL.fullmatch(text))


class Labels(unittest.TestCase):
    def check(self, where, family, labels):
        with self.subTest(where=where, family=family, **labels):
            self.assertEqual(inventory.unheard(family, labels), [])

    def test_cases_of_alerts(self):
        for alert, own in cases.all_cases().items():
            for series in [series for case in own for series in case["series"]]:
                self.check(alert, *inventory.parsed(series))

    def test_faults(self):
        for fault in faults.all_faults():
            for series in fault.series:
                self.check(fault.name, *inventory.parsed(series))

    def test_selectors_of_rules(self):
        checked = 0
        for path in cases.RULES:
            for rule in [rule for group in cases.load(path)["groups"] for rule in group["rules"]]:
                for family, selector in re.findall(r"\b(rdma_\w+)\{([^}]*)\}", rule["expr"]):
                    for labels in named(family, selector):
                        checked += 1
                        self.check(rule.get("alert") or rule["record"], family, labels)
        self.assertGreater(checked, 20)

    def test_selectors_of_dashboards(self):
        checked = 0
        for dashboard in model.dashboards():
            for where, expression, _, _ in dashboard.expressions():
                for family, selector in re.findall(r"\b(rdma_\w+)\{([^}]*)\}", expression):
                    for labels in named(family, selector):
                        checked += 1
                        self.check(where, family, labels)
        self.assertGreater(checked, 20)

    def test_alerts_that_the_dashboards_are_tried_with(self):
        """Each would be about a series that is on a page."""
        everything = {}
        for labels in inventory.said().values():
            for label, values in labels.items():
                everything.setdefault(label, set()).update(values)
        rules = {name: rule["labels"]["severity"] for name, rule in cases.alert_rules().items()}
        for name, severity, labels, _ in store.FIRING:
            self.assertEqual(rules.get(name), severity, name)
            for label in set(labels) - inventory.TARGET:
                self.assertIn(labels[label], everything[label], name)

    def test_exceptions_are_needed(self):
        for prefix, reason in inventory.UNSHOWN.items():
            self.assertTrue(reason)
            shown = [family for family in inventory.said() if family.startswith(prefix)]
            self.assertEqual(shown, [], f"{prefix} is on a page: take it out of UNSHOWN")

    def test_an_invented_value_is_found(self):
        self.assertEqual(inventory.unheard("rdma_device_info", {"driver": "bnxt_en", "device": "bnxt_re0"}), [])
        self.assertEqual(inventory.unheard("rdma_device_info", {"driver": "bnxt_re"}),
                         ['no page has rdma_device_info{driver="bnxt_re"}'])
        self.assertTrue(inventory.unheard("rdma_device_info", {"vendor": "0x15b3"}))
        self.assertTrue(inventory.unheard("rdma_nothing_total", {}))


if __name__ == "__main__":
    unittest.main()
