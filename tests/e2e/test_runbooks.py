# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Runbooks are read at night: each has the same sections, its commands run as they stand with the labels of the alert, and
what they name exists: tools, options, metrics, alerts, dashboards."""

import contextlib
import functools
import http.server
import pathlib
import re
import subprocess
import sys
import threading
import unittest

from harness import REPOSITORY

sys.path[:0] = [str(pathlib.Path(REPOSITORY, "tests", name)) for name in ("alerts", "dashboards")]
import cases  # noqa: E402
import manuals  # noqa: E402
import model  # noqa: E402
import runbooks  # noqa: E402

COMMON = runbooks.Runbook(runbooks.COMMON)
PAGE = pathlib.Path(REPOSITORY, "tests/alerts/scripted-lab.prom")
UNIT = pathlib.Path(REPOSITORY, "deploy/systemd/rdma_exporter.service").stem
OF_THE_SITE = {"prometheus", "alertmanager", "grafana"}
OF_A_DEVICE = {"device", "netdev", "port", "pci"}  # each follows from device or netdev: the common page shows how
FUNCTIONS = set(re.findall(r"(?m)^(\w+)\(\) \{", COMMON.text))
BUILTINS = {"echo"}


@functools.cache
def documented():
    """Names of all metrics in docs/METRICS.md."""
    return set(re.findall(r"`((?:rdma|process)_[a-z0-9_]+)`", pathlib.Path(REPOSITORY, "docs/METRICS.md").read_text()))


@functools.cache
def buckets():
    """Names of the series of its histograms."""
    text = pathlib.Path(REPOSITORY, "docs/METRICS.md").read_text(encoding="utf-8")
    return {f"{name}_bucket" for name in re.findall(r"`(rdma_[a-z0-9_]+)` \| histogram ", text)}


@functools.cache
def alert_labels():
    """{alert: labels that it has, as its cases show them}; a null in a case takes away one of the target's."""
    found = {}
    for alert, own in cases.all_cases().items():
        firing = [labels for case in own for labels in case.get("fires", [])]
        absent = {label for labels in firing for label, value in labels.items() if value is None}
        found[alert] = ({"job", "instance"} | {label for labels in firing for label in labels}) - absent
    return found


def known_variables(page):
    """What a shell has in which somebody pasted the labels of the alert and the lines of the common page."""
    labels = alert_labels()[page.name] | runbooks.assigned("\n".join(sum(page.blocks(), [])))
    if labels & {"device", "netdev"}:
        labels |= OF_A_DEVICE
    return labels | OF_THE_SITE | ({"host"} if "instance" in labels else set())


class EachPage(unittest.TestCase):
    """check(page) as a subtest of its own; there are some."""

    def each(self, check, pages=None):
        pages = pages or runbooks.pages()
        self.assertGreater(len(pages), 30)
        for page in pages:
            with self.subTest(runbook=page.name):
                check(page)


