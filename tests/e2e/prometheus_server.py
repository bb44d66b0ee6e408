# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A real Prometheus server for the tests."""

import json
import os
import shutil
import subprocess
import urllib.parse
import urllib.request

from listening import PROMETHEUS as LISTENING
from listening import Announced

PROMETHEUS = shutil.which("prometheus")
# The shape of a configuration that users have: the port next to the host name, no path, no other settings.
CONFIG = """global:
  scrape_interval: 15s
scrape_configs:
"""
JOB = """  - job_name: '{job}'
    scrape_interval: 1s
    static_configs:
      - targets: ['localhost:{port}']
"""


class Server:
    """A Prometheus on loopback with one job for each of the exporters, scraped every second.

    settings: {job: lines of YAML for the job}
    program: another Prometheus than the one that is installed
    """

    def __init__(self, folder, exporters, *flags, settings=None, program=PROMETHEUS):
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="ascii") as file:
            file.write(CONFIG)
            for job, exporter in exporters.items():
                file.write(JOB.format(job=job, port=exporter.port) + (settings or {}).get(job, ""))
        log_path = os.path.join(folder, "prometheus.log")
        with open(log_path, "wb") as log:
            self.process = subprocess.Popen(
                [program, f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                 "--web.listen-address=127.0.0.1:0", *flags], stdout=log, stderr=log)
        self.port = Announced(self.process, log_path, LISTENING).ports()[0]

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

    def targets(self):
        data = self.api("targets")
        return {t["labels"]["job"]: (t["health"], t["lastError"]) for t in data["activeTargets"]} if data else {}
