# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The expressions of the shipped rules, taken apart."""

import re

import cases

RECORDING = ("recording.rules.yml", "migration/compat.rules.yml", "migration/node_exporter.rules.yml",
             "migration/yuuki.rules.yml")
WORDS = set("by without on ignoring group_left group_right offset bool and or unless inf nan".split())


def rules(name):
    return [rule for group in cases.load(cases.ALERTS / name)["groups"] for rule in group["rules"]]


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
