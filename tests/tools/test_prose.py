# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The check of prose finds each kind of fault, at its line, and nothing in code or in plain English."""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("prose")
FAULTY = """# One page

The counter recieves what is sent.

It runs for ever.

The page is is short.

The driver was
asked again after a minute.

The color is red. Who comes late waits.

`for ever`, [here](recieve.md)

    it recieves anew
"""
PLAIN = """The file is there to read. Who pauses the fabric? The host that had been paused.

What do you see besides the port? The unit says who can do what. The exporter cannot tell whether it works.
"""


def load():
    loader = importlib.machinery.SourceFileLoader("prose", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("prose", loader))
    loader.exec_module(module)
    return module


@unittest.skipUnless(shutil.which("codespell"), "codespell is not installed")
class Prose(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.prose = load()

    def page(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_finds_each_kind_at_its_line_and_leaves_code_out(self):
        pages = [self.page("plain.md", "Plain.\n"), self.page("faulty.md", FAULTY)]
        found = self.prose.faults(pages)
        self.assertEqual({(page.name, line) for page, line, _ in found},
                         {("faulty.md", line) for line in (3, 5, 7, 9, 12)}, found)

    def test_reads_the_texts_of_dashboards_and_the_comments_of_configurations(self):
        board = self.page("board.json", '  "title": "Who is paused",\n  "description": "It runs in vain.",\n  "expr": "in vain"\n')
        rules = self.page("rules.yml", "expr: in vain\n# It runs in vain.\nsummary: The link of {{ $labels.a }} goes on.\n")
        found = self.prose.faults([board, rules])
        self.assertEqual([(page.name, line) for page, line, _ in found], [("board.json", 2), ("rules.yml", 2), ("rules.yml", 3)])

    def test_every_place_of_comments_has_files(self):
        self.assertTrue(self.prose.COMMENTED)
        for glob in self.prose.COMMENTED:
            with self.subTest(glob=glob):
                self.assertTrue(self.prose.commented(glob))

    def test_finds_nothing_in_plain_english(self):
        self.assertEqual(self.prose.faults([self.page("plain.md", PLAIN)]), [])


if __name__ == "__main__":
    unittest.main()
