# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A Prometheus server that holds the minutes of a PFC storm, for the tests of the dashboards and for their pictures.

What it holds: the recorded pages of tests/dashboards/pfc-storm (node-a, node-b), pages of an exporter that runs now on
a synthetic tree with faults (node-c), synthetic series of the probe (probe_series), and what Prometheus itself would
have added: up, scrape_*, ALERTS."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import harness  # noqa: E402
import listening  # noqa: E402
import probe_series  # noqa: E402

RECORDING = HERE / "pfc-storm" / "pages.tar.xz"
JOB = "rdma"
STORM = (120, 270)  # seconds from the first page, as tests/lab/guest/storm.py plays it
PAUSING = {"instance": "node-a:9400", "device": "mlx5_0", "port": "1", "netdev": "cx0"}
# What the rules that ship would say of the storm, worked out by hand from the recorded counters, the windows and `for`: no
# rule is evaluated here. Name, severity, labels, seconds from the first page. The storm is over before more of them have
# waited long enough.
FIRING = (
    ("RdmaNicPauseWatchdogWarning", "warning", {**PAUSING, "level": "warning"}, (240, 420)),
    ("RdmaNicFatal", "critical", {**PAUSING, "level": "error"}, (250, 450)),
    ("RdmaPfcStormTransmitted", "warning", {**PAUSING, "priority": "3", "direction": "tx"}, (315, 374)),
    ("RdmaLosslessPriorityDrops", "critical", {**PAUSING, "priority": "3", "direction": "rx"}, (420, 450)),
)


def recorded_pages():
    """[(seconds since 1970, host, page)] in the order of time."""
    pages = []
    with tarfile.open(RECORDING) as archive:
        for member in archive:
            if member.isfile():
                path = pathlib.PurePath(member.name)
                pages.append((int(path.stem) / 1000, path.parent.name, archive.extractfile(member).read().decode()))
    return sorted(pages)


def healthy_tree(folder):
    """Two devices, of which one has other firmware and a thermometer."""
    tree = harness.fake_tree.build(folder + "/tree", driver="mlx5", devices=2)
    first = tree.devices["mlx5_0"]
    for counter in (first.counter("link_error_recovery"), first.hw_counter("req_remote_access_errors")):
        harness.fake_tree.set_value(counter, 0)
    set_firmware(first, "28.43.2566")
    sensor = pathlib.Path(first.pci, "hwmon/hwmon0")
    sensor.mkdir(parents=True)
    for name, text in (("name", "mlx5"), ("temp1_label", "asic"), ("temp1_input", "61000")):
        (sensor / name).write_text(text + "\n")
    return tree


def set_firmware(device, version):
    (pathlib.Path(device.dir) / "fw_ver").write_text(version + "\n")


def add_faults(tree, folder):
    """What goes wrong seldom: a file with EIO, counters that move or stand at their maximum, a read that hangs. The
    Fifo of the latter is returned."""
    first, second = tree.devices["mlx5_0"], tree.devices["mlx5_1"]
    broken = first.hw_counter("out_of_sequence")
    os.unlink(broken)
    os.symlink("/proc/self/mem", broken)  # reads as EIO
    harness.fake_tree.set_value(first.counter("link_downed"), 255)
    for counter in (first.counter("link_error_recovery"), first.hw_counter("req_remote_access_errors")):
        harness.fake_tree.set_value(counter, 3)
    port = pathlib.Path(first.root_port)
    harness.fake_tree.write(port / "aer_dev_correctable", harness.fake_tree.aer_files({"BadTLP": 400})["aer_dev_correctable"])
    harness.fake_tree.set_value(port / "aer_rootport_total_err_cor", 400)
    return harness.Fifo(second.counter("port_rcv_data"), folder)


def faulty_pages():
    """Pages of an exporter that runs now, on a synthetic tree: one while all is well, two with faults after a restart,
    one after the firmware of the other device was changed."""
    def scrape(count):
        with harness.Exporter("--scrape.timeout=1s", sysfs=tree.sys) as exporter:
            return [exporter.get("/metrics").body.decode() for _ in range(count)]

    with tempfile.TemporaryDirectory() as folder:
        tree = healthy_tree(folder)
        pages = scrape(1)
        fifo = add_faults(tree, folder)
        pages += scrape(2)
        set_firmware(tree.devices["mlx5_1"], "28.41.1000")
        pages += scrape(1)
        fifo.release("0\n")
    return pages


