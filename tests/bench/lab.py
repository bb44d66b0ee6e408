#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""What a scrape costs on a real kernel with eight ConnectX ports. In the lab's guest: scripts/bench lab.

The exporter runs as it does by default, with kernel events and counters over netlink. It is compared with the bare loop that
opens, reads and closes the counter files of all ports, and with node_exporter. The candidates take turns, and a figure is the
median of the ratios of five turns. The whole system is all processor time of the guest, client included, without what it
needs when nothing scrapes.

The guest's clock counts instructions, one a nanosecond, those of programs and those of the kernel (scripts/lab --icount).
So its processor time does not depend on what else the machine does, and is the same in each run but for what is read once
in a while. Time would say less: the processor is emulated, which makes some instructions much slower than others.

The exporter's page has six times the series of node_exporter's collector `infiniband`, so two more comparisons: only the
collectors that read what it reads, and node_exporter with its collector `ethtool`, too.

What bounds the figures: the bare server (bare_server.c) reads the files and makes the netlink requests of one of the
exporter's scrapes, looks at nothing of it, and answers with a page of the same size. Once more it writes the lines of
that page, with values that it knows beforehand."""

import argparse
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "lab/guest")]

import exporter  # noqa: E402
from measure import cpu_seconds, judge, mode_ticks, report, rss_mb, series_of  # noqa: E402

NODE_EXPORTER = "prometheus-node-exporter"
PORT, NODE_PORT, ETHTOOL_PORT = 9400, 9401, 9402
NOTED_PORT = ETHTOOL_PORT  # the exporter that is noted ends before node_exporter starts
# Kept open, but read once a minute while no event reports a change.
RARELY_READ = ("carrier_up_count", "carrier_down_count", "flags", "rate")
# What node_exporter's collector `infiniband` reads.
ALIKE = "/metrics?" + "&".join(f"collect[]={name}" for name in ("device", "port", "port_counters", "hw_counters"))
TURNS, SCRAPES = 5, 40
SLOW_SCRAPES = 5  # of what takes half a second
TICK = os.sysconf("SC_CLK_TCK")
INFINIBAND = pathlib.Path("/sys/class/infiniband")
SETTLE = 8  # seconds, for what is read in the background after a start
# What --check wants: (what, limit, at most).
LIMITS = {"own": ("CPU of a scrape / bare loop", 0.2, True), "system": ("whole system / bare loop", 0.45, True),
          "node": ("CPU of node_exporter / ours", 12, False),
          "alike": ("CPU of a scrape of what node_exporter reads / bare loop", 0.2, True),
          "node/alike": ("CPU of node_exporter / ours, what both read", 12, False),
          "node+": ("CPU of node_exporter with its collector ethtool / ours", 12, False)}


def of_system():
    """Seconds in which the processors were busy."""
    fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    user, nice, system, _, _, irq, softirq = fields[:7]
    return (user + nice + system + irq + softirq) / TICK


class Client:
    """One kept-alive connection, as plain as can be: its time counts too. Answers go into one buffer."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        self.buffer = memoryview(bytearray(1 << 20))
        self.body, self.end = 0, 0  # of the last answer
        self.chunked = False

    def receive(self):
        self.end += self.socket.recv_into(self.buffer[self.end:])

    def scrape(self):
        self.end = 0
        self.socket.sendall(self.request)
        self.receive()
        head = bytes(self.buffer[:min(self.end, 1024)]).partition(b"\r\n\r\n")[0]
        if not head.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"bench: {head!r}")
        self.body = len(head) + 4
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        self.chunked = b"content-length" not in fields
        if self.chunked:
            while self.buffer[self.end - 5:self.end] != b"0\r\n\r\n":
                self.receive()
        else:
            while self.end - self.body < int(fields[b"content-length"]):
                self.receive()

    def page(self):
        """The body of the last answer."""
        page = bytes(self.buffer[self.body:self.end])
        return without_chunks(page) if self.chunked else page


