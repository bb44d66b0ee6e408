#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Plays a PFC storm on the fabric `connectx`, and keeps the pages that the exporter serves meanwhile.

Run in the lab's guest: storm.py OUTDIR. Two exporters stand for two hosts, one for each end of the wires: node-a
(mlx5_0, bnxt_re0) and node-b (mlx5_1, bnxt_re1). OUTDIR/HOST/MILLISECONDS.prom is one page, named by when it was asked
for. The kernel, its queue pairs, links and messages are real; how fast the counters of the cards move is scripted here.

The story: node-b sends to node-a. A port of the other card loses its link for half a minute. After two minutes node-a's
PCIe link slows down, its card fills up and pauses the wire. node-b stands still most of the time, sees timeouts, loses
two connections; the watchdog of node-a's card fires. Then the host recovers."""

import concurrent.futures
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import actors  # noqa: E402
import exporter  # noqa: E402
import kernel  # noqa: E402
from knobs import Knobs  # noqa: E402
from waiting import wait_for  # noqa: E402

INTERVAL = 5  # seconds between scrapes
FLAP, FLAP_END, STORM, END, STOP = 50, 80, 120, 270, 450  # seconds from the start
LINE = 12.5e9  # bytes per second
HOSTS = {"node-a": "mlx5_1|bnxt_re1", "node-b": "mlx5_0|bnxt_re0"}  # and what a host does not have
POD = "kubepods.slice/kubepods-pod40934a46_d409_4f4a_bb8b_1ec0b0436320.slice"
CONTAINER = "cri-containerd-afc114c69e71f18166abd63715398d7daa763c69a6454f71157272ab0bdca783.scope"
JOB = "system.slice/slurmstepd.scope/job_123/step_0/user/task_0"
# They would stand at their maximum, or are gauges, when the fabric gives every counter another value.
NARROW = ("symbol_error link_error_recovery link_downed port_rcv_errors port_rcv_remote_physical_errors "
          "port_rcv_switch_relay_errors port_xmit_discards port_xmit_constraint_errors port_rcv_constraint_errors "
          "local_link_integrity_errors excessive_buffer_overrun_errors VL15_dropped").split()
GAUGES = ("outbound_pci_stalled_rd", "outbound_pci_stalled_wr")


def rates(random_number, storm):
    """{(module, device): {counter: per second}} for one interval."""
    def about(value):
        return int(value * random_number.uniform(0.9, 1.1))

    forth, back = about(LINE * (0.18 if storm else 0.7)), about(LINE * (0.12 if storm else 0.4))

    def port(sent, received):
        return {"port_xmit_data": sent // 4, "port_rcv_data": received // 4, "port_xmit_packets": sent // 4096,
                "port_rcv_packets": received // 4096, "unicast_xmit_packets": sent // 4096,
                "unicast_rcv_packets": received // 4096, "rx_write_requests": received // 65536,
                "rx_read_requests": about(900), "port_xmit_wait": about(90000 if storm else 800)}

    def card(sent, received):
        return {"tx_prio3_bytes": sent, "rx_prio3_bytes": received, "tx_prio3_packets": sent // 4096,
                "rx_prio3_packets": received // 4096, "tx_bytes_phy": sent, "rx_bytes_phy": received,
                "tx_packets_phy": sent // 4096, "rx_packets_phy": received // 4096,
                "tx_prio0_bytes": about(2e6), "rx_prio0_bytes": about(2e6),
                "tx_vport_rdma_unicast_bytes": sent, "rx_vport_rdma_unicast_bytes": received,
                "rx_corrected_bits_phy": about(90), "rs_fec_corrected_blocks": about(40)}

    a, b = port(back, forth), port(forth, back)
    cx0, cx1 = card(back, forth), card(forth, back)
    a |= {"np_ecn_marked_roce_packets": about(40000 if storm else 900), "np_cnp_sent": about(21000 if storm else 500),
          "out_of_buffer": about(60) if storm else 0, "out_of_sequence": about(35) if storm else 0,
          "duplicate_request": about(8) if storm else 0}
    b |= {"rp_cnp_handled": about(20500 if storm else 500), "rp_cnp_ignored": about(12) if storm else 0,
          "packet_seq_err": about(9) if storm else 0, "local_ack_timeout_err": about(6) if storm else 0,
          "roce_adp_retrans": about(14) if storm else 0, "roce_slow_restart": about(40) if storm else 0,
          "rnr_nak_retry_err": about(15) if storm else 0}
    cx0 |= {"tx_prio3_pause_duration": about(780000 if storm else 900), "tx_prio3_pause": about(26000 if storm else 15),
            "rx_prio3_pause_duration": about(2000 if storm else 500), "rx_prio3_pause": about(12),
            "rx_prio3_buf_discard": about(25) if storm else 0, "rx_discards_phy": about(30) if storm else 0,
            "rx_buffer_passed_thres_phy": about(40) if storm else 0,
            "outbound_pci_stalled_wr_events": 1 if storm else 0}
    cx1 |= {"rx_prio3_pause_duration": about(760000 if storm else 900), "rx_prio3_pause": about(26000 if storm else 15),
            "rx_prio3_pause_transition": about(900 if storm else 8), "tx_prio3_pause_duration": about(500),
            "tx_prio3_pause": about(12)}
    return {("labrxe", "mlx5_0"): a, ("labrxe", "mlx5_1"): b, ("labnic", "cx0"): cx0, ("labnic", "cx1"): cx1,
            ("labib", "bnxt_re0"): bnxt(about), ("labib", "bnxt_re1"): bnxt(about)}


