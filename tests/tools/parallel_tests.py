# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Runs the tests of a folder: the files in several processes at a time, each in one of its own and the longest first;
then, one after the other, the tests that need the machine for themselves (marks.timing).

Prints a line for each test with its time, failures with what they say, and at the end every skipped test with its
reason, the five slowest, and the lines that unittest ends with. A file that crashes or hangs is a failure.
"""

import argparse
import collections
import json
import os
import pathlib
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import marks
import process_of_tests

SILENCE = int(os.environ.get("TEST_SILENCE", "300"))  # seconds that a process may need for one test
LONGEST_RUN = max(1800, SILENCE)  # seconds
LINE = "{:7} {:6.2f} s  {}"


class Part:
    """Tests of one file that run in one process."""

    def __init__(self, name, tests):
        self.name, self.module, self.names = name, type(tests[0]).__module__, [test.id() for test in tests]
        slow_classes = {type(test) for test in tests if hasattr(type(test), "slow_seconds")}
        self.seconds = (0.2 * len(tests) + sum(cls.slow_seconds for cls in slow_classes)
                        + sum(marks.slow_seconds(test) for test in tests if type(test) not in slow_classes))

    def start(self, command, environment):
        read, write = os.pipe()
        self.events = os.fdopen(read, "rb", buffering=0)
        self.unread = b""
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*command, f"--process={write}", self.module], env={**os.environ, **environment}, pass_fds=[write],
            stdin=subprocess.PIPE, stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True)
        os.close(write)
        with self.process.stdin as names:
            names.write(json.dumps(self.names).encode())
        self.current, self.ended, self.done = None, 0, False
        self.heard = time.monotonic()

    def read(self):
        """The events that have come; None at their end."""
        data = self.events.read(1 << 16)
        if not data:
            return None
        self.heard = time.monotonic()
        *lines, self.unread = (self.unread + data).split(b"\n")
        events = [json.loads(line) for line in lines]
        for event in events:
            event["of_a_test"] = self.current is not None
            self.current = event.get("begin", None if "end" in event else self.current)
            self.ended += "end" in event
            self.done = self.done or "done" in event
        return events

    def new_output(self):
        """What the process, and those that it started, have written since the last call."""
        length = os.fstat(self.output.fileno()).st_size
        text = os.pread(self.output.fileno(), length - self.printed, self.printed)
        self.printed = length
        return text.decode(errors="replace")

    printed = 0

    def kill(self):
        """The process and all that it has started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def end(self):
        """Why the process did not get to its end; None when it did."""
        self.events.close()
        status = self.process.wait()
        self.kill()
        if self.done and status == 0:
            return None
        where = f" in {self.current}" if self.current else ""
        return f"the process ended with {status}{where}; {len(self.names) - self.ended} of its tests did not end"


class Report:
    """Prints and counts what the processes tell."""

    def __init__(self):
        self.ran = 0
        self.begin = time.monotonic()
        self.times, self.skipped = [], []
        self.bad = collections.defaultdict(list)  # {verdict: [name]}

    def write(self, text):
        print(text.rstrip("\n"))
        sys.stdout.flush()

    def events(self, part, events):
        output = part.new_output()
        if output.strip():
            self.write(output)
        for event in events:
            if "verdict" in event:
                self.verdict(event["verdict"], event["id"], event["text"], event["seconds"])
            # A class that cannot be set up, or is skipped as a whole, counts as a test.
            self.ran += "end" in event or (not event["of_a_test"] and event.get("verdict", "made") != "made")

    def verdict(self, verdict, name, text="", seconds=0.0):
        line = LINE.format(verdict, seconds, name)
        if verdict == "SKIPPED":
            self.skipped.append((name, text))
            line += f": {text}"
        elif verdict in ("FAILED", "ERROR"):
            self.bad[verdict].append(name)
            line += "\n" + text
        self.times.append((seconds, name))
        self.write(line)

    def broken(self, part, reason):
        self.ran += 1
        self.write(part.new_output())
        self.verdict("ERROR", part.name, reason, time.monotonic() - part.heard)

    def summary(self):
        """Prints it; the exit status."""
        self.write("")
        for name, reason in self.skipped:
            self.write(f"SKIPPED {name}: {reason}")
        for verdict, names in self.bad.items():
            for name in names:
                self.write(f"{verdict:7} {name}")
        for seconds, name in sorted(self.times, reverse=True)[:5]:
            self.write(f"slowest: {seconds:5.1f} s  {name}")
        self.write("-" * 70)
        self.write(f"Ran {self.ran} tests in {time.monotonic() - self.begin:.1f}s")
        self.write("")
        counts = {"failures": len(self.bad["FAILED"]), "errors": len(self.bad["ERROR"])} if any(self.bad.values()) else {}
        if self.skipped:
            counts["skipped"] = len(self.skipped)
        text = f" ({', '.join(f'{name}={count}' for name, count in counts.items())})" if counts else ""
        self.write(("FAILED" if any(self.bad.values()) else "OK") + text)
        return 1 if any(self.bad.values()) else 0


