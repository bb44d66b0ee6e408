# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Documents are correct: marked commands run as written and print what the page shows, the metrics that they name exist, and
the README's questions have the answers that it gives.

    <!-- run -->                    the code block below runs in the top folder and ends with 0
    <!-- run: exit status 2 -->     the same, with another exit status
    <!-- output -->                 each line of the block below was printed by the commands above
"""

import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import BINARY, REPOSITORY

sys.path[:0] = [str(pathlib.Path(REPOSITORY, "tests", name)) for name in ("alerts", "dashboards")]
import store  # noqa: E402
from marks import slow  # noqa: E402

TOP = pathlib.Path(REPOSITORY)
README = TOP / "README.md"
MARK = re.compile(r"<!-- (run|output)(?:: exit status (\d+))? -->")
BUILT = "build/release/rdma_exporter"
GENERATED = {"METRICS.md"}
GENERATED_BLOCK = re.compile(r"<!-- begin .*?<!-- end [^\n]*", re.S)
LONGEST = 300  # lines of a page written by hand
OTHER_NAMES = {"CHANGELOG.md", "COMPATIBILITY.md", "MIGRATION.md"}  # pages with metrics of other programs, or earlier names
METRIC = re.compile(r"(?<![\w:])rdma_\w+\*?")  # the colon: a recorded series, such as port:rdma_port_up:down
# Programs, modules, functions, checks, variables of the Ansible role, an example, the beginning of names for grep.
NO_METRICS = {"rdma_exporter", "rdma_exporter_test", "rdma_exporter_compile_apart", "rdma_exporter_config",
              "rdma_exporter_package", "rdma_exporter_probe_secret", "rdma_cm", "rdma_ucm", "rdma_rxe", "rdma_hw_stats",
              "rdma_mtu", "rdma_x", "rdma_x_total", "rdma_port"}
FEWEST_NAMES = 600  # names of metrics in all pages: below that they are no longer found
FEWEST = 7  # marked blocks in all documents: below that the marks are no longer found


def documents():
    return sorted([*TOP.glob("*.md"), *TOP.glob("docs/*.md"), *TOP.glob("alerts/runbooks/*.md")])


def code(lines):
    """The lines of an indented or fenced block without what marks it as one, of which the first line is the block's."""
    if lines[0].startswith("```"):
        return lines[1:lines.index("```", 1)]
    return [line[4:] for line in itertools.takewhile(lambda line: line.startswith("    "), lines)]


def marked_blocks(document):
    """[(run or output, exit status, lines)] in the order of a document."""
    lines = document.read_text(encoding="utf-8").splitlines()
    marks = [(number, MARK.fullmatch(line)) for number, line in enumerate(lines)]
    return [(mark[1], int(mark[2] or 0), code(lines[number + 1:])) for number, mark in marks if mark]


def run(lines):
    """As a reader would, with the program under test in the place of the one that was built."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TMPDIR": folder}
        script = "set -o pipefail\n" + "\n".join(lines).replace(BUILT, BINARY)
        return subprocess.run(["bash", "-c", script], cwd=TOP, env=environment, capture_output=True, text=True, timeout=60,
                              check=False)


def missing_tool(lines):
    """A program that a block needs and this machine does not have."""
    first = (line.split()[0] for line in lines if line.strip() and not line.startswith("#"))
    return next((word for word in first if "/" not in word and not shutil.which(word)), None)


class MarkedCommands(unittest.TestCase):
    def test_they_run_and_print_what_the_page_shows(self):
        found = 0
        for document in documents():
            printed = ""
            for kind, status, lines in marked_blocks(document):
                found += 1
                with self.subTest(document=document.name, lines=lines[0]):
                    if kind == "output":
                        self.assertEqual(set(lines) - set(printed.splitlines()), set())
                        continue
                    if tool := missing_tool(lines):
                        self.skipTest(f"{tool} is not installed")
                    done = run(lines)
                    self.assertEqual(done.returncode, status, done.stderr[-2000:])
                    printed = done.stdout
                    self.assertTrue(printed + done.stderr)
        self.assertGreaterEqual(found, FEWEST)


class Pages(unittest.TestCase):
    def test_no_page_written_by_hand_is_long(self):
        for document in documents():
            text = GENERATED_BLOCK.sub("", document.read_text(encoding="utf-8"))
            if document.name not in GENERATED:
                with self.subTest(document=document.name):
                    self.assertLessEqual(len(text.splitlines()), LONGEST)


class Names(unittest.TestCase):
    def test_metrics_that_pages_name_exist(self):
        described = subprocess.run([BINARY, "--describe=json"], check=True, capture_output=True, text=True).stdout
        known = {metric["name"] + suffix for metric in json.loads(described)["metrics"]
                 for suffix in ("", *(("_bucket", "_sum", "_count") if metric["type"] == "histogram" else ()))}

        def exists(name):
            return name in known or name[-1] in "_*" and any(one.startswith(name.rstrip("*")) for one in known)
        found = 0
        for document in documents():
            if document.name in OTHER_NAMES | GENERATED:
                continue
            named = [name for name in METRIC.findall(document.read_text(encoding="utf-8")) if name not in NO_METRICS]
            found += len(named)
            with self.subTest(document=document.name):
                self.assertEqual({name for name in named if not exists(name)}, set())
        self.assertGreaterEqual(found, FEWEST_NAMES)


class Readme(unittest.TestCase):
    def test_fits_three_screens_and_says_first_what_it_was_not_tested_on(self):
        lines = README.read_text(encoding="utf-8").splitlines()
        self.assertLessEqual(len(lines), 150)
        top = "\n".join(lines[:11])
        self.assertIn("not yet run on a physical RDMA adapter", top)
        self.assertIn("rdma_exporter capture", top)

    @slow(4)
    @unittest.skipUnless(shutil.which("prometheus"), "prometheus is not installed")
    def test_questions_have_the_answers_that_it_gives(self):
        text = README.read_text(encoding="utf-8")
        table = re.search(r"<!-- questions -->\n(.*?)<!-- /questions -->", text, re.S)[1]
        rows = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table.splitlines()[2:]]
        self.assertEqual(len(rows), 5)
        with store.server() as server:
            for question, query, answer in rows:
                with self.subTest(question=question):
                    result = server.api("query", query=query.strip("`"), time=server.span.storm_end)["result"]
                    self.assertEqual(len(result), 1, result)
                    values = {value.removesuffix(":9400") for value in result[0]["metric"].values()}
                    self.assertLessEqual(set(re.findall(r"`([^`]+)`", answer)), values)
                    number = re.findall(r"(?<![`\w.])\d+(?:\.\d+)?", re.sub(r"`[^`]+`", "", answer))[-1]
                    digits = len(number.partition(".")[2])
                    self.assertEqual(float(number), round(float(result[0]["value"][1]), digits))


if __name__ == "__main__":
    unittest.main()
