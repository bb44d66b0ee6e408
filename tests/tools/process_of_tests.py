# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A process that runs some tests of one file, and tells the runner (parallel_tests.py) about each of them."""

import json
import sys
import time
import traceback
import unittest


class Reporter(unittest.TestResult):
    """Writes a line of JSON when a test begins, for each verdict, and when a test has ended."""

    def __init__(self, out, find_faults):
        super().__init__()
        self.out, self.find_faults = out, find_faults
        self.begin = self.ended = time.monotonic()
        self.current_class = None

    def tell(self, **event):
        sys.stdout.flush()
        sys.stderr.flush()
        self.out.write(json.dumps(event) + "\n")
        self.out.flush()

    def verdict(self, verdict, name, text="", since=None):
        self.tell(verdict=verdict, id=name, text=text, seconds=time.monotonic() - (since or self.begin))

    def startTest(self, test):
        """What a class does before its first test is told apart: no test's time contains it."""
        if self.current_class is not type(test):
            self.current_class = type(test)
            if time.monotonic() - self.ended > 0.5:
                self.verdict("made", test.id().rpartition(".")[0] + ".setUpClass", since=self.ended)
        super().startTest(test)
        self.tell(begin=test.id())
        self.begin = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.look_for_faults(test.id())
        self.tell(end=test.id())
        self.ended = time.monotonic()

    def look_for_faults(self, name):
        faults = self.find_faults()
        if faults:
            self.verdict("FAILED", name, faults)

    def addSuccess(self, test):
        self.verdict("ok", test.id())

    def addFailure(self, test, err):
        self.verdict("FAILED", test.id(), self._exc_info_to_string(err, test))

    def addError(self, test, err):
        self.verdict("ERROR", test.id(), self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        self.verdict("SKIPPED", test.id(), reason)

    def addExpectedFailure(self, test, err):
        self.verdict("ok", test.id())

    def addUnexpectedSuccess(self, test):
        self.verdict("FAILED", test.id(), "it was expected to fail, and succeeded")

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.verdict("FAILED" if issubclass(err[0], test.failureException) else "ERROR", subtest.id(),
                         self._exc_info_to_string(err, test))


def each_test(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from each_test(item)
        else:
            yield item


def main(module, out, names, find_faults):
    """Runs the tests of the module that have these names."""
    reporter = Reporter(out, find_faults)
    try:
        tests = [test for test in each_test(unittest.defaultTestLoader.loadTestsFromName(module)) if test.id() in names]
        unittest.TestSuite(tests).run(reporter)
        reporter.look_for_faults(f"{module}: after its last test")
    except BaseException:  # noqa: B902  (such as SystemExit of a test)
        reporter.verdict("ERROR", module, traceback.format_exc())
    reporter.tell(done=True)
