# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Whom the probe probes when nobody writes it down: files, names, and the host's own devices, on a real kernel. Four
daemons in one guest: one prober, which is in every list itself, and three responders behind the other device. The
suite `probe-discovery` (tests/lab/run)."""

import json

import exporter
import labtest
from guest import Path, os
from labtest import LabTest, daemons, stop_daemons

CONFIG = Path("/tmp/prober.yml")
LISTS = Path("/tmp/lists")
HOSTS = Path("/etc/hosts")
QUIET = ("--netlink=off",)
RESPONDERS = {"b": 9402, "c": 9403, "d": 9404}
ATTEMPTS, UP = "rdma_probe_attempts_total", "rdma_probe_up"
UNREACHED = "rdma_probe_control_failures_total"


def wait_for(condition, what, timeout=120):
    """As labtest's, with the patience that a guest on a busy machine needs."""
    labtest.wait_for(condition, what, timeout)


def entry(name, address, port):
    return {"targets": [f"{address}:{port}"], "labels": {"name": name, "group": "pod1"}}


def write_text(file, text):
    """As a careful tool does: whole, or not at all."""
    new = LISTS / f".{file}"
    new.write_text(text)
    os.rename(new, LISTS / file)


def write_list(file, *entries):
    write_text(file, json.dumps(entries))


def configure(device, **discovery):
    lines = ["probe:", "  responder: true", "  listen_address: ['10.9.0.1:9401']", f"  secret_file: {exporter.SECRET}",
             f"  device_include: {device}", "  interval: 200ms", "  echo_interval: 400ms", "  max_cpu_percent: 100"]
    hostmesh = discovery.pop("hostmesh", False)
    if hostmesh:
        lines.append("  hostmesh: true")
    if discovery:
        lines += ["  discovery:", "    refresh: 1s", *(f"    {key}: ['{value}']" for key, value in discovery.items())]
    CONFIG.write_text("\n".join(lines) + "\n")


def setUpModule():
    exporter.install()
    exporter.write_keys(exporter.KEY)
    LISTS.mkdir()
    write_list("one.json", entry("a", "10.9.0.1", 9401), entry("b", "10.9.0.2", 9402), entry("c", "10.9.0.2", 9403))
    configure("rxe0", files=f"{LISTS}/*.json")
    for name, port in RESPONDERS.items():
        daemons[name] = exporter.Exporter(port + 100, *QUIET, "--probe.responder", f"--probe.secret-file={exporter.SECRET}",
                                          f"--probe.listen-address=10.9.0.2:{port}", "--probe.device-include=rxe1")
    daemons["a"] = exporter.Exporter(9501, *QUIET, f"--config.file={CONFIG}")
    for daemon in daemons.values():
        daemon.wait_until_ready()


def tearDownModule():
    stop_daemons()


class DiscoveryTest(LabTest):
    def setUp(self):
        """There is no daemon as it comes."""

    def page(self):
        return daemons["a"].scrape()

    def targets(self):
        """Of which something is known, if only that nobody answers."""
        page = self.page()
        return {dict(labels)["target"] for name in (ATTEMPTS, UNREACHED) for (_, labels) in page.find(name)}

    def working(self):
        return {dict(labels)["target"] for (_, labels), value in self.page().find(UP).items() if value == 1}

    def reload(self, device, **discovery):
        configure(device, **discovery)
        daemons["a"].process.send_signal(1)


class Files(DiscoveryTest):
    def setUp(self):
        wait_for(lambda: self.working() == {"b", "c"}, "two that work")

    def test_all_but_this_host_itself_are_probed(self):
        self.assertEqual(self.targets(), {"b", "c"})
        page = self.page()
        self.assertEqual(page.get("rdma_probe_sd_targets", kind="file_sd"), 3)
        self.assertEqual(page.get("rdma_probe_targets", state="active"), 2)
        self.assertTrue(page.find("rdma_probe_rtt_seconds_count", target="b", target_group="pod1"))

    def test_a_new_file_is_seen_and_a_removed_one_takes_its_series_along(self):
        write_list("two.json", entry("d", "10.9.0.2", 9404))
        wait_for(lambda: self.working() == {"b", "c", "d"}, "the new one")
        (LISTS / "two.json").unlink()
        wait_for(lambda: b'target="d"' not in daemons["a"].get("/metrics"), "no trace of it")
        self.assertEqual(self.working(), {"b", "c"})

    def test_a_bad_file_is_counted_and_changes_nothing(self):
        good = (LISTS / "one.json").read_text()
        write_text("one.json", good[:-1])
        failures = lambda: self.page().get("rdma_probe_sd_failures_total", kind="file_sd", reason="parse")
        wait_for(lambda: failures() >= 2, "failures of two readings")
        self.assertEqual(self.working(), {"b", "c"})
        self.assertEqual(daemons["a"].log.read_text().count("targets cannot be read"), 1, "said once")
        write_text("one.json", good)
        wait_for(lambda: "targets can be read again" in daemons["a"].log.read_text(), "the good one")


class Names(DiscoveryTest):
    def test_every_address_of_a_name_is_probed(self):
        Path("/etc/host.conf").write_text("multi on\n")
        known = HOSTS.read_text() if HOSTS.exists() else ""
        HOSTS.write_text(known + "10.9.0.1 peers.lab\n10.9.0.2 peers.lab\n")
        daemons["b"].stop()
        daemons["b"] = exporter.Exporter(9502, *QUIET, "--probe.responder", f"--probe.secret-file={exporter.SECRET}",
                                         "--probe.listen-address=10.9.0.2:9401", "--probe.device-include=rxe1")
        self.reload("rxe0", names="peers.lab")
        wait_for(lambda: self.working() == {"10.9.0.2"}, "the other one")
        self.assertEqual(self.targets(), {"10.9.0.2"}, "not this host")
        HOSTS.write_text(HOSTS.read_text() + "10.9.0.7 peers.lab\n")
        wait_for(lambda: self.targets() == {"10.9.0.2", "10.9.0.7"}, "a new one, whether it works or not")
        HOSTS.write_text(known)
        failures = lambda: sum(self.page().find("rdma_probe_sd_failures_total", kind="dns_sd").values())
        wait_for(lambda: failures() >= 1, "a name that is gone")
        self.assertEqual(self.targets(), {"10.9.0.2", "10.9.0.7"}, "which removes nobody")


class Hostmesh(DiscoveryTest):
    def test_the_host_s_devices_probe_each_other(self):
        self.reload("rxe[01]", hostmesh=True)
        both = [("rxe0", "rxe1"), ("rxe1", "rxe0")]
        wait_for(lambda: all(self.page().get(UP, device=near, target=far) == 1 for near, far in both), "both ways")
        page = self.page()
        self.assertEqual(self.targets(), {"rxe0", "rxe1"})
        for near, far in both:
            info = [dict(labels) for (_, labels) in page.find("rdma_probe_session_info", device=near)]
            self.assertEqual([one["peer_device"] for one in info], [far])
            self.assertEqual(page.get("rdma_probe_inbound_sessions", device=near), 1)
        self.assertTrue(page.find("rdma_probe_rtt_seconds_count", target_group="hostmesh"))


IN_ORDER = (Files, Names, Hostmesh)
