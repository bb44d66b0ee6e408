# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""What the probe's alerts blame, in meshes with one fault each; docs/PROBE.md has the results of many more."""

import pathlib
import shutil
import sys
import unittest

from harness import REPOSITORY
from marks import slow

sys.path.insert(0, str(pathlib.Path(REPOSITORY, "tests/alerts")))
import votes  # noqa: E402


@slow(15)
@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
class Votes(unittest.TestCase):
    def test_each_fault_is_blamed_on_what_has_it_and_on_nothing_else(self):
        meshes = {f"{kind} {seed}": votes.Mesh(seed, kind) for kind in votes.KINDS for seed in range(2)}
        found = votes.alerts_of(meshes)
        self.assertTrue(any(mesh.expected for mesh in meshes.values()))
        for name, mesh in meshes.items():
            with self.subTest(mesh=name):
                self.assertEqual(found[name], mesh.expected)
