# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The probe as a part of the daemon on a real kernel: what a user configures, and what Prometheus sees. Two daemons,
one prober and one responder, over two Soft-RoCE devices on a veth pair. The suite `probe-daemon` (tests/lab/run)."""

import json
import signal
import time

import exporter
import labtest
from guest import Path, kernel, socket, subprocess, traffic
from guest import time as guest_time  # the clock of what is served
from labtest import LabTest, daemons, stop_daemons

SECRET = Path("/tmp/probe.psk")
CONFIG = Path("/tmp/prober.yml")
QUIET = ("--netlink=off",)
TARGET = "10.9.0.2:9401,name=far,group=pod1,from=rxe0,device=rxe1"
# The side channel over loopback: what netem swallows is RDMA alone.
MANAGED = "127.0.0.1:9401,name=far,group=pod1,from=rxe0,device=rxe1,source=10.9.0.1"
ATTEMPTS, FAILURES = "rdma_probe_attempts_total", "rdma_probe_failures_total"
CONTROL_FAILURES = "rdma_probe_control_failures_total"
CONTROL_STAGES = ("resolve", "tcp", "tls", "exchange")


def wait_for(condition, what, timeout=60):
    """As labtest's, with the patience that a guest on a busy machine needs."""
    labtest.wait_for(condition, what, timeout)


def responder_flags():
    return (*QUIET, "--probe.responder", "--probe.listen-address=10.9.0.2:9401",
            "--probe.listen-address=127.0.0.1:9401", f"--probe.secret-file={SECRET}",
            "--probe.device-include=rxe1")


def start_responder():
    daemons["responder"] = exporter.Exporter(9410, *responder_flags())
    daemons["responder"].wait_until_ready()


def configure(*targets, **settings):
    lines = ["probe:", "  targets:", *(f"    - {target}" for target in targets)] if targets else ["probe:", "  targets: []"]
    defaults = {"secret_file": SECRET, "device_include": "rxe0", "interval": "200ms", "echo_interval": "400ms",
                "traffic_class": 106, "timeout": 16, "max_cpu_percent": 100}
    lines += [f"  {key}: {value}" for key, value in {**defaults, **settings}.items()]
    CONFIG.write_text("\n".join(lines) + "\n")


def setUpModule():
    exporter.install()
    SECRET.write_text("fleet:" + "5a" * 32 + "\n")
    SECRET.chmod(0o400)
    configure(TARGET)
    start_responder()
    daemons["prober"] = exporter.Exporter(9411, *QUIET, f"--config.file={CONFIG}", "--web.enable-lifecycle")
    daemons["prober"].wait_until_ready()


def tearDownModule():
    stop_daemons()


class Netem:
    def __init__(self, netdev, what):
        self.netdev, self.what = netdev, what

    def __enter__(self):
        kernel.run("tc", "qdisc", "add", "dev", self.netdev, "root", "netem", *self.what.split())

    def __exit__(self, *_):
        kernel.run("tc", "qdisc", "del", "dev", self.netdev, "root")


class ProbeTest(LabTest):
    one_sided = "write"

    def setUp(self):
        self.prober = daemons["prober"]
        self.wait_for_up()

    def page(self):
        return self.prober.scrape()

    def get(self, name, **labels):
        return self.page().get(name, **labels)

    def wait_for_up(self, timeout=90):
        def works():
            page = self.page()
            before = page.get(ATTEMPTS, op=self.one_sided, target="far")
            if page.get("rdma_probe_up", target="far") != 1 or before is None:
                return False
            last = page.get("rdma_probe_last_success_timestamp_seconds", op=self.one_sided, target="far")
            return last is not None and last > guest_time.time() - 2
        wait_for(works, "a probe that works", timeout)

    def failures(self, page=None, **labels):
        metric = CONTROL_FAILURES if labels.get("stage") in CONTROL_STAGES else FAILURES
        return sum((page or self.page()).find(metric, target="far", **labels).values())

    def count_of_writes(self):
        return self.get("rdma_probe_rtt_seconds_count", op="write", target="far")

    def wait_for_failure(self, timeout=60, **labels):
        before = self.failures(**labels)
        wait_for(lambda: self.failures(**labels) > before, f"a failure {labels}", timeout)

    def reload(self):
        self.prober.process.send_signal(1)


