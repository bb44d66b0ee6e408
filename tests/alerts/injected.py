# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Twenty faults that start in the same minute in an otherwise healthy fleet: for each, the alert that must fire, within how
many minutes, and what it must name."""

import collections

Expected = collections.namedtuple("Expected", "fault alert minutes named")
LASTING = 90


class Injected:
    def __init__(self, fleet, at):
        self.at, self.end, self.expected = at, at + LASTING, []
        self.left = [host for host in fleet.hosts if not host.removed and not host.device_gaps]
        self.size = fleet.size
        self.ports()
        self.hosts()
        self.congestion()
        self.adapters()
        self.settings()
        self.exporter()

    def take(self, share=0.0):
        count = max(1, round(share * self.size))
        taken, self.left = self.left[:count], self.left[count:]
        return taken

    def expect(self, fault, alert, minutes, host=None, **named):
        self.expected.append(Expected(fault, alert, minutes, {**({"instance": f"{host.name}:9400"} if host else {}), **named}))

    def now(self, host, value, family, **labels):
        host.during(self.at, self.end, value, family, **labels)

    def ports(self):
        host, = self.take()
        self.now(host, 0, "rdma_port_up", device="mlx5_0")
        self.expect("one port is down", "RdmaPortDown", 5, host, device="mlx5_0", port="1", netdev="cx0")
        for host in self.take(0.12):
            self.now(host, 0, "rdma_port_up", device="mlx5_1")
        self.expect("a leaf is down", "RdmaPortsDown", 3, device="mlx5_1")
        host, = self.take()
        for step in range(self.at, self.end, 2):
            host.jump(step, 1, "rdma_netdev_carrier_changes_total", to="down")
        self.expect("a link flaps", "RdmaLinkFlapping", 10, host, netdev="cx0")
        host, = self.take()
        self.now(host, 0.05, "rdma_netdev_fec_blocks_total", result="uncorrectable")
        self.expect("a cable loses data", "RdmaFecUncorrectable", 30, host, netdev="cx0")
        host, = self.take()
        self.now(host, 1.25e10 / 4, "rdma_port_rate_bytes_per_second", device="mlx5_0")
        self.expect("a port came up slower", "RdmaPortSpeedDegraded", 10, host, device="mlx5_0", port="1")

    def hosts(self):
        host, = self.take()
        host.silent(self.at, self.end)
        self.expect("a host is down", "RdmaExporterDown", 35, host)
        for host in self.take(0.1):
            host.silent(self.at, self.end)
        self.expect("a rack is down", "RdmaExportersDown", 12)
        for host in self.take(0.1):
            self.now(host, 0.1, "rdma_port_retries_exceeded_total", kind="transport")
        self.expect("connections die on many hosts", "RdmaConnectionsDying", 20)
        host, = self.take()
        self.now(host, 0.1, "rdma_port_retries_exceeded_total", kind="rnr")
        self.expect("connections of a host die", "RdmaRetriesExceeded", 25, host, device="mlx5_0", port="1", kind="rnr")

    def congestion(self):
        host, *victims = self.take(6 / self.size)
        self.now(host, 0.6, "rdma_pfc_pause_seconds_total", priority="3", direction="tx")
        for victim in victims:
            self.now(victim, 0.3, "rdma_pfc_pause_seconds_total", priority="3", direction="rx")
        self.expect("a host pauses the fabric", "RdmaPfcStorm", 4, host, netdev="cx0", priority="3")
        host, = self.take()
        self.now(host, 50, "rdma_priority_discards_total", priority="3", reason="port_buffer")
        self.expect("a lossless class drops", "RdmaLosslessPriorityDrops", 10, host, netdev="cx0", priority="3")
        host, = self.take()
        self.now(host, 500, "rdma_port_out_of_sequence_total")
        self.expect("a path loses packets", "RdmaOutOfSequence", 15, host, device="mlx5_0", port="1")
        target = self.take()[0]
        for host in target.fleet.hosts:
            for labels, track in host.families["rdma_probe_failures_total"]:
                if labels["target"] == target.name:
                    track.during(self.at, self.end, 1)
        self.expect("a black hole", "RdmaProbeFailing", 12, target=target.name)

    def adapters(self):
        host, = self.take()
        self.now(host, 0.05, "rdma_netdev_pause_storm_events_total", level="error")
        self.expect("the watchdog of an adapter fires", "RdmaNicFatal", 3, host, netdev="cx0")
        host, = self.take()
        host.device_gaps["mlx5_0"] = [(self.at, self.end)]  # not of the rail that is moved into pods
        self.expect("an adapter falls off the bus", "RdmaDeviceLost", 10, host, device="mlx5_0")
        host, = self.take()
        self.now(host, 8, "rdma_device_pcie_width_lanes")
        self.expect("an adapter trained to half of its lanes", "RdmaPcieDegraded", 20, host, device="mlx5_0")
        host, = self.take()
        self.now(host, 20, "rdma_netdev_discards_total", reason="pcie_buffer")
        self.expect("PCIe is too slow", "RdmaPcieBufferOverflow", 20, host, netdev="cx0")

    def settings(self):
        host, = self.take()
        self.now(host, 1024, "rdma_port_active_mtu_bytes")
        self.expect("one MTU is wrong", "RdmaMtuMismatch", 75, host, device="mlx5_0", port="1", mtu="1024")
        host, = self.take()
        self.now(host, 0, "rdma_dcb_pfc_enabled", priority="3")
        self.expect("PFC is off on one host", "RdmaPfcConfigMismatch", 75, host, netdev="cx0", priority="3")
        host, = self.take()
        self.now(host, 0, "rdma_port_gids", type="RoCE v2")
        self.expect("an address is gone", "RdmaRoceV2GidMissing", 15, host, device="mlx5_0", port="1")

    def exporter(self):
        host, = self.take()
        self.now(host, 1, "rdma_exporter_collector_failing", collector="ethtool")
        self.expect("a driver hangs", "RdmaExporterCollectorFailed", 15, host, collector="ethtool", device="mlx5_0")
