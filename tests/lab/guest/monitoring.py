# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Prometheus and Alertmanager in the guest, with the rules that ship at short windows, and a webhook that listens."""

import http.server
import json
import pathlib
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import yaml

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
PROMETHEUS, ALERTMANAGER, WEBHOOK = 9090, 9093, 9095
# Another configuration of the same mixin; the expressions stay what they are.
SHORT = """
local short = { 'for': '2s', window: '20s', baseline: '30s' };
{
  windows: { pause: '20s', rate: '20s', probe: '20s' },
  history: '10m:2s',
  memory: '10m:2s',
  historyInterval: '2s',
  alerts+: std.mapWithKey(
    function(_, alert) alert { [key]: short[key] for key in std.objectFields(short) if std.objectHas(alert, key) },
    (import '%s')._config.alerts
  ) + { RdmaProbeLatencyHigh+: { floor: 0.2 } },  // an emulated processor is as slow as 0.1 s by itself
}
"""
PROMETHEUS_CONFIG = """
global: {scrape_interval: 2s, evaluation_interval: 2s}
rule_files: [/tmp/rules/*.rules.yml]
alerting: {alertmanagers: [{static_configs: [{targets: ['127.0.0.1:%d']}]}]}
scrape_configs:
- job_name: rdma-metrics
  static_configs: [{targets: ['127.0.0.1:%d']}]
"""


def alertmanager_config(example):
    """The example that ships; everybody is told by webhook, and at once."""
    config = yaml.safe_load(example)

    def at_once(route):
        route.update(group_wait="1s", group_interval="1s")
        for child in route.get("routes", []):
            at_once(child)

    at_once(config["route"])
    webhook = [{"url": f"http://127.0.0.1:{WEBHOOK}/", "send_resolved": True}]
    config["receivers"] = [{"name": receiver["name"], "webhook_configs": webhook} for receiver in config["receivers"]]
    return yaml.safe_dump(config)


class Monitoring:
    def __init__(self, exporter_port):
        self.received = []
        self.webhook = http.server.ThreadingHTTPServer(("127.0.0.1", WEBHOOK), self._handler())
        threading.Thread(target=self.webhook.serve_forever, daemon=True).start()
        self._write_rules()
        pathlib.Path("/tmp/prometheus.yml").write_text(PROMETHEUS_CONFIG % (ALERTMANAGER, exporter_port))
        example = (REPOSITORY / "alerts/alertmanager.example.yml").read_text()
        pathlib.Path("/tmp/alertmanager.yml").write_text(alertmanager_config(example))
        self.processes = [
            self._start("prometheus", "--config.file=/tmp/prometheus.yml", "--storage.tsdb.path=/tmp/prometheus",
                        f"--web.listen-address=127.0.0.1:{PROMETHEUS}"),
            self._start("prometheus-alertmanager", "--config.file=/tmp/alertmanager.yml", "--storage.path=/tmp/alerts",
                        "--cluster.listen-address=", f"--web.listen-address=127.0.0.1:{ALERTMANAGER}"),
        ]

    def _write_rules(self):
        pathlib.Path("/tmp/short.jsonnet").write_text(SHORT % (REPOSITORY / "mixin/config.libsonnet"))
        subprocess.run([REPOSITORY / "scripts/mixin", "--config", "/tmp/short.jsonnet", "--output", "/tmp/rules"],
                       check=True)

    def _start(self, *command):
        with open(f"/tmp/{command[0]}.log", "wb") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _handler(self):
        received = self.received

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.extend(json.loads(body)["alerts"])
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        return Handler

    def query(self, expression):
        """Result of an instant query; empty while Prometheus does not answer."""
        url = f"http://127.0.0.1:{PROMETHEUS}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            return []

    def fired(self, alert, **labels):
        """Whether it has fired, also when another alert kept Alertmanager from telling."""
        wanted = ",".join(f'{label}="{value}"' for label, value in {"alertname": alert, **labels}.items())
        return bool(self.query(f'max_over_time(ALERTS{{alertstate="firing",{wanted}}}[5m])'))

    def told(self, alert, status="firing", **labels):
        """The messages about such an alert that have reached the webhook."""
        wanted = {"alertname": alert, **labels}.items()
        return [message for message in self.received
                if message["status"] == status and wanted <= message["labels"].items()]

    def told_at_all(self):
        return [message for message in self.received if message["status"] == "firing"]

    def wait_until_told(self, alert, status="firing", seconds=60, **labels):
        begin = time.monotonic()
        end = begin + seconds
        while not self.told(alert, status, **labels):
            if time.monotonic() > end:
                states = [(a["metric"], a["value"][1]) for a in self.query("ALERTS")]
                raise AssertionError(f"nobody was told of {alert} {labels} within {seconds} s; alerts are {states}")
            time.sleep(0.2)
        print(f"{alert} {status}: told after {time.monotonic() - begin:.0f} s", flush=True)
        return self.told(alert, status, **labels)[-1]

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(20)
        self.webhook.shutdown()
