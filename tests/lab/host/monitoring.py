# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Prometheus and Alertmanager on this host, with the rules that ship at short windows, and a webhook that listens. The
exporter that they watch is in the guest."""

import http.server
import json
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request

import remote
import yaml

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
START_TIMEOUT = 60  # seconds
# Another configuration of the same mixin; the expressions stay what they are.
SHORT = """
local short = { 'for': '2s', window: '20s' };
{
  windows: { pause: '20s', rate: '20s', probe: '20s' },
  history: '10m:2s',
  memory: '10m:2s',
  historyInterval: '2s',
  alerts+: std.mapWithKey(
    function(_, alert) alert { [key]: short[key] for key in std.objectFields(short) if std.objectHas(alert, key) },
    (import '%s')._config.alerts
  ),
}
"""
PROMETHEUS_CONFIG = """
global: {scrape_interval: 2s, evaluation_interval: 2s}
rule_files: [%s/rules/*.rules.yml]
alerting: {alertmanagers: [{static_configs: [{targets: ['127.0.0.1:%d']}]}]}
scrape_configs:
- job_name: rdma-metrics
  static_configs: [{targets: ['127.0.0.1:%d']}]
"""


def alertmanager_config(example, webhook_port):
    """The example that ships; who is to be told is told by webhook, and at once. Its receiver `nobody` is not."""
    config = yaml.safe_load(example)

    def at_once(route):
        route.update(group_wait="1s", group_interval="1s")
        for child in route.get("routes", []):
            at_once(child)

    at_once(config["route"])
    webhook = [{"url": f"http://127.0.0.1:{webhook_port}/", "send_resolved": True}]
    names = [receiver["name"] for receiver in config["receivers"]]
    config["receivers"] = [{"name": name} | ({} if name == "nobody" else {"webhook_configs": webhook}) for name in names]
    return yaml.safe_dump(config)


class Monitoring:
    def __init__(self, exporter_port):
        self.received = []
        self.webhook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self.webhook.serve_forever, daemon=True).start()
        self.directory = tempfile.TemporaryDirectory(prefix="lab-monitoring-")
        self.folder = pathlib.Path(self.directory.name)
        self._write_rules()
        example = (REPOSITORY / "alerts/alertmanager.example.yml").read_text()
        alertmanager = self._write("alertmanager.yml", alertmanager_config(example, self.webhook.server_port))
        self.processes = []
        listens = self._start("prometheus-alertmanager", f"--config.file={alertmanager}", "--cluster.listen-address=",
                              f"--storage.path={self.folder}/alerts")
        prometheus = self._write("prometheus.yml", PROMETHEUS_CONFIG % (
            self.folder, listens, remote.the.ports[exporter_port]))
        self.port = self._start("prometheus", f"--config.file={prometheus}",
                                f"--storage.tsdb.path={self.folder}/prometheus")

    def _write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def _write_rules(self):
        config = self._write("short.jsonnet", SHORT % (REPOSITORY / "mixin/config.libsonnet"))
        subprocess.run([REPOSITORY / "scripts/mixin", "--config", config, "--output", self.folder / "rules"], check=True)

    def _start(self, *command):
        """Returns the port that it has chosen."""
        path = self.folder / f"{command[0]}.log"
        with path.open("wb") as log:
            process = subprocess.Popen([*command, "--web.listen-address=127.0.0.1:0"], stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log)
        self.processes.append(process)
        end = time.monotonic() + START_TIMEOUT
        while not (listens := re.search(r'msg="Listening on" address=127\.0\.0\.1:(\d+)', path.read_text())):
            if process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"{command[0]} does not run:\n{path.read_text()}")
            time.sleep(0.1)
        return int(listens[1])

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
        url = f"http://127.0.0.1:{self.port}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
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
        self.directory.cleanup()
