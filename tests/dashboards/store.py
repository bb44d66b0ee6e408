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
# What the rules that ship would say of the storm, worked out by hand from the recorded counters, the windows and `for`: no
# rule is evaluated here. Name, severity, labels, seconds from the first page. The storm is over before more of them have
# waited long enough.
FIRING = (
    ("RdmaNicPauseWatchdogWarning", "warning", {"instance": "node-a:9400", "netdev": "cx0"}, (240, 420)),
    ("RdmaNicFatal", "critical", {"instance": "node-a:9400", "netdev": "cx0"}, (250, 450)),
    ("RdmaPfcStormTransmitted", "warning",
     {"instance": "node-a:9400", "netdev": "cx0", "priority": "3", "direction": "tx"}, (315, 374)),
    ("RdmaLosslessPriorityDrops", "critical",
     {"instance": "node-a:9400", "netdev": "cx0", "priority": "3", "direction": "rx"}, (420, 450)),
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
    return harness.Fifo(second.counter("port_rcv_data"), folder)


def faulty_pages():
    """Pages of an exporter that runs now, on a synthetic tree: one while all is well, two with faults after a restart,
    one after the firmware of the other device was changed."""
    def scrape(count):
        with harness.Exporter("--scrape.timeout=300ms", sysfs=tree.sys) as exporter:
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
        file.writelines(others(times))
        file.writelines(firing(times[0], times))
        file.write("# EOF\n")
    return Span(times)


class Server:
    """Prometheus on the back-filled data, which scrapes nothing."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.span = write_samples(self.folder / "samples.om")
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
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}", body, timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["error"]) from None

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


@contextlib.contextmanager
def server():
    folder = harness.temporary_folder("rdma_dashboards.")
    try:
        running = Server(folder)
        try:
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
