# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Evaluates the shipped rules over past hours: a real Prometheus has the samples, promtool evaluates the recording rules on
it, and each alert is a range query with one step per evaluation.

The samples have no staleness markers, because OpenMetrics has none; a lookback of less than a scrape replaces them. So
everything has to be evaluated at the second of the minute at which the samples are."""

import collections
import json
import os
import pathlib
import re
import subprocess
import urllib.parse
import urllib.request

import yaml

import cases

EVERY = 60  # seconds between two evaluations, Prometheus' default
# The names of a group and of its file decide at which second of a minute it is evaluated. These: at the first one.
GROUP, FILE = "rules-42", "rules.yml"
CONFIG = "global: {evaluation_interval: 1m}\n"
# Blocks of two hours stay that long: compacted to longer ones, the whole day would be rewritten for each recorded series.
FLAGS = ("--query.lookback-delta=59s900ms", "--storage.tsdb.retention.time=100y", "--query.timeout=10m",
         "--storage.tsdb.min-block-duration=2h", "--storage.tsdb.max-block-duration=2h")
Fired = collections.namedtuple("Fired", "alert severity labels start end")  # seconds since 1970


def seconds(duration):
    return sum(int(number) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit]
               for number, unit in re.findall(r"(\d+)([smhd])", duration))


def levels(groups):
    """The groups of recording rules in the order in which they can be evaluated: each level needs only those before."""
    waiting = {rule["record"]: (group, rule) for group in groups for rule in group["rules"]}
    while waiting:
        ready = {name for name, (_, rule) in waiting.items()
                 if not any(uses(rule["expr"], other) for other in waiting if other != name)}
        assert ready, f"rules that need each other: {sorted(waiting)}"
        yield [{**group, "rules": own} for group in groups
               if (own := [rule for rule in group["rules"] if rule["record"] in ready])]
        waiting = {name: found for name, found in waiting.items() if name not in ready}


def uses(expression, record):
    return re.search(rf"(?<![\w:]){re.escape(record)}(?![\w:])", expression)


def needed(expressions, groups):
    """The recording rules of the groups that the expressions need."""
    wanted, rules = set(), [rule for group in groups for rule in group["rules"]]
    text = list(expressions)
    while text:
        now = text.pop()
        for rule in rules:
            if rule["record"] not in wanted and uses(now, rule["record"]):
                wanted.add(rule["record"])
                text.append(rule["expr"])
    return [{**group, "rules": [rule for rule in group["rules"] if rule["record"] in wanted]} for group in groups]


class Ruler:
    """`serve(folder, flags)` starts a Prometheus with that data and gives an object with .port and .stop(). `ranges`: it is
    one that finds over a range what it finds at each time. 2.42 finds nothing for `count_values ... unless ...
    count_values`, which rulers never ask."""

    def __init__(self, folder, serve, ranges=False):
        self.folder, self.serve, self.ranges = pathlib.Path(folder), serve, ranges
        (self.folder / "data").mkdir()

    def load(self, samples):
        """(block, lines): a file for each block, because promtool reads the whole of its file for each."""
        files = {}
        for block, lines in samples:
            if block not in files:
                files[block] = open(self.folder / f"block{block}.om", "w", encoding="ascii")  # noqa: SIM115
            files[block].write(lines)
        for file in files.values():
            with file:
                file.write("# EOF\n")
            self.promtool("create-blocks-from", "openmetrics", file.name, self.folder / "data")
            os.unlink(file.name)

    def promtool(self, *arguments):
        done = subprocess.run(["promtool", "tsdb", *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr

    def record(self, groups, start, end):
        """Blocks that a server does not see before it ends: it would merge each with those of the same hours at once."""
        for number, level in enumerate(levels(groups)):
            new = self.folder / f"level{number}"
            server = self.serve(self.folder, FLAGS)
            try:
                for interval in {group.get("interval", f"{EVERY}s") for group in level}:
                    rules = [rule for group in level if group.get("interval", f"{EVERY}s") == interval for rule in group["rules"]]
                    (self.folder / FILE).write_text(yaml.safe_dump(
                        {"groups": [{"name": GROUP, "interval": interval, "rules": rules}]}))
                    self.promtool("create-blocks-from", "rules", f"--start={start}", f"--end={end}",
                                  f"--url=http://127.0.0.1:{server.port}", f"--output-dir={new}", FILE)
            finally:
                server.stop()
            for block in new.iterdir():
                first = json.loads((block / "meta.json").read_text())["minTime"]
                assert first % (1000 * EVERY) < 1000, f"{GROUP} of {FILE} is not evaluated at the first second of a minute"
                block.rename(self.folder / "data" / block.name)

    def fired(self, rules, start, end):
        """[Fired] of alert rules, in the order of time. A second after the recording rules."""
        server = self.serve(self.folder, FLAGS)
        try:
            found = [fired for rule in rules for fired in self.alert(server, rule, start + 1, end + 1)]
            return sorted(found, key=lambda fired: fired.start)
        finally:
            server.stop()

    def alert(self, server, rule, start, end):
        for labels, times in self.evaluations(server, rule["expr"], start, end).items():
            labels = {name: value for name, value in labels if name != "__name__"}
            for first, last in runs(times):
                if last - first >= seconds(rule["for"]):
                    yield Fired(rule["alert"], rule["labels"]["severity"], labels, first + seconds(rule["for"]), last)

    def evaluations(self, server, expression, start, end):
        """{labels: [time]} of the evaluations that find something. As one query where that says the same."""
        found = collections.defaultdict(list)
        if "count_values" in expression and not self.ranges:
            for time in range(start, end + 1, EVERY):
                for one in self.ask(server, "query", query=expression, time=time):
                    found[tuple(sorted(one["metric"].items()))].append(time)
        else:
            for one in self.ask(server, "query_range", query=expression, start=start, end=end, step=EVERY):
                found[tuple(sorted(one["metric"].items()))] = [int(time) for time, _ in one["values"]]
        return found

    def ask(self, server, path, **query):
        body = urllib.parse.urlencode(query).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/api/v1/{path}", body, timeout=600) as answer:
            return json.load(answer)["data"]["result"]


def runs(times):
    """[(first, last)] of evaluations without a gap: one that finds nothing resets what waits."""
    first = last = times[0]
    for time in times[1:]:
        if time != last + EVERY:
            yield first, last
            first = time
        last = time
    yield first, last


def rules():
    """(groups of recording rules, [alert rule])"""
    groups = cases.load(cases.RULES[0])["groups"]
    return groups, list(cases.alert_rules().values())
