# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""One fault, one message: the rules are evaluated step by step during a fault, and a real Alertmanager with the example's
routes and inhibition notifies a webhook."""

import http.server
import json
import os
import pathlib
import shutil
import sys
import threading
import unittest

import yaml

from alertmanager_server import ALERTMANAGER, Alertmanager
from harness import REPOSITORY, TestCase, temporary_folder
from marks import slow

sys.path.insert(0, os.path.join(REPOSITORY, "tests", "alerts"))
import cases  # noqa: E402
import faults  # noqa: E402

EXAMPLE = pathlib.Path(REPOSITORY, "alerts/alertmanager.example.yml")
EVERY = 60  # seconds between two evaluations


class Webhook:
    """What was told: [(receiver, labels)] of each alert, [(receiver, group labels)] of each message."""

    def __init__(self):
        self.alerts, self.messages = set(), []
        told = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if body["status"] == "firing":
                    told.messages.append((body["receiver"], body["groupLabels"]))
                    told.alerts.update(identity(alert["labels"]) for alert in body["alerts"])
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


def identity(labels):
    return tuple(sorted(labels.items()))


def quick(example, url):
    """The example with the webhook as its receivers, and hardly a wait: what is not inhibited is told at once."""
    config = yaml.safe_load(example.read_text())
    for receiver in config["receivers"]:
        if receiver["name"] != "nobody":
            receiver["webhook_configs"] = [{"url": url}]
            receiver.pop("email_configs", None)

    def hurry(route):
        route |= {"group_wait": "300ms", "group_interval": "300ms"}
        for inner in route.get("routes", []):
            hurry(inner)

    hurry(config["route"])
    return config


class Order(unittest.TestCase):
    def test_what_silences_is_there_before_what_it_silences(self):
        """By an evaluation at least, for rules of two groups are not evaluated together; Alertmanager takes nothing back."""
        after = {name: cases_seconds(rule["for"]) for name, rule in cases.alert_rules().items()}
        pairs = [(source, target) for rule in cases.load(EXAMPLE)["inhibit_rules"]
                 for source in alertnames(rule["source_matchers"]) for target in alertnames(rule["target_matchers"])
                 if source in after]
        self.assertGreater(len(pairs), 15)
        for source, target in pairs:
            with self.subTest(source=source, target=target):
                self.assertGreaterEqual(after[target], after[source] + 60)


def alertnames(matchers):
    return [name for matcher in matchers if matcher.startswith("alertname")
            for name in matcher.replace("=~", "=").partition("=")[2].strip('"').split("|")]


def cases_seconds(duration):
    return int(duration[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[duration[-1]]


@slow(40)
@unittest.skipUnless(ALERTMANAGER and shutil.which("promtool"), "prometheus-alertmanager or promtool is not installed")
class Faults(TestCase):
    """Each fault is a cluster, which all groups and all inhibition have, so that one server does for all at once."""

    @classmethod
    def setUpClass(cls):
        cls.place = temporary_folder()
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.faults = faults.all_faults()
        cls.webhook = Webhook()
        cls.addClassCleanup(cls.webhook.server.server_close)
        cls.addClassCleanup(cls.webhook.server.shutdown)
        config = pathlib.Path(cls.place, "alertmanager.yml")
        config.write_text(yaml.safe_dump(quick(EXAMPLE, cls.webhook.url)))
        cls.server = Alertmanager(cls.place, config)
        cls.addClassCleanup(cls.server.stop)

    def timeline(self):
        """{seconds: [labels]} of what fires."""
        path = pathlib.Path(self.place, "faults.test.yml")
        times = range(0, faults.END * faults.STEP, EVERY)
        path.write_text(yaml.dump(faults.as_test(self.faults, times), Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)))
        _, output = cases.promtool_test([path])
        return faults.firing(output)

    def everybody_was_told(self):
        """Whether all alerts that nothing inhibits, and that have a receiver, were sent."""
        found = self.server.call("alerts")
        return found is not None and all(
            identity(alert["labels"]) in self.webhook.alerts for alert in found
            if alert["status"]["state"] == "active" and alert["receivers"] != [{"name": "nobody"}])

    def processed(self):
        return all(alert["status"]["state"] != "unprocessed" for alert in self.server.call("alerts") or [])

    def test_one_fault_is_one_message(self):
        self.eventually(lambda: self.server.call("status"), seconds=20)
        timeline = self.timeline()
        before = set()
        for time in sorted(timeline):
            now = {identity(labels) for labels in timeline[time]}
            if now != before:
                body = [{"labels": dict(labels)} for labels in now]
                body += [{"labels": dict(labels), "startsAt": "2020-01-01T00:00:00Z", "endsAt": "2020-01-01T00:00:01Z"}
                         for labels in before - now]
                self.assertTrue(self.server.call("alerts", body))
                self.eventually(self.processed, seconds=20)
                self.eventually(self.everybody_was_told, seconds=20)
            before = now
        for fault in self.faults:
            with self.subTest(fault=fault.name):
                told = [(receiver, group["alertname"]) for receiver, group in self.webhook.messages
                        if group.get("cluster") == fault.name]
                self.assertEqual(told, fault.told)


if __name__ == "__main__":
    unittest.main()
