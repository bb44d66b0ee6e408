# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Counters under mlx5's and bnxt_re's names in a real kernel: all of them, with the kernel's values, whichever way they
are read. No two have the same value, so a mixed-up pair is seen. Run by test_isolation.py."""

import exporter
from guest import Path, kernel, knobs
from labtest import LabTest, daemons

RAW_FAMILIES = ("rdma_port_raw_total", "rdma_port_raw_value")
# Under which name a counter must be served, written down here a second time: a wrong meaning or direction would agree
# with the exporter's own table. Counters of one series are added.
CURATED = {
    "mlx5_0": {
        ("rdma_port_cnp_packets_total", "direction=tx"): ["np_cnp_sent"],
        ("rdma_port_cnp_packets_total", "direction=rx"): ["rp_cnp_handled", "rp_cnp_ignored"],
        ("rdma_port_cnp_ignored_total", ""): ["rp_cnp_ignored"],
        ("rdma_port_ecn_marked_packets_total", ""): ["np_ecn_marked_roce_packets"],
        ("rdma_port_out_of_sequence_total", ""): ["out_of_sequence"],
        ("rdma_port_sequence_naks_total", "direction=rx"): ["packet_seq_err"],
        ("rdma_port_ack_timeouts_total", ""): ["local_ack_timeout_err"],
        ("rdma_port_rnr_naks_total", "direction=rx"): ["rnr_nak_retry_err"],
        ("rdma_port_receive_buffer_missing_total", ""): ["out_of_buffer"],
        ("rdma_port_requests_total", "direction=rx,operation=write"): ["rx_write_requests"],
        ("rdma_port_requests_total", "direction=rx,operation=read"): ["rx_read_requests"],
        ("rdma_port_icrc_errors_total", ""): ["rx_icrc_encapsulated"],
    },
    "bnxt_re0": {
        ("rdma_port_cnp_packets_total", "direction=tx"): ["tx_cnp_pkts"],
        ("rdma_port_cnp_packets_total", "direction=rx"): ["rx_cnp_pkts"],
        ("rdma_port_ecn_marked_packets_total", ""): ["rx_ecn_marked_pkts"],
        ("rdma_port_data_bytes_total", "direction=tx"): ["tx_bytes"],
        ("rdma_port_data_bytes_total", "direction=rx"): ["rx_bytes"],
        ("rdma_port_out_of_sequence_total", ""): ["oos_drop_count"],
        ("rdma_port_ack_timeouts_total", ""): ["to_retransmits"],
        ("rdma_port_receive_buffer_missing_total", ""): ["rx_out_of_buffer"],
        ("rdma_port_requests_total", "direction=tx,operation=send"): ["tx_send_req"],
    },
}
OPTIONAL = "cc_rx_ce_pkts"


def raw(page, device):
    """{counter: value} of a device's hw_counters as --raw=all serves them."""
    return {dict(labels)["counter"]: value for family in RAW_FAMILIES
            for (_, labels), value in page.find(family, device=device, source="hw_counters").items()}


def of(device, values):
    return {counter: value for (owner, counter), value in values.items() if owner == device}