class Structure(EachPage):
    def test_every_alert_has_a_runbook_and_every_runbook_an_alert(self):
        self.assertEqual({page.name for page in runbooks.pages()}, set(cases.alert_rules()))

    def test_sections(self):
        def check(page):
            self.assertTrue(page.text.startswith(f"# {page.name}\n"))
            self.assertEqual(page.titles, runbooks.SECTIONS)
            self.assertNotIn("", page.sections.values(), "an empty section")

        self.each(check)

    def test_the_meaning_is_one_line(self):
        def check(page):
            self.assertNotIn("\n", page.meaning)
            self.assertLess(len(page.meaning), 150)
            self.assertRegex(page.meaning, r"^[A-Z0-9].*\.$")

        self.each(check)

    def test_lines_fit_a_screen(self):
        def check(page):
            for line in page.text.splitlines():
                self.assertTrue(len(line) <= 150 or line.startswith("|"), line)

        self.each(check)

    def test_decide_is_a_table(self):
        def check(page):
            head, rule, *rows = page.sections["Decide"].splitlines()
            self.assertEqual((head, rule), ("| You see | Then |", "|---|---|"))
            self.assertGreaterEqual(len(rows), 2, "nothing to decide")
            for row in rows:
                self.assertRegex(row, r"^\| [^|]+ \| [^|]+ \|$")

        self.each(check)

    def test_no_page_sends_to_another_and_says_nothing(self):
        self.each(lambda page: self.assertNotRegex(page.sections["Act"], r"(?m)\A(As|See|Follow) [^.]*\.\Z"))

    def test_links(self):
        def check(page):
            for target in re.findall(r"\]\(([^)\s]+)\)", page.text):
                path, _, anchor = target.partition("#")
                file = (page.path.parent / path).resolve() if path else page.path
                self.assertTrue(file.is_file(), target)
                if anchor:
                    titles = re.findall(r"(?m)^#+ (.+)$", file.read_text(encoding="utf-8"))
                    self.assertIn(anchor, [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles])

        self.each(check, [*runbooks.pages(), COMMON])

    def test_related_alerts_say_why(self):
        def check(page):
            related = re.findall(r"(?m)^- \[(Rdma\w+)\]\((Rdma\w+)\.md\): \S", page.sections["Related alerts"])
            self.assertTrue(related)
            for shown, target in related:
                self.assertEqual(shown, target)
                self.assertNotEqual(target, page.name)

        self.each(check)

    def test_alerts_and_metrics_exist(self):
        """Recording rules are left out on purpose: a query works where nobody has loaded them."""
        checked = set()

        def check(page):
            self.assertLessEqual(set(re.findall(r"\bRdma[A-Z]\w+", page.text)), set(cases.alert_rules()))
            self.assertEqual(re.findall(r"\brdma:\w+", page.text), [], "of a recording rule")
            named = set(re.findall(r"\brdma_[a-z0-9_]+\b", page.text)) - {UNIT, "rdma_cm", "rdma_rxe", "rdma_mtu"}
            checked.update(named)
            self.assertEqual(named - documented() - buckets(), set())

        self.each(check)
        self.assertGreater(len(checked), 50)


class Commands(EachPage):
    def all_commands(self):
        return [(page, words) for page in (*runbooks.pages(), COMMON) for words in page.commands()]

    def test_a_shell_takes_them(self):
        text = "\n".join(line for page in (*runbooks.pages(), COMMON) for block in page.blocks() for line in block)
        done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_each_answer_has_a_good_and_a_bad_one(self):
        def check(page):
            lines = [line for block in page.blocks("Confirm") for line in block]
            self.assertGreaterEqual(len(lines), 6, "two ways to look at least")
            for command, good, bad in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
                self.assertFalse(command.startswith("#"), command)
                self.assertRegex(good, r"^# good: \S")
                self.assertRegex(bad, r"^# bad:  \S")

        self.each(check)

    def test_they_take_the_labels_of_the_alert(self):
        def check(page):
            used = {name for block in page.blocks() for line in block for name in runbooks.VARIABLE.findall(line)}
            self.assertLessEqual(used, known_variables(page))
            text = "\n".join(line for block in page.blocks("Confirm") for line in block if not line.startswith("#"))
            self.assertNotRegex(text, r"\b(DEVICE|NETDEV|INSTANCE|PORT|PCI|HOST)\b", "to be mapped by hand")

        self.each(check)

    def test_tools_are_known(self):
        known = set(manuals.PACKAGES) | set(manuals.EXEMPT) | FUNCTIONS | BUILTINS
        self.assertLessEqual({words[0] for _, words in self.all_commands()}, known)

    def test_every_option_and_word_is_in_the_manual(self):
        """A word without quotes is one of the tool's own: an option, an object, a keyword."""
        checked, missing = 0, set()
        for page, words in self.all_commands():
            tool, *rest = words
            if tool in FUNCTIONS | BUILTINS or (tool in manuals.EXEMPT and tool != "rdma_exporter"):
                continue
            if not manuals.is_installed(tool):
                missing.add(f"{tool} ({manuals.PACKAGES[tool]})")
                continue
            objects = tuple(word for word in rest if not word.startswith("-") and not runbooks.is_value(word))
            text = manuals.text_of(tool, objects if tool in (*manuals.PAGE_OF_OBJECT, *manuals.HELP_OF_OBJECT) else ())
            with self.subTest(runbook=page.name, command=" ".join(words)):
                self.assertGreater(len(text), 200, "it says nothing of itself")
                for word in checkable(tool, rest):
                    checked += 1
                    self.assertTrue(manuals.knows(text, word), word)
        self.assertGreater(checked, 100)
        if missing:
            self.skipTest(f"not installed: {', '.join(sorted(missing))}")

    def test_an_option_that_does_not_exist_is_found(self):
        """Proof that the check above can fail."""
        for command in ("ethtool --show-fex eth0", "ip link show devise eth0", "rdma resource lst", "grep --onlymatching x"):
            tool, *rest = command.split()
            text = manuals.text_of(tool, tuple(rest[:2]))
            self.assertFalse(all(manuals.knows(text, word) for word in checkable(tool, rest)), command)

    def test_the_unit_is_ours(self):
        def check(page):
            units = [words[words.index("-u") + 1] for words in page.commands() if words[0] == "journalctl" and "-u" in words]
            units += [words[2] for words in page.commands() if words[0] == "systemctl"]
            self.assertLessEqual(set(units), {UNIT})

        self.each(check)


