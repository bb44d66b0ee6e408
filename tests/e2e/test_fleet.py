# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The command fleet: whether it finds the fault of a fabric and nothing else, and how it handles a faulty server."""

import collections
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import threading
import time

import yaml

import harness
import web_files
from harness import TestCase, run
from marks import slow
from prometheus_server import PROMETHEUS, Server

import fabric
import fabric_answers

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "dashboards"))
import store  # noqa: E402

SEEDS = int(os.environ.get("FLEET_SEEDS", "28"))  # 300 for the table of docs/FLEET.md
FIRST = int(os.environ.get("FLEET_FIRST_SEED", "0"))
HOSTS = int(os.environ.get("FLEET_HOSTS", "512"))
HEALTHY = SEEDS // 3
REAL_HOSTS = int(os.environ.get("FLEET_REAL_HOSTS", "64"))  # of each fabric that a real Prometheus has
# Share of the hosts that a job keeps busy at once.
BUSY = (0, 1 / 16, 1 / 8, 1 / 4)
ALL_BUSY = (*BUSY, 1 / 2, 1)
AT = 1_700_000_040
GOAL = collections.defaultdict(lambda: 0.95, {kind: 0.99 for kind in (
    "nic_dead", "host_dead", "leaf_dead", "mtu", "pcie", "storm")})


def analysed(url, *flags, at=AT):
    """(exit status, document)"""
    done = run("fleet", f"--prometheus.url={url}", "--format=json", f"--at={at}", *flags, timeout=120)
    if done.returncode not in (0, 1, 2):
        raise AssertionError(f"{done.returncode}: {done.stderr}")
    return done.returncode, json.loads(done.stdout)


def is_about(problem, truth):
    kind, parts = fabric.EXPECTED[truth.kind]
    wanted = truth._asdict()
    return problem["kind"] == kind and all(problem["component"][part] == wanted[part] for part in parts.split())


def matched(problems, truths):
    """(found, missed truths, false problems): those above info."""
    problems = [problem for problem in problems if problem["severity"] != "info"]
    found = [truth for truth in truths if any(is_about(problem, truth) for problem in problems)]
    false = [problem for problem in problems if not any(is_about(problem, truth) for truth in truths)]
    return found, [truth for truth in truths if truth not in found], false


class Tally:
    def __init__(self):
        self.found, self.missed, self.false = (collections.Counter() for _ in range(3))
        self.seen = []

    def add(self, seed, problems, truths):
        found, missed, false = matched(problems, truths)
        self.found.update(truth.kind for truth in found)
        self.missed.update(truth.kind for truth in missed)
        of_kind = {kind: fault for fault, (kind, _) in fabric.EXPECTED.items()}
        self.false.update(of_kind.get(problem["kind"], problem["kind"]) for problem in false)
        if missed or false:
            self.seen.append((seed, [tuple(truth) for truth in truths], [problem["id"] for problem in false]))

    def rates(self):
        for kind in fabric.KINDS:
            found, false = self.found[kind], self.false[kind]
            yield kind, found / max(1, found + self.missed[kind]), found / max(1, found + false)

    def table(self):
        return "\n".join(f"| {kind} | {self.found[kind] + self.missed[kind]} | {precision:.3f} | {recall:.3f} |"
                         for kind, recall, precision in self.rates())


class WithApi(TestCase):
    def setUp(self):
        super().setUp()
        self.api = fabric_answers.Api()
        self.addCleanup(self.api.close)

    def analyse(self, made, *flags):
        self.api.answer = fabric_answers.Answers(made).rows
        return analysed(self.api.url, *flags)