def samples(page):
    """(series as it is written, value) of a page in the text format."""
    for line in page.splitlines():
        if line and not line.startswith("#"):
            series, _, value = line.rpartition(" ")
            yield series, value


def with_labels(series, host):
    """The target labels that Prometheus adds."""
    target = f'instance="{host}:9400",job="{JOB}"'
    return f"{series[:-1]},{target}}}" if series.endswith("}") else f"{series}{{{target}}}"


def written(name, labels):
    return name + "{" + ",".join(f'{label}="{value}"' for label, value in labels.items()) + "}"


def scraped(when, host, page):
    """Lines of what Prometheus stores of one scrape."""
    count = 0
    for series, value in samples(page):
        count += 1
        yield f"{with_labels(series, host)} {value} {when:.3f}\n"
    for name, value in (("up", 1), ("scrape_duration_seconds", 0.21), ("scrape_samples_scraped", count)):
        yield f"{with_labels(name, host)} {value} {when:.3f}\n"


def firing(start, times):
    for name, severity, labels, (begin, end) in FIRING:
        own = {"alertname": name, "alertstate": "firing", "severity": severity, "job": JOB}
        series = written("ALERTS", {**own, **labels})
        for when in times:
            if begin <= when - start <= end:
                yield f"{series} 1 {when:.3f}\n"


def others(times):
    """What else a Prometheus scrapes: the same hosts by another job, and another program by the exporters' own job."""
    for labels in ({"job": "node", "instance": "node-a:9100"}, {"job": JOB, "instance": "node-a:9999"}):
        for when in times:
            for name, value in (("up", 1), ("process_resident_memory_bytes", 1e12), ("scrape_duration_seconds", 9)):
                yield f"{written(name, labels)} {value} {when:.3f}\n"


def module_series(times):
    """Synthetic, in the shape that tests/unit/collectors/link sees: an optical module of node-a and the switch port behind
    it. The recorded pages are older than the collectors, which also need privileges."""
    port = {"device": "mlx5_0", "port": "1", "netdev": "cx0"}
    neighbor = {"chassis_id": "00:00:5e:00:53:01", "port_id": "Ethernet1/1", "port_description": "rack 1",
                "system_name": "leaf-1", "management_address": "192.0.2.1"}
    for when in times:
        for name, labels, value in (
                ("rdma_netdev_module_temperature_celsius", port, 41.5),
                ("rdma_netdev_module_supply_volts", port, 3.29),
                *(("rdma_netdev_module_rx_power_watts", {**port, "lane": str(lane)}, 6e-4) for lane in range(1, 5)),
                *(("rdma_netdev_module_tx_bias_amperes", {**port, "lane": str(lane)}, 7e-3) for lane in range(1, 5)),
                ("rdma_netdev_neighbor_info", {**port, **neighbor}, 1)):
            yield f"{with_labels(written(name, labels), 'node-a')} {value} {when:.3f}\n"


def devlink_series(times, begin):
    """Synthetic, in the shape that tests/lab/test_link.py sees: reporters of node-a that see an error at `begin`, and a
    firmware that waits for a reset. The recorded pages are older than the collector."""
    port = {"device": "mlx5_0", "port": "1", "netdev": "cx0"}
    version = {"device": "mlx5_0", "component": "fw.version"}
    for when in times:
        errors = int(when >= begin)
        for name, labels, value in (
                ("rdma_device_health_errors_total", {"device": "mlx5_0", "reporter": "fw_fatal"}, errors),
                ("rdma_netdev_health_errors_total", {**port, "reporter": "tx"}, errors),
                ("rdma_device_firmware_version_info", {**version, "running": "28.39.1002", "stored": "28.43.1014"}, 1),
                ("rdma_device_firmware_update_pending", version, 1)):
            yield f"{with_labels(written(name, labels), 'node-a')} {value} {when:.3f}\n"


