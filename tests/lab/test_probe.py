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
BUILDS = {
    "release": pathlib.Path(os.environ.get("RDMA_EXPORTER", REPO / "build/release/rdma_exporter")).parent,
    "asan": pathlib.Path(os.environ.get("ASAN_EXPORTER", "/nowhere")).parent,
}
CONNECTIONS = "ProbeVerbs.LeavesNothingBehindAfterManyConnections"


def run(build, tests):
    """Exit status."""
    return subprocess.run([BUILDS[build] / "tests/lab/probe_lab_test", "--gtest_color=no", f"--gtest_filter={tests}"],
                          check=False).returncode


class QueuePairs(unittest.TestCase):
    """The cases of probe_lab_test: both ends in one process, without a side channel."""

    def test_on_soft_roce(self):
        self.assertEqual(run("release", f"-{CONNECTIONS}"), 0)

    def test_many_connections(self):
        """Under the address sanitizer, where there is one: it also says what of this process is left."""
        build = "asan" if (BUILDS["asan"] / "tests/lab/probe_lab_test").is_file() else "release"
        self.assertEqual(run(build, CONNECTIONS), 0, build)


if __name__ == "__main__":
    if not pathlib.Path("/lab/version").exists():
        sys.exit("this runs in the lab's guest only: scripts/lab run --fabric tests/lab/test_probe.py")
    unittest.main(verbosity=2)
