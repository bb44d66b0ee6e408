# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""config/rdma_exporter.yml shows every key, and its value is the default. UPDATE_GOLDEN=1 (scripts/regenerate) adds the keys
of new collectors, with their line of --help as the comment."""

import os
import re
import textwrap
import unittest

import yaml

from harness import REPOSITORY, run

EXAMPLE = os.path.join(REPOSITORY, "config", "rdma_exporter.yml")


def flat(node, path=()):
    """{(key, key, ...): value} of nested mappings."""
    if not isinstance(node, dict):
        return {path: node}
    return {leaf: value for key, child in node.items() for leaf, value in flat(child, (*path, key)).items()}


def add_new_collectors():
    """Adds those that it lacks, in the order of the alphabet."""
    with open(EXAMPLE, encoding="utf-8") as file:
        head, _, tail = file.read().partition("\ncollector:\n")
    blocks = re.findall(r"(?:  #.*\n)+  \w+:\n(?:    .*\n)+", tail)
    names = [re.search(r"^  (\w+):$", block, re.M)[1] for block in blocks]
    assert "".join(blocks) == tail, "what follows the collectors is not theirs"
    helps = dict(re.findall(r"--\[no-\]collector\.(\w+) .*\n +(.*)\n", run("--help").stdout))
    for name, settings in yaml.safe_load(run("--print-config").stdout)["collector"].items():
        if name not in names:
            comment = textwrap.fill(helps[name], 125, initial_indent="  # ", subsequent_indent="  # ")
            keys = yaml.safe_dump({name: settings}, sort_keys=False)
            at = next((i for i, other in enumerate(names) if other > name), len(names))
            blocks.insert(at, comment + "\n" + textwrap.indent(keys, "  "))
            names.insert(at, name)
    with open(EXAMPLE, "w", encoding="utf-8") as file:
        file.write(head + "\ncollector:\n" + "".join(blocks))


class ExampleConfig(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if os.environ.get("UPDATE_GOLDEN"):
            add_new_collectors()

    def test_the_daemon_accepts_it(self):
        done = run(f"--config.file={EXAMPLE}", "--check-config")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_it_has_every_key_with_its_default_and_no_other(self):
        """Read by another YAML reader too: one that takes `off` or a bare time for something else would differ."""
        with open(EXAMPLE, encoding="utf-8") as file:
            shown = flat(yaml.safe_load(file))
        wanted = flat(yaml.safe_load(run("--print-config").stdout))
        self.assertEqual([".".join(key) for key in wanted.keys() - shown.keys()], [],
                         "keys that it lacks: scripts/regenerate adds those of a new collector, others are added by hand")
        self.assertEqual(shown, wanted)

    def test_it_changes_nothing(self):
        defaults = run("--print-config")
        self.assertEqual(defaults.returncode, 0, defaults.stderr)
        self.assertIn("listen_address", defaults.stdout)
        self.assertEqual(run(f"--config.file={EXAMPLE}", "--print-config").stdout, defaults.stdout)
