# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The suite `alerts`: real faults reach a webhook, through exporter, Prometheus and Alertmanager. The rules are those
that ship, generated with short windows; expressions are the same."""

import signal
import time
import unittest

import exporter
from guest import Path, actors, kernel, knobs, traffic
from labtest import Loss, daemons, wait_for
from monitoring import Monitoring
from transceivers import optical_qsfp28, plug, words

PORT = 9400
NARROW = ("link_downed", "link_error_recovery", "local_link_integrity_errors", "excessive_buffer_overrun_errors",
          "port_rcv_constraint_errors", "port_xmit_constraint_errors")
# Without the checks of the set-up: what they say of this guest is right, and no fault.
FLAGS = ("--no-collector.config_check", "--collector.ethtool.interval=0ms",
         "--collector.module", "--collector.module.interval=10s",
         "--collector.resource.detail=on", "--collector.resource.detail-interval=1s", "--raw=none")
# A transceiver as it should be: what each test changes, it changes back.
MODULE = optical_qsfp28() | {(0, 34): words(8000, 8200, 8100, 7900)}
PROBE = Path("/tmp/probe.yml")
# This host's two devices probe each other, agreed upon over the loopback interface.
PROBE_ON = """probe:
  responder: true
  listen_address: ["127.0.0.1:9401"]
  targets: ["127.0.0.1:9401,name=far,group=lab,from=rxe0,device=rxe1"]
  device_include: "rxe[01]"
  interval: 200ms
  timeout: 16
  max_cpu_percent: 100
