#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Every rule of the strict reader of OpenMetrics has a page that breaks it first of all."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import open_metrics  # noqa: E402

COUNTER = "# TYPE a counter\n# HELP a Things\n"
GAUGE = "# TYPE g_bytes gauge\n# UNIT g_bytes bytes\n# HELP g_bytes Size\n"
INFO = "# TYPE i info\n# HELP i Who\n"
HISTOGRAM = "# TYPE h histogram\n# HELP h Time\n"
BUCKETS = 'h_bucket{le="0.5"} 1\nh_bucket{le="+Inf"} 2\n'
TAIL = "h_sum 1.5\nh_count 2\n"


def read(text):
    return open_metrics.read(text.encode())


class GoodPages(unittest.TestCase):
    def test_one_of_each_type(self):
        page = read(COUNTER + 'a_total{p="1"} 3\na_created{p="1"} 1700000000.5\na_total{p="2"} 4\n'
                    + GAUGE + "g_bytes 1.5e+09\n" + INFO + 'i_info{v="x # {y}"} 1\n'
                    + HISTOGRAM + 'h_bucket{le="0.5"} 1 # {d="x"} 0.25 1700000000.250\nh_bucket{le="+Inf"} 2\n' + TAIL
                    + "# EOF\n")
        self.assertEqual(page.problems, [])
        self.assertEqual(page.samples[("a_total", frozenset({("p", "2")}))], 4)
        self.assertEqual(page.units, {"g_bytes": "bytes"})
        self.assertEqual(list(page.exemplars.values()), [(frozenset({("d", "x")}), 0.25, 1700000000.25)])

    def test_an_empty_page(self):
        self.assertEqual(read("# EOF\n").problems, [])

    def test_bounds_have_one_spelling(self):
        for text in ("0.0", "0.001", "1.0", "10.0", "100000.0", "1e+06", "1e+10", "1.5e+07", "1e-05", "0.0001", "+Inf"):
            self.assertEqual(open_metrics.canonical(float(text)), text)


class BadPages(unittest.TestCase):
    def test_every_rule_bites(self):
        for text, problem in (
                (COUNTER + "a_total 1\n", "does not end with # EOF"),
                (COUNTER + "a_total 1\n# EOF\na_total{p=\"1\"} 2\n# EOF\n", "behind # EOF"),
                (COUNTER + "\na_total 1\n# EOF\n", "blank line"),
                (COUNTER + "a 1\n# EOF\n", "no sample of the family"),
                ("# TYPE a_total counter\n# HELP a_total T\na_total_total 1\n# EOF\n", "ends in _total"),
                ("# HELP a Things\n# TYPE a counter\na_total 1\n# EOF\n", "does not follow its TYPE"),
                ("# TYPE a counter\na_total 1\n# EOF\n", "without HELP"),
                ("# TYPE a things\n# HELP a T\na 1\n# EOF\n", "unknown type"),
                ("# TYPE a counter\n# HELP a A \"b\"\na_total 1\n# EOF\n", "not escaped"),
                ("# TYPE a counter\n# HELP a A \\x\na_total 1\n# EOF\n", "bad escape"),
                ("# EXTRA a b\n# EOF\n", "no metadata"),
                (COUNTER + "a_total 1\n" + INFO + "i_info 1\n" + COUNTER + "a_total{p=\"1\"} 1\n# EOF\n", "contiguous"),
                (COUNTER + "a_total 1\na_total 2\n# EOF\n", "duplicate"),
                (COUNTER + 'a_total{p="1"} 1\na_total{p="2"} 1\na_created{p="1"} 1700000000\n# EOF\n', "not together"),
                (COUNTER + "a_created 1700000000\n# EOF\n", "does not follow its _total"),
                (COUNTER + "a_total 1\na_created 5\n# EOF\n", "is no time"),
                (COUNTER + "a_total -1\n# EOF\n", "is -1"),
                (COUNTER + "a_total NaN\n# EOF\n", "is nan"),
                (COUNTER + "a_total 1 1700000000\n# EOF\n", "no timestamp"),
                (COUNTER + "a_total{} 1\n# EOF\n", "empty braces"),
                (COUNTER + "a_total 0x1p3\n# EOF\n", "no number of OpenMetrics"),
                (COUNTER + 'a_total{_p="1"} 1\n# EOF\n', "reserved"),
                (COUNTER + "a_total 1\n# TYPE a gauge\n# HELP a G\na 1\n# EOF\n", "contiguous"),
                (COUNTER + "a_total 1\n# TYPE a_created gauge\n# HELP a_created G\na_created 1\n# EOF\n", "clashes"),
                ("# TYPE g gauge\n# UNIT g bytes\n# HELP g G\ng 1\n# EOF\n", "not the end of the name"),
                ("# TYPE i_bytes info\n# UNIT i_bytes bytes\n# HELP i_bytes G\ni_bytes_info 1\n# EOF\n", "has a unit"),
                ("# TYPE g_bytes gauge\n# HELP g_bytes G\n# UNIT g_bytes bytes\ng_bytes 1\n# EOF\n", "not in the order"),
                (INFO + "i_info 2\n# EOF\n", "is 2"),
                ("# TYPE s stateset\n# HELP s S\ns{s=\"a\"} 2\n# EOF\n", "is 2"),
                ("# TYPE s stateset\n# HELP s S\ns 1\n# EOF\n", "without a label"),
                (HISTOGRAM + 'h_bucket{le="0.5"} 1\n' + TAIL + "# EOF\n", "no last bucket"),
                (HISTOGRAM + BUCKETS + "h_sum 1\nh_count 3\n# EOF\n", "differs from bucket"),
                (HISTOGRAM + BUCKETS + "h_count 2\n# EOF\n", "has no _sum"),
                (HISTOGRAM + 'h_bucket{le="0.5"} 3\nh_bucket{le="+Inf"} 2\n' + TAIL + "# EOF\n", "not cumulative"),
                (HISTOGRAM + BUCKETS.replace('"0.5"', '"0.50"') + TAIL + "# EOF\n", "is not spelled"),
                (HISTOGRAM + BUCKETS + TAIL.replace("h_sum", 'h_sum{le="1.0"}') + "# EOF\n", "label le"),
                (GAUGE + "g_bytes 1 # {d=\"x\"} 1 1700000000\n# EOF\n", "exemplar on"),
                (COUNTER + f"a_total 1 # {{d=\"{'x' * 128}\"}} 1 1700000000\n# EOF\n", "more than 128"),
                (COUNTER + "a_total 1 # {d=\"x\"} 1\n# EOF\n", "expected a value and a timestamp"),
                (COUNTER + "a_total 1 # {d=\"x\"} 1 7\n# EOF\n", "is no time"),
                (HISTOGRAM + BUCKETS.replace(" 1\n", ' 1 # {d="x"} 0.6 1700000000\n') + TAIL + "# EOF\n", "above the bound")):
            problems = read(text).problems
            self.assertTrue(problems, text)
            self.assertIn(problem, problems[0], text)


if __name__ == "__main__":
    unittest.main()
