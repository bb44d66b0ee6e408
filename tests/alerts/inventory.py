# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The labels of every family and their values, as found on pages of the exporter.

A case with an invented label proves nothing: an alert on driver="bnxt_re" passed its tests but could not fire, because
pages have bnxt_en. The pages are the recorded ones (two hosts in a PFC storm, the lab's scripted cards, Soft-RoCE)
and what the exporter makes now of the synthetic trees of all drivers."""

import functools
import json
import pathlib
import re
import shutil
import sys
import tarfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "e2e"))

import harness  # noqa: E402

RECORDED = [REPOSITORY / "tests/alerts/scripted-lab.prom", REPOSITORY / "tests/alerts/link-lab.prom",
            REPOSITORY / "tests/contract/golden/soft-roce-host.prom"]
STORM = REPOSITORY / "tests/dashboards/pfc-storm/pages.tar.xz"
DRIVERS = ("mlx5", "mlx5-6.12", "mlx5-ib", "mlx5-dual", "mlx5-vf", "mlx4", "bnxt_re", "irdma", "irdma-gen3", "efa", "hfi1",
           "mana", "rxe")
SERIES = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def parsed(series):
    """(family, {label: value}) of a series as it is written."""
    name, labels = SERIES.match(series).groups()
    return name, dict(LABEL.findall(labels or ""))


def recorded_pages():
    yield from (path.read_text() for path in RECORDED)
    with tarfile.open(STORM) as archive:
        yield from (archive.extractfile(member).read().decode() for member in archive if member.isfile())


def adapter_pages():
    """Pages of a host with ConnectX adapters: recorded in the lab or, for what the lab lacks, of a synthetic tree."""
    yield RECORDED[0].read_text()
    place = pathlib.Path(harness.temporary_folder())
    try:
        tree = harness.fake_tree.build(str(place / "host"), driver="mlx5-6.12", devices=2)
        yield harness.run("--once", f"--path.sysfs={tree.sys}").stdout
    finally:
        shutil.rmtree(place, ignore_errors=True)


def synthetic_pages():
    place = pathlib.Path(harness.temporary_folder())
    try:
        for driver in DRIVERS:
            tree = harness.fake_tree.build(str(place / driver), driver=driver, devices=2)
            yield harness.run("--once", "--metrics.set=full", f"--path.sysfs={tree.sys}").stdout
        for device in harness.fake_tree.build(str(place / "updated"), driver="mlx5", devices=1).devices.values():
            harness.fake_tree.set_value(pathlib.Path(device.dir) / "fw_ver", "28.43.2566")
            sensor = pathlib.Path(device.pci, "hwmon/hwmon0")
            sensor.mkdir(parents=True)
            for name, text in (("name", "mlx5"), ("temp1_label", "asic"), ("temp1_input", "61000"), ("temp1_crit", "105000")):
                (sensor / name).write_text(text + "\n")
        yield harness.run("--once", "--metrics.set=full", f"--path.sysfs={place / 'updated/sys'}").stdout
    finally:
        shutil.rmtree(place, ignore_errors=True)


@functools.cache
def said():
    """{family: {label: {value}}}"""
    series = {line.rpartition(" ")[0] for page in (*recorded_pages(), *synthetic_pages())
              for line in page.splitlines() if not line.startswith("#")}
    found = {}
    for family, labels in map(parsed, series):
        own = found.setdefault(family, {})
        for label, value in labels.items():
            own.setdefault(label, set()).add(value)
    return found


# What no page shows, and why: for these the exporter's own tables (--describe) say which labels there are.
UNSHOWN = {
    "rdma_probe_": "the probe runs between two hosts",
    "rdma_burst_": "off by default, and in no page without a daemon: tests/lab/test_burst.py",
    "rdma_exporter_series_dropped_total": "no host here has so many series",
    "rdma_exporter_collector_failing": "there only while a device cannot be read",
    "rdma_exporter_missing_privilege": "there only where one is missing",
    "rdma_exporter_replay_info": "its label is the path of a recording",
    "rdma_exporter_web_config_": "only with a web config file",
}
# What a switch calls itself.
FREE = {("rdma_netdev_neighbor_info", label) for label in ("chassis_id", "port_id", "port_description", "system_name")}
SELDOM = {("rdma_resource_qps", "state", "SQE"): "an error that a queue pair of type UD or UC is left in"}
PROMETHEUS = {"up", "scrape_duration_seconds", "ALERTS"}
# Labels that Prometheus or its operator adds to whatever a target says.
TARGET = {"job", "instance", "cluster", "pod", "su"}


@functools.cache
def tables():
    """(labels of each family, {(family, label, value)} of the driver tables)"""
    described = json.loads(harness.run("--describe=json").stdout)
    labels = {metric["name"]: set(metric["labels"]) for metric in described["metrics"]}
    return labels, {(row["metric"], label, value) for row in described["counters"]
                    for label, value in (row.get("labels") or {}).items()}


def is_shown(family, label, value):
    values = said()[family].get(label, ())
    return bool(values) if (family, label) in FREE else value in values


def unheard(family, labels):
    """Why the exporter never says this: [text]. `labels` is {label: value};"""
    own = {label: value for label, value in labels.items() if label not in TARGET}
    if family in PROMETHEUS:
        return []
    if family.startswith(tuple(UNSHOWN)):
        known = tables()[0].get(re.sub("_(bucket|sum|count)$", "", family), set()) | {"le"}
        return [f"{family} has no label {label}" for label in own if label not in known]
    if family not in said():
        return [f"no page has {family}"]
    return [f"no page has {family}{{{label}=\"{value}\"}}" for label, value in own.items()
            if not is_shown(family, label, value)
            and (family, label, value) not in tables()[1] and (family, label, value) not in SELDOM]