def bnxt(about):
    return {"rx_bytes": about(1.1e9), "tx_bytes": about(0.9e9), "rx_pkts": about(270000), "tx_pkts": about(220000)}


def assign(sets):
    for (module, device), counters in sets.items():
        Knobs(module, device).set(*(f"{name}@{value}" for name, value in counters.items()))


def settle():
    """Values that the fabric has given to counters, where such a value would be a fault."""
    for device in ("mlx5_0", "mlx5_1"):
        Knobs("labrxe", device).set(*(f"{name}=0" for name in NARROW))
    for netdev in ("cx0", "cx1"):
        kernel.run("dcb", "pfc", "set", "dev", netdev, "prio-pfc", "all:off", "3:on")
        kernel.run("ethtool", "-A", netdev, "rx", "off", "tx", "off")
        Knobs("labnic", netdev).set(*(f"{name}=0" for name in GAUGES))


class Story:
    """What happens once. step(second) is called for every interval."""

    def __init__(self):
        self.actors = [actors.hold("-n", "96", "-m", str(64 << 20), device, "rts", cgroup=actors.CGROUP2 / JOB)
                       for device in ("mlx5_0", "mlx5_1")]
        self.actors += [actors.hold("-n", "24", "-m", str(8 << 20), device, "rts",
                                    cgroup=actors.CGROUP2 / POD / CONTAINER) for device in ("mlx5_0", "mlx5_1")]
        self.actors += self.ping()
        self.events = [(FLAP, lambda: self.link("down")), (FLAP_END, lambda: self.link("up")), (STORM, self.begin),
                       (STORM + 60, self.lose_connections), (STORM + 100, self.watchdog), (END, self.recover)]

    def ping(self):
        """Two programs that have found each other by rdma_cm."""
        server = actors.Actor("rping", "-s", "-a", "10.8.0.2", "-C", "1000000", wait=False)
        wait_for(lambda: "LISTEN" in kernel.run("rdma", "resource", "show", "cm_id"), "rping listens", timeout=60)
        client = actors.Actor("rping", "-c", "-a", "10.8.0.2", "-C", "1000000", wait=False)
        wait_for(lambda: "CONNECT" in kernel.run("rdma", "resource", "show", "cm_id"), "rping connected", timeout=60)
        return [client, server]

    def step(self, second):
        while self.events and second >= self.events[0][0]:
            self.events.pop(0)[1]()

    def begin(self):
        Knobs("labnic", "cx0").set("outbound_pci_stalled_wr=63", "tx_pause_storm_warning_events+=1")

    def lose_connections(self):
        Knobs("labrxe", "mlx5_1").set("req_transport_retries_exceeded+=2", "req_cqe_error+=2")
        self.actors += [actors.Actor(actors.qpactor(), "mlx5_1", "retry", cgroup=actors.CGROUP2 / JOB, wait=False)
                        for _ in range(2)]

    def watchdog(self):
        Knobs("labnic", "cx0").set("tx_pause_storm_error_events+=1")

    def recover(self):
        Knobs("labnic", "cx0").set("outbound_pci_stalled_wr=4")
        kernel.run("ip", "address", "add", "10.8.0.77/32", "dev", "cx0")  # somebody works on it: a GID_CHANGE

    def link(self, state):
        kernel.run("ip", "link", "set", "bcm0", state)
        if state == "down":
            Knobs("labnic", "bcm0").set("link_down_events+=1")

    def end(self):
        for actor in self.actors:
            actor.kill()


def start_exporters():
    exporter.install()
    daemons = {}
    for port, (host, others) in enumerate(HOSTS.items(), 9400):
        daemons[host] = exporter.Exporter(port, f"--device.exclude={others}", "--collector.ethtool.interval=0ms",
                                          f"--collector.resource.detail-interval={INTERVAL}s", "--scrape.timeout=4s")
    for daemon in daemons.values():
        daemon.wait_until_ready()
        wait_for(lambda: b"rdma_resource_detail_age_seconds" in daemon.get("/metrics"), "a dump", timeout=30)
    return daemons


def play(daemons, out):
    random_number, story, start = random.Random(3), Story(), time.time()
    with concurrent.futures.ThreadPoolExecutor(len(daemons)) as pool:
        for second in range(0, STOP, INTERVAL):
            time.sleep(max(0, start + second - time.time()))
            story.step(second)
            assign(rates(random_number, STORM <= second < END))
            asked = int(time.time() * 1000)
            pages = {host: pool.submit(daemon.get, "/metrics") for host, daemon in daemons.items()}
            for host, page in pages.items():
                (out / host / f"{asked}.prom").write_bytes(page.result())
    story.end()


def main():
    out = pathlib.Path(sys.argv[1])
    for host in HOSTS:
        (out / host).mkdir(parents=True)
    actors.mount_cgroups()
    settle()
    daemons = start_exporters()
    play(daemons, out)
    for daemon in daemons.values():
        daemon.stop()


if __name__ == "__main__":
    main()
