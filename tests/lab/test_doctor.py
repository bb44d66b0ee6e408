# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The suite `doctor`: what is broken on a running host is found by its check, and by no other, until it is mended.

Fabric `connectx`: mlx5_0 on cx0 and mlx5_1 on cx1 with verbs; bnxt_re0 on bcm0 without."""

import unittest

import exporter
from guest import Path, kernel, knobs, os, subprocess
from labtest import LabTest, daemons, stop_daemons, wait_for

WAIT = ("--scrape.timeout=5m",)  # the machine is slow, the kernel is not stuck
PATIENCE = 120  # seconds
OK, WARNING, CRITICAL = 0, 1, 2
VERDICTS = {"ok": OK, "warning": WARNING, "critical": CRITICAL}
PORT_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
REFUSE_GIDS = knobs.DEBUGFS / "labib/refuse_gids"

CX0 = ("mlx5_0", "1", "cx0")
CX1 = ("mlx5_1", "1", "cx1")
# (check, device, port, netdev): the verdict while it is broken, how it is broken, how it is mended
FAULTS = {
    ("netdev_mtu", *CX0): (WARNING, lambda: mtu("cx0", 1500), lambda: mtu("cx0", 4200)),
    ("rdma_mtu", "mlx5_0", "1", ""): (WARNING, lambda: None, lambda: None),  # follows
    ("global_pause", *CX0): (CRITICAL, lambda: pause("on"), lambda: pause("off")),
    ("link_speed", *CX0): (WARNING, lambda: card("speed", 100000), lambda: card("speed", 400000)),
    ("pcie_link", "mlx5_0", "", ""): (CRITICAL, lambda: card("pcie_lanes", 2), lambda: card("pcie_lanes", 16)),
    ("pcie_bandwidth", "mlx5_0", "", ""): (WARNING, lambda: None, lambda: None),  # follows
    ("traffic_class", *CX0): (WARNING, lambda: dcb("ets", "cx0", "prio-tc", "0:3"),
                              lambda: dcb("ets", "cx0", "prio-tc", "0:0")),
    ("pfc", *CX1): (WARNING, lambda: dcb("pfc", "cx1", "prio-pfc", "3:off"),
                    lambda: dcb("pfc", "cx1", "prio-pfc", "3:on")),
    ("roce_priority", *CX0): (WARNING, lambda: app("del", "26:3"), lambda: app("add", "26:3")),
    ("roce_gids", "bnxt_re0", "1", ""): (WARNING, lambda: address("add"), lambda: address("del")),
    ("udp_port", "", "", ""): (WARNING, lambda: PORT_RANGE.write_text("1024 60999"),
                               lambda: PORT_RANGE.write_text("32768 60999")),
}


def mtu(netdev, value):
    kernel.run("ip", "link", "set", "dev", netdev, "mtu", str(value))


def pause(word):
    kernel.run("ethtool", "-A", "cx0", "rx", word)


def card(knob, value):
    knobs.Knobs("labnic", "cx0").write(knob, value)


def dcb(what, netdev, *setting):
    kernel.run("dcb", what, "set", "dev", netdev, *setting)


def app(action, mapping):
    kernel.run("dcb", "app", action, "dev", "cx0", "dscp-prio", mapping)


def address(action):
    """One without GID: the adapter's table is full."""
    REFUSE_GIDS.write_text("Y" if action == "add" else "N")
    kernel.run("ip", "address", action, "10.8.7.7/32", "dev", "bcm0")


def doctor(*flags, user=None):
    """Exit status, and {(check, device, port, netdev): finding}."""
    status, document = exporter.doctor(*flags, user=user)
    return status, by_key(document)


def by_key(document):
    return {(f["check"], f["device"], f["port"], f["netdev"]): f for f in document["findings"]}


def verdicts(findings):
    return {key: VERDICTS[finding["verdict"]] for key, finding in findings.items() if finding["verdict"] in VERDICTS}


def setUpModule():
    exporter.install()
    for folder in ("labnic", "labrxe", "labib"):
        for entry in (knobs.DEBUGFS / folder).glob("*/ctl"):
            entry.write_text("*=0\n")
    app("add", "26:3")
    daemons["default"] = exporter.Exporter(9400, *exporter.only("config_check"), *WAIT,
                                           "--collector.config_check.interval=1s", "--metrics.set=full",
                                           "--collector.config_check.timeout=2m")
    unittest.addModuleCleanup(stop_daemons)
    daemons["default"].wait_until_ready()


class ByEvent(LabTest):
    """As a daemon runs by default: it reads an MTU again because the kernel has told it of the change."""

    KEY = ("rdma_mtu", "mlx5_0", "1", "")

    def test_a_change_of_the_mtu_is_found(self):
        # Not those of devices: labrxe takes the driver's name from mlx5, which lets go of an open device, and does not.
        daemons["events"] = exporter.Exporter(9404, *exporter.only("config_check", "events"), *WAIT,
                                              "--collector.events.async=off",
                                              "--collector.config_check.interval=1s", "--metrics.set=full")
        daemons["events"].wait_until_ready()
        self.addCleanup(mtu, "cx0", 4200)
        for value, verdict in ((4200, OK), (1500, WARNING), (4200, OK)):
            mtu("cx0", value)
            wait_for(lambda verdict=verdict: self.verdict() == verdict, f"verdict {verdict} at {value}", PATIENCE)

    def verdict(self):
        return daemons["events"].scrape().get("rdma_config_check", check=self.KEY[0], device=self.KEY[1], port=self.KEY[2])


