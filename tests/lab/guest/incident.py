#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""An incident on the lab's ConnectX host, recorded: incident.py OUT.tar.gz. A training job runs over mlx5_0; then a PFC storm
comes in on priority 3, with discards, retransmissions and marked packets; then the link of mlx5_1 flaps; then it is calm
again. Queue pairs belong to two pods, a job and a service; two have failed. Run by tests/lab/bundles."""

import subprocess
import sys

import actors
import exporter
import kernel
from knobs import Knobs

INTERVAL = "15s"
# Owner, device and queue pairs, held while it runs.
OWNERS = (
    ("kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod40934a46_d409_4f4a_bb8b_1ec0b0436320.slice/"
     "cri-containerd-afc114c69e71f18166abd63715398d7daa763c69a6454f71157272ab0bdca783.scope", "mlx5_0", "24", "rts"),
    ("kubepods.slice/kubepods-pod7c1d9a52_0e1f_4c7b_9d57_3a1f52c0e8aa.slice/"
     "cri-containerd-0b4e5c8a9d7f6e1c2b3a4958676869788796a5b4c3d2e1f00f1e2d3c4b5a6978.scope", "mlx5_1", "6", "rts"),
    ("system.slice/slurmstepd.scope/job_4711/step_0/user/task_0", "mlx5_0", "12", "rts"),
    ("system.slice/nvmet.service", "mlx5_1", "3", "init"),
)
# Rates per second. Bytes are those of a 400 Gbit/s link; counters of the port are words of four octets.
CALM = {
    "cx0": "rx_prio3_bytes@21e9 tx_prio3_bytes@20e9 rx_prio3_packets@5e6 tx_prio3_packets@5e6 rx_prio3_pause@2 "
           "rx_prio3_pause_duration@20 rx_prio3_pause_transition@1 tx_prio3_pause@0 tx_prio3_pause_duration@0 "
           "rx_discards_phy@0 tx_pause_storm_warning_events@0 rx_vport_rdma_unicast_bytes@21e9 "
           "tx_vport_rdma_unicast_bytes@20e9 rx_vport_rdma_unicast_packets@5e6 tx_vport_rdma_unicast_packets@5e6",
    "cx1": "rx_prio3_bytes@2e9 tx_prio3_bytes@2e9 rx_vport_rdma_unicast_bytes@2e9 tx_vport_rdma_unicast_bytes@2e9 "
           "rx_prio3_pause@0 rx_prio3_pause_duration@0",
    "mlx5_0": "port_rcv_data@5250e6 port_xmit_data@5000e6 port_rcv_packets@5e6 port_xmit_packets@5e6 np_cnp_sent@3 "
              "np_ecn_marked_roce_packets@5 rp_cnp_handled@3 out_of_sequence@0 packet_seq_err@0 "
              "local_ack_timeout_err@0 rnr_nak_retry_err@0 out_of_buffer@0 duplicate_request@0 implied_nak_seq_err@0",
    "mlx5_1": "port_rcv_data@500e6 port_xmit_data@500e6 port_rcv_packets@5e5 port_xmit_packets@5e5",
}
STORM = {
    "cx0": "rx_prio3_bytes@6e9 tx_prio3_bytes@5e9 rx_prio3_pause@42000 rx_prio3_pause_duration@710000 "
           "rx_prio3_pause_transition@9000 tx_prio3_pause@3100 tx_prio3_pause_duration@120000 rx_discards_phy@240 "
           "tx_pause_storm_warning_events@1 rx_vport_rdma_unicast_bytes@6e9 tx_vport_rdma_unicast_bytes@5e9",
    "cx1": "rx_prio3_pause@900 rx_prio3_pause_duration@15000",
    "mlx5_0": "port_rcv_data@1500e6 port_xmit_data@1250e6 np_cnp_sent@5200 np_ecn_marked_roce_packets@81000 "
              "rp_cnp_handled@7400 out_of_sequence@320 packet_seq_err@210 local_ack_timeout_err@14 "
              "rnr_nak_retry_err@35 out_of_buffer@60 duplicate_request@25 implied_nak_seq_err@4",
    "mlx5_1": "",
}
# What happens after so many snapshots.
TIMELINE = {4: "storm", 9: "calm", 10: "down", 11: "up", 12: "down", 13: "up"}
SNAPSHOTS = 16


def plain(assignments):
    """The knobs take whole numbers: 21e9 is easier to read."""
    for word in assignments.split():
        name, rate = word.split("@")
        yield f"{name}@{int(float(rate))}"


def set_rates(rates):
    for device, assignments in rates.items():
        module = "labnic" if device.startswith("cx") else "labrxe"
        Knobs(module, device).set(*plain(assignments))


def happens(what):
    if what in ("storm", "calm"):
        set_rates(STORM if what == "storm" else CALM)
    else:
        kernel.run("ip", "link", "set", "cx1", "carrier", "off" if what == "down" else "on")


def hold_owners():
    actors.mount_cgroups()
    held = [actors.hold("-n", qps, "-m", "1048576", device, state, cgroup=actors.CGROUP2 / cgroup)
            for cgroup, device, qps, state in OWNERS]
    held += [actors.hold("mlx5_0", "err") for _ in range(2)]
    return held


def configure():
    """As a RoCE host has it: one lossless priority, for DSCP 26."""
    for netdev in ("cx0", "cx1"):
        kernel.run("dcb", "pfc", "set", "dev", netdev, "prio-pfc", "3:on")
        kernel.run("dcb", "app", "add", "dev", netdev, "dscp-prio", "26:3")


def main():
    exporter.install()
    configure()
    held = hold_owners()
    set_rates(CALM)
    command = [exporter.BINARY, "capture", f"--snapshots={SNAPSHOTS}", f"--interval={INTERVAL}", *sys.argv[2:],
               sys.argv[1]]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as capture:
        taken = 0
        for line in capture.stderr:
            print(line, end="", flush=True)
            taken += "snapshot taken" in line
            if "snapshot taken" in line and taken in TIMELINE:
                happens(TIMELINE[taken])
    for actor in held:
        actor.kill()
    return capture.returncode


if __name__ == "__main__":
    sys.exit(main())
