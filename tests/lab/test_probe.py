# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The probe on a real kernel. The suite `probe` (tests/lab/run)."""

import unittest

from guest import Path, os, subprocess

PROGRAM = "tests/lab/probe_lab_test"
CONNECTIONS = "ProbeVerbs.LeavesNothingBehindAfterManyConnections"


def build():
    """The folder of the build with the address sanitizer: it also says what of this process is left."""
    return Path(os.environ.get("ASAN_EXPORTER", "/nowhere")).parent


class QueuePairs(unittest.TestCase):
    """The cases of probe_lab_test: both ends in one process, without a side channel."""

    def run_cases(self, wanted):
        if not (build() / PROGRAM).is_file():
            self.skipTest(f"no build/asan/{PROGRAM}")
        done = subprocess.run([build() / PROGRAM, "--gtest_color=no", f"--gtest_filter={wanted}"], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(done.stdout)
        self.assertEqual(done.returncode, 0)

    def test_on_soft_roce(self):
        self.run_cases(f"-{CONNECTIONS}")

    def test_many_connections(self):
        self.run_cases(CONNECTIONS)
