# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Cases of the alerts, and how they become files for `promtool test rules`.

cases/*.yml: for each alert a list of cases. A case either fires or is quiet, and then the text says which near miss it is:

    fires     labels of the alerts, in promtool's order (by labels); job, instance and severity are added, null removes
    quiet     why nothing may fire
    why       said of a case that fires
    series    what was scraped, in promtool's notation, one value each `step`; job and instance are added
    at        when to look (15m)
    step      between two values (30s)
    evaluate  between two evaluations of the rules (30s)

The texts that people get are in texts.yml, of each firing case, as promtool expanded them:
UPDATE_GOLDEN=1 tests/e2e/run alert_rules rewrites them; review them.
"""

import collections
import functools
import pathlib
import re
import subprocess

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ALERTS = HERE.parent.parent / "alerts"
RULES = [ALERTS / "recording.rules.yml", ALERTS / "alerts.rules.yml"]
TEXTS = HERE / "texts.yml"
TARGET = {"job": "rdma", "instance": "host1:9400"}


@functools.cache
def load(path):
    """A YAML file; the fast reader, because these are hundreds of lines."""
    return yaml.load(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def alert_rules():
    """{name: rule}; that there are any is what the tests that loop over them rely on."""
    found = {rule["alert"]: rule for group in load(RULES[1])["groups"] for rule in group["rules"]}
    assert found, "no alert"
    return found


def all_cases():
    """{alert: [case]}"""
    cases = {}
    for path in sorted(HERE.glob("cases/*.yml")):
        more = load(path)
        assert not set(more) & set(cases), f"{path} repeats an alert"
        for case in [case for own in more.values() for case in own]:
            for series, values in case["series"].items():
                assert isinstance(values, str), f"{path}: quote the values of {series}, to YAML 0x60 is the number 96"
        cases.update(more)
    return cases


def read_texts():
    return load(TEXTS) if TEXTS.exists() else {}


def of_target(selector):
    """A series with the labels that Prometheus adds."""
    name, _, labels = selector.rstrip("}").partition("{")
    missing = [f'{label}="{value}"' for label, value in TARGET.items() if not re.search(rf'\b{label}="', labels)]
    return name + "{" + ",".join([*missing, *([labels] if labels else [])]) + "}"


def with_target(labels, severity):
    merged = {**TARGET, **labels, "severity": severity}
    return {label: value for label, value in merged.items() if value is not None}


def as_test(alert, rule, case, texts):
    """The case as promtool has it. `texts` are those of the case's alerts, in their order; None: rules without texts."""
    expected = [{"exp_labels": with_target(labels, rule["labels"]["severity"])} for labels in case.get("fires", [])]
    for alerts, text in zip(expected, texts or ()):
        alerts["exp_annotations"] = {**text, "runbook_url": rule["annotations"]["runbook_url"]}
    return {
        "name": f"{alert}: {case.get('quiet') or case.get('why') or 'fires'}",
        "interval": case.get("step", "30s"),
        "input_series": [{"series": of_target(name), "values": values} for name, values in case["series"].items()],
        "alert_rule_test": [{"alertname": alert, "eval_time": case.get("at", "15m"), "exp_alerts": expected}],
    }


def rules_for(alert):
    """The groups of what ships that the alert needs: with all rules in each test, promtool takes minutes."""
    groups = [group for path in RULES for group in load(path)["groups"]]
    wanted, before = {alert}, None
    while wanted != before:  # groups use each other's series
        before = set(wanted)
        expressions = " ".join(rule["expr"] for group in groups for rule in group["rules"] if name_of(rule) in wanted)
        wanted |= {rule["record"] for group in groups for rule in group["rules"]
                   if "record" in rule and rule["record"] in expressions}
    needed = [{"name": group["name"], "rules": [rule for rule in group["rules"] if name_of(rule) in wanted]}
              for group in groups]
    return [group for group in needed if group["rules"]]


def without_texts(groups):
    return [{**group, "rules": [{key: own for key, own in rule.items() if key != "annotations"} for rule in group["rules"]]}
            for group in groups]


def name_of(rule):
    return rule.get("alert") or rule["record"]


def test_files(folder, texts, chosen=None):
    """Writes for each alert its rules and its cases (`chosen`, or all) to a file for promtool, one for each interval; [path].
    Without `texts` only labels are compared."""
    paths, rules = [], alert_rules()
    for alert, cases in (chosen or all_cases()).items():
        rule_file = pathlib.Path(folder, f"{alert}.rules.yml")
        groups = rules_for(alert) if texts is not None else without_texts(rules_for(alert))
        rule_file.write_text(yaml.safe_dump({"groups": groups}))
        remaining, tests = iter((texts or {}).get(alert, [])), collections.defaultdict(list)
        for case in cases:
            own = None if texts is None else [next(remaining, {}) for _ in case.get("fires", [])]
            tests[case.get("evaluate", "30s")].append(as_test(alert, rules[alert], case, own))
        for interval, group in tests.items():
            path = pathlib.Path(folder, f"{alert}.every-{interval}.test.yml")
            path.write_text(yaml.safe_dump({"rule_files": [str(rule_file)], "evaluation_interval": interval,
                                            "group_eval_order": [group["name"] for group in groups], "tests": group}, sort_keys=False))
            paths.append(path)
    return paths


def promtool_test(paths, promtool="promtool"):
    """(succeeded, what it says)"""
    done = subprocess.run([promtool, "test", "rules", *map(str, paths)], capture_output=True, text=True, timeout=300,
                          check=False)
    return done.returncode == 0, done.stdout + done.stderr


def expanded_texts(folder):
    """{alert: [{summary, description}]} as promtool expands them: with nothing expected it prints what it got."""
    texts = collections.defaultdict(list)
    _, output = promtool_test(test_files(folder, {}))
    if output:
        for block in re.split(r"\n\s+alertname: ?", output)[1:]:
            alert = re.match(r"\w+", block)[0]
            for found in re.finditer(r"Annotations:\{(.*)\}", block.partition("got:")[2]):
                pairs = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*")', found[1])
                text = {name: yaml.safe_load(value) for name, value in pairs}
                texts[alert].append({name: text[name] for name in ("summary", "description")})
    return {alert: texts[alert] for alert in all_cases() if alert in texts}
