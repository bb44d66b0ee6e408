#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A strict reader of the Prometheus protobuf format: messages io.prometheus.client.MetricFamily, each with its length
before it. Field numbers are those of io/prometheus/client/metrics.proto in github.com/prometheus/client_model.

Refuses unknown fields, values that do not belong to the type of their family, duplicate series, families in two
pieces, and histograms whose two forms, classic and native, do not agree.

read(page) returns a Page: .samples as prom_text.parse() gives them (classic buckets spelled out), .native
{(name, frozenset(label items)): Native}, .exemplars, .types, .help. Raises prom_text.PageError.
"""

import collections
import struct

from open_metrics import canonical
from prom_text import METRIC_NAME, PageError

VARINT, FIXED64, BYTES = 0, 1, 2
TYPES = {0: "counter", 1: "gauge", 4: "histogram"}
VALUE_FIELDS = {"counter": "counter", "gauge": "gauge", "histogram": "histogram"}

Native = collections.namedtuple("Native", "schema zero_threshold zero_count count sum buckets")

# message -> {field number: (name, kind, whether it is repeated)}
FIELDS = {
    "family": {1: ("name", "string", False), 2: ("help", "string", False), 3: ("type", "uint", False),
               4: ("metric", "metric", True)},
    "metric": {1: ("label", "label", True), 2: ("gauge", "number", False), 3: ("counter", "number", False),
               7: ("histogram", "histogram", False)},
    "label": {1: ("name", "string", False), 2: ("value", "string", False)},
    "number": {1: ("value", "double", False)},
    "histogram": {1: ("sample_count", "uint", False), 2: ("sample_sum", "double", False), 3: ("bucket", "bucket", True),
                  5: ("schema", "sint", False), 6: ("zero_threshold", "double", False),
                  7: ("zero_count", "uint", False), 12: ("positive_span", "span", True),
                  13: ("positive_delta", "packed_sint", False)},
    "bucket": {1: ("cumulative_count", "uint", False), 2: ("upper_bound", "double", False),
               3: ("exemplar", "exemplar", False)},
    "span": {1: ("offset", "sint", False), 2: ("length", "uint", False)},
    "exemplar": {1: ("label", "label", True), 2: ("value", "double", False), 3: ("timestamp", "timestamp", False)},
    "timestamp": {1: ("seconds", "uint", False), 2: ("nanos", "uint", False)},
}


def fail(text):
    raise PageError([text])


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            fail("varint is cut or too long")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def zigzag(value):
    return (value >> 1) ^ -(value & 1)


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(zigzag(value))
    return values


def take(data, at, wire):
    """The raw value of one field and where the next one begins."""
    if wire == VARINT:
        return varint(data, at)
    size, at = (8, at) if wire == FIXED64 else varint(data, at) if wire == BYTES else fail(f"wire type {wire}")
    if at + size > len(data):
        fail("a field is cut")
    return data[at:at + size], at + size


def convert(kind, wire, raw):
    expected = {"uint": VARINT, "sint": VARINT, "double": FIXED64}.get(kind, BYTES)
    if wire != expected:
        fail(f"{kind} with wire type {wire}")
    if kind == "uint":
        return raw
    if kind == "sint":
        return zigzag(raw)
    if kind == "double":
        return struct.unpack("<d", raw)[0]
    if kind == "packed_sint":
        return packed(raw)
    if kind == "string":
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            fail(f"no UTF-8: {raw[:40]!r}")
    return message(kind, raw)


def message(kind, data):
    """A message as a dictionary; repeated fields are lists, absent ones are not there."""
    out, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        raw, at = take(data, at, tag & 7)
        if tag >> 3 not in FIELDS[kind]:
            fail(f"unknown field {tag >> 3} in {kind}")
        name, field_kind, repeated = FIELDS[kind][tag >> 3]
        value = convert(field_kind, tag & 7, raw)
        if repeated:
            out.setdefault(name, []).append(value)
        elif name in out:
            fail(f"{name} twice in {kind}")
        else:
            out[name] = value
    return out


def label_pairs(labels):
    pairs = [(label["name"], label["value"]) for label in labels]
    if len(dict(pairs)) != len(pairs):
        fail(f"label name twice: {pairs}")
    return pairs


class Page:
    """What a page says."""

    def __init__(self):
        self.samples, self.native, self.exemplars, self.types, self.help = {}, {}, {}, {}, {}

    def family(self, family):
        name = family.get("name", "")
        if not METRIC_NAME.match(name) or not family.get("help") or "metric" not in family:
            fail(f"family {name!r} lacks a legal name, a help or a metric")
        if name in self.types:
            fail(f"family {name} twice")
        kind = TYPES.get(family.get("type"), None) or fail(f"unknown type of {name}")
        if (kind == "counter") != name.endswith("_total"):
            fail(f"{kind} {name}: _total belongs to counters, and only there")
        self.types[name], self.help[name] = kind, family["help"]
        for metric in family["metric"]:
            self.metric(name, kind, metric)

    def metric(self, name, kind, metric):
        values = [field for field in metric if field != "label"]
        if values != [VALUE_FIELDS[kind]]:
            fail(f"{kind} {name} has the values {values}")
        pairs = label_pairs(metric.get("label", []))
        if kind == "histogram":
            self.histogram(name, pairs, metric["histogram"])
            return
        value = metric[values[0]].get("value")
        if value is None or (kind == "counter" and not value >= 0):
            fail(f"{kind} {name} is {value}")
        self.add(name, pairs, value)

    def add(self, name, pairs, value):
        key = (name, frozenset((k, v) for k, v in pairs if v != ""))
        if key in self.samples:
            fail(f"duplicate series of {name}: {pairs}")
        self.samples[key] = value
        return key

    def histogram(self, name, pairs, data):
        before, last = 0, float("-inf")
        for bucket in data["bucket"]:
            bound, count = bucket["upper_bound"], bucket["cumulative_count"]
            if bound <= last or count < before:
                fail(f"buckets of {name} are not cumulative and ascending")
            key = self.add(name + "_bucket", [*pairs, ("le", canonical(bound))], count)
            if "exemplar" in bucket:
                self.exemplar(key, bound, bucket["exemplar"])
            before, last = count, bound
        if last != float("inf") or before != data["sample_count"]:
            fail(f"count of {name} differs from its bucket +Inf")
        self.add(name + "_count", pairs, data["sample_count"])
        self.add(name + "_sum", pairs, data["sample_sum"])
        self.native[(name, frozenset(pairs))] = self.native_of(name, data)

    def exemplar(self, key, bound, exemplar):
        if exemplar["value"] > bound:
            fail(f"exemplar of {key} is above its bound")
        stamp = exemplar["timestamp"]["seconds"] + exemplar["timestamp"].get("nanos", 0) / 1e9
        self.exemplars[key] = (frozenset(label_pairs(exemplar["label"])), exemplar["value"], stamp)

    def native_of(self, name, data):
        deltas = iter(data.get("positive_delta", []))
        buckets, index, count = {}, 0, 0
        for i, span in enumerate(data.get("positive_span", [])):
            if (i and span["offset"] <= 0) or span["length"] <= 0:
                fail(f"spans of {name} overlap or are empty")
            index += span["offset"]
            for _ in range(span["length"]):
                delta = next(deltas, None)
                if delta is None:
                    fail(f"{name} has fewer deltas than its spans are long")
                count += delta
                if count < 0:
                    fail(f"a native bucket of {name} is negative")
                buckets[index] = count
                index += 1
        if next(deltas, None) is not None:
            fail(f"{name} has more deltas than its spans are long")
        if data["zero_count"] + sum(buckets.values()) != data["sample_count"]:
            fail(f"native buckets of {name} do not add up to its count")
        if not data["zero_threshold"] > 0:
            fail(f"{name} is not marked as native histogram")
        return Native(data["schema"], data["zero_threshold"], data["zero_count"], data["sample_count"],
                      data["sample_sum"], {i: c for i, c in buckets.items() if c})


def messages(page):
    """The encoded messages of the page."""
    at = 0
    while at < len(page):
        size, at = varint(page, at)
        if at + size > len(page):
            fail("the last message is cut")
        yield page[at:at + size]
        at += size


def read(page):
    state = Page()
    for one in messages(page):
        state.family(message("family", one))
    return state