def checkable(tool, words):
    """Options of any tool; of those with objects and keywords, every word that is no value."""
    own = [word for word in words if not runbooks.is_value(word.partition("=")[0] if word.startswith("-") else word)]
    if tool in manuals.PAGE_OF_OBJECT:
        return own
    return [word for word in own if word.startswith("-") and word != "-"]


class Dashboards(EachPage):
    def test_links_carry_the_labels(self):
        boards = {board.data["uid"]: board for board in model.dashboards()}

        def check(page):
            (line,), = page.blocks("Dashboard")
            uid, query = re.fullmatch(r'echo "\$grafana/d/([\w-]+)\??([^"]*)"', line).groups()
            self.assertIn(uid, boards)
            for variable, label in (pair.split("=") for pair in query.split("&") if pair):
                self.assertEqual(f"${variable.removeprefix('var-')}", label)
                self.assertIn(variable.removeprefix("var-"), boards[uid].variables)
                self.assertIn(label[1:], known_variables(page))
            if "instance" in alert_labels()[page.name] and uid in ("rdma-host", "rdma-port"):
                self.assertIn("var-instance=$instance", query)

        self.each(check)

    def test_they_name_panels_that_exist(self):
        titles = {board.data["title"]: {panel.title for panel in board.panels} for board in model.dashboards()}

        def check(page):
            board, text = re.search(r"(?ms)^(RDMA / [\w ]+): (.*)", page.sections["Dashboard"]).groups()
            named = {" ".join(title.split()) for title in re.findall(r"\*\*([^*]+)\*\*", text)}
            self.assertTrue(named)
            self.assertLessEqual(named, titles[board])

        self.each(check)


@contextlib.contextmanager
def served(page):
    """host:port of a server that answers with this page."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


class CommonPage(unittest.TestCase):
    def filled_in(self, labels):
        """{variable: value} after the lines of the common page, on a page that the exporter served in the lab."""
        block, = [block for block in COMMON.blocks() if any(line.startswith("metrics()") for line in block)]
        with served(PAGE.read_bytes()) as instance:
            given = "".join(f'{name}="{value}"\n' for name, value in {"instance": instance, **labels}.items())
            script = given + "\n".join(block) + '\nprintf "%s\\n" "$device" "$netdev" "$port" "$pci"\n'
            done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        return dict(zip(("device", "netdev", "port", "pci"), done.stdout.split("\n")))

    def test_nothing_is_mapped_by_hand(self):
        """An alert has the device or the interface; commands need both, and the address on the bus."""
        text = PAGE.read_text()
        known = re.search(r'rdma_netdev_info\{device="(\w+)",port="(\d+)",netdev="(\w+)"', text)
        device, port, netdev = known.groups()
        pci = re.search(rf'rdma_device_info\{{device="{device}".*?pci_address="([^"]*)"', text)[1]
        everything = {"device": device, "netdev": netdev, "port": port, "pci": pci}
        self.assertTrue(all(everything.values()), everything)
        self.assertEqual(self.filled_in({"netdev": netdev}), everything)
        self.assertEqual(self.filled_in({"device": device, "port": port}), everything)


if __name__ == "__main__":
    unittest.main()
