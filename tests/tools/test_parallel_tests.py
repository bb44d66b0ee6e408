# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The runner of tests on tests that pass, fail, crash and hang."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent
RUN = f"""
import os, pathlib, sys
sys.path.insert(0, {str(TOOLS)!r})
import parallel_tests
parallel_tests.SILENCE = 6
FAULTS = pathlib.Path(__file__).with_name("fault")
def faults():
    return FAULTS.read_text() if FAULTS.exists() else ""
other = {{"BINARY": "timed"}} if "BINARY" in os.environ else None
sys.exit(parallel_tests.main(pathlib.Path(__file__).parent, "", timed_environment=other, find_faults=faults))
"""
HEAD = "import os, pathlib, sys, time, unittest, marks\n"


def file_of(*tests):
    """The text of a file with a class of these tests, which are lines of code."""
    body = "".join(f"    {mark}\n    def test_{name}(self):\n        {code}\n" for name, mark, code in tests)
    return f"{HEAD}class Case(unittest.TestCase):\n{body}"


class Runner(unittest.TestCase):
    def run_tests(self, files, *flags, **environment):
        """(status, output)"""
        with tempfile.TemporaryDirectory() as place:
            for name, text in {**files, "run": RUN}.items():
                pathlib.Path(place, name).write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, f"{place}/run", *flags], capture_output=True, text=True, timeout=60,
                                  check=False, env={"PATH": "/usr/bin:/bin", **environment})
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def ends(self, result, status, count, verdict):
        self.assertEqual(result[0], status, result[1])
        self.assertRegex(result[1], rf"\n-+\nRan {count} tests in [\d.]+s\n\n{re.escape(verdict)}\n$")

    def test_all_is_well(self):
        result = self.run_tests({"test_a.py": file_of(("one", "", "time.sleep(0.2)"), ("two", "", "print('said')")),
                                 "test_b.py": file_of(("three", "", "pass"))})
        self.ends(result, 0, 3, "OK")
        self.assertRegex(result[1], r"(?m)^ok +\d+\.\d\d s  test_a\.Case\.test_one$")
        self.assertRegex(result[1], r"(?m)^slowest: +\d+\.\d s  test_a\.Case\.test_one$")
        self.assertIn("\nsaid\n", result[1])

    def test_failures_have_their_traceback(self):
        subtests = "for i in range(3):\n            with self.subTest(i=i): self.assertNotEqual(i, 1)"
        result = self.run_tests({"test_a.py": file_of(("bad", "", "self.assertEqual(4, 5)"), ("worse", "", "1 / 0"),
                                                      ("parts", "", subtests), ("good", "", "pass"))})
        self.ends(result, 1, 4, "FAILED (failures=2, errors=1)")
        for text in ("AssertionError: 4 != 5", "ZeroDivisionError", "FAILED  test_a.Case.test_bad",
                     "FAILED  test_a.Case.test_parts (i=1)"):
            self.assertIn(text, result[1])

    def test_skipped_tests_have_their_reason(self):
        whole = HEAD + """class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise unittest.SkipTest("no such tool")
    def test_a(self): pass
    def test_b(self): pass
"""
        result = self.run_tests({"test_a.py": file_of(("one", "@unittest.skip('why')", "pass")), "test_b.py": whole})
        self.ends(result, 0, 2, "OK (skipped=2)")
        self.assertIn("SKIPPED test_a.Case.test_one: why\n", result[1])
        self.assertIn("SKIPPED setUpClass (test_b.Case): no such tool\n", result[1])

    def test_a_process_that_crashes_or_hangs_is_a_failure_with_its_name(self):
        for code, words in (("os.abort()", "ended with -6"), ("os._exit(0)", "ended with 0"),
                            ("time.sleep(100)", "ended with -9"), ("sys.exit(3)", "SystemExit")):
            with self.subTest(code=code):
                result = self.run_tests({"test_a.py": file_of(("a", "", "pass"), ("b", "", code), ("c", "", "pass")),
                                         "test_b.py": file_of(("fine", "", "pass"))})
                self.assertEqual(result[0], 1, result[1])
                self.assertRegex(result[1], r"\nFAILED \(failures=0, errors=1\)\n$")
                self.assertIn(words, result[1])
                self.assertIn("test_a.Case.test_b", result[1])
                self.assertRegex(result[1], r"(?m)^ok +\S+ s  test_b\.Case\.test_fine$")

    def test_what_a_test_started_goes_with_it(self):
        code = "import subprocess; print('pid', subprocess.Popen(['sleep', '100']).pid, flush=True); os.abort()"
        _, output = self.run_tests({"test_a.py": file_of(("a", "", code))})
        pid = re.search(r"pid (\d+)", output)[1]
        stat = pathlib.Path("/proc", pid, "stat")
        self.assertTrue(not stat.exists() or " Z " in stat.read_text())

    def test_what_is_found_after_a_test_is_a_failure_of_that_test(self):
        result = self.run_tests({"fault": "heap-use-after-free", "test_a.py": file_of(("a", "", "pass"))})
        self.assertEqual(result[0], 1)
        self.assertRegex(result[1], r"FAILED .* test_a\.Case\.test_a\nheap-use-after-free\n")

    TIMED = {"test_a.py": file_of(("plain", "", "print('plain', marks.BOUNDS)"),
                                  ("mixed", "@marks.timing", "print('mixed', marks.BOUNDS, os.environ.get('BINARY'))"),
                                  ("bound", "@marks.timing_only", "print('bound', marks.BOUNDS)"),
                                  ("long", "@marks.slow(7)", "print('long', marks.BOUNDS)"))}

    def said(self, *flags, **environment):
        status, output = self.run_tests(self.TIMED, *flags, **environment)
        self.assertEqual(status, 0, output)
        return re.findall(r"(?m)^(?:plain|mixed|bound|long) .*", output), output

    def test_tests_that_measure_run_alone_and_last(self):
        said, _ = self.said()
        self.assertEqual(sorted(said[:2]), ["long False", "plain False"])
        self.assertEqual(sorted(said[2:]), ["bound True", "mixed True None"])

    def test_they_run_twice_where_another_binary_is_timed(self):
        said, _ = self.said(BINARY="sanitized")
        self.assertEqual(sorted(said[:3]), ["long False", "mixed False sanitized", "plain False"])
        self.assertEqual(sorted(said[3:]), ["bound True", "mixed True timed"])

    def test_without_timing(self):
        said, output = self.said("--no-timing")
        self.assertEqual(sorted(said), ["long False", "mixed False None", "plain False"])
        self.assertIn("left out: 1 tests that are nothing but a bound", output)

    def test_quick(self):
        said, output = self.said("--quick")
        self.assertEqual(len(said), 3)
        self.assertIn("left out: 1 slow tests (--quick) (test_a 7 s)", output)

    def test_words_choose(self):
        self.assertEqual(len(self.said("plain", "long")[0]), 2)
        self.assertIn("--quick", self.run_tests(self.TIMED, "--help")[1])
