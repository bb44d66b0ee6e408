# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The dashboards as the tests see them: panels, queries, and the names within a query."""

import json
import pathlib
import re
import subprocess

import yaml

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
FILES = sorted((REPOSITORY / "dashboards").glob("*.json"))
# What stands for a panel's variables when Grafana sends a query. $__range and $__rate_interval are times.
VARIABLE = re.compile(r"\$(?:\{(\w+)(?::\w+)?\}|(\w+))")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# The dashboards write every selector with braces (test_lint sees to it), so a name before a brace is a metric.
SELECTOR = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)?\{([^{}]*)\}(\[[^\]]*\])?")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')
GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)")
FUNCTION = re.compile(r"(\w+)\s*\(\s*$")


class Panel:
    def __init__(self, dashboard, data):
        self.dashboard, self.data = dashboard, data
        self.title, self.type = data["title"], data["type"]

    def __str__(self):
        return f"{self.dashboard.file}: {self.title}"

    @property
    def defaults(self):
        return self.data["fieldConfig"]["defaults"]

    @property
    def steps(self):
        """The thresholds, without the first step, which is the colour of what is below all of them."""
        return [step["value"] for step in self.defaults["thresholds"]["steps"][1:]]

    @property
    def alerts(self):
        """Names of the alerts in the description."""
        _, mark, names = self.data["description"].partition("**Alerts:** ")
        return names.split(", ") if mark else []


def with_folded(data):
    """The panels of a dashboard and its rows; those of a folded row follow it."""
    return [panel for top in data["panels"] for panel in (top, *top.get("panels", []))]


class Dashboard:
    def __init__(self, path):
        self.path, self.file = path, path.name
        self.data = json.loads(path.read_text(encoding="utf-8"))
        self.rows = {p["title"]: p for p in self.data["panels"] if p["type"] == "row"}
        self.panels = [Panel(self, p) for p in with_folded(self.data) if p["type"] != "row"]
        self.variables = {v["name"]: v for v in self.data["templating"]["list"]}

    def expressions(self):
        """(where, expression, instant, is a panel's) of everything that is sent to Prometheus as a query."""
        for panel in self.panels:
            for target in panel.data["targets"]:
                yield f"{panel} ({target['refId']})", target["expr"], target["instant"], True
        for annotation in self.data["annotations"]["list"]:
            yield f"{self.file}: annotation {annotation['name']}", annotation["expr"], False, False


def dashboards():
    """All of them; that there are any is what the tests that loop over them rely on."""
    if not FILES:
        raise AssertionError("no dashboard")
    return [Dashboard(path) for path in FILES]


def filled_in(expression, values):
    """As Grafana sends it: `values` has what is not .* (All)."""
    return VARIABLE.sub(lambda found: values.get(found[1] or found[2], ".*"), expression)


class Selector:
    def __init__(self, expression, found):
        self.name, self.range = found[1], found[3]
        self.matchers = {label: (operation, value) for label, operation, value in MATCHER.findall(found[2])}
        before = FUNCTION.search(expression[:found.start()])
        self.function = before[1] if before else None
        if self.name is None and "__name__" in self.matchers:
            self.name = self.matchers.pop("__name__")[1]

    def names(self):
        """The metrics it names: one, or those that its regular expression stands for."""
        alternatives = re.fullmatch(r"(\w*)\((\w+)\)\?(\w*)", self.name)
        if alternatives:
            return [alternatives[1] + alternatives[3], "".join(alternatives.groups())]
        return [self.name]


def selectors(expression):
    return [Selector(expression, found) for found in SELECTOR.finditer(expression)]


def grouped_labels(expression):
    """Labels in by (...), on (...) and their like."""
    return {label.strip() for group in GROUPING.findall(expression) for label in group.split(",") if label.strip()}


def bare_names(expression):
    """Identifiers that are neither functions, keywords, nor metrics with braces: metrics without a selector."""
    text = GROUPING.sub(" ", filled_in(expression, {"__range": "1m", "__rate_interval": "1m"}))
    text = re.sub(r"\[[^\]]*\]", " ", SELECTOR.sub(" 0 ", STRING.sub('""', text)))
    words = re.findall(r"[a-zA-Z_:][a-zA-Z0-9_:]*(?!\w|\s*\()", text)
    keywords = {"and", "or", "unless", "bool", "by", "on", "ignoring", "group_left", "group_right", "without", "offset"}
    return [word for word in words if word not in keywords and not re.fullmatch(r"[smhd]|e", word)]


def config():
    """_config of mixin/config.libsonnet."""
    script = f"(import '{REPOSITORY}/mixin/config.libsonnet')._config"
    return json.loads(subprocess.run(["jsonnet", "-e", script], check=True, stdout=subprocess.PIPE).stdout)


def alert_expressions():
    """{alert: expression} of the rules that ship."""
    groups = yaml.safe_load((REPOSITORY / "alerts/alerts.rules.yml").read_text())["groups"]
    return {rule["alert"]: rule["expr"] for group in groups for rule in group["rules"]}


def generated(override):
    """{file: dashboard} of the mixin with a configuration of one's own."""
    command = ["jsonnet", REPOSITORY / "mixin/dashboards.jsonnet", "--tla-code", f"override={override}"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
