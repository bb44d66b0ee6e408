# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The example configuration of Alertmanager: who is notified, and which alerts inhibit others."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from alertmanager_server import ALERTMANAGER, Alertmanager
from harness import REPOSITORY, TestCase, temporary_folder

sys.path.insert(0, os.path.join(REPOSITORY, "tests", "alerts"))
import cases  # noqa: E402

EXAMPLE = pathlib.Path(REPOSITORY, "alerts/alertmanager.example.yml")


def described(labels):
    return " ".join(f"{label}={value}" for label, value in sorted(labels.items()))


@unittest.skipUnless(shutil.which("amtool"), "amtool is not installed")
class Routes(unittest.TestCase):
    def amtool(self, *arguments):
        done = subprocess.run(["amtool", *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def receiver(self, **labels):
        return self.amtool("config", "routes", "test", f"--config.file={EXAMPLE}",
                           *(f"{label}={value}" for label, value in labels.items())).strip()

    def test_the_file_is_valid(self):
        self.assertIn("SUCCESS", self.amtool("check-config", str(EXAMPLE)))

    def test_each_severity_has_its_receiver(self):
        receivers = {"critical": "pager", "warning": "tickets", "info": "nobody"}
        for severity, receiver in receivers.items():
            names = [name for name, rule in cases.alert_rules().items() if rule["labels"]["severity"] == severity]
            self.assertTrue(names)
            self.assertEqual(self.receiver(alertname=names[0], severity=severity), receiver)

    def test_exceptions(self):
        spray = {"adaptive_routing": "true", "severity": "warning"}
        self.assertEqual(self.receiver(alertname="RdmaOutOfSequence", **spray), "nobody")
        self.assertEqual(self.receiver(alertname="RdmaOutOfSequence", severity="warning"), "tickets")
        self.assertEqual(self.receiver(alertname="RdmaAckTimeouts", **spray), "tickets")
        self.assertEqual(self.receiver(alertname="RdmaMaintenance", severity="critical"), "nobody")
        self.assertEqual(self.receiver(alertname="SomebodyElses", severity="critical"), "nobody")

    def test_no_alert_silences_another_cluster(self):
        rules = cases.load(EXAMPLE)["inhibit_rules"]
        self.assertGreater(len(rules), 5)
        for rule in rules:
            with self.subTest(rule=rule["source_matchers"]):
                self.assertIn("cluster", rule.get("equal", []))

    def test_an_absent_exporter_silences_nothing(self):
        """A cluster without RDMA that loads the rules would silence those that share its Alertmanager."""
        for rule in cases.load(EXAMPLE)["inhibit_rules"]:
            for matcher in rule["source_matchers"]:
                label, _, value = matcher.replace("=~", "=").partition("=")
                self.assertFalse(label == "alertname" and re.fullmatch(value.strip('"'), "RdmaExporterAbsent"), matcher)

    def test_all_names_are_alerts_that_exist(self):
        found = set()
        for item in cases.load(EXAMPLE)["inhibit_rules"]:
            for matcher in item["source_matchers"] + item["target_matchers"]:
                label, _, value = matcher.replace("=~", "=").partition("=")
                found |= set(value.strip('"').split("|")) if label == "alertname" else set()
        self.assertGreater(len(found), 10)
        self.assertEqual(found - set(cases.alert_rules()), {"Rdma.+", "RdmaMaintenance"})


@unittest.skipUnless(ALERTMANAGER, "prometheus-alertmanager is not installed")
class Inhibition(TestCase):
    """A real Alertmanager. Each case has a host of its own, so that one server does for all."""

    @classmethod
    def setUpClass(cls):
        place = temporary_folder()
        cls.addClassCleanup(shutil.rmtree, place, ignore_errors=True)
        cls.server = Alertmanager(place, EXAMPLE)
        cls.addClassCleanup(cls.server.stop)

    def inhibited(self, *alerts):
        """Which of these alerts are silenced by others of them."""
        self.eventually(lambda: self.server.call("status"), seconds=20)
        body = [{"labels": {"severity": "warning", **labels}} for labels in alerts]
        self.assertTrue(self.server.call("alerts", body))
        hosts = {labels.get("instance") for labels in alerts}
        found = [entry for entry in self.server.call("alerts") if entry["labels"].get("instance") in hosts]
        self.assertEqual(len(found), len(alerts))
        silent = [entry["labels"] for entry in found if entry["status"]["inhibitedBy"]]
        return sorted(described({k: v for k, v in labels.items() if k not in ("job", "instance", "severity")})
                      for labels in silent)

    def case(self, host, expected, *alerts):
        own = {"job": "rdma", "instance": host}
        mine = [{**own, **labels} for labels in alerts]
        # The inhibitor hears of an alert a moment after it was accepted.
        self.eventually(lambda: self.inhibited(*mine) == expected, seconds=5)
        self.assertEqual(self.inhibited(*mine), expected)

    def test_a_port_that_is_down(self):
        self.case("port-down", [
            "alertname=RdmaAckTimeouts device=mlx5_0 port=1", "alertname=RdmaPfcPausedHigh device=mlx5_0 netdev=cx0 port=1 priority=3",
        ], {"alertname": "RdmaPortDown", "device": "mlx5_0", "port": "1", "netdev": "cx0"},
            {"alertname": "RdmaAckTimeouts", "device": "mlx5_0", "port": "1"},
            {"alertname": "RdmaPfcPausedHigh", "device": "mlx5_0", "port": "1", "netdev": "cx0", "priority": "3"},
            {"alertname": "RdmaAckTimeouts", "device": "mlx5_1", "port": "1"},
            {"alertname": "RdmaPfcPausedHigh", "device": "mlx5_1", "port": "1", "netdev": "cx1", "priority": "3"})

    def test_a_port_without_an_interface_silences_no_other(self):
        self.case("ib-down", ["alertname=RdmaTransmitDiscards device=hfi1_0 port=1"],
                  {"alertname": "RdmaPortDown", "device": "hfi1_0", "port": "1"},
                  {"alertname": "RdmaTransmitDiscards", "device": "hfi1_0", "port": "1"},
                  {"alertname": "RdmaSymbolErrors", "device": "hfi1_1", "port": "1"},
                  {"alertname": "RdmaExporterReplay"})

    def test_a_device_that_is_gone(self):
        self.case("lost", ["alertname=RdmaQpErrorState device=mlx5_0"],
                  {"alertname": "RdmaDeviceLost", "device": "mlx5_0"},
                  {"alertname": "RdmaQpErrorState", "device": "mlx5_0"},
                  {"alertname": "RdmaPortDown", "device": "mlx5_1", "port": "1"})

    def test_the_stronger_of_two(self):
        first = {"device": "mlx5_0", "port": "1", "netdev": "cx0"}
        self.case("stronger", [
            "alertname=RdmaPcieBackpressure device=mlx5_0 netdev=cx0 port=1",
            "alertname=RdmaPfcStormTransmitted device=mlx5_0 netdev=cx0 port=1 priority=4",
            "alertname=RdmaProbeLoss op=write target=b",
        ], {"alertname": "RdmaPcieBufferOverflow", **first}, {"alertname": "RdmaPcieBackpressure", **first},
            {"alertname": "RdmaPcieBackpressure", "device": "mlx5_1", "port": "1", "netdev": "cx1"},
            {"alertname": "RdmaNicFatal", "device": "mlx5_0", "event": "DEVICE_FATAL"},
            {"alertname": "RdmaPfcStormTransmitted", **first, "priority": "4"},
            {"alertname": "RdmaProbeFailing", "target": "b", "op": "write"},
            {"alertname": "RdmaProbeLoss", "target": "b", "op": "write"},
            {"alertname": "RdmaProbeLoss", "target": "c", "op": "write"})

    def test_clusters(self):
        """What is missing or down in one cluster says nothing of the others, of any that has no RDMA at all neither."""
        down = {"alertname": "RdmaPortDown", "device": "mlx5_0", "port": "1", "netdev": "cx0"}
        self.case("clusters", ["alertname=RdmaExporterDown cluster=a"],
                  {"alertname": "RdmaExporterAbsent"}, {"alertname": "RdmaExporterAbsent", "cluster": "no-rdma"},
                  {"alertname": "RdmaExportersDown", "cluster": "a"}, {"alertname": "RdmaExporterDown", "cluster": "a"},
                  {"alertname": "RdmaExporterDown", "cluster": "b"}, {**down, "cluster": "a"},
                  {"alertname": "RdmaSymbolErrors", "cluster": "b", "device": "mlx5_0", "port": "1", "netdev": "cx0"})

    def test_a_host_in_maintenance(self):
        self.case("drained", ["alertname=RdmaPortDown device=mlx5_0 port=1"], {"alertname": "RdmaMaintenance"},
                  {"alertname": "RdmaPortDown", "device": "mlx5_0", "port": "1"})
        self.case("not-drained", [], {"alertname": "RdmaPortDown", "device": "mlx5_0", "port": "1"})
