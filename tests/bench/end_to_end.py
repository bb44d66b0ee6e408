#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Compares the exporter with the least possible work (bare_loop.c, and bare_server.c, which says how much of the rest any
HTTP server needs) and with node_exporter, on synthetic hosts.

CPU is the CPU clock of the process in nanoseconds, including threads that have ended. Other work on the machine adds to it,
so the candidates take turns, each turn is the lowest of a few batches, and the result is the median of the ratios of the
turns. Wall time is the median of a turn as seen by the client, to the last byte. Called by
scripts/bench.
"""

import argparse
import contextlib
import dataclasses
import http.client
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "tools"), os.path.join(os.path.dirname(HERE), "e2e")]
import fake_tree  # noqa: E402
import harness  # noqa: E402
import listening  # noqa: E402
import measure  # noqa: E402
from measure import cpu_seconds, mode_ticks, rss_mb, series_of  # noqa: E402

NODE_EXPORTER = "prometheus-node-exporter"
TURNS = 5
BATCHES = 3
CADENCE = 15.0  # seconds, as Prometheus usually scrapes
# As Prometheus 2.42 asks.
AS_PROMETHEUS = {
    "Accept": "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
              "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
    "Accept-Encoding": "gzip", "X-Prometheus-Scrape-Timeout-Seconds": "10"}
# Pause in microseconds before each round of the bare loops: between two scrapes the client works for about as long.
PAUSE = 1000
# Read at every scrape in addition to the counters, because they change without notice. No other file of the tree is
# (strace shows it); what is read about once a minute (GIDs, identity, the checks of the configuration) is in no batch or in few.
PORT_STATE = ("state", "phys_state", "rate")
NETDEV_FILES = ("carrier_up_count", "carrier_down_count")
LINK_ERRORS = ("aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal")
ROOT_ERRORS = ("aer_rootport_total_err_cor", "aer_rootport_total_err_nonfatal", "aer_rootport_total_err_fatal")
# The collectors whose files node_exporter's `infiniband` reads too. Asked for in the URL, so that a collector that
# comes later does not count.
SHARED = "/metrics?" + "&".join(f"collect[]={name}" for name in ("device", "port", "port_counters"))


@dataclasses.dataclass(frozen=True)
class Limits:
    """What --check wants of a host."""
    bare: float   # at most: CPU of a scrape against the better bare loop
    node: float   # at least: CPU of node_exporter against ours, files that both read
    hour: float   # at least: the same, as Prometheus scrapes
    wall: float   # at most: time to the last byte against that of the bare loop
    memory: float  # MB, at most, after the time at CADENCE
    heap: float    # MB in use, at most, then


LIMITS = {9: Limits(1.5, 12, 12, 2.0, 9, 1), 136: Limits(1.5, 10, 10, 1.5, 13, 4)}


@dataclasses.dataclass
class Turn:
    cpu: float   # microseconds per scrape
    wall: float  # milliseconds, median


def user_share(pid):
    """The part of a process's time that it was in user mode; of ticks."""
    user, system = mode_ticks(pid)
    return user / max(1, user + system)


class Server:
    """An exporter that runs and is scraped over one kept-alive connection."""

    def __init__(self, pid, port, path="/metrics", headers=None):
        self.pid, self.port, self.path, self.headers = pid, port, path, headers or {}
        self.connection, self.turns, self.body = None, [], b""

    def scrape(self):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            self.connection.request("GET", self.path, headers=self.headers)
            answer = self.connection.getresponse()
        except (http.client.HTTPException, OSError):
            self.close()  # it has waited too long
            return self.scrape()
        self.body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"bench: {self.path} answered {answer.status}")
        return self.body

    def close(self):
        self.connection.close()
        self.connection = None

    def turn(self, scrapes):
        self.scrape()
        cpu, wall = [], []
        for _ in range(BATCHES):
            begin = cpu_seconds(self.pid)
            for _ in range(scrapes):
                start = time.perf_counter()
                self.scrape()
                wall.append((time.perf_counter() - start) * 1e3)
            cpu.append((cpu_seconds(self.pid) - begin) / scrapes * 1e6)
        self.close()
        self.turns.append(Turn(min(cpu), statistics.median(wall)))


