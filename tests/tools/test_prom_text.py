# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Every rule of the strict reader has a page that breaks it, and only it."""

import math
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import prom_text  # noqa: E402

HEAD = b"# HELP a_total Things.\n# TYPE a_total counter\n"
GAUGE = b"# HELP g Size.\n# TYPE g gauge\n"
HISTOGRAM = b"# HELP h Time.\n# TYPE h histogram\n"


class GoodPages(unittest.TestCase):
    def test_a_plain_page_gives_its_samples(self):
        page = HEAD + b'a_total{device="x",port="1"} 3\na_total{device="y"} 4\n' + GAUGE + b"g -2.5\n"
        self.assertEqual(prom_text.parse(page), {
            ("a_total", frozenset({("device", "x"), ("port", "1")})): 3,
            ("a_total", frozenset({("device", "y")})): 4,
            ("g", frozenset()): -2.5,
        })

    def test_escapes_are_resolved(self):
        page = GAUGE + rb'g{c="a\"b\\c\nd,e}f{ =#"} 1' + b"\n"
        self.assertEqual(list(prom_text.parse(page)), [("g", frozenset({("c", 'a"b\\c\nd,e}f{ =#')}))])

    def test_integers_keep_every_digit(self):
        page = HEAD + b"a_total 18446744073709551615\n"
        self.assertEqual(list(prom_text.parse(page).values()), [18446744073709551615])

    def test_line_separators_of_unicode_are_plain_characters(self):
        page = GAUGE + 'g{c="a\u2028b\x0bc\x85d"} 1\n'.encode()
        self.assertEqual(list(prom_text.parse(page)), [("g", frozenset({("c", "a\u2028b\x0bc\x85d")}))])

    def test_control_characters_are_plain_characters_inside_of_a_label(self):
        page = GAUGE + b'g{c="a\0b\rc\x01"} 1\n'
        self.assertEqual(list(prom_text.parse(page)), [("g", frozenset({("c", "a\0b\rc\x01")}))])

    def test_numbers_in_all_spellings_of_go(self):
        tokens = ("0", "-0", "+5", "1e3", "1.5E-7", ".5", "5.", "0x1p-2", "+Inf", "-Inf")
        for token in tokens:
            with self.subTest(token=token):
                self.assertEqual(prom_text.check(GAUGE + b"g " + token.encode() + b"\n"), [])
        self.assertTrue(math.isnan(prom_text.parse(GAUGE + b"g NaN\n")[("g", frozenset())]))

    def test_a_histogram_with_all_its_parts(self):
        page = HISTOGRAM + b'h_bucket{le="0.1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 3.5\nh_count 2\n'
        self.assertEqual(prom_text.check(page), [])

    def test_timestamp_is_allowed(self):
        self.assertEqual(prom_text.check(GAUGE + b"g 1 1700000000000\n"), [])

    def test_empty_label_value_equals_absent_label(self):
        self.assertEqual(list(prom_text.parse(GAUGE + b'g{a=""} 1\n')), [("g", frozenset())])


