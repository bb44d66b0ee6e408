# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""What a probe costs both ends and the wire, each from two runs that differ in nothing but their number of probes."""

import dataclasses
import json
import os
import pathlib
import subprocess

import kernel

SHORT, LONG = 200, 1200
PROBER, RESPONDER = "rxe0", "rxe1"
TICK = os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Spent:
    prober: float  # seconds of a processor
    responder: float
    packets: int  # both ways
    wire: int  # bytes of them, with Ethernet's header, without checksum and gaps
    queue_pairs: int  # most at one end

    def __sub__(self, other):
        return Spent(self.prober - other.prober, self.responder - other.responder, self.packets - other.packets,
                     self.wire - other.wire, max(self.queue_pairs, other.queue_pairs))


def queue_pairs(device):
    return next(row["qp"] for row in json.loads(kernel.run("rdma", "-j", "resource", "show", device)))


def processor_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def on_the_wire():
    packets = sum(int(pathlib.Path("/sys/class/infiniband", device, "ports/1/hw_counters/sent_pkts").read_text())
                  for device in (PROBER, RESPONDER))
    size = sum(int(pathlib.Path("/sys/class/net", netdev, "statistics/tx_bytes").read_text()) for netdev in ("ve0", "ve1"))
    return packets, size


def run(command, responder):
    """Spends it on `command`, which probes from PROBER."""
    own, far, (packets, size) = queue_pairs(PROBER), processor_of(responder), on_the_wire()
    most = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while most == 0 and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            most = queue_pairs(PROBER) - own
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    now = on_the_wire()
    return Spent(usage.ru_utime + usage.ru_stime, processor_of(responder) - far, now[0] - packets, now[1] - size, most)


def table(command, responder):
    """`command`: of an operation and a number of probes, to the process `responder`."""
    print("\n| Operation | Prober's processor (emulated) | Responder's | Packets | Bytes | Queue pairs at each end |\n"
          "|---|---|---|---|---|---|")
    for op in ("write", "echo"):
        spent = run(command(op, LONG), responder) - run(command(op, SHORT), responder)
        each = LONG - SHORT
        print(f"| {op} | {spent.prober / each * 1e6:.0f} us | {spent.responder / each * 1e6:.0f} us | "
              f"{spent.packets / each:.1f} | {spent.wire / each:.0f} | {spent.queue_pairs} |", flush=True)