class FindsTheFault(WithApi):
    @slow(40)
    def test_with_one_or_two_at_once_in_noise(self):
        tally = Tally()
        for seed in range(FIRST, FIRST + SEEDS):
            faults = [fabric.KINDS[seed % len(fabric.KINDS)]]
            if seed - FIRST >= SEEDS * 2 // 3:  # a second one, of another kind
                faults.append(fabric.KINDS[(seed * 5 + 3) % len(fabric.KINDS)])
            made = fabric.Fabric(HOSTS, seed, dict.fromkeys(faults), busy=BUSY[seed // len(fabric.KINDS) % len(BUSY)])
            tally.add(seed, self.analyse(made)[1]["problems"], made.truth)
        if SEEDS >= 100:
            print(f"\n{tally.table()}\n" + "\n".join(map(str, tally.seen)))
        for kind, recall, precision in tally.rates():
            self.assertGreaterEqual(min(recall, precision), GOAL[kind], f"{kind}: {tally.seen}")
        strange = set(tally.false) - set(fabric.KINDS)
        self.assertEqual(strange, set(), tally.seen)

    @slow(9)
    def test_and_nothing_above_info_where_there_is_none(self):
        for seed in range(FIRST + 1000, FIRST + 1000 + HEALTHY):
            status, document = self.analyse(fabric.Fabric(HOSTS, seed, busy=ALL_BUSY[seed % len(ALL_BUSY)]))
            self.assertEqual((status, matched(document["problems"], [])[2]), (0, []), seed)
            self.assertTrue(all(check["state"] == "done" for check in document["checks"]), document["checks"])

    def test_by_leaves_that_discovery_knows(self):
        for seed, fault in enumerate(("leaf_dead", "uplink_dead")):
            made = fabric.Fabric(128, seed, [fault], leaves="discovery")
            document = self.analyse(made)[1]
            self.assertEqual(matched(document["problems"], made.truth)[1:], ([], []), fault)
            self.assertNotIn("leaves and uplinks", [check["name"] for check in document["checks"]])

    def test_and_a_roll_out_is_none(self):
        status, document = self.analyse(fabric.Fabric(64, 1, ["roll_out"]))
        self.assertEqual(status, 0)
        self.assertIn(("firmware_differs", "info"), {(one["kind"], one["severity"]) for one in document["problems"]})


class SaysWhatItCannotKnow(WithApi):
    def broken(self, answer, timeout="20s"):
        self.api.answer = answer if callable(answer) else lambda _: answer
        return run("fleet", f"--prometheus.url={self.api.url}", f"--timeout={timeout}", timeout=60)

    def test_an_answer_that_is_none_is_exit_status_69(self):
        error = json.dumps({"status": "error", "errorType": "execution", "error": "query processing would load too many samples"}).encode()
        whole = b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{"instance":"a"},"value":[1,"1"]}]}}'
        for answer, word in {
                (401, "text/plain", b"no"): "401", (200, "text/html", b"<html>log in</html>"): "text/html",
                (422, "application/json", error): "too many samples", (503, "text/plain", b"busy"): "503",
                (200, "application/json", whole[:40]): "cut short", (200, "application/json", b"[1]"): "not an answer of a Prometheus API",
                (200, "application/json", whole.replace(b'"1"]', b'"x"]')): "not a number",
                (200, "application/json", b"[" * 100_000): "nested"}.items():
            done = self.broken(answer)
            self.assertEqual(done.returncode, 69, (answer, done.stderr))
            self.assertIn(word, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_no_rdma_data_is_exit_status_69(self):
        done = self.broken([])
        self.assertEqual(done.returncode, 69)
        self.assertIn("no RDMA data", done.stderr)

    def test_nobody_there_is_exit_status_69(self):
        done = run("fleet", "--prometheus.url=http://127.0.0.1:1", timeout=30)
        self.assertEqual(done.returncode, 69)
        self.assertIn("ECONNREFUSED", done.stderr)

    def test_a_server_that_says_nothing_does_not_hold_it_up(self):
        gate = threading.Event()
        self.addCleanup(gate.set)
        done = self.broken(lambda _: gate.wait(60) and [], "300ms")
        self.assertEqual(done.returncode, 69)
        self.assertRegex(done.stderr, "no answer in time|ETIMEDOUT")

    def test_a_query_that_fails_is_said_and_never_exit_status_0(self):
        whole = fabric_answers.Answers(fabric.Fabric(64, 1, noise=False)).rows
        done = self.broken(lambda table: (503, "text/plain", b"busy") if table == "failing_paths" else whole(table))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("probed paths: incomplete", done.stdout)
        self.assertIn("Nothing found, but not everything could be examined", done.stdout)

    def test_a_warning_of_the_server_is_said_and_never_exit_status_0(self):
        whole = fabric_answers.Answers(fabric.Fabric(64, 1)).rows

        def answer(table):
            result = [{"metric": labels, "value": [0, str(value)]} for labels, value in whole(table)]
            return 200, "application/json", json.dumps({"status": "success", "warnings": ["store gone"], "data": {
                "resultType": "vector", "result": result}}).encode()
        done = self.broken(answer)
        self.assertEqual(done.returncode, 1)
        self.assertIn("store gone", done.stdout)

    def test_no_units_means_no_leaves_and_it_says_so(self):
        whole = fabric_answers.Answers(fabric.Fabric(64, 1)).rows
        done = self.broken(lambda table: [({key: text for key, text in labels.items() if key != "su"}, value)
                                          for labels, value in whole(table)])
        self.assertIn("leaves and uplinks: no data", done.stdout)

    def test_wrong_usage_is_exit_status_64(self):
        for flags, word in {(): "--prometheus.url", ("--prometheus.url=ftp://x",): "http://",
                            ("--prometheus.url=http://u:p@x",): "user name", ("--prometheus.url=http://x", "--at=yesterday"): "--at",
                            ("--prometheus.url=http://x", "--selector={a=\"b\"}"): "--selector",
                            ("--prometheus.url=http://x", "--http.config.file=/nowhere"): "/nowhere"}.items():
            done = run("fleet", *flags, timeout=30)
            self.assertEqual(done.returncode, 64, done.stderr)
            self.assertIn(word, done.stderr)


class SaysWhoAsks(WithApi):
    def config(self, text):
        with open(f"{self.folder}/client.yml", "w", encoding="ascii") as file:
            file.write(text)
        return f"--http.config.file={self.folder}/client.yml"

    def headers(self, text):
        self.api.answer = fabric_answers.Answers(fabric.Fabric(16, 1)).rows
        analysed(self.api.url, self.config(text))
        return self.api.headers[-1]

    def test_with_a_password_or_a_token_of_a_file(self):
        with open(f"{self.folder}/secret", "w", encoding="ascii") as file:
            file.write("s3cret\n")
        basic = self.headers("basic_auth: {username: sre, password_file: secret}\n")
        self.assertEqual(basic["Authorization"], harness.basic_auth("sre:s3cret")["Authorization"])
        token = self.headers("authorization: {credentials_file: secret}\nhttp_headers: {X-Scope-OrgID: {values: [gpu]}}\n")
        self.assertEqual((token["Authorization"], token["X-Scope-OrgID"]), ("Bearer s3cret", "gpu"))

    def test_over_tls_with_a_certificate(self):
        if not web_files.OPENSSL:
            self.skipTest("openssl is not installed")
        authority = web_files.Authority(self.folder)
        server, _ = authority.issue("server"), authority.issue("sre")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority.cert)
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(server.cert, server.key)
        self.api.server.socket = context.wrap_socket(self.api.server.socket, server_side=True)
        self.api.answer = fabric_answers.Answers(fabric.Fabric(16, 1)).rows
        url = self.api.url.replace("http:", "https:")
        trust, mine = "ca_file: ca.pem", "cert_file: sre.pem, key_file: sre.key"
        self.assertEqual(analysed(url, self.config(f"tls_config: {{{trust}, {mine}}}\n"))[1]["fleet"]["hosts"], 16)
        # A server of an unknown authority, then a client without a certificate. The second one ten times: a program that
        # lets OpenSSL free its memory at exit, while a thread still uses it, crashes or hangs in one such run of twenty.
        for given in (mine, *[trust] * 10):
            done = run("fleet", f"--prometheus.url={url}", self.config(f"tls_config: {{{given}}}\n"), timeout=30)
            self.assertEqual((done.returncode, done.stdout), (69, ""), done.stderr)

    def test_a_file_that_is_wrong_names_line_and_key_and_no_secret(self):
        for text, word in {"basic_auth: {username: a, password: s3cret, paswd: b}\n": "paswd",
                           "basic_auth: {username: a}\nauthorization: {credentials: s3cret}\n": "both given",
                           'http_headers: {"X: y": {values: [s3cret]}}\n': "not a valid header"}.items():
            done = run("fleet", "--prometheus.url=http://127.0.0.1:1", self.config(text), timeout=30)
            self.assertEqual(done.returncode, 64, done.stderr)
            self.assertIn(word, done.stderr)
            self.assertIn("client.yml:", done.stderr)
            self.assertNotIn("s3cret", done.stderr)


