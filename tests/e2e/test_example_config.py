# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""config/rdma_exporter.yml shows every key, and its value is the default."""

import os
import unittest

import yaml

from harness import REPOSITORY, run

EXAMPLE = os.path.join(REPOSITORY, "config", "rdma_exporter.yml")


def flat(node, path=()):
    """{(key, key, ...): value} of nested mappings."""
    if not isinstance(node, dict):
        return {path: node}
    return {leaf: value for key, child in node.items() for leaf, value in flat(child, (*path, key)).items()}


class ExampleConfig(unittest.TestCase):
    maxDiff = None

    def test_the_daemon_accepts_it(self):
        done = run(f"--config.file={EXAMPLE}", "--check-config")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_it_has_every_key_with_its_default_and_no_other(self):
        """Read by another YAML reader too: one that takes `off` or a bare time for something else would differ."""
        with open(EXAMPLE, encoding="utf-8") as file:
            shown = flat(yaml.safe_load(file))
        self.assertEqual(shown, flat(yaml.safe_load(run("--print-config").stdout)))

    def test_it_changes_nothing(self):
        defaults = run("--print-config")
        self.assertEqual(defaults.returncode, 0, defaults.stderr)
        self.assertIn("listen_address", defaults.stdout)
        self.assertEqual(run(f"--config.file={EXAMPLE}", "--print-config").stdout, defaults.stdout)
