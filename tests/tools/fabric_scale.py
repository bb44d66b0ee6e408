#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""How long `rdma_exporter fleet` takes, and how much memory, on a made-up fabric that a real Prometheus has; the table of
docs/FLEET.md. 8,192 hosts need 10 GB on a disk, 10 GiB of memory and half an hour.

    tests/tools/fabric_scale.py --hosts 8192 --folder /var/tmp/fabric
"""

import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import time

import fabric
import prometheus3

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "e2e"))
import prometheus_server  # noqa: E402

END = 1_700_000_040
PART = 400_000  # series of a block: promtool has them in memory
PROGRAM = os.environ.get("RDMA_EXPORTER", REPOSITORY / "build/release/rdma_exporter")
FLAGS = ("--storage.tsdb.retention.time=100y", "--query.timeout=10m", "--storage.tsdb.min-block-duration=2h",
         "--storage.tsdb.max-block-duration=2h")
FAULTS = ("nic_dead", "uplink_dead", "storm", "mtu", "firmware")


def parts(made):
    """[{family: [(labels, start, rate)]}], no more than PART series in each but for families that are larger."""
    families = collections.defaultdict(list)
    for name, labels, start, rate in made.series():
        families[name].append((",".join(f'{key}="{value}"' for key, value in labels.items()), start, rate))
    part = {}
    for name in sorted(families, key=lambda one: len(families[one])):
        if part and sum(map(len, part.values())) + len(families[name]) > PART:
            yield part
            part = {}
        part[name] = families.pop(name)
    yield part


def store(made, folder, every):
    """The number of series."""
    count = 0
    for number, part in enumerate(parts(made)):
        path = folder / f"part{number}.om"
        times = range(END - fabric.WINDOW - 60, END + 1, every)
        with open(path, "w", encoding="ascii") as file:
            for name, series in part.items():
                count += len(series)
                file.write(f"# TYPE {name.removesuffix('_total')} {'counter' if name.endswith('_total') else 'gauge'}\n")
                for labels, start, rate in series:
                    file.write("".join(f"{name}{{{labels}}} {start + rate * (time - times[0]):.12g} {time}\n" for time in times))
            file.write("# EOF\n")
        promtool("create-blocks-from", "openmetrics", path, folder / "data")
        path.unlink()
    return count


def promtool(*arguments):
    subprocess.run(["promtool", "tsdb", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def record(folder):
    """What the rules of fleet have recorded in the last two minutes: one evaluation."""
    rules = subprocess.run([PROGRAM, "fleet", "--rules"], check=True, stdout=subprocess.PIPE).stdout
    (folder / "fleet.rules.yml").write_bytes(rules)
    server = serve(folder)
    began = processor(server)
    promtool("create-blocks-from", "rules", f"--start={END - 120}", f"--end={END}",
             f"--url=http://127.0.0.1:{server.port}", f"--output-dir={folder / 'recorded'}", folder / "fleet.rules.yml")
    print(f"{processor(server) - began:.1f} s of processor in Prometheus to evaluate the rules once")
    server.stop()
    for block in (folder / "recorded").iterdir():
        block.rename(folder / "data" / block.name)


def serve(folder):
    newer, _ = prometheus3.installed()
    server = prometheus_server.Server(folder, {}, *FLAGS, program=newer / "prometheus")
    while server.api("query", query="1") is None:
        time.sleep(0.1)
    return server


def measured(server, *flags):
    """(seconds, seconds of processor of the server, MB of the command, its document)"""
    began, spent = time.monotonic(), processor(server)
    child = subprocess.Popen([PROGRAM, "fleet", f"--prometheus.url=http://127.0.0.1:{server.port}", f"--at={END}", "--timeout=10m",
                              "--format=json", *flags], stdout=subprocess.PIPE)
    document = json.loads(child.stdout.read())
    _, _, usage = os.wait4(child.pid, 0)
    return time.monotonic() - began, processor(server) - spent, usage.ru_maxrss / 1024, document


def processor(server):
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(server):
    """GB at most so far."""
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e6


def report(server, times):
    for name, flags in (("without rules", ["--window=10m"]), ("with the shipped rules", [])):
        for _ in range(times):
            seconds, server_seconds, megabytes, document = measured(server, *flags)
            slow = sorted(document["queries"], key=lambda query: -query["seconds"])[:6]
            print(f"{name}: {seconds:.1f} s, {server_seconds:.1f} s of processor in Prometheus, {megabytes:.0f} MB; rules used: "
                  f"{document['server']['recording_rules']}; {len(document['queries'])} queries, "
                  f"{sum(query['bytes'] for query in document['queries']) / 1e6:.1f} MB; slowest "
                  f"{[(query['name'], round(query['seconds'], 1)) for query in slow]}", flush=True)
    print("found:", [problem["id"] for problem in document["problems"] if problem["severity"] != "info"])
    print("failed:", [query["error"] for query in document["queries"] if query["error"]])
    print(f"{resident(server):.1f} GB resident in Prometheus at most; {document['fleet']}", flush=True)


def make(hosts, folder, every):
    folder.mkdir(parents=True, exist_ok=True)
    made = fabric.Fabric(hosts, 1, FAULTS)
    print("truth:", [tuple(truth) for truth in made.truth])
    print(f"{store(made, folder, every)} series", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1024)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="on a disk; what is there is used again")
    parser.add_argument("--every", type=int, default=60, help="seconds between two scrapes")
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    if not (arguments.folder / "data").exists():
        # In a process of its own: what a process had at most, its children seem to have had, too.
        making = multiprocessing.Process(target=make, args=(arguments.hosts, arguments.folder, arguments.every))
        making.start()
        making.join()
        record(arguments.folder)
    server = serve(arguments.folder)
    try:
        report(server, arguments.times)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
