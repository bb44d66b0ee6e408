#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The strict reader of the protobuf format, on pages that this test encodes."""

import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import prom_proto  # noqa: E402
from prom_text import PageError  # noqa: E402


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def sint(value):
    return varint(value << 1 ^ value >> 63 if value >= 0 else (-value << 1) - 1)


def field(number, value):
    """bytes and str with their length, float as fixed64, int as varint."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def label(name, value):
    return field(1, field(1, name) + field(2, value))


def family(name, kind, *metrics, extra=b""):
    body = field(1, name) + field(2, "Help") + field(3, kind) + b"".join(field(4, m) for m in metrics) + extra
    return varint(len(body)) + body


def bucket(bound, count, exemplar=b""):
    return field(3, field(1, count) + field(2, bound) + exemplar)


def histogram(count=3, buckets=None, spans=((-1, 2),), deltas=(1, 1), zero=0):
    body = field(1, count) + field(2, 1.5)
    body += bucket(0.5, 1) + bucket(float("inf"), 3) if buckets is None else buckets
    body += varint(5 << 3) + sint(3) + field(6, 2.0**-24) + field(7, zero)
    body += b"".join(field(12, varint(1 << 3) + sint(o) + field(2, n)) for o, n in spans)
    body += field(13, b"".join(sint(d) for d in deltas))
    return field(7, body)


COUNTER = label("device", 'a"b') + field(3, field(1, 7.0))


class ProtobufPages(unittest.TestCase):
    def test_good_ones(self):
        page = prom_proto.read(family("a_total", 0, COUNTER) + family("g", 1, field(2, field(1, -1.5)))
                               + family("h", 4, histogram()))
        self.assertEqual(page.samples, {
            ("a_total", frozenset({("device", 'a"b')})): 7, ("g", frozenset()): -1.5,
            ("h_bucket", frozenset({("le", "0.5")})): 1, ("h_bucket", frozenset({("le", "+Inf")})): 3,
            ("h_count", frozenset()): 3, ("h_sum", frozenset()): 1.5})
        self.assertEqual(page.native[("h", frozenset())].buckets, {-1: 1, 0: 2})

    def test_every_rule_bites(self):
        good = family("a_total", 0, COUNTER)
        late = field(3, label("d", "x") + field(2, 0.6) + field(3, field(1, 1700000000)))
        for page, problem in (
                (good[:-1], "cut"),
                (good + b"\xff", "cut"),
                (good + good, "twice"),
                (family("a_total", 0, COUNTER, COUNTER), "duplicate"),
                (family("a_total", 0, COUNTER, extra=field(9, 1)), "unknown field 9"),
                (family("a_total", 0, COUNTER, extra=field(1, "b")), "name twice"),
                (family("a_total", 1, COUNTER), "_total belongs"),
                (family("a_total", 7, COUNTER), "unknown type"),
                (family("a_total", 0), "lacks"),
                (family("a_total", 0, field(2, field(1, 1.0))), "has the values"),
                (family("a_total", 0, field(3, field(1, -1.0))), "is -1"),
                (family("a_total", 0, field(3, field(1, 1))), "wire type"),
                (family("a_total", 0, field(1, field(1, b"\xff")) + COUNTER), "UTF-8"),
                (family("a_total", 0, label("device", "c") + COUNTER), "label name twice"),
                (family("h", 4, histogram(count=4)), "differs from its bucket"),
                (family("h", 4, histogram(buckets=bucket(0.5, 4) + bucket(float("inf"), 3))), "not cumulative"),
                (family("h", 4, histogram(buckets=bucket(0.5, 1, late) + bucket(float("inf"), 3))), "above its bound"),
                (family("h", 4, histogram(zero=1)), "do not add up"),
                (family("h", 4, histogram(deltas=(1,))), "fewer deltas"),
                (family("h", 4, histogram(deltas=(1, 1, 1))), "more deltas"),
                (family("h", 4, histogram(spans=((0, 1), (0, 1)))), "overlap"),
                (family("h", 4, histogram(deltas=(-1, 4))), "negative")):
            with self.assertRaises(PageError) as caught:
                prom_proto.read(page)
            self.assertIn(problem, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
