# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""VictoriaMetrics scrapes and stores what the exporter serves; it takes our rules and the scrape configurations of
docs/SCALE.md."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest
import urllib.parse
import urllib.request

import yaml

from harness import REPOSITORY, Exporter, TestCase, temporary_folder
from listening import reserved_port
from marks import slow
from test_prometheus_formats import RECORDING, Recorder, stored_key
from test_scale_document import yaml_blocks
import prom_text

sys.path.insert(0, os.path.join(REPOSITORY, "tests", "alerts"))
import cases  # noqa: E402

SERVER, AGENT, RULER = (shutil.which(name) for name in ("victoria-metrics", "vmagent", "vmalert"))
SCRAPES = 3
CONFIG = """scrape_configs:
  - job_name: rdma
    scrape_interval: 1s
    static_configs: [{{targets: ['localhost:{port}']}}]
"""


def checked(*command):
    return subprocess.run([*command, "-loggerLevel=ERROR"], capture_output=True, text=True, timeout=60)


@slow(10)
@unittest.skipUnless(SERVER, "victoria-metrics is not installed")
class Stored(TestCase):
    def start(self, recorder):
        """The address of a server that scrapes it every second."""
        folder = temporary_folder()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        config = pathlib.Path(folder, "scrape.yml")
        config.write_text(CONFIG.format(port=recorder.port), encoding="ascii")
        port = self.enterContext(reserved_port())
        log = self.enterContext(open(os.path.join(folder, "log"), "wb"))
        process = subprocess.Popen([SERVER, f"-promscrape.config={config}", f"-storageDataPath={folder}/data",
                                    f"-httpListenAddr=127.0.0.1:{port}", "-memory.allowedBytes=64MB"], stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return f"http://127.0.0.1:{port}"

    def stored(self, address):
        """{series: its values}"""
        urllib.request.urlopen(f"{address}/internal/force_flush", timeout=30).close()
        query = urllib.parse.urlencode({"match[]": '{job="rdma",__name__=~"rdma_.+|process_.+"}'})
        with urllib.request.urlopen(f"{address}/api/v1/export?{query}", timeout=30) as answer:
            return {stored_key(series): series["values"] for series in map(json.loads, answer)}

    def test_every_series_with_its_values(self):
        with Exporter(f"--replay={RECORDING}") as exporter:
            exporter.wait_for_checks()
            recorder = Recorder(exporter)
            self.addCleanup(recorder.stop)
            address = self.start(recorder)
            end = time.monotonic() + 60
            while len(recorder.pages) <= SCRAPES and time.monotonic() < end:
                time.sleep(0.1)
            stored = self.stored(address)
            pages = list(recorder.pages)
        self.assertEqual({kind for kind, _ in pages}, {"text/plain; version=0.0.4; charset=utf-8"})
        self.assertEqual(recorder.encodings, {"gzip"})
        sent = {}
        for _, body in pages:
            for key, value in prom_text.parse(body).items():
                sent.setdefault(key, []).append(float(value))
        self.assertEqual(set(stored), set(sent))
        for key, values in stored.items():
            self.assertGreaterEqual(len(values), SCRAPES, key)
            for ours, theirs in zip(sent[key], values):
                self.assertAlmostEqual(theirs, ours, delta=abs(ours) * 1e-12, msg=key)


class Checked(TestCase):
    def written(self, text):
        folder = temporary_folder()
        self.addCleanup(shutil.rmtree, folder)
        file = pathlib.Path(folder, "one.yml")
        file.write_text(text, encoding="utf-8")
        return file

    @unittest.skipUnless(RULER, "vmalert is not installed")
    def test_rules_are_ones_to_it(self):
        files = sorted(cases.ALERTS.rglob("*.rules.yml"))
        self.assertGreater(len(files), 2)
        for file in files:
            with self.subTest(file.name):
                rules = cases.load(file)
                for rule in (rule for group in rules["groups"] for rule in group["rules"]):
                    rule.pop("keep_firing_for", None)  # is newer than this vmalert, as docs/SCALE.md says
                done = checked(RULER, "-dryRun", f"-rule={self.written(yaml.safe_dump(rules))}")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(RULER, "vmalert is not installed")
    def test_a_rule_that_is_none_is_found(self):
        file = self.written("groups: [{name: x, rules: [{record: y, expr: 'sum(rdma_port_up'}]}]\n")
        self.assertNotEqual(checked(RULER, "-dryRun", f"-rule={file}").returncode, 0)

    @unittest.skipUnless(AGENT, "vmagent is not installed")
    def test_scrape_configurations_of_the_document_are_ones_to_it(self):
        blocks = [block for block in yaml_blocks() if "scrape_configs" in block]
        self.assertGreater(len(blocks), 2)
        for block in blocks:
            file = self.written(yaml.safe_dump({key: block[key] for key in ("global", "scrape_configs") if key in block}))
            done = checked(AGENT, f"-promscrape.config={file}", "-dryRun", "-remoteWrite.url=http://127.0.0.1/")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
