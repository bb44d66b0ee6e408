# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""What the benchmarks measure of a process, and how a figure is judged."""

import time


def cpu_seconds(pid):
    """User and system time of a process (clock_getcpuclockid: CPUCLOCK_SCHED)."""
    return time.clock_gettime((~pid << 3) | 2)


def mode_ticks(pid):
    """Time in user mode and in the kernel, in ticks."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]), int(fields[12])


def rss_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


def series_of(page):
    return sum(1 for line in page.splitlines() if line and not line.startswith(b"#"))


def judge(what, value, limit, at_most=True):
    """A line to print, and whether the limit is reached."""
    reached = value <= limit if at_most else value >= limit
    return f"{what}: {value:.2f} (at {'most' if at_most else 'least'} {limit})", reached


def report(targets):
    """Prints what judge() returned. Whether all were reached."""
    for text, reached in targets:
        print(f"{'reached' if reached else 'MISSED '}  {text}")
    return all(reached for _, reached in targets)
