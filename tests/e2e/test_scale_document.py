# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""docs/SCALE.md: its numbers are counted again where possible, and Prometheus accepts its configurations."""

import gzip
import pathlib
import re
import shutil
import subprocess

import yaml

import prom_text
from harness import BINARY, REPOSITORY, Samples, TestCase, temporary_folder
from test_metrics_set import of_host, of_port

TEXT = pathlib.Path(REPOSITORY, "docs/SCALE.md").read_text(encoding="utf-8")
INCIDENT, SOFT_ROCE = "connectx-incident", "soft-roce-host"
HOSTS = ((INCIDENT,), (INCIDENT, "--metrics.set=full"), (SOFT_ROCE,))  # the rows of the table
SERIES, RAM, DISK, WIRE = 1220, 8e3, 2, 37  # of a host; bytes of a series, and of a sample
TOLERANCE = 0.1


def table(name):
    """Rows of cells of the table between two marks."""
    rows = re.search(rf"<!-- {name} -->\n(.*?)\n *<!-- /{name} -->", TEXT, re.S)[1]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines()[2:]]


def number(text):
    return float(re.match(r"[\d.,]+", text)[0].replace(",", ""))


def page(recording, *flags):
    capture = pathlib.Path(REPOSITORY, "tests/captures", f"{recording}.tar.gz")
    return subprocess.run([BINARY, "--once", f"--replay={capture}", *flags], check=True, capture_output=True).stdout


def yaml_blocks():
    for block in re.findall(r"^( *)```yaml\n(.*?)^ *```", TEXT, re.S | re.M):
        yield yaml.safe_load(block[1])


class ScaleDocument(TestCase):
    def assert_near(self, said, found, what):
        self.assertLess(abs(said - found), TOLERANCE * found, f"docs/SCALE.md says {said} of {what}, it is {found}")

    def test_hosts_have_so_many_series(self):
        for flags, (what, series, size, compressed) in zip(HOSTS, table("hosts"), strict=True):
            text = page(*flags)
            lines = [line for line in text.splitlines() if not line.startswith(b"#")]
            self.assert_near(number(series), len(lines), what)
            self.assert_near(number(size), len(text) / 1e3, what)
            self.assert_near(number(compressed), len(gzip.compress(text, 1)) / 1e3, what)

    def test_a_port_has_so_many_series(self):
        samples = Samples(prom_text.parse(page(INCIDENT)))
        host = of_host(samples)
        port, other = (len(of_port(samples, device)) for device in ("mlx5_0", "bnxt_re0"))
        said = re.search(r"ConnectX port is (\d+) .*?Broadcom port (\d+); (\d+) belong", TEXT, re.S)
        for text, found in zip(said.groups(), (port, other, host)):
            self.assert_near(float(text), found, "a port")
        self.assert_near(SERIES, 8 * port + host, "a host of eight ports")

    def test_what_a_fleet_needs_follows_from_that(self):
        for hosts, series, at_15, at_30, ram, disk, wire in table("fleets"):
            count = number(hosts) * SERIES
            for said, found in ((number(series) * 1e6, count), (number(at_15), count / 15), (number(at_30), count / 30),
                                (number(ram) * 1e9, count * RAM), (number(disk) * 1e9, count / 15 * DISK * 86400),
                                (number(wire) * 1e6, count / 15 * WIRE * 8)):
                self.assert_near(said, found, f"{hosts} hosts")

    def test_a_thousand_hosts_elsewhere_are_as_many_series(self):
        """In the text about remote write, Thanos and Mimir, far from the table."""
        count = 1000 * SERIES
        rate = count / 15
        text = " ".join(TEXT.split())
        said = {
            r"The ([\d,]+) samples per second of a thousand hosts": rate,
            r"are (\d+) requests per second of 5,000": rate / 5000,
            r"which makes ([\d.]+) GB for a thousand": count * 3.5e3 / 1e9,
            r"([\d.]+) GB for 1,000 hosts, as in the table": count * RAM / 1e9,
            r"\(([\d.]+) million series,": count / 1e6,
            r"million series, ([\d,]+) samples": rate,
            r"so 13 cores, (\d+) GB": 3 * count / 300e3 * 2.5,
            r"so 13 cores, 31 GB, (\d+) GB": 3 * count / 300e3 * 5,
        }
        for pattern, found in said.items():
            self.assert_near(number(re.search(pattern, text)[1]), found, pattern)

    def test_what_is_dropped_first_is_there_and_no_rule_reads_it(self):
        families = {line.split(b" ")[2].decode() for line in page(INCIDENT).splitlines() if line.startswith(b"# TYPE ")}
        families |= {f"{name}_bucket" for name in families}
        rules = "".join(path.read_text(encoding="utf-8") for path in pathlib.Path(REPOSITORY, "alerts").glob("*.rules.yml"))
        block = yaml.safe_load(re.search(r"<!-- drop -->\s*```yaml\n(.*?)```", TEXT, re.S)[1])
        for rule in block["metric_relabel_configs"]:
            dropped = {name for name in families if re.fullmatch(rule["regex"], name)}
            self.assertGreaterEqual(len(dropped), rule["regex"].count("|"), rule["regex"])
            for name in dropped:
                self.assertNotRegex(rules, rf"\b{name}\b")

    def test_federation_fetches_all_recorded_series(self):
        fetched = re.search(r'"match\[\]": \[\'\{__name__=~"([^"]+)"', TEXT)[1]
        rules = yaml.safe_load(pathlib.Path(REPOSITORY, "alerts/recording.rules.yml").read_text(encoding="utf-8"))
        records = [rule["record"] for group in rules["groups"] for rule in group["rules"]]
        self.assertGreater(len(records), 20)
        for record in records:
            self.assertRegex(record, f"^(?:{fetched})$")

    def test_its_configurations_are_ones(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is not installed")
        checked, folder = 0, temporary_folder()
        self.addCleanup(shutil.rmtree, folder)
        for block in yaml_blocks():
            if "receivers" in block:  # of the OpenTelemetry Collector, which expands variables
                block = yaml.safe_load(yaml.safe_dump(block["receivers"]["prometheus"]["config"]).replace("$$", "$"))
            if "metric_relabel_configs" in block:
                block = {"scrape_configs": [{"job_name": "rdma", **block}]}
            path = pathlib.Path(folder, "prometheus.yml")
            path.write_text(yaml.safe_dump(block), encoding="utf-8")
            agent = ["--agent"] if "remote_write" in block else []
            done = subprocess.run(["promtool", "check", "config", "--syntax-only", *agent, path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            checked += 1
        self.assertEqual(checked, 5)