class Probing(ProbeTest):
    def test_both_operations_are_measured_and_the_histograms_agree(self):
        wait_for(lambda: (self.get("rdma_probe_rtt_seconds_count", op="echo") or 0) >= 3, "echoes")
        page = self.page()
        for op in ("write", "echo"):
            count = page.get("rdma_probe_rtt_seconds_count", op=op, target="far", target_group="pod1")
            attempts = page.get(ATTEMPTS, op=op, target="far")
            self.assertGreater(count, 0)
            self.assertLessEqual(count + self.failures(page, op=op), attempts)
        self.assertGreater(page.get("rdma_probe_last_rtt_seconds", op="write"), 1e-6)
        for step in ("tcp", "tls", "exchange", "modify"):
            connects = page.get("rdma_probe_connect_seconds_count", target_group="pod1", step=step)
            self.assertTrue(1 <= connects <= page.get("rdma_probe_connects_total", device="rxe0"), (step, connects))
            self.assertGreater(page.get("rdma_probe_connect_seconds_sum", target_group="pod1", step=step), 0)
        info = [dict(labels) for (_, labels) in page.find("rdma_probe_session_info")]
        self.assertEqual(len(info), 1)
        self.assertEqual((info[0]["op"], info[0]["peer_device"], info[0]["peer_address"], info[0]["local_address"]),
                         ("write", "rxe1", "10.9.0.2", "10.9.0.1"))
        far = daemons["responder"].scrape()
        self.assertEqual(far.get("rdma_probe_inbound_sessions", device="rxe1"), 1)
        self.assertEqual(far.get("rdma_probe_qps", device="rxe1", role="responder"), 2)
        self.assertEqual(page.get("rdma_probe_qps", device="rxe0", role="requester"), 2)

    def test_no_secret_is_served_or_logged(self):
        for daemon in (self.prober, daemons["responder"]):
            text = daemon.get("/metrics").decode() + daemon.log.read_text()
            self.assertNotIn("5a5a", text)
            self.assertNotIn("qpn", text.lower().replace("udp", ""))

    def test_a_jump_of_the_delay_is_seen(self):
        below = {"op": "write", "target": "far", "le": "0.008192"}
        with Netem("ve0", "delay 10ms"):
            wait_for(lambda: self.get("rdma_probe_last_rtt_seconds", op="write") >= 0.01, "the delay")
            before = self.page()
            wait_for(lambda: self.count_of_writes() >= before.get("rdma_probe_rtt_seconds_count", op="write") + 3,
                     "three more")
            self.assertEqual(self.get("rdma_probe_rtt_seconds_bucket", **below),
                             before.get("rdma_probe_rtt_seconds_bucket", **below), "none of them is quicker")
        self.assertLess(self.get("rdma_probe_min_rtt_seconds", op="write"), 0.01, "the least of five minutes")

    def test_requests_and_acks_carry_the_class_and_the_port_of_the_path(self):
        info = next(dict(labels) for (_, labels) in self.page().find("rdma_probe_session_info"))
        seen = traffic.roce_senders("ve0", 2, timeout=20)
        port = int(info["udp_source_port"])
        self.assertEqual(seen, {("10.9.0.1", 106, port), ("10.9.0.2", 106, port)})


