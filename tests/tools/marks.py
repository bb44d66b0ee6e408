# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Marks of tests or test classes, for the runner (parallel_tests.py).

    @timing         asserts an upper bound on time, processor time or memory, or waits for something that has to happen
                    within a given time. It runs alone, after the others. Where the bounds are off, because other tests
                    run at the same time or a sanitizer slows the program down, the rest of what it asserts still holds.
    @timing_only    the same, but there is no rest: without its bounds it says nothing and is left out.
    @slow(seconds)  takes a second or more on an idle machine: `--quick` leaves it out. Long files start first.
"""

import os

BOUNDS = os.environ.get("TEST_BOUNDS", "on") == "on"
PATIENCE = 1 if BOUNDS else 3  # waiting for what comes for certain may take longer beside other tests


def timing(item):
    item.is_timing = True
    return item


def timing_only(item):
    item.is_timing_only = True
    return timing(item)


def slow(seconds):
    def mark(item):
        item.slow_seconds = seconds
        return item
    return mark


def of_test(test, name, default=False):
    """The mark of a test, or else of its class."""
    method = getattr(test, getattr(test, "_testMethodName", ""), None)
    return getattr(method, name, getattr(type(test), name, default))


def is_timing(test):
    return of_test(test, "is_timing")


def is_timing_only(test):
    return of_test(test, "is_timing_only")


def slow_seconds(test):
    return of_test(test, "slow_seconds", 0)
