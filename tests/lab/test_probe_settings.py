# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The probe as a user configures it: targets, keys and operations that are reloaded, the connection manager, the device of the
default route. The suite `probe-settings` (tests/lab/run)."""

import exporter
import probe_pair
from guest import Path, kernel, subprocess
from labtest import daemons, stop_daemons
from probe_pair import ATTEMPTS, CONTROL_FAILURES, QUIET, TARGET, Netem, ProbeTest, configure, start_responder, wait_for

# The side channel over loopback: what netem swallows is RDMA alone.
MANAGED = "127.0.0.1:9401,name=far,group=pod1,from=rxe0,device=rxe1,source=10.9.0.1"


def setUpModule():
    probe_pair.set_up()


def tearDownModule():
    stop_daemons()


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
        old, new = exporter.KEY, "next:" + "6b" * 32
        self.addCleanup(self.use_keys, old)
        connects = self.get("rdma_probe_connects_total", device="rxe0")
        self.use_keys(old, new)
        for key in (old, new):
            self.probe_with(key)
        self.use_keys(new)
        self.assertIn("write failed 2 times: tls tls", self.probe_with(old, status=1))
        self.probe_with(new)
        self.wait_for_up()
        self.assertEqual(self.get("rdma_probe_connects_total", device="rxe0"), connects, "the session goes on")

    def use_keys(self, *keys):
        """Of both daemons."""
        logs = [daemon.log for daemon in (self.prober, daemons["responder"])]
        before = [log.read_text().count("uses its changed credentials") for log in logs]
        exporter.write_keys(*keys)
        wait_for(lambda: all(log.read_text().count("uses its changed credentials") > count
                             for log, count in zip(logs, before, strict=True)), "the changed keys")

    def probe_with(self, key, status=0):
        own = Path("/tmp/own.psk")
        exporter.write_keys(key, file=own)
        return exporter.probe(TARGET, "--probe.device-include=rxe0", "--op=write", "--count=2", "--interval=50ms", secret=own,
                              status=status)

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

    def test_it_does_not_start_open_to_everybody(self):
        done = subprocess.run([exporter.BINARY, "--probe.responder", "--check-config"], capture_output=True, text=True,
                              timeout=exporter.START_TIMEOUT)
        self.assertEqual(done.returncode, 2)
        self.assertIn("probe.insecure", done.stderr)


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
            daemon = exporter.Exporter(9412, *QUIET, f"--probe.secret-file={exporter.SECRET}", "--probe.timeout=16", *flags,
                                       "--probe.targets=127.0.0.1:9401,name=far,device=rxe1")
            try:
                daemon.wait_until_ready()
                wait_for(lambda: expected == {dict(labels)["device"] for _, labels in
                                              daemon.scrape().find("rdma_probe_up", target="far")}, str(expected))
                self.assertEqual("leaves out the device of the default route" in daemon.log.read_text(), not flags)
            finally:
                daemon.stop()


IN_ORDER = (Reloading, ConnectionManager, Frontend)
