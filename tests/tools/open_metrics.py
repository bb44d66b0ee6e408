#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A strict reader of OpenMetrics text format 1.0.0 (github.com/OpenObservability/OpenMetrics, specification).

Prometheus 2.42 accepts pages that break most of the rules without a word: counters without _total, families in two
pieces, duplicate series. This reader refuses them, and also what the format allows but this exporter never writes
(timestamps, samples without metadata, `{}`).

read(page) returns a Page; .problems is empty when the page is right. parse(page) returns
{(name, frozenset(label items)): value} as prom_text.parse() does, or raises. As a command it reads stdin, prints the
problems, and exits with 1 if there are any.
"""

import re
import sys

import prom_text
from histograms import histogram_problems
from prom_text import LineError, PageError, parse_labels, unescape

NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
ESCAPES = {"\\": "\\", '"': '"', "n": "\n"}
SUFFIXES = {
    "counter": ("_total", "_created"),
    "gauge": ("",),
    "histogram": ("_bucket", "_sum", "_count", "_created"),
    "info": ("_info",),
    "stateset": ("",),
}
ORDER = ("TYPE", "UNIT", "HELP")
LONGEST_EXEMPLAR = 128


def parse_number(token):
    if token in prom_text.SPECIAL:
        return prom_text.SPECIAL[token]
    if not NUMBER.match(token):
        raise LineError(f"value is no number of OpenMetrics: {token!r}")
    return int(token) if prom_text.INTEGER.match(token) else float(token)


def canonical(bound):
    """How the label le has to spell a float: as %g in Go, with .0 where that has neither point nor exponent."""
    if bound == float("inf"):
        return "+Inf"
    exponent = int(f"{bound:e}".rpartition("e")[2]) if bound else 0
    text = repr(bound)
    if exponent >= 6 and "e" not in text:
        digits = text.rstrip("0").rstrip(".").replace(".", "")
        text = digits[0] + ("." + digits[1:].rstrip("0") if digits[1:].strip("0") else "") + f"e+{exponent:02d}"
    return text


def split_exemplar(line):
    """(sample, exemplar or None). A value cannot hold ' # ', a label value can."""
    name_end = prom_text.SAMPLE_NAME.match(line).end()
    if line.startswith("{}", name_end):
        raise LineError("empty braces")
    end = parse_labels(line, name_end)[1] if line[name_end:name_end + 1] == "{" else name_end
    at = line.find(" # ", end)
    return (line, None) if at < 0 else (line[:at], line[at + 3:])


def parse_exemplar(text):
    """`{labels} value timestamp` -> (labels, value, timestamp)."""
    if not text.startswith("{"):
        raise LineError("exemplar without labels")
    pairs, end = ([], 2) if text.startswith("{}") else parse_labels(text, 0)
    if sum(len(name) + len(value) for name, value in pairs) > LONGEST_EXEMPLAR:
        raise LineError("exemplar has more than 128 characters of labels")
    tokens = text[end:].split(" ")
    if len(tokens) != 3 or tokens[0] != "":
        raise LineError(f"expected a value and a timestamp in the exemplar: {text!r}")
    return frozenset(pairs), parse_number(tokens[1]), parse_number(tokens[2])


class Page:
    """State of one pass over a page."""

    def __init__(self):
        self.problems = []
        self.samples = {}
        self.exemplars = {}
        self.types = {}
        self.units = {}
        self.help = {}
        self.names = {}        # sample name -> family it belongs to
        self.current = None
        self.metadata = -1     # index in ORDER of the last one of the family
        self.metrics = []      # label sets of the family, in order
        self.histograms = {}

    def fault(self, number, text):
        self.problems.append(f"line {number}: {text}")

    def descriptor(self, number, line):
        parts = line.split(" ", 3)
        if len(parts) != 4 or parts[1] not in ORDER:
            self.fault(number, f"comment is no metadata: {line[:60]!r}")
            return
        _, kind, family, text = parts
        if not prom_text.METRIC_NAME.match(family):
            self.fault(number, f"illegal metric name {family!r}")
            return
        if kind == "TYPE":
            self.begin(number, family, text)
            return
        if family != self.current:
            self.fault(number, f"{kind} of {family} does not follow its TYPE")
            return
        if self.metrics:
            self.fault(number, f"{kind} of {family} after its samples")
        if ORDER.index(kind) <= self.metadata:
            self.fault(number, f"{kind} of {family} twice or not in the order TYPE, UNIT, HELP")
        self.metadata = ORDER.index(kind)
        if kind == "UNIT":
            self.unit(number, family, text)
        else:
            self.check_help(number, family, text)

    def begin(self, number, family, kind):
        if family in self.types:
            self.fault(number, f"family {family} is not contiguous or has two types")
        if kind not in SUFFIXES:
            self.fault(number, f"unknown type {kind!r} of {family}")
        for suffix in SUFFIXES.get(kind, ("",)) + ("",):
            other = self.names.setdefault(family + suffix, family)
            if other != family:
                self.fault(number, f"{family}{suffix} of {family} clashes with family {other}")
        for suffix in ("_total", "_info") if kind in ("counter", "info") else ():
            if family.endswith(suffix):
                self.fault(number, f"family {family} of type {kind} ends in {suffix}")
        self.types[family] = kind
        self.current, self.metadata, self.metrics = family, 0, []

    def unit(self, number, family, unit):
        self.units[family] = unit
        if not unit or not family.endswith("_" + unit):
            self.fault(number, f"unit {unit!r} is not the end of the name {family}")
        if self.types[family] in ("info", "stateset"):
            self.fault(number, f"{self.types[family]} {family} has a unit")

    def check_help(self, number, family, text):
        self.help[family] = text
        if not text.strip():
            self.fault(number, f"HELP of {family} is empty")
        try:
            if '"' in unescape(re.sub(r'\\"', "", text), ESCAPES, f"HELP of {family}"):
                self.fault(number, f"HELP of {family} has a quote that is not escaped")
        except LineError as error:
            self.fault(number, str(error))

    def sample(self, number, line):
        try:
            text, exemplar = split_exemplar(line)
            name, pairs, _ = prom_text.parse_sample(text)
            tokens = text[text.rindex("}") + 2 if pairs else len(name) + 1:].split(" ")
            if len(tokens) != 1:
                raise LineError("expected a value and no timestamp")
            value = parse_number(tokens[0])
            if any(label.startswith("_") for label, _ in pairs):
                raise LineError("label names that begin with an underscore are reserved")
            self.add(number, name, pairs, value)
            if exemplar is not None:
                self.exemplar(number, name, pairs, parse_exemplar(exemplar))
        except LineError as error:
            self.fault(number, str(error))

    def add(self, number, name, pairs, value):
        family = self.current
        if family is None or not name.startswith(family) or \
                name[len(family):] not in SUFFIXES.get(self.types[family], ()):
            raise LineError(f"{name} is no sample of the family before it, {family}")
        if family not in self.help:
            self.fault(number, f"sample of {name} without HELP")
        key = (name, frozenset((k, v) for k, v in pairs if v != ""))
        if key in self.samples:
            self.fault(number, f"duplicate series of {name}")
        self.samples[key] = value
        labels = dict(pairs)
        suffix, kind = name[len(family):], self.types[family]
        bound = labels.pop("le", None) if kind == "histogram" else None
        self.point(number, family, frozenset(labels.items()))
        self.check_value(number, name, kind, suffix, value)
        if kind == "histogram":
            self.histogram(number, family, suffix, frozenset(labels.items()), bound, value)
        if kind == "counter" and suffix == "_created" and (family + "_total", key[1]) not in self.samples:
            self.fault(number, f"{name} does not follow its _total")
        if kind == "stateset" and family not in labels:
            self.fault(number, f"stateset {family} without a label of that name")

    def point(self, number, family, labels):
        if self.metrics and self.metrics[-1] == labels:
            return
        if labels in self.metrics:
            self.fault(number, f"samples of one metric of {family} are not together")
        self.metrics.append(labels)

    def check_value(self, number, name, kind, suffix, value):
        if kind == "info" and value != 1:
            self.fault(number, f"info {name} is {value}")
        if kind == "stateset" and value not in (0, 1):
            self.fault(number, f"state {name} is {value}")
        if kind in ("counter", "histogram") and not value >= 0:
            self.fault(number, f"{kind} {name} is {value}")
        if suffix == "_created" and kind in ("counter", "histogram") and not value > 1e9:
            self.fault(number, f"{name} is no time: {value}")

    def histogram(self, number, family, suffix, labels, bound, value):
        group = self.histograms.setdefault((family, labels), {"buckets": []})
        if (suffix == "_bucket") != (bound is not None):
            raise LineError(f"label le belongs to the buckets of {family}, and only there")
        if suffix != "_bucket":
            group[suffix] = value
            return
        number_of_bound = parse_number(bound)
        if canonical(float(number_of_bound)) != bound:
            self.fault(number, f"bound {bound!r} is not spelled {canonical(float(number_of_bound))!r}")
        group["buckets"].append((float(number_of_bound), value))

    def exemplar(self, number, name, pairs, exemplar):
        _, value, timestamp = exemplar
        if not name.endswith(("_bucket", "_total")):
            self.fault(number, f"exemplar on {name}")
        bound = dict(pairs).get("le")
        if bound is not None and not value <= float(bound):
            self.fault(number, f"exemplar {value} is above the bound {bound}")
        if not timestamp > 1e9:
            self.fault(number, f"timestamp of the exemplar is no time: {timestamp}")
        self.exemplars[(name, frozenset(pairs))] = exemplar

    def finish(self):
        self.problems += histogram_problems(self.histograms)


def read(page):
    """bytes -> Page, with whatever problems it has."""
    state = Page()
    try:
        text = page.decode("utf-8")
    except UnicodeDecodeError as error:
        state.problems.append(f"invalid UTF-8 at byte {error.start}")
        return state
    if not text.endswith("# EOF\n"):
        state.problems.append("page does not end with # EOF")
    for number, line in enumerate(text.removesuffix("# EOF\n").split("\n")[:-1], 1):
        if line == "":
            state.fault(number, "blank line")
        elif line == "# EOF":
            state.fault(number, "lines behind # EOF")
        elif line.startswith("#"):
            state.descriptor(number, line)
        else:
            state.sample(number, line)
    state.finish()
    return state


def parse(page):
    """The samples of the page (bytes); raises PageError when it has any fault."""
    state = read(page)
    if state.problems:
        raise PageError(state.problems)
    return state.samples


def main():
    problems = read(sys.stdin.buffer.read()).problems
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
