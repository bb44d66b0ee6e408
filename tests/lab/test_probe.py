#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The probe on a real kernel. The suite `probe` (tests/lab/run)."""

import os
import pathlib
import subprocess
import sys
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RDMA_EXPORTER", REPO / "build/release/rdma_exporter")).parent


class QueuePairs(unittest.TestCase):
    """The cases of probe_verbs_test.cpp: both ends in one process, without a side channel."""

    def test_on_soft_roce(self):
        binary = BUILD / "tests/lab/probe_lab_test"
        self.assertEqual(subprocess.run([binary, "--gtest_color=no"], check=False).returncode, 0)


if __name__ == "__main__":
    if not pathlib.Path("/lab/version").exists():
        sys.exit("this runs in the lab's guest only: scripts/lab run --fabric tests/lab/test_probe.py")
    unittest.main(verbosity=2)