"""
server: Monitoring


def setUpModule():
    global server
    begin = time.monotonic()
    exporter.install()
    for device in ("mlx5_0", "mlx5_1"):  # fields of 4 and 8 bits that are not full
        knobs.Knobs("labib", device).set(*(f"{name}=3" for name in NARROW))
    plug("cx0", MODULE)
    PROBE.write_text("")
    daemons["default"] = exporter.Exporter(PORT, *FLAGS, f"--config.file={PROBE}")
    unittest.addModuleCleanup(lambda: daemons["default"].alive() and daemons["default"].stop())
    daemons["default"].wait_until_ready()
    server = Monitoring(PORT)
    unittest.addModuleCleanup(server.stop)
    wait_for(lambda: server.query("port:rdma_port_up:max == 1"), "Prometheus has a history", timeout=90)
    # With so short a `for` no exporter is there until the first scrape.
    wait_for(lambda: not server.query('ALERTS{alertname="RdmaExporterAbsent"}'), "the first scrape", timeout=60)
    time.sleep(5)  # until those messages have arrived
    server.received.clear()
    print(f"ready after {time.monotonic() - begin:.0f} s", flush=True)


def send(*arguments):
    """Traffic from rxe0 to rxe1. On a busy machine perftest cannot tell the clock of the processor, and says so after it
    has sent everything."""
    try:
        traffic.run(*arguments)
    except traffic.TrafficError as error:
        if "Can't produce a report" not in str(error):
            raise


class Healthy(unittest.TestCase):
    maxDiff = None

    def test_nothing_fires_on_a_healthy_host(self):
        """Traffic runs; all counters are there with values of long ago; nobody is told anything."""
        send("ib_write_bw", "-n", "200", "-s", "65536")
        wait_for(lambda: [s for s in server.query("port:rdma_port_packets:rate") if float(s["value"][1]) > 0], "traffic")
        time.sleep(5)  # for, and what a message takes
        self.assertEqual([message["labels"] for message in server.told_at_all()], [])
        self.assertEqual(server.query('ALERTS{alertname=~"Rdma.+"}'), [])


class AlertTest(unittest.TestCase):
    def assert_complete(self, message):
        """What the person gets has a text and a place to read."""
        for name in ("summary", "description", "runbook_url"):
            self.assertTrue(message["annotations"][name])
        self.assertNotRegex(message["annotations"]["description"], "<no value>|error expanding")


class Probe(AlertTest):
    def test_path_that_has_become_slow(self):
        """By 150 ms, which the recorded series shows; RdmaProbeLatencyHigh compares with other paths, and here is only one. The
        probe runs from here on only: on an emulated processor latency jumps now and then, and nothing may fire above."""
        PROBE.write_text(PROBE_ON)
        daemons["default"].process.send_signal(signal.SIGHUP)
        wait_for(lambda: server.query('port_target_op:rdma_probe_rtt_seconds:p50_rate{op="write"} offset 30s'), "latency of half a minute ago",
                 timeout=120)
        kernel.run("tc", "qdisc", "add", "dev", "ve0", "root", "netem", "delay", "150ms")
        self.addCleanup(kernel.run, "tc", "qdisc", "del", "dev", "ve0", "root")
        wait_for(lambda: server.query('port_target_op:rdma_probe_rtt_seconds:p50_rate{op="write"} > 0.1'), "the delay", timeout=120)


class Faults(AlertTest):
    def test_pfc_storm(self):
        """The card counts 0.3 s of pause in each second, as the host that causes it."""
        card = knobs.Knobs("labnic", "cx0")
        card.set("tx_prio3_pause_duration@300000", "tx_prio3_pause@5000", "tx_pause_storm_warning_events+=1")
        self.addCleanup(card.set, "tx_prio3_pause_duration@0", "tx_prio3_pause@0")
        message = server.wait_until_told("RdmaPfcStormTransmitted", netdev="cx0", priority="3", direction="tx",
                                         severity="warning")
        self.assert_complete(message)
        self.assert_complete(server.wait_until_told("RdmaNicPauseWatchdogWarning", netdev="cx0"))
        card.set("tx_prio3_pause_duration@0", "tx_prio3_pause@0")
        server.wait_until_told("RdmaPfcStormTransmitted", "resolved", netdev="cx0")

    def test_paused_by_the_fabric(self):
        """A NetXtreme-E, by the same family."""
        card = knobs.Knobs("labnic", "bcm0")
        card.set("pfc_pri3_rx_duration_us@400000")
        self.addCleanup(card.set, "pfc_pri3_rx_duration_us@0")
        self.assert_complete(server.wait_until_told("RdmaPfcPausedHigh", netdev="bcm0", priority="3", direction="rx"))
        self.assertEqual(server.told("RdmaPfcStormTransmitted", netdev="bcm0"), [])

    def test_timeouts(self):
        device = knobs.Knobs("labib", "mlx5_0")
        device.set("local_ack_timeout_err@20")
        self.addCleanup(device.set, "local_ack_timeout_err@0")
        self.assert_complete(server.wait_until_told("RdmaAckTimeouts", device="mlx5_0", port="1"))

    def test_lossy_wire(self):
        """netem loses 10 % of what rxe0 sends."""
        with Loss("ve0", "10%"):
            stop = time.monotonic() + 60
            while time.monotonic() < stop and not server.told("RdmaOutOfSequence", device="rxe1"):
                send("ib_send_bw", "-n", "300", "-s", "4096")
            self.assert_complete(server.wait_until_told("RdmaOutOfSequence", seconds=10, device="rxe1", port="1"))

    def test_peer_that_is_killed(self):
        passive, active = actors.connect("rxe1", "rxe0", "write")
        self.addCleanup(active.kill)
        self.addCleanup(lambda: passive.process.poll() is None and passive.kill())
        passive.kill()
        self.assertEqual(active.read_line(), "failed 12", "IBV_WC_RETRY_EXC_ERR was expected")
        self.assert_complete(server.wait_until_told("RdmaRetriesExceeded", device="rxe0", port="1", kind="transport"))
        self.assert_complete(server.wait_until_told("RdmaQpErrorState", device="rxe0", state="ERR"))

    def module_has(self, memory):
        """The transceiver of cx0, until the end of the test."""
        plug("cx0", memory)
        self.addCleanup(plug, "cx0", MODULE)

    def test_module_that_gets_hot_and_loses_light_in_one_lane(self):
        self.module_has({(0, 22): words(71 * 256), (0, 34): words(8000, 8200, 400, 7900)})  # warnings from 70 C, below 51.3 uW
        place = {"device": "mlx5_0", "port": "1", "netdev": "cx0", "severity": "warning"}
        self.assert_complete(server.wait_until_told("RdmaModuleTemperatureHigh", **place))
        self.assert_complete(server.wait_until_told("RdmaModulePowerLow", **place, lane="3"))
        self.assertEqual({message["labels"]["lane"] for message in server.told("RdmaModulePowerLow")}, {"3"})
        plug("cx0", MODULE)
        server.wait_until_told("RdmaModuleTemperatureHigh", "resolved", **place)
        server.wait_until_told("RdmaModulePowerLow", "resolved", **place, lane="3")

    def test_module_with_too_little_supply_and_a_laser_that_ages(self):
        self.module_has({(0, 26): words(31000), (0, 42): words(3750, 4600, 3800, 3770),  # warnings below 3.135 V, from 9 mA
                         (0, 50): words(9000, 9100, 9200, 18000)})  # and from 1.7378 mW
        place = {"device": "mlx5_0", "port": "1", "netdev": "cx0", "severity": "warning"}
        self.assert_complete(server.wait_until_told("RdmaModuleVoltageOutOfRange", **place))
        self.assert_complete(server.wait_until_told("RdmaModuleBiasOutOfRange", **place, lane="2"))
        self.assert_complete(server.wait_until_told("RdmaModulePowerHigh", **place, lane="4"))

    def test_port_that_lost_its_link_and_port_that_somebody_set_down(self):
        """Both ends of a wire are down; only one of them should be up."""
        kernel.run("ip", "link", "set", "ve1", "down")
        self.addCleanup(kernel.run, "ip", "link", "set", "ve1", "up")
        message = server.wait_until_told("RdmaPortDown", device="rxe0", netdev="ve0", severity="warning")
        self.assert_complete(message)
        self.assertEqual({message["labels"]["device"] for message in server.told("RdmaPortDown")}, {"rxe0"})
        kernel.run("ip", "link", "set", "ve1", "up")
        server.wait_until_told("RdmaPortDown", "resolved", device="rxe0")


class Gone(AlertTest):
    """Last, because they leave something behind."""

    def test_device_removed(self):
        knobs.remove("mlx5_1")
        self.assert_complete(server.wait_until_told("RdmaDeviceLost", device="mlx5_1", severity="warning"))

    def test_exporter_stopped(self):
        self.assertEqual(daemons["default"].stop(), 0)
        self.assert_complete(server.wait_until_told("RdmaExporterDown", severity="warning"))


IN_ORDER = (Healthy, Probe, Faults, Gone)
