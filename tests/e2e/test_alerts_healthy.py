# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""An hour on healthy hosts of all vendors fires no alert: traffic, a little congestion, a restart, a reset."""

import os
import pathlib
import shutil
import sys
import unittest

import yaml

from harness import REPOSITORY, Exporter, TestCase, fake_tree, prom_text, temporary_folder
from marks import slow

sys.path.insert(0, os.path.join(REPOSITORY, "tests", "alerts"))
import cases  # noqa: E402
import pages  # noqa: E402

STEP, HOUR = 30, 3600  # seconds
DRIVERS = ("mlx5-6.12", "bnxt_re", "irdma", "rxe")
# What moves, by kernel counter: per second. Congestion and repair are there, as on any host that works.
TRAFFIC = {
    "port_rcv_data": 5e9 / 4, "port_xmit_data": 5e9 / 4, "port_rcv_packets": 1.25e6, "port_xmit_packets": 1.25e6,
    "rx_bytes": 5e9, "tx_bytes": 5e9, "rx_pkts": 1.25e6, "tx_pkts": 1.25e6,
    "ip4InOctets": 5e9, "ip4OutOctets": 5e9, "ip4InPkts": 1.25e6, "ip4OutPkts": 1.25e6,
    "rcvd_pkts": 1e5, "sent_pkts": 1e5,
    "np_ecn_marked_roce_packets": 1e4, "rx_ecn_marked_pkts": 1e4, "RxECNMrkd": 1e4,
    "np_cnp_sent": 500, "rp_cnp_handled": 500, "tx_cnp_pkts": 500, "rx_cnp_pkts": 500, "cnpSent": 500, "cnpHandled": 500,
    "out_of_sequence": 0.5, "packet_seq_err": 0.2, "local_ack_timeout_err": 0.1, "rnr_nak_retry_err": 2,
    "roce_adp_retrans": 0.5, "out_of_buffer": 0.2, "seq_err_naks_rcvd": 0.2, "to_retransmits": 0.1, "rnr_naks_rcvd": 2,
    "req_cqe_error": 3, "req_cqe_flush_error": 3,  # teardowns
}

# The same for what only a kernel has (driver statistics, DCB, netlink), by family and labels: per second. Pause is there,
# each way for less than a percent of the time, as are drops of other traffic and bits that error correction repairs.
RECORDED = (
    ("rdma_port_data_bytes_total", {}, 5e9), ("rdma_port_packets_total", {}, 1.25e6),
    ("rdma_priority_bytes_total", {"priority": "3"}, 5e9), ("rdma_priority_packets_total", {"priority": "3"}, 1.25e6),
    ("rdma_priority_bytes_total", {"priority": "0"}, 1e7), ("rdma_priority_packets_total", {"priority": "0"}, 1e4),
    ("rdma_pfc_pause_seconds_total", {"priority": "3", "direction": "rx"}, 0.008),
    ("rdma_pfc_pause_seconds_total", {"priority": "3", "direction": "tx"}, 0.004),
    ("rdma_pfc_frames_total", {"priority": "3"}, 200),
    ("rdma_port_cnp_packets_total", {}, 500), ("rdma_port_ecn_marked_packets_total", {}, 1e4),
    ("rdma_netdev_discards_total", {"reason": "no_rule"}, 5), ("rdma_netdev_discards_total", {"reason": "port_buffer"}, 1),
    ("rdma_priority_discards_total", {"priority": "0"}, 1),
    ("rdma_netdev_fec_corrected_bit_errors_total", {}, 1e3), ("rdma_netdev_fec_blocks_total", {"result": "corrected"}, 500),
    ("rdma_netdev_pcie_stall_seconds_total", {}, 0.01), ("rdma_port_rnr_naks_total", {}, 2),
    ("rdma_port_out_of_sequence_total", {}, 0.5), ("rdma_port_ack_timeouts_total", {}, 0.1),
)