def stored(test):
    """A Prometheus that has what the file all.om says."""
    subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", f"{test.folder}/all.om", f"{test.folder}/data"],
                   check=True, capture_output=True)
    return serve(test)


def serve(test):
    server = Server(test.folder, {}, "--storage.tsdb.retention.time=100y", "--storage.tsdb.allow-overlapping-blocks")
    test.addCleanup(server.stop)
    while server.api("query", query="1") is None:
        time.sleep(0.1)
    return server


class Rules(TestCase):
    def test_they_have_the_default_window(self):
        done = run("fleet", "--rules", "--window=5m")
        self.assertEqual((done.returncode, done.stdout), (64, ""))
        self.assertIn("--window", done.stderr)

    def test_the_shipped_file_is_what_the_command_prints(self):
        """Otherwise fleet ignores what it records. To mend it: rdma_exporter fleet --rules >alerts/fleet/fleet.rules.yml"""
        shipped = pathlib.Path(harness.REPOSITORY, "alerts/fleet/fleet.rules.yml")
        self.assertEqual(run("fleet", "--rules").stdout, shipped.read_text(encoding="ascii"))


@slow(65)
class AsARealPrometheusSays(WithApi):
    """The same findings as by the answers that the other tests make up, so that these can be believed."""

    def setUp(self):
        super().setUp()
        if not PROMETHEUS:
            self.skipTest("prometheus is not installed")
        self.made = [fabric.Fabric(REAL_HOSTS, seed, [kind], cluster=f"c{seed}") for seed, kind in enumerate(fabric.KINDS)]
        self.made.append(fabric.Fabric(REAL_HOSTS, 1, ["leaf_dead"], cluster=f"c{len(self.made)}", leaves="discovery"))
        self.made.append(fabric.Fabric(REAL_HOSTS, 1, cluster=f"c{len(self.made)}", busy=1 / 2))
        with open(f"{self.folder}/all.om", "w", encoding="ascii") as file:
            self.write(file)
        self.server = stored(self)

    def write(self, file):
        for made in self.made:
            made.open_metrics(file, AT)
        file.write("# EOF\n")

    def test_each_fault(self):
        self.check(range(len(self.made)), recorded=False)
        some = range(0, len(self.made), 9)  # promtool writes a block for each rule, of which there are 40
        self.record(some)
        self.check(some, recorded=True)

    def record(self, seeds):
        """What the rules for these selectors would have recorded."""
        groups = [yaml.safe_load(run("fleet", "--rules", f'--selector=cluster="c{seed}"').stdout)["groups"][0] | {"name": f"c{seed}"}
                  for seed in seeds]
        pathlib.Path(self.folder, "fleet.rules.yml").write_text(yaml.safe_dump({"groups": groups}))
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "rules", f"--start={AT - 120}", f"--end={AT}",
                        f"--url=http://127.0.0.1:{self.server.port}", f"--output-dir={self.folder}/recorded",
                        f"{self.folder}/fleet.rules.yml"], check=True, capture_output=True)
        self.server.stop()
        for block in pathlib.Path(self.folder, "recorded").iterdir():
            block.rename(f"{self.folder}/data/{block.name}")
        self.server = serve(self)

    def check(self, seeds, recorded):
        url = f"http://127.0.0.1:{self.server.port}"
        for seed in seeds:
            made = self.made[seed]
            _, real = analysed(url, f'--selector=cluster="c{seed}"')
            _, made_up = self.analyse(made)
            self.assertEqual([query["error"] for query in real["queries"] if query["error"]], [])
            self.assertEqual(real["server"]["recording_rules"], recorded)
            asked = {query["name"] for query in real["queries"] if not query["query"].startswith("fleet:")}
            self.assertEqual("failing_paths" in asked, not recorded)
            self.assertEqual({(one["id"], one["severity"]) for one in real["problems"]},
                             {(one["id"], one["severity"]) for one in made_up["problems"]}, seed)
            self.assertEqual(matched(real["problems"], made.truth)[1:], ([], []), seed)