class VendorCounters(LabTest):
    def test_every_counter_has_the_value_of_sysfs_and_of_rdma_statistic(self):
        for name in ("default", "files"):
            page = daemons[name].scrape()
            for device, count in (("mlx5_0", 31), ("mlx5_1", 31), ("bnxt_re0", 92)):
                with self.subTest(daemon=name, device=device):
                    expected = of(device, kernel.hw_counters(device))
                    self.assertEqual(len(set(expected.values())), count, "all values were to differ")
                    self.assertEqual(raw(page, device), expected)
                    self.assertEqual(of(device, kernel.rdma_statistic("link", f"{device}/1")), expected)

    def test_meaning_and_direction(self):
        page = exporter.once()
        for device, series in CURATED.items():
            counters = of(device, kernel.hw_counters(device))
            for (family, labels), names in series.items():
                with self.subTest(device=device, family=family, labels=labels):
                    wanted = dict(pair.split("=") for pair in labels.split(",") if pair)
                    self.assertEqual(page.get(family, device=device, **wanted), sum(counters[n] for n in names))

    def test_bnxt_re_shows_what_is_no_count_as_gauges(self):
        page = daemons["default"].scrape()
        self.assertIn(b"# TYPE rdma_port_raw_value gauge", page.page)
        gauges = {dict(labels)["counter"] for _, labels in page.find("rdma_port_raw_value", device="bnxt_re0")}
        self.assertLessEqual({"active_qps", "watermark_mrs", "db_fifo_register"}, gauges)
        self.assertNotIn("tx_pkts", gauges)

    def test_device_level_counters_are_read_in_the_host_s_network_namespace(self):
        """cxgb4 has none below its ports, whose presence proves elsewhere that reading them cannot crash the kernel
        (CVE-2025-22089)."""
        knobs.add("cxgb4_0", "cx1")
        self.addCleanup(knobs.remove, "cxgb4_0")
        knobs.Knobs("labib", "cxgb4_0").set("*=500")
        path = Path("/sys/class/infiniband/cxgb4_0")
        self.assertEqual(path.joinpath("hw_counters/ip4OutSegs").read_text(), "501\n")
        self.assertFalse(path.joinpath("ports/1/hw_counters").exists())
        page = exporter.once("--raw=all", "--device.include=cxgb4_0")
        self.assertEqual({dict(labels)["counter"]: value for (_, labels), value in
                          page.find("rdma_device_raw_total", device="cxgb4_0").items()},
                         {f"ip{version}{what}": 500 + 4 * (version == 6) + number for version in (4, 6)
                          for number, what in enumerate(("InSegs", "OutSegs", "RetransSegs", "OutRsts"))})

    def test_an_optional_counter_is_there_once_somebody_switched_it_on(self):
        """Netlink alone shows it: sysfs leaves optional counters out."""
        self.assertNotIn(OPTIONAL, raw(self.daemon.scrape(), "mlx5_0"))
        self.addCleanup(kernel.run, "rdma", "statistic", "unset", "link", "mlx5_0/1", "optional-counters")
        kernel.run("rdma", "statistic", "set", "link", "mlx5_0/1", "optional-counters", OPTIONAL)
        expected = kernel.rdma_statistic("link", "mlx5_0/1")["mlx5_0", OPTIONAL]
        self.assertEqual(raw(self.daemon.scrape(), "mlx5_0").get(OPTIONAL), expected)

    def test_port_counters(self):
        page = self.daemon.scrape()
        served = {dict(labels)["counter"]: value for (_, labels), value in
                  page.find("rdma_port_raw_total", device="mlx5_0", source="counters").items()}
        self.assertEqual(served, kernel.port_counters("mlx5_0"))
        self.assertEqual(page.find("rdma_port_raw_total", device="bnxt_re0", source="counters"), {}, "bnxt_re has none")
        words = kernel.port_counters("mlx5_0")["port_xmit_data"]
        self.assertEqual(exporter.once().get("rdma_port_data_bytes_total", device="mlx5_0", direction="tx"), 4 * words)

    def test_a_port_counter_that_sticks_at_its_highest_value_is_reported(self):
        device = knobs.Knobs("labib", "mlx5_1")
        device.set("link_downed=254", "port_xmit_discards=65534", "local_link_integrity_errors=3")
        page = self.daemon.scrape()
        for counter in ("link_downed", "port_xmit_discards", "local_link_integrity_errors"):
            self.assertEqual(page.get("rdma_port_counters_saturated", device="mlx5_1", counter=counter), 0, counter)
        device.set("link_downed+=2000", "port_xmit_discards+=70000")
        page = self.daemon.scrape()
        self.assertEqual(page.get("rdma_port_raw_total", device="mlx5_1", source="counters", counter="link_downed"), 255)
        self.assertEqual(page.get("rdma_port_counters_saturated", device="mlx5_1", counter="link_downed"), 1)
        self.assertEqual(page.get("rdma_port_counters_saturated", device="mlx5_1", counter="port_xmit_discards"), 1)
        self.assertEqual(page.get("rdma_port_counters_saturated", device="mlx5_1", counter="local_link_integrity_errors"), 0)

    def test_who_they_are(self):
        page = self.daemon.scrape()
        (_, labels), = page.find("rdma_device_info", device="mlx5_0")
        expected = {"driver": "mlx5_core", "fw_version": "28.39.1002", "hca_type": "MT4129",
                    "board_id": "MT_0000000838", "pci_address": "0000:00:10.0", "vendor_id": "0x15b3"}
        self.assertLessEqual(expected.items(), dict(labels).items())
        self.assertEqual(page.get("rdma_port_rate_bytes_per_second", device="mlx5_0"), 400e9 / 8)

    def test_all_collectors_succeed(self):
        # Not the daemon of this suite, which gives a collection only five seconds.
        self.assert_collectors_succeed(exporter.once())