class Failing(ProbeTest):
    def test_a_black_hole_fails_every_tick_and_comes_back(self):
        with Netem("ve0", "loss 100%"):
            self.wait_for_failure(reason="retry_exc_err")
            page = self.page()
            self.assertEqual(page.get("rdma_probe_up", target="far"), 0)
            attempts, failed = page.get(ATTEMPTS, op="write"), self.failures(page, op="write")
            wait_for(lambda: self.failures(op="write") >= failed + 5, "failures that go on")
            self.assertGreaterEqual(self.get(ATTEMPTS, op="write"), attempts + 5)
        self.wait_for_up()

    def test_a_killed_responder_is_missed_at_once_and_a_new_one_is_found(self):
        daemons["responder"].process.kill()
        daemons["responder"].process.wait()
        self.wait_for_failure(stage="tcp")
        start_responder()
        self.wait_for_up()

    def test_a_stopped_process_fails_echoes_and_no_writes(self):
        # Longer than the control connection lasts: the adapter goes on answering writes.
        before = self.page()
        written = self.count_of_writes()
        daemons["responder"].pause()
        try:
            late = {"op": "echo", "stage": "echo", "reason": "deadline"}
            wait_for(lambda: self.failures(**late) >= self.failures(before, **late) + 3, "echoes that nobody answers")
            wait_for(lambda: self.failures(stage="tcp") > self.failures(before, stage="tcp"), "a ping without an answer")
            wait_for(lambda: self.count_of_writes() >= written + 20, "writes that go on")
            after = self.page()
        finally:
            daemons["responder"].resume()
        self.assertEqual(self.failures(after, op="write"), self.failures(before, op="write"))
        self.assertEqual(after.get("rdma_probe_up", target="far"), 1)
        self.wait_for_up()

    def test_a_removed_address_is_named_and_found_again(self):
        kernel.run("ip", "address", "del", "10.9.0.1/32", "dev", "ve0")
        try:
            self.wait_for_failure(op="write")
        finally:
            self.repair("ve0", own="10.9.0.1", peer="10.9.0.2", peer_mac="02:00:00:00:00:02", tables=("100", "101"))
        self.wait_for_up()

    def test_the_peers_address_and_link_go_and_come_back(self):
        down = self.port_errors()
        for command in (("ip", "address", "del", "10.9.0.2/32", "dev", "ve1"), ("ip", "link", "set", "ve1", "down")):
            with self.subTest(command=" ".join(command)):
                kernel.run(*command)
                try:
                    self.wait_for_failure(op="write")
                finally:
                    self.repair("ve1", own="10.9.0.2", peer="10.9.0.1", peer_mac="02:00:00:00:00:01",
                                tables=("100", "102"))
                self.wait_for_up()
        self.assertGreater(self.port_errors(), down, "the link is down at both ends of it")

    def port_errors(self):
        return self.get("rdma_probe_async_events_total", device="rxe0", event="PORT_ERR")

    def repair(self, netdev, own, peer, peer_mac, tables):
        """As tests/lab/guest/fabric.sh makes it. With its last address an interface loses its neighbours too."""
        kernel.run("ip", "link", "set", netdev, "up")
        kernel.run("ip", "address", "replace", f"{own}/32", "dev", netdev)
        kernel.run("ip", "neighbour", "replace", peer, "lladdr", peer_mac, "dev", netdev, "nud", "permanent")
        for table in tables:
            kernel.run("ip", "route", "replace", f"{peer}/32", "dev", netdev, "src", own, "table", table)

    def test_a_starved_process_slows_echoes_and_no_writes(self):
        def slow(op):
            page = self.page()
            return (page.get("rdma_probe_rtt_seconds_count", op=op, target="far")
                    - page.get("rdma_probe_rtt_seconds_bucket", op=op, target="far", le="0.065536"))

        before = slow("echo")
        for _ in range(5):  # a guest that stands still for four seconds sees a deadline instead
            responder, count, start = daemons["responder"], self.count_of_writes(), time.monotonic()
            responder.pause()
            try:
                wait_for(lambda: self.count_of_writes() >= count + 3 and time.monotonic() > start + 0.8,
                         "writes while the process stands still")
            finally:
                responder.resume()
            self.wait_for_up()
            if slow("echo") > before:
                return
        self.fail("no echo was slow")

    def test_a_scrape_does_not_wait_for_a_neighbour_that_does_not_answer(self):
        kernel.run("ip", "neighbour", "del", "10.9.0.2", "dev", "ve0")
        try:
            daemons["responder"].process.kill()
            daemons["responder"].process.wait()
            start_responder()
            times = {daemon: [] for daemon in (self.prober, daemons["responder"])}
            for _ in range(10):
                for daemon, taken in times.items():
                    start = time.monotonic()
                    daemon.scrape()
                    taken.append(time.monotonic() - start)
            # The kernel keeps who asks for the neighbour for two seconds and more; the responder does not ask.
            medians = [sorted(taken)[5] for taken in times.values()]
            self.assertLess(medians[0], 1.5 + 3 * medians[1])
        finally:
            kernel.run("ip", "neighbour", "replace", "10.9.0.2", "lladdr", "02:00:00:00:00:02", "dev", "ve0", "nud",
                       "permanent")
        self.wait_for_up()


