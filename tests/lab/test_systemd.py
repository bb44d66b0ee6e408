# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The packaged units under systemd, on a kernel with RDMA devices: starting, sandbox, watchdog, reload, socket
activation. The suite `systemd` (tests/lab/run)."""

import json
import signal

import exporter
import remote
from guest import Path, os, service, shutil
from labtest import DEVICES, LabTest
from labtest import wait_for as wait_at_most

UNIT = service.UNIT
PORT = 9400
WATCHDOG_SECONDS = 15
# This systemd is not PID 1 of the first PID namespace, and the exporter says so.
OF_THE_LAB = {("pid_namespace", "owners")}
PATIENCE = 180  # seconds until something that is bound to happen has happened

manager = None


def setUpModule():
    global manager
    service.install()
    manager = service.Manager()


def tearDownModule():
    manager.stop()


def get(path="/metrics"):
    """Status, body and headers of the answer."""
    connection = remote.the.http(PORT, PATIENCE)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def wait_for(condition, what):
    wait_at_most(condition, what, PATIENCE)


class ServiceTest(LabTest):
    def setUp(self):
        self.manager = manager

    def stop_at_the_end(self):
        """For a test that leaves the service in another state or with another configuration."""
        self.addCleanup(self.manager.try_run, "systemctl", "stop", UNIT, service.SOCKET)

    def scrape(self, path="/metrics"):
        status, page, _ = get(path)
        self.assertEqual(status, 200, page[:200])
        return exporter.Scrape(page)

    def start(self):
        self.manager.systemctl("start", UNIT)

    def write_for_this_test(self, path, text):
        before = path.read_text()
        self.stop_at_the_end()
        self.addCleanup(path.write_text, before)
        path.write_text(text)

    def drop_in_for_this_test(self, unit, text):
        self.addCleanup(self.manager.drop_in, unit, "test.conf", "")
        self.stop_at_the_end()
        self.manager.drop_in(unit, "test.conf", text)


class Start(ServiceTest):
    def missing_privileges(self):
        return {(dict(labels)["privilege"], dict(labels)["feature"])
                for _, labels in self.scrape().find("rdma_exporter_missing_privilege")}

    def test_it_serves_when_systemctl_returns(self):
        self.start()
        page = self.scrape()
        self.assertEqual(page.get("rdma_devices"), len(DEVICES))
        self.assertEqual(self.manager.show(UNIT, "ActiveState", "StatusText", "NRestarts"),
                         ["active", "serving /metrics on [::]:9400", "0"])

    def test_nothing_is_lost_in_the_sandbox(self):
        self.start()
        wait_for(lambda: len(self.scrape().find("rdma_port_active_mtu_bytes")) == len(DEVICES), "the MTU of all devices")
        page = self.scrape()
        self.assert_collectors_succeed(page)
        self.assertEqual({value for value in page.find("rdma_exporter_event_source_up").values()}, {1})
        wait_for(lambda: self.missing_privileges() == OF_THE_LAB, "the check of privileges")

    def test_what_a_smaller_sandbox_takes_away_is_said(self):
        self.drop_in_for_this_test(UNIT, "[Service]\nPrivateDevices=yes\n")
        self.manager.systemctl("restart", UNIT)
        lost = {("verbs_device", feature) for feature in ("mtu", "async_events", "resource_limits")}
        wait_for(lambda: self.missing_privileges() == lost | OF_THE_LAB, "the metric")
        self.assertRegex(self.manager.journal(), 'privileges="?verbs_device')

    def test_it_stops_cleanly(self):
        self.start()
        self.manager.systemctl("stop", UNIT)
        self.assertEqual(self.manager.show(UNIT, "ActiveState", "Result"), ["inactive", "success"])

    def test_a_mistake_in_the_configuration_is_not_tried_again(self):
        self.write_for_this_test(service.CONFIG, "nonsense: 1\n")
        self.assertNotEqual(self.manager.try_run("systemctl", "restart", UNIT).returncode, 0)
        self.assertEqual(self.manager.show(UNIT, "ActiveState", "NRestarts", "ExecMainStatus"), ["failed", "0", "2"])
        self.assertIn(f"{service.CONFIG}:1: nonsense", self.manager.journal())


class Sandbox(ServiceTest):
    def test_the_process_has_no_rights(self):
        self.start()
        status = service.status(self.manager.process_of())
        for field in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(service.field(status, field), 16), 0, field)
        self.assertEqual(service.field(status, "NoNewPrivs"), "1")
        self.assertEqual(service.field(status, "Seccomp"), "2")
        user = int(service.field(status, "Uid").split()[0])
        self.assertTrue(61184 <= user <= 65519, f"user {user} is not of DynamicUser=")

    def forbidden(self):
        """What forbidden.py found out in the sandbox of the unit."""
        shutil.copyfile("/repo/tests/lab/guest/forbidden.py", "/usr/bin/forbidden.py")
        shutil.copyfile(service.PACKAGED / UNIT, service.UNITS / "forbidden.service")
        self.manager.drop_in("forbidden.service", "instead.conf", """[Service]
