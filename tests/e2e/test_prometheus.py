# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A real Prometheus server scrapes the daemon."""

import json
import os
import shutil
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

from harness import Exporter, TestCase, fake_tree, free_port

PROMETHEUS = shutil.which("prometheus")
# The shape of a configuration that users have: the port next to the host name, no path, no other settings.
CONFIG = """global:
  scrape_interval: 15s
scrape_configs:
  - job_name: 'rdma-metrics'
    scrape_interval: 1s
    static_configs:
      - targets: ['localhost:{port}']
"""


class Server:
    def __init__(self, folder, target):
        self.folder, self.port = folder, free_port()
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="ascii") as file:
            file.write(CONFIG.format(port=target))
        self.log = os.path.join(folder, "prometheus.log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [PROMETHEUS, f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=debug"], stdout=log, stderr=log)

    def stop(self):
        self.process.terminate()
        self.process.wait(10)

    def api(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def query(self, expression):
        data = self.api("query", query=expression)
        return data["result"] if data else []

    def target(self):
        data = self.api("targets")
        return data["activeTargets"][0] if data and data["activeTargets"] else None


@unittest.skipUnless(PROMETHEUS, "prometheus is not installed")
class Scraped(TestCase):
    def serve(self, tree):
        exporter = Exporter(listen=None, sysfs=tree.sys)
        self.addCleanup(exporter.__exit__, None, None, None)
        server = Server(self.folder, exporter.port)
        self.addCleanup(server.stop)
        self.assertTrue(self.eventually(
            lambda: (server.target() or {}).get("health", "unknown") != "unknown" and server.query("up"), seconds=15))
        return exporter, server

    def test_stored_values_equal_the_served_ones(self):
        exporter, server = self.serve(self.tree(driver="all"))
        target = server.target()
        self.assertEqual((target["health"], target["lastError"]), ("up", ""))
        self.assertEqual([r["value"][1] for r in server.query("up")], ["1"])
        served = exporter.scrape().samples.kernel()
        stored = {}
        for result in server.query('{job="rdma-metrics",__name__=~"rdma_.*",__name__!~"rdma_exporter_.*"}'):
            labels = {k: v for k, v in result["metric"].items() if k not in ("job", "instance", "__name__")}
            stored[(result["metric"]["__name__"], frozenset(labels.items()))] = float(result["value"][1])
        self.assertEqual(set(stored), set(served))
        for k, value in served.items():
            self.assertEqual(stored[k], float(value), k)
        for name in ("rdma_port_data_bytes_total", "rdma_device_up", "rdma_port_cnp_packets_total"):
            self.assertTrue([k for k in stored if k[0] == name], name)

    def test_counters_that_move_give_a_rate(self):
        tree = self.tree(devices=1)
        path = tree.devices["mlx5_0"].counter("port_rcv_data")
        fake_tree.set_value(path, 1000)
        exporter, server = self.serve(tree)
        fake_tree.set_value(path, 2000)
        increase = self.eventually(lambda: [r for r in server.query(
            'max_over_time(rdma_port_data_bytes_total{direction="rx"}[1m]) '
            '- min_over_time(rdma_port_data_bytes_total{direction="rx"}[1m])') if float(r["value"][1]) > 0], seconds=5)
        self.assertEqual([float(r["value"][1]) for r in increase], [4000.0])

    def test_metadata_has_types_and_help(self):
        _, server = self.serve(self.tree(devices=1))
        metadata = server.api("metadata")
        self.assertEqual(metadata["rdma_port_data_bytes_total"][0]["type"], "counter")
        self.assertEqual(metadata["rdma_device_up"][0]["type"], "gauge")
        self.assertTrue(all(entry[0]["help"] for name, entry in metadata.items() if name.startswith("rdma_")))

    def test_hostile_names_do_not_break_the_target(self):
        tree = self.tree(devices=1)
        folder = os.fsencode(tree.devices["mlx5_0"].port() + "/hw_counters/")
        for name in (b"a b,32", b'q"\\', b"new\nline", b"\xff", b"\xfe", b"\xe2\x80\xa8", b"cr\rcr", b"\x01"):
            with open(folder + name, "wb") as file:
                file.write(b"1\n")
        fake = tree.devices["mlx5_0"]
        with open(f"{fake.dir}/fw_ver", "wb") as file:
            file.write(b'\0\1"\\\n\xff')
        _, server = self.serve(tree)
        self.assertEqual((server.target()["health"], server.target()["lastError"]), ("up", ""))
        stored = {r["metric"].get("counter") for r in server.query("rdma_port_hw_counters_total")}
        self.assertLessEqual({"a b,32", 'q"\\', "new\nline", "\u2028", "cr\rcr", "\x01"}, stored)

    def test_a_stuck_device_does_not_take_the_target_down(self):
        tree = self.tree(devices=9)
        self.fifo(tree.devices["mlx5_4"].hw_counter("np_cnp_sent"))
        _, server = self.serve(tree)  # scrape_timeout is 1 s here; the exporter's own default is longer
        time.sleep(1.5)
        self.assertEqual(server.target()["health"], "up", server.target()["lastError"])
        self.assertEqual([r["value"][1] for r in server.query("rdma_devices")], ["9"])
        self.assertEqual([r["value"][1] for r in server.query("min_over_time(up[1m])")], ["1"])
