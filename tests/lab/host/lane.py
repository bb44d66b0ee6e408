#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Runs suites of the lab's tests one after another in one guest: lane.py FABRIC KERNEL SUITE=FILE[=CLASS,...]... The tests
run here, on the host; what they do, they do in the guest. tests/lab/run calls this. Writes the time of each test to the file
LAB_TIMES."""

import argparse
import ctypes
import importlib
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parents[2]
sys.path[:0] = [str(HERE), str(HERE.parent)]
sys.path.append(str(HERE.parent / "guest"))  # for its exceptions

import remote  # noqa: E402

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
BOOT_TIMEOUT = 300  # seconds; a guard


class Lab:
    """scripts/lab with the agent in it, and the guests' ports."""

    def __init__(self, fabric, kernel, options):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lab-"))  # short: the path of a socket has at most 107 bytes
        self.out = self.folder / "out"
        self.out.mkdir()
        command = [REPO / "scripts/lab", "run", "--kernel", kernel, f"--fabric={fabric}", "--out", self.out, *options,
                   "--agent", self.folder / "monitor"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        folders = [self.out, self.out / "peer"] if fabric == "hosts" else [self.out]
        try:
            self.guests = [self.wait_for(folder, f"{self.folder}/monitor{index}") for folder, index in zip(folders, ("", 2))]
        except BaseException:
            self.remove()
            raise

    def wait_for(self, folder, monitor):
        end = time.monotonic() + BOOT_TIMEOUT
        while not (folder / "ready").exists():
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"lab: the guest did not start ({self.process.poll()})")
            time.sleep(0.1)
        return remote.Guest(monitor)

    def end(self, status):
        """Returns the exit status of the lab, which is this one if nothing broke."""
        try:
            self.guests[0].agent.end(status)
        except remote.Lost:
            pass  # as it is meant to be
        return self.process.wait(60)

    def remove(self):
        """Ends the guest in any case."""
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def processor_seconds(pid):
    """What a process and all below it have used so far: on a busy machine this tells more than the time that went by."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(map(processor_seconds, children))


class Result(unittest.TextTestResult):
    """Notes how long each test took."""

    def startTest(self, test):
        self.started = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        times.append((time.monotonic() - self.started, f"{suite_name} {test.id()}"))


times, suite_name = [], ""


def tests_of(module, classes, wanted):
    """The classes of IN_ORDER, whatever file they are from, or all. The fixture of the module holds for all of them."""
    loader = unittest.defaultTestLoader
    cases = getattr(module, "IN_ORDER", None) or [
        value for value in vars(module).values() if isinstance(value, type) and issubclass(value, unittest.TestCase)
        and value.__module__ == module.__name__]
    tests = unittest.TestSuite()
    for case in cases:
        if classes and case.__name__ not in classes:
            continue
        # unittest ends a module's fixture with its last test: let all belong to this one.
        case.__module__ = module.__name__
        tests.addTests(test for test in loader.loadTestsFromTestCase(case)
                       if not wanted or any(part in test.id() for part in wanted))
    return tests


def run_suite(lab, wanted, name, file, classes=""):
    import labtest  # it needs the guest to be there
    global suite_name
    suite_name, start, used = name, time.monotonic(), processor_seconds(lab.process.pid)
    labtest.daemons.clear()
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Result).run(
        tests_of(importlib.import_module(file.removesuffix(".py")), classes.split(",") if classes else (), wanted))
    for daemon, running in labtest.daemons.items() if not result.wasSuccessful() else ():
        print(f"--- end of the log of the daemon `{daemon}`:\n{running.log.read_text()[-3000:]}")
    for test, reason in result.skipped:
        print(f"SKIPPED {test.id()}: {reason}")
    used = processor_seconds(lab.process.pid) - used
    print(f"lab: suite {name}: {time.monotonic() - start:.0f} s, processor {used:.0f} s", flush=True)
    # A suite that skips itself as a whole has run no test, and has said why.
    return result.wasSuccessful() and any((result.testsRun, result.skipped, wanted))


def reset(guests, fabric):
    """What one suite leaves behind is no business of the next."""
    for guest in guests:
        for pid in guest.agent.children():
            try:
                guest.os.kill(pid, 9)
            except ProcessLookupError:
                pass
        for action in (["down"], ["up", fabric]):
            guest.kernel.run("/repo/tests/lab/guest/fabric.sh", *action, timeout=120)


def check_clock(guest):
    """In a guest whose clock is wrong, timeouts end too early, whatever is tested. A guest with --icount stands still
    while it waits, so its clock may be slow."""
    here, there = time.monotonic(), guest.time.monotonic()
    time.sleep(1)
    there = guest.time.monotonic() - there
    here = time.monotonic() - here
    if there > 1.5 * here:
        raise SystemExit(f"lab: in {here:.1f} s the guest's clock went on by {there:.1f} s")


def interrupt(*_):
    raise KeyboardInterrupt  # the only exception that unittest does not take for a test's failure


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--option", action="append", default=[], help="for scripts/lab")
    parser.add_argument("--only", action="append", default=[], help="part of the names of the tests to run")
    parser.add_argument("fabric")
    parser.add_argument("kernel")
    parser.add_argument("suites", nargs="+", metavar="SUITE=FILE[=CLASSES]")
    arguments = parser.parse_args()
    start = time.monotonic()
    signal.signal(signal.SIGTERM, interrupt)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    lab = Lab(arguments.fabric, arguments.kernel, arguments.option)
    remote.use(lab.guests[0])
    remote.guests = lab.guests
    print(f"lab: the guest is there after {time.monotonic() - start:.0f} s, kernel {lab.guests[0].os.uname().release}",
          flush=True)
    good = True
    try:
        for guest in lab.guests:
            check_clock(guest)
        for index, suite in enumerate(arguments.suites):
            if index:
                reset(lab.guests, arguments.fabric)
            good = run_suite(lab, arguments.only, *suite.split("=")) and good
        status = lab.end(0 if good and times else 1)
    finally:
        lab.remove()
    with open(os.environ.get("LAB_TIMES", os.devnull), "a") as file:
        file.writelines(f"{seconds:.1f}\t{name}\n" for seconds, name in times)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"lab: {arguments.fabric} on {arguments.kernel}: {time.monotonic() - start:.0f} s, "
          f"processor {used.ru_utime + used.ru_stime:.0f} s", flush=True)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(143)
