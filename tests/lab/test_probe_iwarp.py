# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The probe, and the collectors, on iWARP: two Soft-iWARP devices on a veth pair, whose queue pairs only rdma_cm can
connect. The suite `probe-iwarp` (tests/lab/run)."""

import json
import subprocess

import exporter
import guest
from guest import kernel
from labtest import daemons, stop_daemons
from probe_pair import ATTEMPTS, Netem, ProbeTest, wait_for

DEVICES = {"siw0": "ve0", "siw1": "ve1"}
# The side channel over loopback: what netem swallows is RDMA alone.
TARGET = "127.0.0.1:9401,name=far,from=siw0,device=siw1,source=10.9.0.1"
FLAGS = (f"--probe.secret-file={exporter.SECRET}", "--probe.max-cpu-percent=100")
QUICK = ("--probe.interval=200ms", "--probe.echo-interval=400ms")
DELAY = 0.005  # seconds, each way


def start_responder():
    daemons["responder"] = exporter.Exporter(9410, *FLAGS, "--netlink=off", "--probe.responder",
                                             "--probe.listen-address=127.0.0.1:9401", "--probe.device-include=siw1")
    daemons["responder"].wait_until_ready()


def setUpModule():
    exporter.install()
    exporter.write_keys(exporter.KEY)
    start_responder()
    daemons["prober"] = exporter.Exporter(9411, *FLAGS, *QUICK, f"--probe.targets={TARGET}",
                                          "--probe.device-include=siw0")
    daemons["prober"].wait_until_ready()


def tearDownModule():
    stop_daemons()


def objects():
    """{device: {kind: number}} of all verbs objects."""
    rows = json.loads(kernel.run("rdma", "-j", "resource", "show"))
    return {row["ifname"]: {kind: row[kind] for kind in ("qp", "cm_id", "cq", "pd", "mr", "ctx")} for row in rows}


class IwarpTest(ProbeTest):
    one_sided = "read"

    def probe(self, *flags, status=0):
        return exporter.probe(TARGET, "--probe.max-cpu-percent=100", "--probe.device-include=siw0", "--json", *flags,
                              status=status, responder=daemons["responder"])


class Probing(IwarpTest):
    def test_the_connection_manager_is_used_by_itself(self):
        info, = (dict(labels) for (_, labels) in self.page().find("rdma_probe_session_info"))
        self.assertEqual((info["connect"], info["op"], info["peer_device"], info["local_address"], info["peer_address"]),
                         ("rdma_cm", "read", "siw1", "10.9.0.1", "10.9.0.2"))
        self.assertFalse({"path_mtu", "udp_source_port"} & info.keys(), "TCP has neither")

    def test_reads_stand_in_for_writes_which_would_not_wait_for_the_peer(self):
        wait_for(lambda: (self.get("rdma_probe_rtt_seconds_count", op="echo") or 0) >= 3, "echoes")
        page = self.page()
        for op in ("read", "echo"):
            self.assertGreater(page.get("rdma_probe_rtt_seconds_count", op=op, target="far"), 0)
        self.assertEqual(page.find(ATTEMPTS, op="write") | page.find("rdma_probe_rtt_seconds_count", op="write"), {})

    def test_a_delay_is_in_every_result(self):
        with Netem("ve0", f"delay {DELAY}s"), Netem("ve1", f"delay {DELAY}s"):
            results = self.probe("--count=10", "--interval=100ms")
        self.assertEqual([result["op"] for result in results], ["read", "echo"])
        for result in results:
            self.assertGreaterEqual(result["rtt_seconds"]["min"], 2 * DELAY)

    def test_verbs_are_refused_by_name(self):
        result, = self.probe("--connect=verbs", "--op=echo", "--count=3", "--interval=50ms", status=1)
        self.assertIn("gid EOPNOTSUPP", result["failures"])

    def test_a_host_probes_itself(self):
        mesh = daemons["mesh"] = exporter.Exporter(9412, *FLAGS, *QUICK, "--netlink=off", "--probe.hostmesh")
        self.addCleanup(mesh.stop)
        mesh.wait_until_ready()
        for near, far in (("siw0", "siw1"), ("siw1", "siw0")):
            wait_for(lambda: mesh.scrape().get("rdma_probe_up", device=near, target=far) == 1, f"{near} to {far}")


class Failing(IwarpTest):
    def test_a_black_hole_ends_by_the_probes_own_clock(self):
        with Netem("ve0", "loss 100%"):
            self.wait_for_failure(reason="deadline")
            # The deadline may have been that of an echo, while the gauge follows the reads.
            wait_for(lambda: self.get("rdma_probe_up", target="far") == 0, "reads to fail")
        self.wait_for_up(timeout=240)  # Soft-iWARP may wait for TCP's next try meanwhile, with pauses that grow

    def test_a_killed_responder_is_missed_and_a_new_one_is_found(self):
        daemons["responder"].process.kill()
        daemons["responder"].process.wait()
        self.wait_for_failure(stage="tcp")
        start_responder()
        self.wait_for_up()

    def test_many_connections_leave_nothing_behind(self):
        before = objects()
        for _ in range(4):
            self.probe("--flows=6", "--count=10", "--interval=100ms")
        wait_for(lambda: objects() == before, f"what there was before: {before}")

    def test_devices_can_be_removed_at_either_end(self):
        for device, netdev in reversed(DEVICES.items()):
            with self.subTest(device=device):
                guest.subprocess.run(["rdma", "link", "delete", device], check=True, timeout=60)
                self.assertNotIn(device, objects())
                kernel.run("rdma", "link", "add", device, "type", "siw", "netdev", netdev)
                self.wait_for_up()


class Collectors(IwarpTest):
    def test_the_page_is_whole_and_valid(self):
        page = self.page()
        success = page.find("rdma_exporter_collector_success")
        self.assertEqual({key for key, value in success.items() if value != 1}, set())
        self.assertEqual(sum(page.find("rdma_exporter_read_errors_total").values()), 0)
        checked = subprocess.run(["promtool", "check", "metrics"], input=page.page, capture_output=True)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, b"", b""))

    def test_what_the_devices_are(self):
        page = self.page()
        for device, netdev in DEVICES.items():
            self.assertEqual(page.get("rdma_device_info", device=device, driver="siw", node_type="RNIC", protocol="iw"), 1)
            self.assertEqual(page.get("rdma_port_up", device=device), 1)
            self.assertEqual(page.get("rdma_port_info", device=device, netdev=netdev, link_layer="Ethernet"), 1)

    def test_there_are_no_counters_and_so_none_are_served(self):
        for device in DEVICES:
            self.assertFalse((kernel.CLASS / device / "ports/1/hw_counters").exists())
            port = [name for name, _ in self.page().find(device=device) if name.startswith("rdma_port_")]
            self.assertEqual([name for name in port if name.endswith("_total")], [])

    def test_connected_queue_pairs_are_counted_in_the_state_that_the_driver_leaves_them(self):
        wait_for(lambda: self.get("rdma_resource_qps", device="siw0", qp_type="RC", state="RESET", space="user") == 2,
                 "two queue pairs in RESET")
        wait_for(lambda: self.get("rdma_resource_objects", device="siw0", type="cm_id") == objects()["siw0"]["cm_id"] == 2,
                 "their ids")


class Ending(IwarpTest):
    def test_nothing_is_left(self):
        self.assertEqual(self.prober.stop(), 0)
        self.assertEqual(daemons["responder"].stop(), 0)
        self.assertEqual({count for device in objects().values() for count in device.values()}, {0})


IN_ORDER = (Probing, Collectors, Failing, Ending)
