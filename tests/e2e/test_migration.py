# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""alerts/migration/*.rules.yml: the recorded names of other exporters have the values that those exporters serve for the same
host."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import urllib.request

import yaml

from harness import REPOSITORY, Exporter, TestCase, fake_tree, prom_text, run, temporary_folder
from listening import PROMETHEUS, Announced
from marks import slow

sys.path.insert(0, str(pathlib.Path(REPOSITORY, "tests", "alerts")))
import cases  # noqa: E402
import pages  # noqa: E402

MIGRATION = pathlib.Path(REPOSITORY, "alerts/migration")
NODE_EXPORTER = shutil.which("prometheus-node-exporter")
# Debian's node_exporter (1.5) reads ports/N/counters only; drivers without that directory it leaves out.
DRIVERS = ("mlx5-6.12", "mlx5-ib", "mlx4", "hfi1")
# What the lean set leaves out; docs/MIGRATION.md marks them.
FULL_ONLY = tuple(f"node_infiniband_{name}" for name in (
    "unicast_packets", "multicast_packets", "vl15_dropped", "port_receive_switch_relay", "local_link_integrity",
    "excessive_buffer_overrun"))
# Which file each family of later versions shows (node_exporter 1.12, procfs sysfs/class_infiniband.go).
HW_COUNTERS = {
    "duplicate_requests_packets": "duplicate_request", "implied_nak_seq_errors": "implied_nak_seq_err",
    "local_ack_timeout_errors": "local_ack_timeout_err", "packet_sequence_errors": "packet_seq_err",
    "rnr_nak_retry_packets_received": "rnr_nak_retry_err", "out_of_sequence_packets_received": "out_of_sequence",
    "out_of_buffer_drops": "out_of_buffer", "np_cnp_packets_sent": "np_cnp_sent",
    "np_ecn_marked_roce_packets_received": "np_ecn_marked_roce_packets", "rp_cnp_packets_handled": "rp_cnp_handled",
    "rp_cnp_ignored_packets_received": "rp_cnp_ignored", "rx_icrc_encapsulated_errors": "rx_icrc_encapsulated",
    "req_cqes_errors": "req_cqe_error", "resp_cqes_errors": "resp_cqe_error",
    "req_cqes_flush_errors": "req_cqe_flush_error", "resp_cqes_flush_errors": "resp_cqe_flush_error",
    "req_remote_access_errors": "req_remote_access_errors", "resp_remote_access_errors": "resp_remote_access_errors",
    "req_remote_invalid_request_errors": "req_remote_invalid_request", "resp_local_length_errors": "resp_local_length_error",
    "roce_adp_retransmits": "roce_adp_retrans", "roce_adp_retransmits_timeout": "roce_adp_retrans_to",
    "rx_dct_connect_requests": "rx_dct_connect", "roce_slow_restart_used": "roce_slow_restart",
    "roce_slow_restart_cnps": "roce_slow_restart_cnps", "roce_slow_restart": "roce_slow_restart_trans",
    "rx_read_requests": "rx_read_requests", "rx_write_requests": "rx_write_requests",
    "rx_atomic_requests": "rx_atomic_requests",
}


def records(name):
    return {rule["record"] for group in cases.load(MIGRATION / name)["groups"] for rule in group["rules"]}