class BareLoop:
    """bare_loop.c over a list of files, by kind."""

    def __init__(self, program, files, folder):
        self.program, self.list = program, os.path.join(folder, "files")
        with open(self.list, "w", encoding="utf-8") as out:
            out.write("\n".join(files) + "\n")
        self.turns = {"open": [], "pread": [], "tight": []}

    def turn(self, rounds):
        out = subprocess.run([self.program, self.list, str(rounds), str(BATCHES), str(PAUSE)], check=True,
                             capture_output=True, text=True).stdout
        for line in out.splitlines():
            kind, cpu, wall = line.split()
            self.turns[kind].append(Turn(float(cpu), float(wall) / 1e3))

    def better(self):
        """The better loop of each turn."""
        return [min(open_, pread, key=lambda turn: turn.cpu)
                for open_, pread in zip(self.turns["open"], self.turns["pread"])]


@contextlib.contextmanager
def bare_server(program, path, page):
    """bare_server.c over the list at a path, with pages of that size."""
    with subprocess.Popen([program, path, str(page)], stdout=subprocess.PIPE) as process:
        try:
            yield Server(process.pid, int(process.stdout.readline()))
        finally:
            process.kill()


class PacedLoop:
    """bare_loop.c as a server would run it: one round of pread whenever it is asked."""

    def __init__(self, program, files, folder):
        path = os.path.join(folder, "paced")
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(files) + "\n")
        self.process = subprocess.Popen([program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid, self.body = self.process.pid, b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def scrape(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        self.process.stdout.readline()


def ours(tree, options):
    """On the tree as on a sysfs."""
    environment = {"LD_PRELOAD": os.path.abspath(options.preloaded), "BENCH_SYSFS": tree.sys}
    return harness.Exporter("--netlink=off", sysfs=tree.sys, environment=environment)


def heap_mb(pid, tree):
    """What one of ours() has in use of its heap (preloaded.c)."""
    path = f"{tree.sys}.heap"
    os.kill(pid, signal.SIGRTMAX)
    end = time.monotonic() + 10
    while not (os.path.exists(path) and os.path.getsize(path)):
        if time.monotonic() > end:
            raise AssertionError("the exporter does not report its heap")
        time.sleep(0.01)
    with open(path, encoding="ascii") as file:
        return int(file.read()) / 1024 / 1024


@contextlib.contextmanager
def node_exporter(sysfs, folder):
    log_path = os.path.join(folder, "node_exporter.log")
    with open(log_path, "wb") as log:
        process = subprocess.Popen(
            [NODE_EXPORTER, "--collector.disable-defaults", "--collector.infiniband", f"--path.sysfs={sysfs}",
             "--web.listen-address=127.0.0.1:0"], stdout=subprocess.DEVNULL, stderr=log)
    try:
        yield process.pid, listening.Announced(process, log_path, listening.PROMETHEUS).ports()[0]
    finally:
        process.terminate()
        process.wait()


def files_of(tree):
    """What a scrape reads: counters, and the rest."""
    counters = [path for device in tree.devices.values() for _, _, _, path in device.counter_files()]
    others = [f"{device.port()}/{name}" for device in tree.devices.values() for name in PORT_STATE]
    others += [f"{tree.sys}/class/net/{netdev}/{name}" for device in tree.devices.values()
               for netdev in device.netdevs().values() for name in NETDEV_FILES]
    for name in tree.devices:
        function = os.path.realpath(f"{tree.sys}/class/infiniband/{name}/device")
        port = os.path.dirname(function)
        others += [f"{end}/{file}" for end in (function, port) for file in LINK_ERRORS]
        others += [f"{port}/{file}" for file in ROOT_ERRORS]
    return counters, [path for path in others if os.path.exists(path)]


def zero_infiniband_counters(tree):
    """The ports are Ethernet: what only an InfiniBand link counts is 0 there."""
    for device in tree.devices.values():
        for kind, _, name, path in device.counter_files():
            if kind == "counters" and fake_tree.names.PMA_WIDTHS[name] < 64:
                fake_tree.set_value(path, 0)


def median_of(pairs):
    return statistics.median(pairs)


def ratios(above, below, of="cpu"):
    return [getattr(a, of) / getattr(b, of) for a, b in zip(above, below)]


def show(name, turns, bare, server=None):
    cpu = statistics.median(turn.cpu for turn in turns)
    wall = statistics.median(turn.wall for turn in turns)
    rest = ""
    if server:
        rest = f"{rss_mb(server.pid):>7.1f} MB{len(server.body):>10}{series_of(server.body):>8}"
    print(f"{name:26}{cpu:>9.0f} us{median_of(ratios(turns, bare)):>9.2f}{wall:>8.2f} ms{rest}")


def judge(devices, what, *value_and_limit, **how):
    return measure.judge(f"{devices} devices: {what}", *value_and_limit, **how)


def back_to_back(devices, tree, options, folder):
    """Scrapes one after the other; prints a table, returns the targets."""
    counters, others = files_of(tree)
    bare = BareLoop(options.bare_loop, counters + others, folder)
    scrapes = max(2, options.rounds * 9 // devices)
    with contextlib.ExitStack() as stack:
        whole, alike = (stack.enter_context(ours(tree, options)) for _ in range(2))
        whole, alike = Server(whole.pid, whole.port), Server(alike.pid, alike.port, SHARED)
        node = Server(*stack.enter_context(node_exporter(tree.sys, folder))) if options.node else None
        for server in filter(None, (whole, alike, node)):
            for _ in range(3):
                server.scrape()
        least = stack.enter_context(bare_server(options.bare_server, bare.list, len(whole.body)))
        for _ in range(TURNS):
            bare.turn(scrapes)
            least.turn(scrapes)
            whole.turn(scrapes)
            alike.turn(scrapes)
            if node:
                node.turn(max(1, scrapes // 8))
        better = bare.better()
        print(f"\n{devices} devices, 1 port each: {len(counters)} counter files and {len(others)} others\n")
        print(f"{'':26}{'CPU/scrape':>12}{'x bare':>9}{'wall p50':>11}{'RSS':>10}{'page':>10}{'series':>8}")
        for kind, title in (("open", "bare open+read+close"), ("pread", "bare pread, kept open"),
                            ("tight", "  without a pause")):
            show(title, bare.turns[kind], better)
        show("bare HTTP server", least.turns, better, least)
        show("rdma_exporter", whole.turns, better, whole)
        show("  what node_exporter reads", alike.turns, better, alike)
        if node:
            show("node_exporter", node.turns, better, node)
    limits = LIMITS.get(devices)
    if not limits:
        return []
    targets = [judge(devices, "CPU of a scrape / better bare loop", median_of(ratios(whole.turns, better)), limits.bare),
               judge(devices, "time to the last byte / better bare loop", median_of(ratios(whole.turns, better, "wall")),
                     limits.wall)]
    if node:
        targets.append(judge(devices, "CPU of node_exporter / ours, files that both read",
                             median_of(ratios(node.turns, alike.turns)), limits.node, at_most=False))
    return targets


def as_prometheus(trees, options, folder):
    """All hosts at once, each scraped every 15 seconds with gzip; prints a table, returns the targets."""
    targets = []
    with contextlib.ExitStack() as stack:
        servers = {}
        for devices, tree in trees.items():
            counters, others = files_of(tree)
            servers[devices, "bare pread"] = stack.enter_context(PacedLoop(options.bare_loop, counters + others, folder))
            exporter = stack.enter_context(ours(tree, options))
            servers[devices, "rdma_exporter"] = Server(exporter.pid, exporter.port, headers=AS_PROMETHEUS)
            alike = stack.enter_context(ours(tree, options))
            servers[devices, "  what node_exporter reads"] = Server(alike.pid, alike.port, SHARED, AS_PROMETHEUS)
            if options.node:
                servers[devices, "node_exporter"] = Server(*stack.enter_context(node_exporter(tree.sys, folder)),
                                                           headers=AS_PROMETHEUS)
        for server in servers.values():
            server.scrape()  # the first one finds the devices
        before = {key: cpu_seconds(server.pid) for key, server in servers.items()}
        begin = time.monotonic()
        scrapes = max(1, round(options.minutes * 60 / CADENCE))
        for i in range(scrapes):
            time.sleep(max(0.0, begin + (i + 1) * CADENCE - time.monotonic()))
            for server in servers.values():
                server.scrape()
        hour = 3600 / CADENCE / scrapes
        print(f"\nevery {CADENCE:.0f} s as Prometheus asks (OpenMetrics, gzip), {scrapes} scrapes\n")
        print(f"{'':38}{'CPU in an hour':>16}{'of it user':>12}{'RSS':>10}{'page':>10}")
        spent = {}
        for key, server in servers.items():
            spent[key] = (cpu_seconds(server.pid) - before[key]) * hour
            print(f"{key[1] + ', ' + str(key[0]) + ' devices':38}{spent[key]:>14.2f} s{user_share(server.pid):>12.0%}"
                  f"{rss_mb(server.pid):>7.1f} MB{len(server.body):>10}")
        for devices in trees:
            limits = LIMITS.get(devices)
            if not limits:
                continue
            if options.node:
                gain = spent[devices, "node_exporter"] / spent[devices, "rdma_exporter"]
                targets.append(judge(devices, "CPU of node_exporter / ours, every 15 s with gzip", gain, limits.hour,
                                     at_most=False))
            pid = servers[devices, "rdma_exporter"].pid
            targets += [judge(devices, "resident memory, MB", rss_mb(pid), limits.memory),
                        judge(devices, "heap in use, MB", heap_mb(pid, trees[devices]), limits.heap)]
    return targets


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description="end-to-end speed of the exporter")
    parser.add_argument("--bare-loop", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--bare-server", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--preloaded", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    parser.add_argument("--devices", type=int, nargs="+", default=list(LIMITS), help="sizes of the hosts (default 9 136)")
    parser.add_argument("--rounds", type=int, default=60, help="scrapes per batch at 9 devices (default 60)")
    parser.add_argument("--minutes", type=float, default=3, help="how long to scrape every 15 s; 0: not (default 3)")
    options = parser.parse_args()
    options.node = shutil.which(NODE_EXPORTER) is not None
    print(f"exporter: {os.path.relpath(harness.BINARY, harness.REPOSITORY)}; {os.cpu_count()} CPUs, load "
          f"{os.getloadavg()[0]:.1f}; median of {TURNS} turns, each the best of {BATCHES} batches")
    if not options.node:
        print(f"SKIPPED: comparison with node_exporter, because {NODE_EXPORTER} is not installed")
    targets = []
    folder = harness.temporary_folder("rdma_exporter_bench.")
    try:
        trees = {devices: fake_tree.build(os.path.join(folder, f"host{devices}"), devices, gid_slots=256)
                 for devices in options.devices}
        for devices, tree in trees.items():
            zero_infiniband_counters(tree)
            targets += back_to_back(devices, tree, options, folder)
        if options.minutes > 0:
            targets += as_prometheus(trees, options, folder)
    finally:
        shutil.rmtree(folder)
    print()
    return 1 if not measure.report(targets) and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
