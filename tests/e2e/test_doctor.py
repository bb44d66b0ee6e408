# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The commands doctor and report, and the collector config_check: verdicts, exit status, formats, a device that hangs."""

import html.parser
import json
import os
import pty
import subprocess
import time

from harness import BINARY, REPOSITORY, Exporter, TestCase, run
from marks import slow

RECORDING = os.path.join(REPOSITORY, "tests/recordings/soft-roce-host")
QUICK = "--sample=0s"


def findings(*arguments):
    done = run("doctor", "--format=json", QUICK, *arguments)
    return done.returncode, json.loads(done.stdout)


def verdict(document, check, device):
    return {f["netdev"]: f["verdict"] for f in document["findings"] if f["check"] == check and f["device"] == device}


class Page(html.parser.HTMLParser):
    """Tags and text; what would be loaded from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.loads, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loads += [value for name, value in attrs if name in ("src", "href", "onerror", "onload")]

    def handle_data(self, data):
        self.words.append(data)


class Doctor(TestCase):
    def test_the_bundled_recording(self):
        status, document = findings(f"--replay={RECORDING}")
        self.assertEqual(verdict(document, "netdev_mtu", "rxe0"), {"ve0": "ok"})
        self.assertEqual(verdict(document, "netdev_mtu", "rxe_dummy"), {"dum0": "warning"})
        self.assertEqual(verdict(document, "port_state", "rxe1"), {"": "ok"})
        self.assertEqual(document["verdict"], "warning")
        self.assertEqual(status, 1)
        self.assertEqual(sum(document["counts"].values()), len(document["findings"]))
        for finding in document["findings"]:
            self.assertTrue(finding["evidence"] and finding["advice"] and finding["source"], finding)

    def test_counters_of_a_recording_are_watched_from_its_first_to_its_last_snapshot(self):
        incident = os.path.join(REPOSITORY, "tests/captures/connectx-incident.tar.gz")
        done = run("doctor", "--format=json", f"--replay={incident}")
        document = json.loads(done.stdout)
        self.assertGreater(document["sample_seconds"], 200)
        self.assertLess(document["sample_seconds"], 3600)
        for check, netdev, wanted in (("pause_frames", "cx0", "critical"), ("discards", "cx0", "warning"),
                                      ("retries", "", "warning")):
            self.assertEqual(verdict(document, check, "mlx5_0")[netdev], wanted, check)
        # DCQCN of the kernel's own mlx5, limits of a device without verbs: not known on that host either.
        unknown = {f["check"] for f in document["findings"] if f["verdict"] == "unknown"}
        self.assertLessEqual(unknown, {"ecn", "resource_limits"})
        _, quiet = findings(f"--replay={incident}")
        self.assertEqual((quiet["sample_seconds"], verdict(quiet, "discards", "mlx5_0")["cx0"]), (0, "ok"))

    def test_a_single_snapshot_is_not_watched(self):
        done = run("doctor", "--format=json", "--sample=10m", f"--replay={RECORDING}")  # a minute would be too long
        self.assertEqual(json.loads(done.stdout)["sample_seconds"], 0)

    def test_text_says_what_to_do_and_has_no_colour_in_a_pipe(self):
        done = run("doctor", QUICK, f"--replay={RECORDING}")
        self.assertRegex(done.stdout.splitlines()[0], r"^.+: warning: \d+ warnings? \(4 RDMA devices\)$")
        self.assertRegex(done.stdout, r"warning +rxe_dummy/1 dum0, rxe_virtio/1 eth0: the MTU of the interface is 1500 bytes.*\n +To do: ip link")
        self.assertEqual(len([line for line in done.stdout.splitlines() if line.startswith("ok ")]), 1)
        self.assertNotIn("netdev_mtu  ", done.stdout)  # evidence is for --verbose
        self.assertNotIn("\x1b", done.stdout)
        self.assertEqual(done.stderr, "")
        done = run("doctor", QUICK, "--verbose", f"--replay={RECORDING}")
        self.assertRegex(done.stdout, r"warning +netdev_mtu +port 1, dum0: 1500 bytes\n.*\n.*To do: ip link set")
        self.assertNotIn("\x1b", done.stdout)
        self.assertEqual(done.stderr, "")

    def test_it_speaks_as_a_person_does(self):
        incident = os.path.join(REPOSITORY, "tests/captures/connectx-incident.tar.gz")
        done = run("doctor", f"--replay={incident}")
        self.assertIn(": critical: 2 critical problems and 14 warnings (", done.stdout.splitlines()[0])
        self.assertRegex(done.stdout, r"mlx5_0/1 cx0: priority 3 was paused 23 % of the last 225 s; .*this host sent 1,001 "
                                      r"pause frames per second for priority 3")
        self.assertNotIn("_total{", done.stdout)

    @slow(6)
    def test_a_long_sample_shows_progress_and_colour_on_a_terminal_only(self):
        tree = self.tree(devices=1)
        arguments = ("doctor", "--sample=5s", f"--path.sysfs={tree.sys}")
        status, shown = on_terminal(*arguments)
        self.assertIn(status, (0, 1))
        self.assertIn("Watching the counters: 0 of 5 s", shown)
        self.assertIn("Watching the counters: 4 of 5 s", shown)
        self.assertIn("\x1b[33mwarning", shown)
        self.assertLess(shown.index("Watching"), shown.index("\x1b[K"))

    def test_the_exit_status_is_the_worst_verdict(self):
        tree = self.tree(devices=1)
        state = os.path.join(tree.devices["mlx5_0"].dir, "ports/1/state")
        with open(state, "w", encoding="ascii") as file:
            file.write("1: DOWN\n")
        status, document = findings(f"--path.sysfs={tree.sys}")
        self.assertEqual(verdict(document, "port_state", "mlx5_0"), {"": "critical"})
        self.assertEqual((status, document["verdict"]), (2, "critical"))
        status, document = findings(f"--path.sysfs={tree.sys}", "--device.exclude=mlx5_0")
        self.assertEqual(document["counts"]["critical"], 0)

    def test_wrong_usage_is_no_verdict(self):
        for arguments in (("--format=xml",), ("--sample=soon",), ("--replay=/nowhere",), ("--no-such-flag",), ("word",)):
            done = run("doctor", *arguments)
            self.assertEqual((done.returncode, done.stdout), (64, ""), arguments)
            self.assertTrue(done.stderr.startswith("rdma_exporter: "))
        with open("/dev/full", "wb") as full:
            self.assertEqual(run_into(full, "doctor", QUICK, f"--replay={RECORDING}"), 74)

    def test_help(self):
        done = run("doctor", "--help")
        self.assertEqual(done.returncode, 0)
        for word in ("--format", "--sample", "Exit status"):
            self.assertIn(word, done.stdout)

    @slow(5)
    def test_a_device_that_hangs_costs_its_own_findings(self):
        tree = self.tree(devices=3)
        self.fifo(os.path.join(tree.devices["mlx5_1"].dir, "ports/1/state"))
        start = time.monotonic()
        _, document = findings(f"--path.sysfs={tree.sys}", "--scrape.timeout=5s")
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(verdict(document, "port_state", "mlx5_1"), {"": "unknown"})
        for device in ("mlx5_0", "mlx5_2"):
            self.assertEqual(verdict(document, "port_state", device), {"": "ok"})

    def test_nothing_of_this_host_is_mixed_in(self):
        _, document = findings(f"--replay={RECORDING}")
        self.assertNotEqual(document["host"], os.uname().nodename)
        self.assertNotEqual(document["kernel"], os.uname().release)


def on_terminal(*arguments):
    """Exit status and all that a terminal was sent."""
    master, slave = pty.openpty()
    with subprocess.Popen([BINARY, *arguments], stdout=slave, stderr=slave) as process:
        os.close(slave)
        shown = b""
        while True:
            try:
                shown += os.read(master, 65536)
            except OSError:  # EIO: nobody has the other end any more
                break
        os.close(master)
        return process.wait(timeout=60), shown.decode()


def run_into(file, *arguments):
    return subprocess.run([BINARY, *arguments], stdout=file, stderr=subprocess.DEVNULL, timeout=20, check=False).returncode


class Report(TestCase):
    def hostile(self):
        """A host whose name is a script."""
        tree = self.tree(devices=1)
        place = os.path.join(self.folder, "hostile")
        os.rename(tree.root, place)
        os.makedirs(f"{place}/proc/sys/kernel")
        with open(f"{place}/proc/sys/kernel/hostname", "wb") as file:
            file.write(b"<script src=http://x>alert('1')</script>\x1b[31m\xff\n")
        return place

    def test_html_of_an_incident_is_grouped_by_port(self):
        incident = os.path.join(REPOSITORY, "tests/captures/connectx-incident.tar.gz")
        done = run("report", "--format=html", f"--replay={incident}")
        self.assertEqual(done.returncode, 0, done.stderr)
        words = "".join(Page(done.stdout).words)
        port = words[words.index("mlx5_0/1 cx0"):]
        self.assertRegex(port[:port.index("mlx5_core")], r"(?s)ACTIVE.*paused, priority 3.*23 %.*Priority 3 was paused 23 %")
        self.assertNotIn("_total{", words[:words.index("Details")])
        self.assertIn("74 checks are ok", words)

    def test_html_is_one_file_without_anything_from_elsewhere(self):
        done = run("report", "--format=html", QUICK, f"--replay={self.hostile()}")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = Page(done.stdout)
        self.assertEqual(page.loads, [])
        self.assertFalse({"script", "link", "img", "iframe"} & set(page.tags))
        self.assertIn("<script src=http://x>alert('1')</script>", "".join(page.words))
        self.assertIn("mlx5_0", "".join(page.words))

    def test_names_cannot_speak_to_the_terminal(self):
        for command in ("report", "doctor"):
            done = run(command, QUICK, f"--replay={self.hostile()}")
            self.assertNotIn("\x1b", done.stdout)
            self.assertIn("\\x1b[31m\\xff", done.stdout)
            os.rename(os.path.join(self.folder, "hostile"), os.path.join(self.folder, f"after-{command}"))

    def test_counters_of_the_recording(self):
        done = run("report", QUICK, f"--replay={RECORDING}")
        self.assertEqual(done.returncode, 0)
        with open(f"{RECORDING}/sys/class/infiniband/rxe1/ports/1/hw_counters/out_of_seq_request", encoding="ascii") as f:
            value = f.read().strip()
        self.assertRegex(done.stdout, rf'rdma_port_out_of_sequence_total +device="rxe1",port="1" +{value}\b')
        self.assertNotIn("rdma_port_retries_exceeded_total", done.stdout)  # 0


class ConfigCheck(TestCase):
    def wait_for(self, exporter, wanted, **labels):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if list(exporter.scrape().samples.select("rdma_config_check", **labels).values()) == [wanted]:
                return
            time.sleep(0.1)
        self.fail(f"{labels} is not {wanted}")

    @slow(2)
    def test_drift_is_seen(self):
        tree = self.tree(devices=2)
        path = os.path.join(tree.devices["mlx5_1"].dir, "ports/1/state")
        labels = {"check": "port_state", "device": "mlx5_1"}
        with Exporter("--collector.config_check.interval=1s", "--metrics.set=full", sysfs=tree.sys) as exporter:
            self.wait_for(exporter, 0, **labels)
            with open(path, "w", encoding="ascii") as file:
                file.write("1: DOWN\n")
            self.wait_for(exporter, 2, **labels)
            with open(path, "w", encoding="ascii") as file:
                file.write("4: ACTIVE\n")
            self.wait_for(exporter, 0, **labels)

    def test_it_is_there_at_once(self):
        done = run("--once", f"--replay={RECORDING}")
        self.assertIn('rdma_config_check{device="rxe_dummy",port="1",netdev="dum0",check="netdev_mtu"} 1\n', done.stdout)
