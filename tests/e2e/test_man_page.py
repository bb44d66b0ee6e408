# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The manual page and the completion of bash, which the program prints for the packages."""

import re
import shutil
import subprocess

from harness import TestCase, run


def help_entries():
    """What --help lists: flags, and commands where there are any."""
    return re.findall(r"^  (\S.*)$", run("--help").stdout, re.M)


def flags():
    return {flag for entry in help_entries() for flag in re.findall(r"--[\w.\[\]-]+", entry.split("  (")[0])}


class ManPage(TestCase):
    def setUp(self):
        super().setUp()
        self.man = shutil.which("man")
        if not self.man:
            self.skipTest("man is not installed")
        self.path = f"{self.folder}/rdma_exporter.1"
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(run("--describe=man").stdout)

    def render(self):
        done = subprocess.run([self.man, "--warnings=w", "-l", self.path], capture_output=True, text=True, check=False,
                              env={"LC_ALL": "C.UTF-8", "MANWIDTH": "300", "PATH": "/usr/bin:/bin"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_it_has_every_entry_of_the_help(self):
        page = re.sub(r"\s+", " ", self.render())
        entries = help_entries()
        self.assertGreater(len(entries), 50)
        for entry in entries:
            self.assertIn(f" {entry.split('  (')[0]} ", page)

    def test_it_has_the_parts_that_lintian_and_people_look_for(self):
        page = self.render()
        for part in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "SIGNALS", "EXIT STATUS", "FILES", "SEE ALSO"):
            self.assertIn(f"\n{part}\n", page)
        self.assertIn("rdma_exporter - ", page)


class Completion(TestCase):
    def setUp(self):
        super().setUp()
        self.script = f"{self.folder}/rdma_exporter"
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(run("--describe=bash-completion").stdout)

    def complete(self, *words):
        """What bash offers for the last word, as with readline's COMP_WORDBREAKS, of which "=" is one."""
        arguments = " ".join(f"'{word}'" for word in words)
        program = f"""
            source {self.script}
            compopt() {{ :; }}  # of a completion that is asked for by the keyboard
            COMP_WORDS=(rdma_exporter {arguments})
            COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _rdma_exporter rdma_exporter "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "--norc", "-euo", "pipefail", "-c", program], capture_output=True, text=True,
                              cwd=self.folder, check=False)
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split())

    def test_it_offers_every_flag(self):
        wanted = set()
        for flag in flags():
            wanted |= {flag.replace("[no-]", ""), flag.replace("[no-]", "no-")}
        self.assertGreater(len(wanted), 50)
        self.assertEqual({word.rstrip("=") for word in self.complete("--")}, wanted)

    def test_it_offers_commands_first_and_their_flags_behind_them(self):
        self.assertLessEqual({"capture", "doctor", "report"}, self.complete(""))
        self.assertEqual(self.complete("doc"), {"doctor"})
        self.assertEqual(self.complete("--once", "doc"), set())
        self.assertIn("--sample=", self.complete("doctor", "--sa"))
        self.assertEqual(self.complete("report", "--anonym"), set())  # of capture

    def test_a_flag_with_a_value_ends_in_an_equals_sign(self):
        self.assertEqual(self.complete("--web.telemetry"), {"--web.telemetry-path="})
        self.assertEqual(self.complete("--onc"), {"--once"})

    def test_it_offers_formats_and_files(self):
        self.assertEqual(self.complete("--describe", "="), {"markdown", "json", "man", "bash-completion"})
        self.assertEqual(self.complete("--describe", "=", "ma"), {"markdown", "man"})
        self.assertEqual(self.complete("--config.file", "=", "rdma"), {"rdma_exporter"})

    def test_what_it_offers_is_accepted(self):
        forms = self.complete("--describe", "=")
        self.assertGreater(len(forms), 2)
        for form in forms:
            self.assertEqual(run(f"--describe={form}").returncode, 0, form)
