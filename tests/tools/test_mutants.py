# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The lists of single faults in tests/tools/mutants fit the sources; whether tests find them is for the long run."""

import os
import subprocess
import unittest

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mutants", "run")


class Mutants(unittest.TestCase):
    def test_each_fault_applies_to_one_place(self):
        done = subprocess.run([RUN, "--check"], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertGreaterEqual(int(done.stdout.split("\n")[-2].split()[0]), 200)

    def test_an_unknown_name_is_refused(self):
        done = subprocess.run([RUN, "--check", "no-such-fault"], stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
