#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The probe against perftest on the same path, and what it costs. In the lab's guest: scripts/bench probe.

Rounds alternate, so that other work on the machine affects both. The median round trips are compared: ib_write_lat prints
half of it, ib_read_lat all of it. perftest sends one message after the other and spins, ib_write_lat at both ends; the probe
sends one every 10 ms, after one that warms up the path, and sleeps if that takes long. Therefore the two must agree if the
path takes longer than the software, and may differ without a delay. Use an otherwise idle machine: spinning processes compete
for the guest's processors, and the probe's result would include the time in which it did not run."""

import pathlib
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab/guest"))

import exporter  # noqa: E402
import kernel  # noqa: E402
import probe_cost  # noqa: E402
import traffic  # noqa: E402

ROUNDS, SAMPLES = 3, 300
TARGET = "127.0.0.1:9401,name=far,from=rxe0,device=rxe1"
FLAGS = ("--probe.timeout=16", "--probe.retry=6", "--probe.max-cpu-percent=100")
WANTED = {"5 ms each way": (0.97, 1.10)}


def command(op, count, interval="10ms"):
    return [exporter.BINARY, "probe", TARGET, *FLAGS, f"--op={op}", f"--count={count}", "--raw", f"--interval={interval}",
            "--probe.device-include=rxe0"]


def round_trips(raw):
    """In microseconds, of a command that prints raw samples."""
    done = subprocess.run(raw, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    rtt = rows[0].index("rtt_ns")
    return [int(row[rtt]) / 1000 for row in rows[1:] if row[rtt]]


def perftest(tool, factor):
    """The same of perftest's unsorted samples."""
    output = traffic.run(tool, "-s", "8", "-n", str(SAMPLES), "-U", timeout=120)
    return [float(value) * factor for value in re.findall(r"^\d+, ([0-9.]+)", output, re.M)]


def compare(path):
    times = {"write": [], "ib_write_lat": [], "ib_read_lat": []}
    for _ in range(ROUNDS):
        times["ib_read_lat"] += perftest("ib_read_lat", 1)
        times["write"] += round_trips(command("write", SAMPLES))
        times["ib_write_lat"] += perftest("ib_write_lat", 2)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for other in ("ib_write_lat", "ib_read_lat"):
        ratio, wanted = medians["write"] / medians[other], ""
        if path in WANTED:
            least, most = WANTED[path]
            wanted = f"{least:.2f}-{most:.2f}: {'ok' if least <= ratio <= most else 'missed'}"
        print(f"| {path} | {medians['write']:.0f} us | {other} {medians[other]:.0f} us | {ratio:.2f} | {wanted} |", flush=True)


def sessions_table():
    """What a session measures beside others: the same number of probes a second, from ever more sessions."""
    print("\n| Sessions | Median | Against one alone |\n|---|---|---|")
    alone = None
    for targets, flows in ((1, 1), (1, 16), (1, 64), (4, 64)):
        number = targets * flows
        names = [f"{TARGET.replace('name=far', f'name=far{i}')}" for i in range(targets)]
        # Also what is marked as preempted: in the guest the poller's processor does the adapter's work.
        median = statistics.median(round_trips([
            exporter.BINARY, "probe", *names, *FLAGS, "--op=write", "--raw", f"--flows={flows}",
            f"--count={max(3, SAMPLES // number)}", f"--interval={30 * number}ms", "--probe.device-include=rxe0",
            "--probe.max-qps=1024", "--probe.max-connects-per-second=100"]))
        alone = alone or median
        print(f"| {number} | {median:.0f} us | {median / alone:.2f} |", flush=True)


def main():
    exporter.install()
    responder = subprocess.Popen([exporter.BINARY, "responder", "--probe.listen-address=127.0.0.1:9401",
                                  "--probe.device-include=rxe1", "--probe.max-qps=1024"], stderr=subprocess.PIPE, text=True)
    try:
        responder.stderr.readline()
        print("| Path | Probe, median | perftest, median | Ratio | Wanted |\n|---|---|---|---|---|")
        compare("idle")
        for netdev in ("ve0", "ve1"):
            kernel.run("tc", "qdisc", "add", "dev", netdev, "root", "netem", "delay", "5ms")
        compare("5 ms each way")
        for netdev in ("ve0", "ve1"):
            kernel.run("tc", "qdisc", "del", "dev", netdev, "root")
        sessions_table()
        probe_cost.table(command, responder.pid)
    finally:
        responder.terminate()
        responder.wait(20)


if __name__ == "__main__":
    if not pathlib.Path("/lab/version").exists():
        sys.exit("this runs in the lab's guest: scripts/bench probe")
    start = time.monotonic()
    main()
    print(f"{time.monotonic() - start:.0f} s")
