# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The commands `probe` and `responder` beside a daemon: what they print. The suite `probe-command` (tests/lab/run)."""

import signal

import exporter
import probe_pair
from guest import subprocess
from labtest import stop_daemons
from probe_pair import TARGET, ProbeTest


def setUpModule():
    probe_pair.set_up()


def tearDownModule():
    stop_daemons()


class Commands(ProbeTest):
    FLAGS = ("--probe.device-include=rxe0", "--probe.timeout=16")

    def probe(self, *flags, target=TARGET, status=0):
        return exporter.probe(target, *self.FLAGS, *flags, status=status)

    def test_json_has_the_percentiles_of_each_operation(self):
        results = self.probe("--count=20", "--interval=50ms", "--json")
        self.assertEqual([(result["target"], result["device"], result["op"], result["probes"]) for result in results],
                         [("far", "rxe0", "write", 20), ("far", "rxe0", "echo", 20)])
        for result in results:
            times = list(result["rtt_seconds"].values())
            self.assertEqual(times, sorted(times))
            self.assertGreater(times[0], 1e-6)
            self.assertEqual(sum(result["failures"].values()), result["failed"])
            self.assertEqual(result["clock"], "host")

    def test_the_connection_manager_can_be_asked_for(self):
        results = self.probe("--connect=rdma_cm", "--count=5", "--interval=50ms", "--json")
        self.assertEqual([result["op"] for result in results], ["write", "echo"])
        for result in results:
            self.assertGreater(result["rtt_seconds"]["min"], 1e-6)

    def test_raw_has_each_sample(self):
        lines = self.probe("--op=write", "--flows=2", "--count=5", "--interval=50ms", "--raw").splitlines()
        rows = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]
        self.assertEqual(len(rows), 10)
        self.assertEqual({(row["device"], row["port"], row["target"], row["op"]) for row in rows},
                         {("rxe0", "1", "far", "write")})
        for row in rows:
            self.assertTrue(row["failure"] or (row["clock"] == "host" and int(row["rtt_ns"]) > 1000), row)

    def test_each_result_is_shown_as_it_comes_and_a_summary_at_the_end(self):
        command = [exporter.BINARY, "probe", TARGET, f"--probe.secret-file={exporter.SECRET}", *self.FLAGS, "--interval=100ms"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            lines = [process.stdout.readline() for _ in range(6)]
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
        self.assertEqual(process.returncode, 0)
        for line in lines:
            self.assertRegex(line, r"^far from rxe0 port 1: (write|echo) (failed: .+|[0-9.]+ [um]s(, of which .+)?)$")
        self.assertRegex(rest, r"--- far from rxe0 port 1\noperation +probes +failed +loss +min +p50 +p90 +p99 ")
        self.assertRegex(rest, r"\nwrite +[1-9][0-9]* +[0-9]+ +[0-9.]+% +[0-9.]+ [um]s ")

    def test_who_does_not_answer_is_named(self):
        text = self.probe("--op=write", "--count=3", "--interval=50ms", target="10.9.0.2:1,name=nobody", status=1)
        self.assertIn("write failed 3 times: tcp ECONNREFUSED", text)

    def test_the_responder_needs_no_daemon(self):
        command = [exporter.BINARY, "responder", "--probe.listen-address=10.9.0.2:9501", "--probe.device-include=rxe1",
                   f"--probe.secret-file={exporter.SECRET}"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            try:
                self.assertRegex(process.stderr.readline(), "responder is listening")
                results = self.probe("--op=echo", "--count=5", "--interval=50ms", "--json",
                                     target="10.9.0.2:9501,from=rxe0,device=rxe1")
            finally:
                process.terminate()
            process.stderr.read()
        self.assertEqual(process.returncode, 0)
        self.assertEqual([(result["target"], result["op"], result["probes"]) for result in results],
                         [("10.9.0.2", "echo", 5)])


IN_ORDER = (Commands,)