def given(labels):
    """Prometheus takes an empty label for none."""
    return tuple(sorted((name, value) for name, value in labels if value))


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
class Migration(TestCase):
    maxDiff = None

    def setUp(self):
        self.place = temporary_folder()
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)

    def tree(self, driver):
        return fake_tree.build(f"{self.place}/{driver}", driver=driver, devices=2)

    def page(self, tree, metrics="lean"):
        with Exporter("--no-collector.config_check", f"--metrics.set={metrics}", sysfs=tree.sys) as exporter:
            return exporter.scrape().samples

    def agrees(self, rules, page, wanted):
        """The rules make of the page these series, {name: {labels: value}}, and no others of these names."""
        self.assertTrue(wanted)
        expected = [{"expr": name, "eval_time": "0s",
                     "exp_samples": [{"labels": pages.selector(name, dict(labels)), "value": value}
                                     for labels, value in series.items()]}
                    for name, series in wanted.items()]
        groups = [group["name"] for group in cases.load(MIGRATION / rules)["groups"]]
        test = {"rule_files": [str(MIGRATION / rules)], "evaluation_interval": "1m", "group_eval_order": groups,
                "tests": [{"interval": "1m", "input_series": pages.series([page]), "promql_expr_test": expected}]}
        path = pathlib.Path(self.place, "migration.test.yml")
        path.write_text(yaml.safe_dump(test))
        succeeded, output = cases.promtool_test([path])
        self.assertTrue(succeeded, output[:5000])

    def served_by_node_exporter(self, tree):
        """{name: {labels: value}} of node_infiniband_*"""
        log = pathlib.Path(self.place, "node.log")
        with open(log, "wb") as file:
            process = subprocess.Popen(
                [NODE_EXPORTER, "--collector.disable-defaults", "--collector.infiniband", f"--path.sysfs={tree.sys}",
                 "--web.listen-address=127.0.0.1:0"], stdout=file, stderr=file)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        port = Announced(process, log, PROMETHEUS).ports()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
            page = prom_text.parse(answer.read())
        found = {}
        for (name, labels), value in page.items():
            if name.startswith("node_infiniband_"):
                found.setdefault(name, {})[given(labels)] = float(value)
        return found

    @slow(4)
    @unittest.skipUnless(NODE_EXPORTER, "prometheus-node-exporter is not installed")
    def test_values_are_those_of_node_exporter(self):
        for driver in DRIVERS:
            with self.subTest(driver=driver):
                tree = self.tree(driver)
                served = self.served_by_node_exporter(tree)
                self.assertGreater(len(served), 20)
                self.assertLessEqual(set(served), records("node_exporter.rules.yml"))
                self.agrees("node_exporter.rules.yml", self.page(tree, "full"), served)
                lean = {name: series for name, series in served.items() if not name.startswith(FULL_ONLY)}
                self.agrees("node_exporter.rules.yml", self.page(tree), lean)

    def values_of(self, tree, files):
        """{name: {labels: value}} of {name: file}, for all ports."""
        found = {}
        for device, entry in tree.devices.items():
            for _, port, file, path in entry.counter_files():
                for name in [name for name, wanted in files.items() if wanted == file and port]:
                    labels = given({"device": device, "port": str(port)}.items())
                    found.setdefault(name, {})[labels] = float(pathlib.Path(path).read_text())
        return found

    def test_hardware_counters_are_those_of_later_node_exporters(self):
        tree = self.tree("mlx5-6.12")
        wanted = self.values_of(tree, {f"node_infiniband_{name}_total": file for name, file in HW_COUNTERS.items()})
        self.assertEqual(len(wanted), len(HW_COUNTERS), "each file is on the tree")
        self.agrees("node_exporter.rules.yml", self.page(tree, "full"), wanted)

    def test_the_document_marks_what_the_lean_set_leaves_out(self):
        full = {family["name"] for family in json.loads(run("--describe=json").stdout)["metrics"] if family["set"] == "full"}
        text = pathlib.Path(REPOSITORY, "docs/MIGRATION.md").read_text(encoding="utf-8")
        rows = [(row, name) for row in text.splitlines() if row.startswith("|")
                for name in re.findall(r"`(\w+)", row) if f"rdma_{name}" in full]
        self.assertGreater(len(rows), 5)
        for row, name in rows:
            with self.subTest(name=name):
                self.assertIn("**full**", row)

    def test_files_under_the_names_of_yuuki(self):
        """It shows a file as rdma_FILE_total, in the unit of the file: of data that is words."""
        tree = self.tree("mlx5-6.12")
        own = records("yuuki.rules.yml")
        files = {file: name for file in {file for entry in tree.devices.values() for _, _, file, _ in entry.counter_files()}
                 if (name := f"rdma_{file.lower()}_total") in own}
        self.assertGreater(len(files), 35)
        self.agrees("yuuki.rules.yml", self.page(tree, "full"), self.values_of(tree, {name: file for file, name in files.items()}))

    def test_driver_statistics_under_the_names_of_yuuki(self):
        """For mlx5, on a page that the exporter served in the lab: labels and units are the old ones."""
        page = prom_text.parse(pathlib.Path(REPOSITORY, "tests/alerts/scripted-lab.prom").read_bytes())
        port = {"device": "mlx5_0", "port": "1", "netdev": "cx0"}
        mlx5 = {key: value for key, value in page.items() if port.items() <= dict(key[1]).items()}

        def ours(family, **labels):
            wanted = {**port, **labels}
            return float(mlx5[next(key for key in mlx5 if key[0] == family and dict(key[1]) == wanted)])

        def one(value, **labels):
            return {given({**port, **labels}.items()): value}

        self.agrees("yuuki.rules.yml", mlx5, {
            "rdma_netdev_rx_out_of_buffer_total": one(ours("rdma_netdev_discards_total", direction="rx",
                                                           reason="no_receive_buffer")),
            "rdma_pcie_outbound_stalled_percent": {
                **one(100 * ours("rdma_netdev_pcie_stalled_ratio", operation="read"), op="rd"),
                **one(100 * ours("rdma_netdev_pcie_stalled_ratio", operation="write"), op="wr")},
            "rdma_netdev_prio_cong_discard_total": {
                key: value for priority in range(8) for key, value in one(
                    ours("rdma_priority_discards_total", priority=str(priority), direction="rx", reason="congestion"),
                    priority=str(priority)).items()},
            "rdma_roce_pfc_pause_duration_total": {
                key: value for direction in ("rx", "tx") for key, value in one(
                    1e6 * ours("rdma_pfc_pause_seconds_total", priority="3", direction=direction),
                    priority="3", direction=direction).items()},
        })


if __name__ == "__main__":
    unittest.main()
