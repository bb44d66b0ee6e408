# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A user's rules and dashboard, unmodified, beside alerts/migration/compat.rules.yml: docs/COMPATIBILITY.md."""

import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import unittest
import urllib.parse
import urllib.request

import yaml

from harness import REPOSITORY, Exporter, TestCase, fake_tree, temporary_folder
from listening import PROMETHEUS, Announced
from marks import slow

sys.path.insert(0, os.path.join(REPOSITORY, "tests", "alerts"))
import cases  # noqa: E402
import pages  # noqa: E402

SETUP = pathlib.Path(REPOSITORY, "tests/user-setup")
RULES = SETUP / "rdma_rules.yml"
COMPATIBILITY = pathlib.Path(REPOSITORY, "alerts/migration/compat.rules.yml")
TARGET = {"job": "rdma-metrics", "instance": "localhost:9400"}

# What no synthetic tree gives: the probe's histogram (docs/PROBE.md) and numbers of objects, which come by netlink.
PROBE = "device=\"mlx5_0\",port=\"1\",target_group=\"rack7\",op=\"write\""
OTHERS = """# TYPE rdma_resource_objects gauge
rdma_resource_objects{device="mlx5_0",type="qp"} 950
rdma_resource_objects{device="mlx5_0",type="cq"} 10
# TYPE rdma_resource_objects_limit gauge
rdma_resource_objects_limit{device="mlx5_0",type="qp"} 1000
rdma_resource_objects_limit{device="mlx5_0",type="cq"} 1000
# TYPE rdma_probe_rtt_seconds histogram
rdma_probe_rtt_seconds_bucket{%(probe)s,le="8e-06"} %(few)d
rdma_probe_rtt_seconds_bucket{%(probe)s,le="3.2e-05"} %(all)d
rdma_probe_rtt_seconds_bucket{%(probe)s,le="+Inf"} %(all)d
rdma_probe_rtt_seconds_sum{%(probe)s} 1
rdma_probe_rtt_seconds_count{%(probe)s} %(all)d
"""