def burst_series(times):
    """Synthetic, in the shape that tests/lab/test_burst.py sees: node-a sends in bursts, a tenth of the time at line rate,
    and is paused in some. The recorded pages are older than the collector, which is off by default."""
    port = {"device": "mlx5_0", "port": "1"}
    tx, rx = {**port, "direction": "tx"}, {**port, "direction": "rx"}
    paused = {**port, "netdev": "cx0", "priority": "3", "direction": "rx"}
    for when in times:
        windows = round(10 * (when - times[0]))
        for name, labels, value in (
                ("rdma_burst_max_utilization_ratio", tx, 0.97), ("rdma_burst_max_utilization_ratio", rx, 0.02),
                ("rdma_burst_max_pfc_paused_ratio", paused, 0.4),
                *(("rdma_burst_utilization_ratio_bucket", {**tx, "le": le}, windows * share // 100)
                  for le, share in (("0.9", 90), ("+Inf", 100))),
                ("rdma_burst_utilization_ratio_count", tx, windows),
                *(("rdma_burst_cnp_packets_bucket", {**rx, "le": le}, windows * share // 100)
                  for le, share in (("0.0", 95), ("+Inf", 100))),
                ("rdma_burst_cnp_packets_count", rx, windows)):
            yield f"{with_labels(written(name, labels), 'node-a')} {value} {when:.3f}\n"


class Span:
    """The times of the recording."""

    def __init__(self, times):
        self.start, self.end, self.storm_end = times[0], times[-1], times[0] + STORM[1]


def write_samples(path):
    """An OpenMetrics file with all samples; returns their Span. Each of the few faulty pages stands for a part of
    it."""
    recorded, faulty = recorded_pages(), faulty_pages()
    times = sorted({when for when, _, _ in recorded})
    with open(path, "w", encoding="utf-8") as file:
        for when, host, page in recorded:
            file.writelines(scraped(when, host, page))
        for i, when in enumerate(times):
            file.writelines(scraped(when, "node-c", faulty[min(i * len(faulty) // len(times), len(faulty) - 1)]))
        storm = [times[0] + second for second in STORM]
        probing = {"node-a": "mlx5_0", "node-b": "mlx5_1"}
        for when, host, name, labels, value in probe_series.series(times, probing, storm):
            file.write(f"{with_labels(written(name, labels), host)} {value!r} {when:.3f}\n")
        file.writelines(module_series(times))
        file.writelines(devlink_series(times, storm[0]))
        file.writelines(burst_series(times))
        file.writelines(others(times))
        file.writelines(firing(times[0], times))
        file.write("# EOF\n")
    return Span(times)


class Server:
    """Prometheus on the back-filled data, which scrapes nothing. `write(path)` writes an OpenMetrics file and returns what
    there is to know of it."""

    def __init__(self, folder, write):
        self.folder = pathlib.Path(folder)
        self.span = write(self.folder / "samples.om")
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", self.folder / "samples.om",
                        self.folder / "data"], check=True, stdout=subprocess.DEVNULL)
        os.unlink(self.folder / "samples.om")
        (self.folder / "empty.yml").write_text("{}\n")
        log_path = self.folder / "log"
        with open(log_path, "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={self.folder}/empty.yml", f"--storage.tsdb.path={self.folder}/data",
                 "--storage.tsdb.retention.time=100y", "--web.listen-address=127.0.0.1:0"],
                stdout=log, stderr=log)
        self.port = listening.Announced(self.process, log_path, listening.PROMETHEUS).ports()[0]
        self.url = f"http://127.0.0.1:{self.port}"
        self.wait_until_ready()

    def wait_until_ready(self):
        end = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}/-/ready", timeout=5).close()
                return
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"Prometheus does not start:\n{(self.folder / 'log').read_text()}")
            time.sleep(0.1)

    def api(self, path, **parameters):
        """The answer's data; AssertionError with Prometheus' own words when it refuses."""
        body = urllib.parse.urlencode(parameters).encode()
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}", body, timeout=180) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["error"]) from None

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


@contextlib.contextmanager
def server(write=write_samples):
    folder = harness.temporary_folder("rdma_dashboards.")
    try:
        running = Server(folder, write)
        try:
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
