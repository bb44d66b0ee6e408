#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Compares the exporter with the least work there is (bare_loop.c) and with node_exporter, on synthetic hosts.

CPU of a process is what its threads have run on a CPU (/proc/PID/task/*/schedstat, nanoseconds); every figure is
that of the batch with the least, because other work on the machine only ever adds to it. Wall time is the median,
seen by the client, to the last byte. Called by scripts/bench.
"""

import argparse
import dataclasses
import http.client
import os
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "tools"), os.path.join(os.path.dirname(HERE), "e2e")]
import fake_tree  # noqa: E402
import harness  # noqa: E402
import listening  # noqa: E402

NODE_EXPORTER = "prometheus-node-exporter"
BATCHES = 15
MAX_CPU_OF_BARE_LOOP = 1.5
MIN_GAIN_OVER_NODE_EXPORTER = 10
MAX_RSS_MB = 12
BIG = 136
# Pause in microseconds before each round of the bare loops: between two scrapes the client works for about as long.
PAUSE = 1000
BARE_TITLES = {"open": "bare open+read+close", "pread": "bare pread, kept open", "tight": "  without a pause"}
# Read at every scrape besides the counters, because they change without notice. No other file of the tree is (strace
# tells); what is read about once a minute (GIDs, identity, the checks of the configuration) is in no batch or in few.
PORT_STATE = ("state", "phys_state", "rate")
NETDEV_FILES = ("mtu", "carrier_up_count", "carrier_down_count")
# The collectors whose files node_exporter's `infiniband` reads too. Asked for in the URL, so that a collector that
# comes later does not count.
SHARED = "/metrics?" + "&".join(f"collect[]={name}" for name in ("device", "port", "port_counters"))


@dataclasses.dataclass
class Row:
    name: str
    cpu: float = None        # microseconds per scrape
    wall: float = None       # milliseconds, median
    curl: float = None       # milliseconds, median
    rss: float = None        # MB after the run
    page: int = None         # bytes
    series: int = None


def cpu_ns(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
        except FileNotFoundError:
            pass  # a thread that ended meanwhile
    return total


def cpu_ns_of_process(pid):
    """User and system time of all threads, also of those that have ended; ticks of 10 ms."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 10**9 // os.sysconf("SC_CLK_TCK")


def rss_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


def get(connection, path="/metrics"):
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise SystemExit(f"bench: /metrics answered {answer.status}")
    return body


def measure_server(name, pid, port, scrapes, curls, path="/metrics"):
    """Scrapes over one kept-alive connection, then by curl with a new one each time."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(3):
        body = get(connection, path)
    cpu, wall = [], []
    ticks, begin_all = cpu_ns_of_process(pid), cpu_ns(pid)
    for _ in range(BATCHES):
        begin = cpu_ns(pid)
        for _ in range(scrapes):
            start = time.perf_counter()
            body = get(connection, path)
            wall.append((time.perf_counter() - start) * 1e3)
        cpu.append((cpu_ns(pid) - begin) / scrapes / 1e3)
    ticks, total = cpu_ns_of_process(pid) - ticks, cpu_ns(pid) - begin_all
    if ticks > total * 1.2 + 5e7:  # threads have ended and took their schedstat with them
        cpu = [ticks / (BATCHES * scrapes) / 1e3]
    connection.close()
    url = f"http://127.0.0.1:{port}{path}"
    curl = [float(subprocess.run(["curl", "-g", "-s", "-o", "/dev/null", "-w", "%{time_total}", url], check=True,
                                 capture_output=True).stdout) * 1e3 for _ in range(curls)] if curls else []
    series = sum(1 for line in body.splitlines() if line and not line.startswith(b"#"))
    return Row(name, min(cpu), statistics.median(wall), statistics.median(curl) if curl else None,
               rss_mb(pid), len(body), series)


def measure_exporter(name, sysfs, scrapes, curls, path="/metrics"):
    with harness.Exporter(sysfs=sysfs) as exporter:
        return measure_server(name, exporter.pid, exporter.port, scrapes, curls, path)


def measure_node_exporter(sysfs, scrapes, folder):
    log_path = os.path.join(folder, "node_exporter.log")
    with open(log_path, "wb") as log:
        process = subprocess.Popen(
            [NODE_EXPORTER, "--collector.disable-defaults", "--collector.infiniband", f"--path.sysfs={sysfs}",
             "--web.listen-address=127.0.0.1:0"], stdout=subprocess.DEVNULL, stderr=log)
    try:
        port = listening.Announced(process, log_path, listening.PROMETHEUS).ports()[0]
        return measure_server("node_exporter", process.pid, port, scrapes, 3)
    finally:
        process.terminate()
        process.wait()


def measure_bare(bare_loop, files, folder, rounds):
    path = os.path.join(folder, "files")
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(files) + "\n")
    out = subprocess.run([bare_loop, path, str(rounds), str(BATCHES), str(PAUSE)], check=True, capture_output=True,
                         text=True).stdout
    rows = {}
    for line in out.splitlines():
        kind, cpu, wall = line.split()
        rows[kind] = Row(BARE_TITLES[kind], float(cpu), float(wall) / 1e3)
    return rows


def show(rows, bare, node):
    def text(value, form):
        return "-" if value is None else format(value, form)

    print(f"{'':26}{'CPU/scrape':>12}{'x bare':>9}{'x node':>9}{'wall p50':>11}{'curl p50':>11}{'RSS':>10}"
          f"{'page':>10}{'series':>8}")
    for row in rows:
        node_ratio = text(row.cpu / node.cpu, ".3f") if node else "-"
        print(f"{row.name:26}{row.cpu:>9.0f} us{row.cpu / bare.cpu:>9.2f}{node_ratio:>9}{text(row.wall, '.2f'):>8} ms"
              f"{text(row.curl, '.2f'):>8} ms{text(row.rss, '.1f'):>7} MB{text(row.page, 'd'):>10}"
              f"{text(row.series, 'd'):>8}")


def compare(devices, options, folder):
    """Measures one host and prints its table; returns [(what, value, ok)] of the targets."""
    tree = fake_tree.build(os.path.join(folder, f"host{devices}"), devices, gid_slots=256)
    files = [path for device in tree.devices.values() for _, _, _, path in device.counter_files()]
    counters = len(files)
    files += [f"{device.port()}/{name}" for device in tree.devices.values() for name in PORT_STATE]
    files += [f"{tree.sys}/class/net/{netdev}/{name}" for device in tree.devices.values()
              for netdev in device.netdevs().values() for name in NETDEV_FILES]
    scale = max(1, devices // 9)
    rows = measure_bare(options.bare_loop, files, folder, max(3, options.rounds // scale))
    bare = min(rows["open"], rows["pread"], key=lambda row: row.cpu)
    scrapes = max(3, options.rounds // scale)
    ours = measure_exporter("rdma_exporter", tree.sys, scrapes, 15)
    alike = measure_exporter("  what node_exporter reads", tree.sys, scrapes, 0, SHARED)
    node = None
    if shutil.which(NODE_EXPORTER):
        node = measure_node_exporter(tree.sys, 5 if devices < BIG else 1, folder)
    print(f"\n{devices} devices, 1 port each: {counters} counter files and {len(files) - counters} others\n")
    show([rows["open"], rows["pread"], rows["tight"], ours, alike] + ([node] if node else []), bare, node)
    targets = [(f"CPU against the better bare loop, {devices} devices: {ours.cpu / bare.cpu:.2f} "
                f"(at most {MAX_CPU_OF_BARE_LOOP})", ours.cpu <= MAX_CPU_OF_BARE_LOOP * bare.cpu)]
    if node:
        targets.append((f"CPU gain over node_exporter for the files that it reads, {devices} devices: "
                        f"{node.cpu / alike.cpu:.1f} (at least {MIN_GAIN_OVER_NODE_EXPORTER})",
                        node.cpu >= MIN_GAIN_OVER_NODE_EXPORTER * alike.cpu))
    else:
        print(f"SKIPPED: comparison with node_exporter, because {NODE_EXPORTER} is not installed")
    if devices >= BIG:
        targets.append((f"memory at {devices} devices: {ours.rss:.1f} MB (at most {MAX_RSS_MB})",
                        ours.rss <= MAX_RSS_MB))
    shutil.rmtree(tree.root)
    return targets


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description="end-to-end speed of the exporter")
    parser.add_argument("--bare-loop", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    parser.add_argument("--devices", type=int, nargs="+", default=[9, BIG], help="sizes of the hosts (default 9 136)")
    parser.add_argument("--rounds", type=int, default=60, help="scrapes per batch at 9 devices (default 60)")
    options = parser.parse_args()
    print(f"exporter: {os.path.relpath(harness.BINARY, harness.REPOSITORY)}; {os.cpu_count()} CPUs, load "
          f"{os.getloadavg()[0]:.1f}; best of {BATCHES} batches")
    targets = []
    folder = harness.temporary_folder("rdma_exporter_bench.")
    try:
        for devices in options.devices:
            targets += compare(devices, options, folder)
    finally:
        shutil.rmtree(folder)
    print()
    for text, reached in targets:
        print(f"{'reached' if reached else 'MISSED '}  {text}")
    return 1 if options.check and not all(reached for _, reached in targets) else 0


if __name__ == "__main__":
    sys.exit(main())