class RecordedStorm(TestCase):
    """What two exporters served in the lab before and during a PFC storm: tests/lab/guest/storm.py tells what happened."""

    def setUp(self):
        super().setUp()
        if not PROMETHEUS:
            self.skipTest("prometheus is not installed")
        pages = store.recorded_pages()
        self.start = pages[0][0]
        with open(f"{self.folder}/all.om", "w", encoding="utf-8") as file:
            for when, host, page in pages:
                file.writelines(store.scraped(when, host, page))
            file.write("# EOF\n")
        self.url = f"http://127.0.0.1:{stored(self).port}"

    def analyse(self, second, *flags):
        _, document = analysed(self.url, *flags, at=int(self.start + second))
        self.assertEqual([query["error"] for query in document["queries"] if query["error"]], [])
        return document["problems"]

    def test_its_root_is_the_port_that_the_story_makes_slow(self):
        begin, end = store.STORM
        for second, window in ((end, "2m"), (end, "10m"), (begin + 60, "1m")):
            with self.subTest(second=second, window=window):
                problems = self.analyse(second, f"--window={window}")
                self.assertEqual([problem["kind"] for problem in problems if problem["severity"] == "critical"], ["pfc_storm"])
                where = problems[0]["component"]
                self.assertEqual((where["instance"], where["device"], where["netdev"]), ("node-a:9400", "mlx5_0", "cx0"))
                self.assertIn("mlx5_0 (cx0) of node-a pauses priority 3", problems[0]["title"])
                evidence = " ".join(piece["text"] for piece in problems[0]["evidence"])
                self.assertIn("1 port is paused", evidence)
                self.assertIn("its PCIe requests stall", evidence)

    def test_and_there_is_none_before(self):
        kinds = {problem["kind"] for problem in self.analyse(store.STORM[0] - 5, "--window=1m")}
        self.assertEqual(kinds & {"pfc_storm", "pfc_backpressure", "fabric_congestion"}, set())