class Faults(LabTest):
    def metric(self, key):
        check, device, port, netdev = key
        found = self.daemon.scrape().find("rdma_config_check", check=check)
        for (_, labels), value in found.items():
            named = dict(labels)
            if (named.get("device", ""), named.get("port", ""), named.get("netdev", "")) == (device, port, netdev):
                return value
        return None

    def expect(self, wanted, findings):
        shown = verdicts(findings)
        for key, verdict in wanted.items():
            with self.subTest(check=key):
                self.assertEqual(shown.get(key), verdict, findings.get(key))
                wait_for(lambda key=key, verdict=verdict: self.metric(key) == verdict, f"{key} is {verdict}", PATIENCE)

    def test_each_fault_is_found_while_it_is_there(self):
        well = dict.fromkeys(FAULTS, OK)
        _, before = doctor("--sample=0s")
        self.expect(well, before)
        for _, fault, mend in FAULTS.values():
            self.addCleanup(mend)
            fault()
        status, findings = doctor("--sample=0s")
        self.assertEqual(status, 2)
        self.expect({key: verdict for key, (verdict, _, _) in FAULTS.items()}, findings)
        recorded = exporter.Recording(exporter.capture("faults.tar.gz")).doctor("--sample=0s")
        self.assertEqual((recorded[0], verdicts(by_key(recorded[1]))), (status, verdicts(findings)))
        self.doCleanups()
        _, after = doctor("--sample=0s")
        self.expect(well, after)
        self.assertEqual(verdicts(after), verdicts(before))

    def test_a_port_without_link(self):
        key = ("port_state", "mlx5_1", "1", "")
        self.addCleanup(kernel.run, "ip", "link", "set", "cx1", "carrier", "on")
        kernel.run("ip", "link", "set", "cx1", "carrier", "off")
        wait_for(lambda: self.metric(key) == CRITICAL, "the port is down", PATIENCE)
        self.doCleanups()
        wait_for(lambda: self.metric(key) == OK, "the port is up", PATIENCE)

    def test_an_adapter_without_its_device(self):
        key = ("device_present", "", "", "")
        self.addCleanup(kernel.run, "rdma", "link", "add", "mlx5_1", "type", "labrxe", "netdev", "cx1")
        kernel.run("rdma", "link", "delete", "mlx5_1")
        wait_for(lambda: self.metric(key) == WARNING, "an adapter without device", PATIENCE)
        self.doCleanups()
        wait_for(lambda: self.metric(key) == OK, "all adapters have devices", PATIENCE)


class Counters(LabTest):
    def test_what_moves_while_it_looks(self):
        moving = {("labnic", "cx0"): "rx_discards_phy", ("labrxe", "mlx5_0"): "local_ack_timeout_err"}
        for (module, name), counter in moving.items():
            knobs.Knobs(module, name).set(f"{counter}@1000")
            self.addCleanup(knobs.Knobs(module, name).set, f"{counter}=0")
        _, findings = doctor("--sample=2s")
        for key in (("discards", *CX0), ("retries", "mlx5_0", "1", "")):
            self.assertEqual(findings[key]["verdict"], "warning", findings[key])
        self.assertIn("rdma_port_ack_timeouts_total", findings["retries", "mlx5_0", "1", ""]["evidence"])

    def test_what_was_counted_long_ago(self):
        knob = knobs.Knobs("labrxe", "mlx5_0")
        self.addCleanup(knob.set, "local_ack_timeout_err=0")
        # A connection that died once is another matter.
        knob.set("local_ack_timeout_err=77", "req_transport_retries_exceeded=0", "req_rnr_retries_exceeded=0")
        _, findings = doctor("--sample=1s")
        found = findings["retries", "mlx5_0", "1", ""]
        self.assertEqual(found["verdict"], "ok", found)
        self.assertIn("77", found["evidence"])


class Asking(LabTest):
    def test_everybody_may_ask(self):
        _, root = doctor("--sample=0s")
        _, nobody = doctor("--sample=0s", user=exporter.NOBODY)
        self.assertEqual(set(nobody), set(root))
        unreadable = {key for key, finding in nobody.items()
                      if finding["verdict"] == "unknown" and root[key]["verdict"] != "unknown"}
        # Device files are for root in the guest.
        self.assertLessEqual({key[0] for key in unreadable}, {"rdma_mtu", "resource_limits"})

    def test_report(self):
        for form in ("text", "html"):
            done = subprocess.run([exporter.BINARY, "report", f"--format={form}", "--sample=0s", *WAIT],
                                  capture_output=True, text=True, timeout=300, check=True)
            for part in (os.uname().nodename, os.uname().release, "mlx5_0", "cx0"):
                self.assertIn(part, done.stdout)


IN_ORDER = (ByEvent, Faults, Counters, Asking)
