# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""How many series a port has, and which families a configuration takes or leaves."""

import json
import os
import pathlib
import re

from harness import REPOSITORY, Exporter, Samples, TestCase, prom_text, run

INCIDENT = os.path.join(REPOSITORY, "tests", "captures", "connectx-incident.tar.gz")
TABLES = [pathlib.Path(REPOSITORY, name) for name in ("src/app/metrics/describe.cpp", "docs/METRICS.md")]
PORTS = 8  # of a host; what is the host's is divided by them
LOSSLESS = "3"
IN_USE = {"0", LOSSLESS}
ROCE_ONLY = re.compile("rdma_port_(cnp_.*|ecn_marked_.*|slow_restarts_.*|icrc_.*|retransmitted_packets_.*)")
# Families of cable, module, PCIe errors, health reporters and firmware: they have their own limit.
LINK_HEALTH = re.compile(r"rdma_device_pcie_(root_)?error_.*|rdma_device_pcie_errors_total|rdma_device_pcie_aer_native|"
                         r"rdma_(device|netdev)_health_.*|rdma_device_firmware_.*|rdma_netdev_(fec|module|neighbor)_.*")
MOST_LINK_HEALTH = 25
DETAIL = re.compile(r"rdma_resource_(?!objects|objects_limit$)|rdma_resource_objects_unattributed")


def page(*arguments):
    done = run("--once", *arguments)
    assert done.returncode == 0, done.stderr
    return Samples(prom_text.parse(done.stdout.encode()))


def of_host(samples):
    return sum(1 for _, labels in samples if "device" not in dict(labels))


def of_port(samples, device):
    """Series of a device with one port. Each statistic in the recording was given a value of its own, so that each
    priority has counted: of those only the ones that a host uses count here."""
    return [(name, labels) for name, labels in samples.select(device=device)
            if name.startswith("rdma_dcb_") or dict(labels).get("priority", LOSSLESS) in IN_USE]


def per_port(samples, device, with_detail=True):
    """With the share of a port in what is of the host."""
    own = of_port(samples, device)
    if not with_detail:
        own = [(name, labels) for name, labels in own if not DETAIL.match(name)]
    return len(own) + of_host(samples) / PORTS


class SeriesPerPort(TestCase):
    def report(self, what, arguments, device, limit, known=lambda samples: samples):
        """Compares with the limit, which is for what is not link health, and with the table in docs/METRICS.md."""
        lean, full = (known(page(*arguments, f"--metrics.set={name}")) for name in ("lean", "full"))
        counts = [round(per_port(lean, device)), round(per_port(lean, device, with_detail=False)),
                  round(per_port(full, device))]
        health = sum(1 for name, _ in of_port(lean, device) if LINK_HEALTH.fullmatch(name))
        print(f"{what}: {counts[0]} series per port, of which {health} are link health, {counts[1]} without resource detail, "
              f"{counts[2]} in full")
        self.assertLessEqual(counts[0] - health, limit, "the lean set has grown: core::MetricSet::full is the set of families "
                             "that no alert, dashboard, runbook or check uses")
        self.assertLessEqual(health, MOST_LINK_HEALTH)
        self.assertGreater(counts[1], limit / 2, "most of the page is missing")
        row = f"| {what} | {counts[0]} | {counts[1]} | {counts[2]} |"
        for path in TABLES:
            text = path.read_text(encoding="utf-8")
            if os.environ.get("UPDATE_GOLDEN"):
                text = re.sub(rf"\| {re.escape(what)} \|[ \d|]+\|", row, text)
                path.write_text(text, encoding="utf-8")
            self.assertIn(row, text, f"{path.name} is not up to date: run scripts/regenerate")

    def test_connectx_with_roce(self):
        self.report("mlx5, RoCE", [f"--replay={INCIDENT}"], "mlx5_0", 160)

    def test_netxtreme(self):
        self.report("bnxt_re", [f"--replay={INCIDENT}"], "bnxt_re0", 130)

    def test_infiniband(self):
        tree = self.tree(devices=1, driver="mlx5-ib")
        # That the port is no RoCE port is known from netlink, which a tree of files has not.
        self.report("mlx5, InfiniBand", [f"--path.sysfs={tree.sys}"], "mlx5_0", 60, lambda samples: Samples(
            {key: value for key, value in samples.items() if not ROCE_ONLY.fullmatch(key[0])}))

    def test_the_full_set_has_more(self):
        lean, full = (page(f"--replay={INCIDENT}", f"--metrics.set={name}") for name in ("lean", "full"))
        # A value that moves between two pages does not matter, a series that is missing does.
        self.assertEqual({k for k in lean.kernel() if k not in full}, set())
        self.assertGreater(len(full), 1.5 * len(lean))


