#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A strict reader of the Prometheus text format 0.0.4.

Prometheus itself accepts pages that lose data without a word: duplicate series, scattered families, a missing
final newline. This reader refuses them. It also refuses what the format allows but this exporter never writes
(free comments, blank lines, tabs, trailing commas), so that any drift of the writer is seen.

parse(page) returns {(name, frozenset(label items)): value}; labels with an empty value are left out of the key,
because Prometheus treats them as absent. check(page) returns the list of problems, one text each.
As a command it reads stdin, prints the problems, and exits with 1 if there are any.
"""

import re
import sys

from histograms import histogram_problems

METRIC_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")
LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")
SAMPLE_NAME = re.compile(r"[^ {]*")
INTEGER = re.compile(r"[+-]?[0-9]+\Z")
GO_FLOAT = re.compile(
    r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
    r"|0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)\Z")
TIMESTAMP = re.compile(r"-?[0-9]{1,19}\Z")
SPECIAL = {"NaN": float("nan"), "+Inf": float("inf"), "-Inf": float("-inf")}
TYPES = ("counter", "gauge", "histogram", "summary", "untyped")
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("_sum", "_count", "")}
LABEL_ESCAPES = {"\\": "\\", '"': '"', "n": "\n"}
HELP_ESCAPES = {"\\": "\\", "n": "\n"}


class PageError(Exception):
    """The page breaks the format; .problems holds one text for each fault."""

    def __init__(self, problems):
        super().__init__("\n".join(problems[:20]))
        self.problems = problems


class LineError(Exception):
    """One line cannot be read."""


def unescape(text, escapes, what):
    """Resolves backslash escapes; a sequence outside of `escapes` is an error."""
    if "\\" not in text:
        return text
    out, i = [], 0
    while i < len(text):
        if text[i] != "\\":
            out.append(text[i])
            i += 1
            continue
        if i + 1 >= len(text) or text[i + 1] not in escapes:
            raise LineError(f"bad escape in {what}: {text[i:i + 2]!r}")
        out.append(escapes[text[i + 1]])
        i += 2
    return "".join(out)


def parse_number(token):
    """A value as Go's ParseFloat reads it, in canonical spelling: int where the text is an integer, else float."""
    if token in SPECIAL:
        return SPECIAL[token]
    if INTEGER.match(token):
        return int(token)
    if not GO_FLOAT.match(token):
        raise LineError(f"value is not a number as Go reads it: {token!r}")
    value = float.fromhex(token) if "x" in token.lower() else float(token)
    if value in (float("inf"), float("-inf")):
        raise LineError(f"value out of range: {token!r}")
    return value


def parse_labels(text, start):
    """Reads `{a="b",c="d"}` at text[start]; returns (list of pairs, index behind the brace)."""
    pairs, i = [], start + 1
    while True:
        equals = text.find("=", i)
        if equals < 0:
            raise LineError("label block is not closed or lacks '='")
        name = text[i:equals]
        if not LABEL_NAME.match(name) or name.startswith("__"):
            raise LineError(f"illegal label name {name!r}")
        if text[equals + 1:equals + 2] != '"':
            raise LineError(f"value of label {name} is not quoted")
        end = equals + 2
        while end < len(text) and text[end] != '"':
            end += 2 if text[end] == "\\" else 1
        if end >= len(text):
            raise LineError(f"value of label {name} is not closed")
        pairs.append((name, unescape(text[equals + 2:end], LABEL_ESCAPES, f"label {name}")))
        if text[end + 1:end + 2] == "}":
            return pairs, end + 2
        if text[end + 1:end + 2] != ",":
            raise LineError(f"expected ',' or '}}' behind label {name}")
        i = end + 2


def parse_sample(line):
    """One sample line -> (name, list of label pairs, value)."""
    name = SAMPLE_NAME.match(line).group()
    if not METRIC_NAME.match(name):
        raise LineError(f"illegal metric name {name!r}")
    pairs, i = [], len(name)
    if line[i:i + 1] == "{":
        pairs, i = parse_labels(line, i)
    if line[i:i + 1] != " ":
        raise LineError("expected one space before the value")
    tokens = line[i + 1:].split(" ")
    if len(tokens) > 2 or (len(tokens) == 2 and not TIMESTAMP.match(tokens[1])):
        raise LineError(f"expected a value and at most a timestamp: {line[i + 1:]!r}")
    names = [k for k, _ in pairs]
    if len(set(names)) != len(names):
        raise LineError(f"label name twice in one sample of {name}")
    return name, pairs, parse_number(tokens[0])