class Reloading(ProbeTest):
    def test_targets_come_and_go_and_take_their_series_along(self):
        count = self.get("rdma_probe_rtt_seconds_count", op="write", target="far")
        configure(TARGET, "127.0.0.1:1,name=nobody,from=rxe0")
        self.reload()
        wait_for(lambda: self.failures_of("nobody") > 0, "failures of the new target")
        self.assertGreaterEqual(self.get("rdma_probe_rtt_seconds_count", op="write", target="far"), count,
                                "the other one goes on")
        configure(TARGET)
        self.reload()
        wait_for(lambda: b'"nobody"' not in self.prober.get("/metrics"), "no trace of it")
        self.wait_for_up()

    def failures_of(self, target):
        return sum(self.page().find(CONTROL_FAILURES, target=target, reason="ECONNREFUSED").values())

    def test_reads_are_taken_by_the_hosts_clock_where_the_adapter_has_none(self):
        self.addCleanup(self.wait_for_up)
        self.addCleanup(self.reload)
        self.addCleanup(configure, TARGET)
        configure(TARGET, operations="[read, echo]")
        self.reload()
        wait_for(lambda: self.get("rdma_probe_rtt_seconds_count", op="read", clock="host"), "reads")
        wait_for(lambda: self.page().find("rdma_probe_session_info", op="read", clock="host"), "a session with reads")
        self.assertEqual(self.page().find("rdma_probe_rtt_seconds_count", clock="nic"), {})

    def test_a_bad_configuration_changes_nothing(self):
        configure(TARGET, secret_file="/nonexistent")
        self.reload()
        wait_for(lambda: self.get("rdma_exporter_config_last_reload_successful") == 0, "the refusal")
        configure(TARGET)
        self.reload()
        wait_for(lambda: self.get("rdma_exporter_config_last_reload_successful") == 1, "the reload")
        self.wait_for_up()

    def test_keys_are_rotated_without_a_restart_or_a_new_connection(self):
        old, new = "fleet:" + "5a" * 32, "next:" + "6b" * 32
        self.addCleanup(self.use_keys, old)
        connects = self.get("rdma_probe_connects_total", device="rxe0")
        self.use_keys(old, new)
        self.assertEqual([self.probes_with(key) for key in (old, new)], [True, True])
        self.use_keys(new)
        self.assertEqual([self.probes_with(key) for key in (old, new)], [False, True])
        self.wait_for_up()
        self.assertEqual(self.get("rdma_probe_connects_total", device="rxe0"), connects, "the session goes on")

    def use_keys(self, *keys):
        """Of both daemons."""
        logs = [daemon.log for daemon in (self.prober, daemons["responder"])]
        before = [log.read_text().count("uses its changed credentials") for log in logs]
        SECRET.write_text("".join(key + "\n" for key in keys))
        wait_for(lambda: all(log.read_text().count("uses its changed credentials") > count
                             for log, count in zip(logs, before, strict=True)), "the changed keys")

    def probes_with(self, key):
        own = Path("/tmp/own.psk")
        own.write_text(key + "\n")
        own.chmod(0o400)
        return subprocess.run([exporter.BINARY, "probe", TARGET, f"--probe.secret-file={own}", "--probe.device-include=rxe0",
                               "--op=write", "--count=2", "--interval=50ms"], capture_output=True, timeout=120).returncode == 0

    def test_probes_that_cost_too_much_become_rarer_and_do_not_end(self):
        rate = "rdma_probe_rate_multiplier_ratio"
        self.assertEqual(self.get(rate, device="rxe0"), 1)
        self.addCleanup(self.wait_for_up)
        self.addCleanup(self.reload)
        self.addCleanup(configure, TARGET)
        configure(TARGET, max_cpu_percent=1, interval="50ms", echo_interval="50ms")
        self.reload()
        wait_for(lambda: self.get(rate, device="rxe0") in (0.5, 0.25, 0.1), "fewer probes")
        count = self.count_of_writes()
        wait_for(lambda: self.count_of_writes() > count, "further ones")

    def test_it_can_be_switched_off_and_on(self):
        self.addCleanup(self.reload)
        self.addCleanup(configure, TARGET)
        configure()
        self.reload()
        wait_for(lambda: self.page().find(ATTEMPTS) == {}, "silence")
        wait_for(lambda: not any(file.startswith("/dev/infiniband") for file in self.prober.open_files()), "closed devices")