# The cells of the rows from top to bottom, for each order that the page offers.
SORTED = """<pre id="probe"></pre><script>
const seen = {};
for (const label of document.querySelectorAll(".sort label")) {
  label.click();
  const rows = [...document.querySelectorAll(".sort tr")].slice(1);
  rows.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
  seen[label.textContent] = rows.map(row => [...row.cells].map(cell => cell.textContent.slice(0, 40)));
}
document.getElementById("probe").textContent = JSON.stringify(seen);
</script>"""


class Shows(WithApi):
    def page(self, hosts, *faults):
        self.api.answer = fabric_answers.Answers(fabric.Fabric(hosts, 1, faults)).rows
        return run("fleet", f"--prometheus.url={self.api.url}", "--format=html", timeout=60).stdout

    def test_one_file_that_loads_nothing(self):
        page = self.page(64, "storm", "mtu")
        for loads in ("<script", "src=", "href=", "@import", "url("):
            self.assertNotIn(loads, page)
        self.assertIn("Who pauses whom", page)
        self.assertIn("RDMA MTU 1024", page)
        self.assertRegex(page, r'<p class="v">1 critical, \d+ warnings?, \d+ info</p>')

    def test_a_thousand_paths_without_a_cause_are_counted(self):
        page = self.page(1024)
        listed = len(re.findall("<li>", page))
        more = re.search(r"And (\d+) more: --format=json", page)
        self.assertEqual(listed, 20)
        self.assertGreater(int(more[1]), 20)

    def test_of_a_large_fleet_it_shows_all_units_and_the_hosts_of_those_with_problems(self):
        page = self.page(1024, "nic_dead", "leaf_dead")
        overview, *units = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
        self.assertEqual(overview.count("<path"), 8, "rails")
        self.assertIn(">su10<", overview)
        nic, leaf = fabric.Fabric(1024, 1, ("nic_dead", "leaf_dead")).truth
        self.assertEqual(len(units), 2)
        self.assertIn(f'class="name">{leaf.unit}<', page)
        self.assertRegex(page, rf'class="critical"><title>{nic.instance.split(":")[0]} {nic.device}: ')
        self.assertIn("Not drawn: 960 hosts in rows with nothing above info.", page)

    def test_of_a_large_healthy_fleet_it_shows_no_hosts(self):
        page = self.page(1024)
        self.assertEqual(len(re.findall("<svg", page)), 1)
        self.assertIn("Not drawn: 1024 hosts in rows with nothing above info.", page)

    def test_the_table_can_be_sorted_without_a_script(self):
        if not shutil.which("chromium"):
            self.skipTest("no chromium")
        path = f"{self.folder}/fleet.html"
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.page(64, "exporter_down", "nic_dead", "incast", "mtu").replace("</body>", SORTED + "</body>"))
        done = subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                               f"--user-data-dir={self.folder}/chromium", "--dump-dom", f"file://{path}"],
                              capture_output=True, text=True, timeout=120, check=True)
        rows = json.loads(re.search(r'<pre id="probe">(.*?)</pre>', done.stdout)[1])
        self.assertGreater(len(rows["severity"]), 3)
        self.assertEqual(rows["severity"][0][0], "critical")
        for order, column in (("hosts", 2), ("NICs", 3), ("confidence", 4)):
            values, by_severity = ([int(row[column].split()[0]) for row in rows[by]] for by in (order, "severity"))
            self.assertEqual(values, sorted(values, reverse=True), order)
            self.assertNotEqual(values, by_severity, f"{order}: these problems cannot tell")
        self.assertNotEqual([row[1] for row in rows["place"]], [row[1] for row in rows["severity"]])

    def test_names_that_are_markup_are_text(self):
        whole = fabric_answers.Answers(fabric.Fabric(16, 1)).rows
        self.api.answer = lambda table: [({key: "<b>&" if key == "su" else text for key, text in labels.items()}, value)
                                         for labels, value in whole(table)]
        page = run("fleet", f"--prometheus.url={self.api.url}", "--format=html", timeout=60).stdout
        self.assertNotIn("<b>&<", page)
        self.assertIn("&lt;b&gt;&amp;", page)

    def test_text_is_one_screen(self):
        self.api.answer = fabric_answers.Answers(fabric.Fabric(64, 1, ["storm", "mtu", "nic_dead"])).rows
        lines = run("fleet", f"--prometheus.url={self.api.url}", timeout=60).stdout.splitlines()
        self.assertLess(len(lines), 50)
        self.assertTrue(lines[3].startswith("critical"), lines)