# (rule, page, words of the message). Each page is right except for the named fault.
BAD_PAGES = [
    ("empty page", b"", "page is empty"),
    ("no final newline", GAUGE + b"g 1", "no newline"),
    ("blank line", GAUGE + b"\ng 1\n", "blank line"),
    ("invalid UTF-8", GAUGE + b'g{c="\xff"} 1\n', "invalid UTF-8"),
    ("truncated UTF-8", GAUGE + b'g{c="\xe2\x82"} 1\n', "invalid UTF-8"),
    ("carriage return", GAUGE + b"g 1\r\n", "not a number"),
    ("free comment", b"# made by hand\n" + GAUGE + b"g 1\n", "neither HELP nor TYPE"),
    ("no HELP", b"# TYPE g gauge\ng 1\n", "without HELP"),
    ("no TYPE", b"# HELP g Size.\ng 1\n", "without TYPE"),
    ("HELP twice", b"# HELP g Size.\n" + GAUGE + b"g 1\n", "second HELP"),
    ("TYPE twice", GAUGE + b"# TYPE g gauge\ng 1\n", "second TYPE"),
    ("HELP behind samples", b"# TYPE g gauge\ng 1\n# HELP g Size.\n", "after its samples"),
    ("TYPE behind samples", b"# HELP g Size.\ng 1\n# TYPE g gauge\n", "after its samples"),
    ("empty HELP", b"# HELP g \n# TYPE g gauge\ng 1\n", "HELP of g is empty"),
    ("bad escape in HELP", b"# HELP g a\\tb\n# TYPE g gauge\ng 1\n", "bad escape in HELP"),
    ("unknown type", b"# HELP g Size.\n# TYPE g info\ng 1\n", "unknown type"),
    ("counter without _total", b"# HELP c Things.\n# TYPE c counter\nc 1\n", "does not end in _total"),
    ("gauge with _total", b"# HELP g_total Size.\n# TYPE g_total gauge\ng_total 1\n", "ends in _total"),
    ("scattered family", HEAD + b'a_total{x="1"} 1\n' + GAUGE + b'g 1\na_total{x="2"} 1\n', "not contiguous"),
    ("duplicate series", GAUGE + b'g{a="1",b="2"} 1\ng{b="2",a="1"} 2\n', "duplicate series"),
    ("duplicate by empty label", GAUGE + b'g{a=""} 1\ng 2\n', "duplicate series"),
    ("label twice", GAUGE + b'g{a="1",a="2"} 1\n', "label name twice"),
    ("illegal metric name", GAUGE + b"g 1\n9g 1\n", "illegal metric name"),
    ("illegal metric name in TYPE", GAUGE + b"g 1\n# TYPE a-b gauge\n", "illegal metric name"),
    ("colon in a metric name", GAUGE + b"g 1\njob:g 1\n", "illegal metric name"),
    ("illegal label name", GAUGE + b'g{a-b="1"} 1\n', "illegal label name"),
    ("reserved label name", GAUGE + b'g{__a="1"} 1\n', "illegal label name"),
    ("empty label block", GAUGE + b"g{} 1\n", "label block"),
    ("trailing comma", GAUGE + b'g{a="1",} 1\n', "label block"),
    ("space behind comma", GAUGE + b'g{a="1", b="2"} 1\n', "illegal label name"),
    ("label not quoted", GAUGE + b"g{a=1} 1\n", "not quoted"),
    ("label not closed", GAUGE + b'g{a="1} 1\n', "not closed"),
    ("label not separated", GAUGE + b'g{a="1"b="2"} 1\n', "expected ',' or '}'"),
    ("raw newline in a label", GAUGE + b'g{a="x\ny"} 1\n', "not closed"),
    ("bad escape in a label", GAUGE + b'g{a="x\\ty"} 1\n', "bad escape in label"),
    ("no value", GAUGE + b"g\n", "one space before the value"),
    ("tab before the value", GAUGE + b"g\t1\n", "illegal metric name"),
    ("two spaces", GAUGE + b"g  1\n", "not a number"),
    ("text behind the value", GAUGE + b"g 1 2 3\n", "at most a timestamp"),
    ("timestamp not a number", GAUGE + b"g 1 now\n", "at most a timestamp"),
    ("decimal comma", GAUGE + b"g 1,5\n", "not a number"),
    ("text as value", GAUGE + b"g N/A\n", "not a number"),
    ("NaN misspelt", GAUGE + b"g Nan\n", "not a number"),
    ("nan in lower case", GAUGE + b"g nan\n", "not a number"),
    ("infinity misspelt", GAUGE + b"g inf\n", "not a number"),
    ("underscores in a number", GAUGE + b"g 1_000\n", "not a number"),
    ("digits of another script", GAUGE + "g \u0663\n".encode(), "not a number"),
    ("number out of range", GAUGE + b"g 1e999\n", "out of range"),
    ("negative counter", HEAD + b"a_total -1\n", "counter a_total is -1"),
    ("counter that is not a number", HEAD + b"a_total NaN\n", "counter a_total is nan"),
    ("histogram without +Inf", HISTOGRAM + b'h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n', "no last bucket"),
    ("histogram count differs", HISTOGRAM + b'h_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n', "_count differs"),
    ("histogram without sum", HISTOGRAM + b'h_bucket{le="+Inf"} 1\nh_count 1\n', "no _sum"),
    ("histogram not cumulative",
     HISTOGRAM + b'h_bucket{le="1"} 3\nh_bucket{le="+Inf"} 2\nh_sum 1\nh_count 2\n', "not cumulative"),
    ("bucket without le", HISTOGRAM + b'h_bucket 1\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n', "label le"),
]


class BadPages(unittest.TestCase):
    def test_each_rule_is_enforced(self):
        for rule, page, words in BAD_PAGES:
            with self.subTest(rule=rule):
                problems = prom_text.check(page)
                self.assertTrue(any(words in p for p in problems), f"{rule}: {problems}")

    def test_a_fault_raises_with_its_line_number(self):
        with self.assertRaises(prom_text.PageError) as caught:
            prom_text.parse(GAUGE + b"g 1\ng 2\n")
        self.assertEqual(len(caught.exception.problems), 1)
        self.assertIn("line 4", caught.exception.problems[0])


class Command(unittest.TestCase):
    def run_on(self, page):
        return subprocess.run([sys.executable, prom_text.__file__], input=page, capture_output=True, check=False)

    def test_exit_code_and_message(self):
        self.assertEqual(self.run_on(GAUGE + b"g 1\n").returncode, 0)
        bad = self.run_on(GAUGE + b"g 1\ng 1\n")
        self.assertEqual(bad.returncode, 1)
        self.assertIn(b"duplicate series", bad.stderr)


if __name__ == "__main__":
    unittest.main()