def without_chunks(page):
    parts = []
    while page:
        size, _, page = page.partition(b"\r\n")
        parts.append(page[:int(size, 16)])
        page = page[len(parts[-1]) + 2:]
    return b"".join(parts)


class Server:
    def __init__(self, pid, port, path="/metrics"):
        self.pid, self.client = pid, Client(port, path)
        self.ticks = [0, 0]  # of the turns, in user mode and in the kernel

    def turn(self, idle, scrapes=SCRAPES):
        """CPU of the process, and of the whole system beyond `idle` per second: seconds for one scrape."""
        self.client.scrape()
        modes = mode_ticks(self.pid)
        begun, own, system = time.monotonic(), cpu_seconds(self.pid), of_system()
        for _ in range(scrapes):
            self.client.scrape()
        lasted, own, system = time.monotonic() - begun, cpu_seconds(self.pid) - own, of_system() - system
        self.ticks = [sum_ + now - before for sum_, now, before in zip(self.ticks, mode_ticks(self.pid), modes)]
        return own / scrapes, (system - idle * lasted) / scrapes

    def kernel_share(self):
        return self.ticks[1] / max(1, sum(self.ticks))

    def about(self):
        page = self.client.page()
        return f"{series_of(page)} series, {len(page)} bytes, {rss_mb(self.pid):.1f} MB resident"


def idle_share(seconds):
    begun, system = time.monotonic(), of_system()
    time.sleep(seconds)
    return (of_system() - system) / (time.monotonic() - begun)


def counter_files():
    return sorted(str(path) for folder in ("counters", "hw_counters") for path in INFINIBAND.glob(f"*/ports/*/{folder}/*")
                  if path.name != "lifespan")


def bare(program, files):
    """Seconds for one round of open, read and close."""
    out = subprocess.run([program, files, str(SCRAPES), "3", "1000"], check=True, capture_output=True, text=True).stdout
    return next(float(line.split()[1]) for line in out.splitlines() if line.startswith("open ")) / 1e6


def ratio(times, above, below):
    return statistics.median(one / other for one, other in zip(times[above], times[below]))


def start_bare_server(program, files, page, requests):
    process = subprocess.Popen([program, files, str(page), requests], stdout=subprocess.PIPE, text=True)
    return process, Server(process.pid, int(process.stdout.readline()))