ExecStart=
ExecStart=/usr/bin/python3 /usr/bin/forbidden.py
Type=oneshot
Restart=no
""")
        self.manager.systemctl("start", "forbidden.service")
        lines = [line for line in self.manager.journal("forbidden.service").splitlines() if line.startswith("{")]
        return json.loads(lines[-1])

    def test_it_is_denied_what_it_must_not_do_and_nothing_else(self):
        denied = {"EPERM", "EACCES", "EROFS"}
        must = {"verbs", "RDMA netlink", "link messages", "uevents", "read a counter", "another process's name", "listen"}
        for what, outcome in self.forbidden().items():
            if what in must:
                self.assertEqual(outcome, "ok", what)
            elif what == "raw packets":
                self.assertEqual(outcome, "EAFNOSUPPORT", what)
            else:
                self.assertIn(outcome, denied, what)

    def test_the_drop_in_of_the_probe_raises_the_locked_memory(self):
        self.drop_in_for_this_test(UNIT, (exporter.REPO / "deploy/systemd/probe.conf").read_text())
        self.manager.systemctl("restart", UNIT)
        limits = Path(f"/proc/{self.manager.process_of()}/limits").read_text()
        self.assertRegex(limits, r"Max locked memory +536870912 +536870912")


    def test_a_file_that_only_root_may_read_arrives_as_a_credential(self):
        secret = service.CONFIG.parent / "web-config.yml"
        secret.write_text("http_server_config:\n  headers:\n    X-Content-Type-Options: nosniff\n")
        self.addCleanup(secret.unlink)
        secret.chmod(0o400)
        self.write_for_this_test(
            service.DEFAULTS, f'ARGS="--web.config.file=/run/credentials/{UNIT}/{secret.name}"\n')
        self.drop_in_for_this_test(UNIT, f"[Service]\nLoadCredential={secret.name}:{secret}\n")
        self.manager.systemctl("restart", UNIT)
        status, _, headers = get()
        self.assertEqual((status, headers["X-Content-Type-Options"]), (200, "nosniff"))


class Watchdog(ServiceTest):
    def is_back(self):
        wait_for(lambda: self.manager.show(UNIT, "ActiveState") == "active", "READY=1")
        self.assertEqual(self.scrape().get("rdma_devices"), len(DEVICES))

    def test_a_daemon_that_stands_still_is_replaced(self):
        self.drop_in_for_this_test(UNIT, f"[Service]\nWatchdogSec={WATCHDOG_SECONDS}\n")
        self.manager.systemctl("restart", UNIT)
        stopped = self.manager.process_of()
        os.kill(stopped, signal.SIGSTOP)
        wait_for(lambda: self.manager.process_of() not in (None, stopped), "another process")
        # One that is slow now must not be killed, too.
        self.manager.drop_in(UNIT, "test.conf", "")
        self.is_back()
        self.assertIn("Watchdog timeout", self.manager.try_run("dmesg").stdout)

    def test_one_that_is_killed_is_replaced(self):
        self.start()
        killed = self.manager.process_of()
        os.kill(killed, signal.SIGKILL)
        wait_for(lambda: self.manager.process_of() not in (None, killed), "another process")
        self.is_back()
        self.assertGreaterEqual(int(self.manager.show(UNIT, "NRestarts")), 1)


class Reload(ServiceTest):
    def setUp(self):
        super().setUp()
        self.start()
        self.before = self.manager.process_of()

    def test_the_new_configuration_is_served_by_the_same_process(self):
        self.write_for_this_test(service.CONFIG, "web:\n  telemetry_path: /other\n")
        self.manager.systemctl("reload", UNIT)
        wait_for(lambda: get("/other")[0] == 200, "the new path")
        wait_for(lambda: self.manager.show(UNIT, "StatusText") == "serving /other on [::]:9400", "the status")
        self.assertEqual(self.manager.process_of(), self.before)
        self.assertEqual(self.manager.show(UNIT, "ActiveState"), "active")

    def test_a_mistake_leaves_the_old_one_and_shows_in_the_status(self):
        self.write_for_this_test(service.CONFIG, "nonsense: 1\n")
        self.manager.systemctl("reload", UNIT)
        wait_for(lambda: "the last reload failed" in self.manager.show(UNIT, "StatusText"), "the status")
        self.assertEqual(self.scrape().get("rdma_exporter_config_last_reload_successful"), 0)
        self.assertEqual(self.manager.process_of(), self.before)
        self.assertEqual(self.manager.show(UNIT, "ActiveState"), "active")


class Socket(ServiceTest):
    def setUp(self):
        super().setUp()
        self.manager.systemctl("stop", UNIT)
        self.write_for_this_test(service.DEFAULTS, 'ARGS="--web.systemd-socket"\n')
        self.manager.systemctl("start", service.SOCKET)

    def test_the_first_scrape_starts_the_service(self):
        self.assertEqual(self.manager.show(UNIT, "ActiveState"), "inactive")
        self.assertEqual(self.scrape().get("rdma_devices"), len(DEVICES))
        self.assertEqual(self.manager.show(UNIT, "ActiveState"), "active")

    def test_a_restart_refuses_no_scrape(self):
        self.scrape()
        before = self.manager.process_of()
        self.manager.systemctl("restart", "--no-block", UNIT)
        while self.manager.process_of() in (None, before):
            self.assertEqual(get()[0], 200)
        self.assertEqual(get()[0], 200)


IN_ORDER = (Start, Sandbox, Watchdog, Reload, Socket)
