# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A real Alertmanager for the tests of a class."""

import json
import shutil
import subprocess
import urllib.request

from listening import PROMETHEUS, Announced

ALERTMANAGER = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")


class Alertmanager:
    def __init__(self, place, config):
        """Keeps its data below the folder `place`."""
        with open(f"{place}/log", "wb") as log:
            self.process = subprocess.Popen(
                [ALERTMANAGER, f"--config.file={config}", f"--storage.path={place}/data", "--cluster.listen-address=",
                 "--web.listen-address=127.0.0.1:0"], stdout=log, stderr=log)
        self.url = f"http://127.0.0.1:{Announced(self.process, f'{place}/log', PROMETHEUS).ports()[0]}"

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def call(self, path, body=None):
        """What it answers; None when it does not, or refuses."""
        request = urllib.request.Request(f"{self.url}/api/v2/{path}", data=body and json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return json.loads(answer.read() or "true")
        except OSError:
            return None