class Host:
    """A synthetic host whose counters a program could have moved."""

    def __init__(self, folder, driver):
        self.tree = fake_tree.build(folder, driver=driver, devices=2)
        # /proc of a kernel without known hazards: the kernel that the test runs on must not matter.
        self.procfs = pathlib.Path(folder, "proc")
        self.procfs.joinpath("sys/kernel").mkdir(parents=True)
        self.procfs.joinpath("sys/kernel/osrelease").write_text("6.1.0-56-amd64\n")
        self.procfs.joinpath("sys/kernel/version").write_text("#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2\n")
        files = [file for device in self.tree.devices.values() for file in device.counter_files()]
        self.moving = [(path, int(pathlib.Path(path).read_text()), TRAFFIC[name])
                       for _, _, name, path in files if name in TRAFFIC]

    def at(self, second, since):
        """The counters, that were reset at `since` (a driver that was loaded again), or never (0)."""
        for path, first, rate in self.moving:
            fake_tree.set_value(path, (0 if since else first) + int(rate * (second - since)))


@slow(10)
@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
class HealthyHour(TestCase):
    maxDiff = None

    def setUp(self):
        self.place = temporary_folder()
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)

    def hour_of(self, driver):
        """The series that Prometheus would have: at 20 minutes the driver is loaded again, at 40 the exporter."""
        host, taken = Host(f"{self.place}/{driver}", driver), []
        self.assertGreaterEqual(len(host.moving), 4, driver)
        seconds = range(0, HOUR + STEP, STEP)
        for part in (seconds[:80], seconds[80:]):
            with Exporter(f"--path.procfs={host.procfs}", sysfs=host.tree.sys) as exporter:
                for second in part:
                    host.at(second, since=1200 if second >= 1200 else 0)
                    taken.append(exporter.scrape().samples)
        target = {"job": "rdma", "instance": f"{driver}:9400"}
        always = f"1x{len(taken)}"
        return [{"series": pages.selector("up", target), "values": always},
                {"series": pages.selector("scrape_duration_seconds", target), "values": f"0.04x{len(taken)}"},
                *pages.series(taken, **target)]

    def hour_of_the_recording(self):
        """Series from one page of a host in the lab: what `rdma_exporter --once` printed on Linux 6.1 in the guest of
        `scripts/lab run --fabric=scripted`, two ConnectX-7 and two NetXtreme-E cards and two Soft-RoCE devices. Raw
        families, and what the exporter says of itself, were left out."""
        page = prom_text.parse(pathlib.Path(REPOSITORY, "tests/alerts/scripted-lab.prom").read_bytes())
        target = {"job": "rdma", "instance": "lab:9400"}
        series, moving = [], set()
        for (name, labels), value in page.items():
            rates = [rate for family, wanted, rate in RECORDED if family == name and wanted.items() <= labels]
            moving.update(name for _ in rates)
            series.append({"series": pages.selector(name, {**target, **dict(labels)}),
                           "values": f"{value}+{sum(rates) * STEP:g}x{HOUR // STEP}"})
        self.assertEqual(moving, {family for family, _, _ in RECORDED})
        return [*series, {"series": pages.selector("up", target), "values": f"1x{HOUR // STEP}"}]

    def test_nothing_fires(self):
        series = [entry for driver in DRIVERS for entry in self.hour_of(driver)] + self.hour_of_the_recording()
        self.assertGreater(len(series), 1000)
        checks = [{"alertname": alert, "eval_time": f"{minute}m", "exp_alerts": []}
                  for alert in cases.alert_rules() for minute in range(2, 61, 2)]
        groups = [group["name"] for path in cases.RULES for group in cases.load(path)["groups"]]
        test = {"rule_files": [str(path) for path in cases.RULES], "evaluation_interval": "1m", "group_eval_order": groups,
                "tests": [{"interval": f"{STEP}s", "input_series": series, "alert_rule_test": checks}]}
        path = pathlib.Path(self.place, "healthy.test.yml")
        path.write_text(yaml.dump(test, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)))
        succeeded, output = cases.promtool_test([path])
        self.assertTrue(succeeded, output[:5000])


if __name__ == "__main__":
    unittest.main()
