# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Waiting, for the tests on the host and for programs in the guest."""

import time


def wait_for(condition, what, timeout=30):
    """For what comes for certain. Patient, because a guest beside others may get a tenth of a processor: what has to happen
    within a given time is asserted apart."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout} s: {what}")
        time.sleep(0.05)