def dashboard_queries():
    panels = json.loads((SETUP / "dashboard.json").read_text())["dashboard"]["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def user_alerts():
    return [rule["alert"] for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def set_down(device):
    fake_tree.write(f"{device.port()}/state", "1: DOWN")


@slow(2)
@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
class Alerts(TestCase):
    """The user's four alerts, on pages of the real exporter: ten minutes each."""

    maxDiff = None

    def setUp(self):
        self.place = temporary_folder()
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.tree = fake_tree.build(f"{self.place}/host", driver="mlx5-6.12", devices=2)

    def ten_minutes(self, each_page):
        """Samples of 41 pages, 15 s apart."""
        with Exporter(sysfs=self.tree.sys) as exporter:
            taken = []
            for i in range(41):
                each_page(i)
                taken.append(exporter.scrape().samples.kernel())
        return pages.series(taken, **TARGET)

    def firing(self, series):
        """Names and devices of what fires after ten minutes, by promtool with nothing expected."""
        checks = [{"alertname": name, "eval_time": "10m", "exp_alerts": []} for name in user_alerts()]
        test = {"rule_files": [str(COMPATIBILITY), str(RULES)], "evaluation_interval": "15s",
                "group_eval_order": ["rdma-compatibility", "rdma_alerts"],
                "tests": [{"interval": "15s", "input_series": series, "alert_rule_test": checks}]}
        path = pathlib.Path(self.place, "user.test.yml")
        path.write_text(yaml.safe_dump(test))
        succeeded, output = cases.promtool_test([path])
        found = re.findall(r'Labels:\{alertname="(\w+)"(.*?)\}\n', output)
        self.assertEqual(succeeded, not found, output)
        return sorted({(name, *re.findall(r'(?:device|queue)="(\w+)"', labels)) for name, labels in found})

    def test_none_fires_on_a_healthy_host(self):
        counter = self.tree.devices["mlx5_0"].counter("port_rcv_data")
        self.assertEqual(self.firing(self.ten_minutes(lambda i: fake_tree.set_value(counter, 1000 * i))), [])

    def test_all_four_can_fire(self):
        retries = self.tree.devices["mlx5_0"].hw_counter("req_transport_retries_exceeded")

        def fault(i):
            fake_tree.set_value(retries, i)
            if i == 10:
                set_down(self.tree.devices["mlx5_1"])

        others = [{"series": pages.selector(name, {**TARGET, "device": "mlx5_0", **labels}), "values": values}
                  for name, labels, values in (
                      ("rdma_resource_objects", {"type": "qp"}, "950x40"),
                      ("rdma_resource_objects", {"type": "cq"}, "10x40"),
                      ("rdma_resource_objects_limit", {"type": "qp"}, "1000x40"),
                      ("rdma_resource_objects_limit", {"type": "cq"}, "1000x40"),
                      ("rdma_probe_rtt_seconds_bucket", {"port": "1", "op": "write", "le": "8e-06"}, "0+1x40"),
                      ("rdma_probe_rtt_seconds_bucket", {"port": "1", "op": "write", "le": "3.2e-05"}, "0+10x40"),
                      ("rdma_probe_rtt_seconds_bucket", {"port": "1", "op": "write", "le": "+Inf"}, "0+10x40"))]
        self.assertEqual(self.firing(self.ten_minutes(fault) + others), [
            ("RDMADeviceDown", "mlx5_1"), ("RDMAHighErrorRate", "mlx5_0"), ("RDMAHighLatency", "mlx5_0"),
            ("RDMAQueueFull", "mlx5_0", "qp")])


class Others(http.server.BaseHTTPRequestHandler):
    """A target with OTHERS, whose probe goes on."""

    count = 0

    def do_GET(self):
        Others.count += 10
        body = (OTHERS % {"probe": PROBE, "few": Others.count // 10, "all": Others.count}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@slow(8)
@unittest.skipUnless(shutil.which("prometheus"), "prometheus is not installed")
class Dashboard(TestCase):
    """A real Prometheus with the user's configuration: only ports, intervals and one line of rule_files are ours."""

    def setUp(self):
        place = temporary_folder()
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        tree = fake_tree.build(f"{place}/host", devices=2)
        self.moving = tree.devices["mlx5_0"].counter("port_rcv_data")
        exporter = Exporter(sysfs=tree.sys)
        self.addCleanup(exporter.__exit__, None, None, None)
        others = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Others)
        threading.Thread(target=others.serve_forever, daemon=True).start()
        self.addCleanup(others.shutdown)
        self.write_configuration(place, exporter.port, others.server_port)
        with open(f"{place}/log", "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={place}/prometheus.yml", f"--storage.tsdb.path={place}/data",
                 "--web.listen-address=127.0.0.1:0"], stdout=log, stderr=log)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.terminate)
        self.port = Announced(self.process, f"{place}/log", PROMETHEUS).ports()[0]

    def write_configuration(self, place, *ports):
        config = yaml.safe_load((SETUP / "prometheus.yml").read_text())
        self.assertEqual(config["rule_files"], ["rdma_rules.yml"])
        shutil.copy(RULES, place)
        shutil.copy(COMPATIBILITY, place)
        config["rule_files"].append("compat.rules.yml")
        config["global"]["evaluation_interval"] = "1s"
        job = config["scrape_configs"][1]
        job["scrape_interval"] = "1s"
        job["static_configs"][0]["targets"] = [f"localhost:{port}" for port in ports]
        config["scrape_configs"] = [job]
        pathlib.Path(place, "prometheus.yml").write_text(yaml.safe_dump(config))

    def api(self, path, **query):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}",
                                        timeout=5) as answer:
                return json.load(answer)["data"]
        except OSError:
            return {}

    def result(self, expression):
        fake_tree.set_value(self.moving, 1000 * Others.count)
        return [entry for entry in self.api("query", query=expression).get("result", []) if entry["value"][1] != "NaN"]

    def test_every_query_returns_data_and_nothing_is_doubled(self):
        for query in dashboard_queries():
            with self.subTest(query=query):
                self.assertTrue(self.eventually(lambda query=query: self.result(query), seconds=60, pause=0.3))
        self.assertEqual(len(self.result("rdma_device_up")), 2, "one for each device")
        self.assertEqual(self.result("rdma_bytes_total unless on (device, port, direction) rdma_port_data_bytes_total"), [])
        self.assertEqual(len(self.result("rdma_bytes_total")), len(self.result("rdma_port_data_bytes_total")))
        latency = self.eventually(lambda: self.result("rdma_latency_p99 > 10"), seconds=30, pause=0.3)
        self.assertAlmostEqual(float(latency[0]["value"][1]), 32, delta=1, msg="microseconds")
        expected = {"RDMAHighLatency", "RDMAQueueFull"}
        self.eventually(lambda: self.active() == expected, seconds=30, pause=0.3)
        self.assertEqual(self.active(), expected)

    def active(self):
        """The user's alerts whose expression holds; the rules wait for minutes before they fire."""
        groups = self.api("rules", type="alert").get("groups", [])
        return {rule["name"] for group in groups for rule in group["rules"] if rule["state"] != "inactive"}


if __name__ == "__main__":
    unittest.main()