class Strangers(ProbeTest):
    def test_garbage_and_wrong_secrets_are_counted_and_reach_nothing(self):
        rejected = lambda: sum(daemons["responder"].scrape().find("rdma_probe_inbound_rejected_total").values())
        before = rejected()
        for _ in range(20):
            with socket.create_connection(("10.9.0.2", 9401), timeout=5) as stranger:
                stranger.sendall(b"GET / HTTP/1.1\r\n\r\n" * 40)
        wait_for(lambda: rejected() >= before + 20, "twenty refusals")
        # A lease whose connection broke in an earlier test may be kept for a while.
        self.assertIn(daemons["responder"].scrape().get("rdma_probe_inbound_sessions", device="rxe1"), (1, 2))

    def test_it_does_not_start_open_to_everybody(self):
        done = subprocess.run([exporter.BINARY, "--probe.responder", "--check-config"], capture_output=True, text=True,
                              timeout=exporter.START_TIMEOUT)
        self.assertEqual(done.returncode, 2)
        self.assertIn("probe.insecure", done.stderr)


class Commands(ProbeTest):
    FLAGS = (f"--probe.secret-file={SECRET}", "--probe.device-include=rxe0", "--probe.timeout=16")

    def probe(self, *flags, target=TARGET, status=0):
        done = subprocess.run([exporter.BINARY, "probe", target, *self.FLAGS, *flags], capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertNotIn("5a5a", done.stdout + done.stderr)
        return done.stdout

    def test_json_has_the_percentiles_of_each_operation(self):
        results = json.loads(self.probe("--count=20", "--interval=50ms", "--json"))["results"]
        self.assertEqual([(result["target"], result["device"], result["op"], result["probes"]) for result in results],
                         [("far", "rxe0", "write", 20), ("far", "rxe0", "echo", 20)])
        for result in results:
            times = list(result["rtt_seconds"].values())
            self.assertEqual(times, sorted(times))
            self.assertGreater(times[0], 1e-6)
            self.assertEqual(sum(result["failures"].values()), result["failed"])
            self.assertEqual(result["clock"], "host")

    def test_the_connection_manager_can_be_asked_for(self):
        results = json.loads(self.probe("--connect=rdma_cm", "--count=5", "--interval=50ms", "--json"))["results"]
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
        command = [exporter.BINARY, "probe", TARGET, *self.FLAGS, "--interval=100ms"]
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
                   f"--probe.secret-file={SECRET}"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            try:
                self.assertRegex(process.stderr.readline(), "responder is listening")
                results = json.loads(self.probe("--op=echo", "--count=5", "--interval=50ms", "--json",
                                                target="10.9.0.2:9501,from=rxe0,device=rxe1"))["results"]
            finally:
                process.terminate()
            process.stderr.read()
        self.assertEqual(process.returncode, 0)
        self.assertEqual([(result["target"], result["op"], result["probes"]) for result in results],
                         [("10.9.0.2", "echo", 5)])


class ConnectionManager(ProbeTest):
    """The same over queue pairs that rdma_cm connects."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.use, "verbs", TARGET)
        self.use("rdma_cm", MANAGED, connect="rdma_cm")

    def use(self, way, *targets, **settings):
        configure(*targets, **settings)
        self.reload()
        wait_for(lambda: self.page().find("rdma_probe_session_info", connect=way), way)
        self.wait_for_up()

    def test_a_black_hole_ends_by_the_probes_own_clock(self):
        with Netem("ve0", "loss 100%"):
            self.wait_for_failure(stage="modify", reason="ETIMEDOUT")
        self.wait_for_up()

    def test_a_new_responder_is_found(self):
        daemons["responder"].process.kill()
        daemons["responder"].process.wait()
        self.wait_for_failure(stage="tcp")
        start_responder()
        self.wait_for_up()

    def test_the_device_can_be_removed(self):
        subprocess.run(["rdma", "link", "delete", "rxe0"], check=True, timeout=60)
        kernel.run("rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "ve0")
        self.wait_for_up()


class Frontend(ProbeTest):
    """rxe_virtio is on the interface through which hosts usually reach the rest of the world."""

    def test_the_device_of_the_default_route_is_left_out_unless_it_is_named(self):
        kernel.run("ip", "route", "add", "default", "via", "10.0.2.2", "dev", "eth0")
        self.addCleanup(kernel.run, "ip", "route", "del", "default")
        rails = {"rxe0", "rxe1", "rxe_dummy"}
        for flags, expected in ((), rails), (("--probe.device-include=.*",), rails | {"rxe_virtio"}):
            daemon = exporter.Exporter(9412, *QUIET, f"--probe.secret-file={SECRET}", "--probe.timeout=16", *flags,
                                       "--probe.targets=127.0.0.1:9401,name=far,device=rxe1")
            try:
                daemon.wait_until_ready()
                wait_for(lambda: expected == {dict(labels)["device"] for _, labels in
                                              daemon.scrape().find("rdma_probe_up", target="far")}, str(expected))
                self.assertEqual("leaves out the device of the default route" in daemon.log.read_text(), not flags)
            finally:
                daemon.stop()


class Devices(ProbeTest):
    def test_a_device_can_be_removed_under_it_and_is_used_again(self):
        start = time.monotonic()
        subprocess.run(["rdma", "link", "delete", "rxe0"], check=True, timeout=60)
        self.assertLess(time.monotonic() - start, 30, "it lets go")
        wait_for(lambda: self.page().find(ATTEMPTS) == {}, "no series of a device that is not there")
        kernel.run("rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "ve0")
        self.wait_for_up()

    def test_nothing_is_left_when_it_ends(self):
        self.assertEqual(self.prober.stop(), 0)
        self.assertEqual(daemons["responder"].stop(), 0)
        for kind in ("qp", "cm_id"):
            shown = subprocess.run(["rdma", "res", "show", kind], capture_output=True, text=True, check=True).stdout
            self.assertNotIn("rdma_exporter", shown)


IN_ORDER = (Probing, Failing, Reloading, Strangers, Commands, ConnectionManager,
            Frontend, Devices)