def run_parts(all_parts, jobs, report, command, environment):
    """Runs so many of them at a time, the longest first."""
    waiting = sorted(all_parts, key=lambda part: part.seconds)
    running, selector = set(), selectors.DefaultSelector()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                part = waiting.pop()
                part.start(command, environment)
                selector.register(part.events, selectors.EVENT_READ, part)
                running.add(part)
            for part in [key.data for key, _ in selector.select(1)]:
                events = part.read()
                if events is not None:
                    report.events(part, events)
                    continue
                selector.unregister(part.events)
                running.remove(part)
                reason = part.end()
                if reason:
                    report.broken(part, reason)
            too_late = time.monotonic() - report.begin > LONGEST_RUN
            for part in running:
                if too_late or time.monotonic() - part.heard > SILENCE:
                    part.kill()
            if too_late:
                for part in waiting:
                    report.verdict("ERROR", part.name, f"not run: the whole took more than {LONGEST_RUN} s")
                waiting = []
    finally:
        for part in running:
            part.kill()


def by_file(test):
    return f"{type(test).__module__}.py"


def by_class(test):
    return f"{type(test).__module__}.{type(test).__qualname__}"


def parts(tests, name_of):
    named = collections.defaultdict(list)
    for test in tests:
        named[name_of(test)].append(test)
    return [Part(name, own) for name, own in named.items()]


def discovered(folder, words):
    """The tests of the folder; with words, those whose name contains one of them."""
    loader = unittest.TestLoader()
    tests = list(process_of_tests.each_test(loader.discover(str(folder))))
    if loader.errors:
        sys.exit("\n".join(loader.errors))
    return [test for test in tests if not words or any(word in test.id() for word in words)]


def say_what_is_left_out(tests, why):
    if tests:
        seconds = collections.Counter()
        for cls in {type(test) for test in tests}:
            own = [test for test in tests if type(test) is cls]
            seconds[cls.__module__] += getattr(cls, "slow_seconds", 0) or sum(map(marks.slow_seconds, own))
        longest = ", ".join(f"{name} {count:.0f} s" for name, count in seconds.most_common(5) if count >= 1)
        print(f"left out: {len(tests)} {why}" + (f" ({longest})" if longest else ""))


def options_of(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD", help="runs only tests whose name contains one of the words")
    parser.add_argument("--quick", action="store_true", help="leaves out the slow tests")
    parser.add_argument("--no-timing", action="store_true",
                        help="asserts no bounds on time and memory: for a program that a sanitizer slows down")
    parser.add_argument("--jobs", type=int, default=4, help="so many processes at a time (4)")
    parser.add_argument("--process", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def main(folder, description, timed_environment=None, find_faults=lambda: "", part_of=by_file):
    """timed_environment: of the processes that run timing tests, where it is another one; then the other processes run
    them too, without their bounds. find_faults: called after each test, returns what it finds wrong. part_of: the name
    of what of a test runs in one process."""
    options = options_of(description)
    if options.process is not None:
        with os.fdopen(options.process, "w", encoding="utf-8") as out:
            process_of_tests.main(options.words[0], out, set(json.load(sys.stdin)), find_faults)
        return 0

    def terminated(*_):
        sys.exit(143)

    signal.signal(signal.SIGTERM, terminated)  # so that the processes end, too
    tests = discovered(folder, options.words)
    if not tests:
        print(f"{folder}: no test has such a name", file=sys.stderr)
        return 1
    if options.quick:
        say_what_is_left_out([test for test in tests if marks.slow_seconds(test)], "slow tests (--quick)")
        tests = [test for test in tests if not marks.slow_seconds(test)]
    timing = [] if options.no_timing else [test for test in tests if marks.is_timing(test)]
    if options.no_timing:
        say_what_is_left_out([test for test in tests if marks.is_timing_only(test)],
                             "tests that are nothing but a bound on time or memory (--no-timing); "
                             "no other asserts its bounds")
    both = options.no_timing or timed_environment is not None
    at_once = [test for test in tests if not (marks.is_timing_only(test) if both else marks.is_timing(test))]
    command, report = [sys.executable, sys.argv[0]], Report()
    print(f"{len(at_once)} tests in {options.jobs} processes, {len(timing)} alone", flush=True)
    run_parts(parts(at_once, part_of), options.jobs, report, command, {"TEST_BOUNDS": "off"})
    run_parts(parts(timing, part_of), 1, report, command, {"TEST_BOUNDS": "on", **(timed_environment or {})})
    return report.summary()