def start_node_exporter(port, *collectors):
    command = [NODE_EXPORTER, "--collector.disable-defaults", *(f"--collector.{name}" for name in collectors),
               f"--web.listen-address=127.0.0.1:{port}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        try:
            return process, Server(process.pid, port)
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise SystemExit("bench: node_exporter does not listen")


def what_a_scrape_reads(library):
    """Lists of the files that a scrape reads, of those that are kept open, and of its requests: paths for bare_server.c."""
    files, requests = pathlib.Path("/tmp/kept"), pathlib.Path("/tmp/requests")
    process = subprocess.Popen([exporter.BINARY, f"--web.listen-address=127.0.0.1:{NOTED_PORT}"], stderr=subprocess.DEVNULL,
                               env=os.environ | {"LD_PRELOAD": os.path.abspath(library), "BENCH_REQUESTS": str(requests)})
    time.sleep(SETTLE)
    client = Client(NOTED_PORT, "/metrics")
    scrapes = []
    for _ in range(8):
        requests.write_bytes(b"")
        client.scrape()
        scrapes.append(requests.read_bytes())
    requests.write_bytes(min(scrapes, key=len))  # others have what is asked once a minute
    kept = {os.readlink(path) for path in pathlib.Path(f"/proc/{process.pid}/fd").iterdir()}
    files.write_text("".join(f"{path}\n" for path in sorted(kept) if path.startswith("/sys/") and os.path.isfile(path)
                             and os.path.basename(path) not in RARELY_READ))
    process.terminate()
    process.wait()
    return files, requests


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench lab")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    parser.add_argument("--bare-loop", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--bare-server", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--note-requests", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()

    exporter.install()
    kept, requests = what_a_scrape_reads(options.note_requests)
    files = counter_files()
    pathlib.Path("/tmp/files").write_text("\n".join(files) + "\n")
    daemon = subprocess.Popen([exporter.BINARY, f"--web.listen-address=127.0.0.1:{PORT}"], stderr=subprocess.DEVNULL)
    time.sleep(SETTLE)
    ours, alike, node, ethtool = Server(daemon.pid, PORT), Server(daemon.pid, PORT, ALIKE), None, None
    if shutil.which(NODE_EXPORTER):
        node_process, node = start_node_exporter(NODE_PORT, "infiniband")
        ethtool_process, ethtool = start_node_exporter(ETHTOOL_PORT, "infiniband", "ethtool")
    for server in filter(None, (ours, alike, node, ethtool)):
        for _ in range(3):
            server.client.scrape()
    pathlib.Path("/tmp/page").write_bytes(ours.client.page())
    least_process, least = start_bare_server(options.bare_server, kept, len(ours.client.page()), requests)
    printing_process, printing = start_bare_server(options.bare_server, kept, "/tmp/page", requests)
    printing.client.scrape()
    if printing.client.page() != ours.client.page():
        raise SystemExit("bench: the bare server writes another page")
    idle = idle_share(5)
    ratios = {name: [] for name in LIMITS}
    times = {"bare": [], "least": [], "least, system": [], "printing": [], "own": [], "system": [], "alike": [],
             "node": [], "node+": []}
    for _ in range(TURNS):
        times["bare"].append(bare(options.bare_loop, "/tmp/files"))
        for name, seconds in zip(("least", "least, system"), least.turn(idle)):
            times[name].append(seconds)
        times["printing"].append(printing.turn(idle)[0])
        own, system = ours.turn(idle)
        times["own"].append(own)
        times["system"].append(system)
        ratios["own"].append(own / times["bare"][-1])
        ratios["system"].append(system / times["bare"][-1])
        times["alike"].append(alike.turn(idle)[0])
        ratios["alike"].append(times["alike"][-1] / times["bare"][-1])
        if node:
            times["node"].append(node.turn(idle)[0])
            times["node+"].append(ethtool.turn(idle, SLOW_SCRAPES)[0])
            ratios["node"].append(times["node"][-1] / own)
            ratios["node/alike"].append(times["node"][-1] / times["alike"][-1])
            ratios["node+"].append(times["node+"][-1] / own)
    print(f"{len(list(INFINIBAND.iterdir()))} devices, {len(files)} counter files, kernel {os.uname().release}; idle "
          f"{idle:.1%} of a processor; median of {TURNS} turns of {SCRAPES} scrapes\n")
    for name, values in times.items():
        if values:
            print(f"{name:15}{statistics.median(values) * 1e3:9.2f} million instructions")
    print(f"least, a bare server with the same {len(kept.read_text().splitlines())} files and requests: "
          f"{ratio(times, 'least', 'bare'):.2f} of the bare loop, whole system {ratio(times, 'least, system', 'bare'):.2f}")
    print(f"the same, writing the lines of the page: {ratio(times, 'printing', 'bare'):.2f} of the bare loop"
          + (f"; node_exporter needs {ratio(times, 'node', 'printing'):.1f} times as much" if node else ""))
    print(f"ours: {ours.about()}; {ours.kernel_share():.0%} of its time is the kernel's: "
          f"{ours.kernel_share() * statistics.median(ratios['own']):.2f} of the bare loop")
    print(f"alike, what node_exporter reads: {alike.about()}")
    if node:
        print(f"node_exporter: {node.about()}\nnode+, with its collector ethtool, too: {ethtool.about()}")
    targets = []
    for name, (what, limit, at_most) in LIMITS.items():
        if ratios[name]:
            targets.append(judge(what, statistics.median(ratios[name]), limit, at_most))
        else:
            print(f"SKIPPED  {what}, because {NODE_EXPORTER} is not installed")
    reached = report(targets)
    daemon.terminate()
    least_process.kill()
    printing_process.kill()
    if node:
        node_process.terminate()
        ethtool_process.terminate()
    return 1 if options.check and not reached else 0


if __name__ == "__main__":
    sys.exit(main())