class Page:
    """State of one pass over a page."""

    def __init__(self):
        self.problems = []
        self.samples = {}
        self.help = {}
        self.types = {}
        self.seen = set()      # families whose lines have begun
        self.with_samples = set()
        self.current = None
        self.histograms = {}   # (family, labels without le) -> {suffix or le: value}

    def fault(self, number, text):
        self.problems.append(f"line {number}: {text}")

    def enter(self, number, family):
        if family == self.current:
            return
        if family in self.seen:
            self.fault(number, f"family {family} is not contiguous")
        self.seen.add(family)
        self.current = family

    def comment(self, number, line):
        parts = line.split(" ", 3)
        if len(parts) < 3 or parts[0] != "#" or parts[1] not in ("HELP", "TYPE"):
            self.fault(number, f"comment is neither HELP nor TYPE: {line[:60]!r}")
            return
        kind, family = parts[1], parts[2]
        if not METRIC_NAME.match(family):
            self.fault(number, f"illegal metric name {family!r}")
            return
        self.enter(number, family)
        table = self.help if kind == "HELP" else self.types
        if family in table:
            self.fault(number, f"second {kind} for {family}")
        if family in self.with_samples:
            self.fault(number, f"{kind} of {family} after its samples")
        text = parts[3] if len(parts) > 3 else ""
        table[family] = text
        if kind == "HELP":
            self.check_help(number, family, text)
        else:
            self.check_type(number, family, text)

    def check_help(self, number, family, text):
        if not text.strip():
            self.fault(number, f"HELP of {family} is empty")
        try:
            unescape(text, HELP_ESCAPES, f"HELP of {family}")
        except LineError as error:
            self.fault(number, str(error))

    def check_type(self, number, family, text):
        if text not in TYPES:
            self.fault(number, f"unknown type {text!r} of {family}")
        if text == "counter" and not family.endswith("_total"):
            self.fault(number, f"counter {family} does not end in _total")
        if text in ("gauge", "histogram", "summary") and family.endswith("_total"):
            self.fault(number, f"{text} {family} ends in _total")

    def family_of(self, name):
        for kind, suffixes in SUFFIXES.items():
            for suffix in suffixes:
                base = name[:len(name) - len(suffix)] if suffix else name
                if name.endswith(suffix) and self.types.get(base) == kind:
                    return base
        return name

    def sample(self, number, line):
        try:
            name, pairs, value = parse_sample(line)
        except LineError as error:
            self.fault(number, str(error))
            return
        family = self.family_of(name)
        self.enter(number, family)
        self.with_samples.add(family)
        for kind, table in (("HELP", self.help), ("TYPE", self.types)):
            if family not in table:
                self.fault(number, f"sample of {name} without {kind}")
        if self.types.get(family) == "counter" and not value >= 0:
            self.fault(number, f"counter {name} is {value}")
        key = (name, frozenset((k, v) for k, v in pairs if v != ""))
        if key in self.samples:
            self.fault(number, f"duplicate series {line.rsplit(' ', 1)[0][:200]!r}")
        self.samples[key] = value
        if self.types.get(family) == "histogram":
            self.histogram_part(number, family, name, dict(pairs), value)

    def histogram_part(self, number, family, name, labels, value):
        bound = labels.pop("le", None)
        part = name[len(family):]
        if (part == "_bucket") != (bound is not None):
            self.fault(number, f"label le belongs to the buckets of {family}, and only there")
            return
        group = self.histograms.setdefault((family, frozenset(labels.items())), {"buckets": []})
        if part != "_bucket":
            group[part] = value
            return
        try:
            group["buckets"].append((parse_number(bound), value))
        except LineError as error:
            self.fault(number, str(error))

    def finish_histograms(self):
        self.problems += histogram_problems(self.histograms)


def read(page):
    """bytes -> Page, with whatever problems it has."""
    state = Page()
    if not page:
        state.problems.append("page is empty")
        return state
    try:
        text = page.decode("utf-8")
    except UnicodeDecodeError as error:
        number = page.count(b"\n", 0, error.start) + 1
        state.fault(number, f"invalid UTF-8 at byte {error.start}")
        text = page.decode("utf-8", "replace")
    if not text.endswith("\n"):
        state.problems.append("last line has no newline")
    # Only \n ends a line: str.splitlines() would also split at U+2028 and friends inside of label values.
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        if line == "":
            state.fault(number, "blank line")
        elif line.startswith("#"):
            state.comment(number, line)
        else:
            state.sample(number, line)
    state.finish_histograms()
    return state


def check(page):
    """All faults of the page (bytes), empty when it is right."""
    return read(page).problems


def parse(page):
    """{(name, frozenset(label items)): value} of the page (bytes); raises PageError when it has any fault."""
    state = read(page)
    if state.problems:
        raise PageError(state.problems)
    return state.samples


def types(page):
    """{family: type} of the page (bytes)."""
    return dict(read(page).types)


def main():
    problems = check(sys.stdin.buffer.read())
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