class LeanIsEnough(TestCase):
    """What alerts, dashboards and runbooks ask for is there by default."""

    def test_nothing_that_people_use_needs_the_full_set(self):
        described = json.loads(run("--describe=json").stdout)["metrics"]
        full = {family["name"] for family in described if family["set"] == "full"}
        lean = {family["name"] for family in described} - full
        full |= {f"{name}_{suffix}" for name in full for suffix in ("bucket", "sum", "count")}
        self.assertGreater(len(full), 30)
        for pattern in ("alerts/*.rules.yml", "dashboards/*.json", "alerts/runbooks/*.md"):
            paths = sorted(pathlib.Path(REPOSITORY).glob(pattern))
            used = {path: set(re.findall(r"rdma_\w+", path.read_text(encoding="utf-8"))) for path in paths}
            self.assertTrue(set().union(*used.values()) & lean, pattern)
            for path, names in used.items():
                with self.subTest(file=path.name):
                    self.assertEqual(names & full, set())


class Selection(TestCase):
    def test_only_what_matches_is_served_and_all_that_the_exporter_says_of_itself(self):
        samples = page(f"--replay={INCIDENT}", "--metrics.include=rdma_port_.*|rdma_devices",
                       "--metrics.exclude=rdma_port_gids")
        families = {name for name in (key[0] for key in samples)}
        kernel = {name for name in families if not name.startswith(("rdma_exporter_", "process_"))}
        self.assertTrue({"rdma_port_up", "rdma_port_ack_timeouts_total", "rdma_devices"} <= kernel)
        self.assertFalse([name for name in kernel if not re.fullmatch("rdma_port_.*|rdma_devices", name)])
        self.assertNotIn("rdma_port_gids", kernel)
        self.assertIn("rdma_exporter_build_info", families)

    def test_what_feeds_no_family_is_not_read(self):
        tree = self.tree(devices=2)
        fifos = [self.fifo(f"{d.port()}/hw_counters/{n}") for d in tree.devices.values()
                 for n in os.listdir(f"{d.port()}/hw_counters")]
        with Exporter("--metrics.include=rdma_port_up|rdma_device_info", sysfs=tree.sys) as exporter:
            samples = exporter.scrape().samples
            self.assertEqual(samples.one("rdma_port_up", device="mlx5_0"), 1)
            self.assertEqual([f.path for f in fifos if f.has_reader()], [])

    def test_a_counter_whose_family_is_excluded_is_not_read(self):
        tree = self.tree(devices=1)
        fifo = self.fifo(f"{tree.devices['mlx5_0'].port()}/counters/VL15_dropped")
        with Exporter("--metrics.set=full", "--metrics.exclude=rdma_port_vl15_dropped_total",
                      sysfs=tree.sys) as exporter:
            samples = exporter.scrape().samples
            self.assertTrue(samples.select("rdma_port_data_bytes_total"))
            self.assertFalse(fifo.has_reader())

    def test_an_expression_that_is_wrong_names_file_line_and_key(self):
        for key in ("include", "exclude"):
            for expression, what in (("'*port'", "not a regular expression"), ("rdma_prot_.*", "of any family")):
                with self.subTest(key=key, expression=expression):
                    path = os.path.join(self.folder, "config.yml")
                    with open(path, "w", encoding="ascii") as file:
                        file.write(f"log:\n  level: info\nmetrics:\n  {key}: {expression}\n")
                    done = run(f"--config.file={path}", "--check-config")
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertRegex(done.stderr, rf"config\.yml:4: metrics\.{key}: ")
                    self.assertIn(what, done.stderr)
