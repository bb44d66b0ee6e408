#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""How fast a page of 50,000 series is written in each format, and how that compares with prometheus-cpp's serializer,
measured in the same run.

    tests/bench/formats.py [--check]     with --check: exits with 1 when the target is missed

Needs build/release/tests/bench/micro_bench (scripts/build release micro_bench).
"""

import json
import subprocess
import sys

BINARY = "build/release/tests/bench/micro_bench"
ORACLE = "write_page_with_prometheus_cpp"
TEXT = "write_page/text"
MEGABYTES = 500  # per second, of text, on one core


def main():
    done = subprocess.run(
        [BINARY, "--benchmark_filter=write_page|compress_page", "--benchmark_format=json", "--benchmark_repetitions=5",
         "--benchmark_enable_random_interleaving=true", "--benchmark_report_aggregates_only=true"],
        stdout=subprocess.PIPE, check=True)
    results = {b["run_name"]: b for b in json.loads(done.stdout)["benchmarks"] if b["aggregate_name"] == "median"}
    print(f"{'':32} {'ms':>8} {'MB/s':>8} {'times prometheus-cpp':>21}")
    for name, result in results.items():
        ratio = results[ORACLE]["cpu_time"] / result["cpu_time"]
        print(f"{name:32} {result['cpu_time'] / 1e6:8.2f} {result['bytes_per_second'] / 1e6:8.0f} {ratio:21.1f}")
    fast = results[TEXT]["bytes_per_second"] / 1e6 >= MEGABYTES
    if not fast:
        print(f"MISSED: text below {MEGABYTES} MB/s")
    return 1 if "--check" in sys.argv[1:] and not fast else 0


if __name__ == "__main__":
    sys.exit(main())
