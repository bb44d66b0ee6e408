#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Writes what the exporter serves of a host whose links are in every state that alerts are about: modules, a switch behind
each interface, health reporters in error, firmware that waits for a reset. link_page.py FILE (tests/lab/record_link)."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cages  # noqa: E402
import exporter  # noqa: E402
import knobs  # noqa: E402
import lldp  # noqa: E402
from waiting import wait_for  # noqa: E402

WIRED = {"cx0": "cx1", "cx1": "cx0", "bcm0": "bcm1", "bcm1": "bcm0", "ve0": "ve1", "ve1": "ve0"}
NEEDED = ("rdma_netdev_module_rx_power_watts{", "rdma_netdev_module_tx_power_threshold_watts{", "rdma_netdev_neighbor_info{",
          "rdma_device_health_error{", "rdma_netdev_health_errors_total{", "rdma_device_firmware_update_pending{",
          "rdma_netdev_fec_bit_error_limit_ratio{", 'rdma_netdev_admin_up{device="mlx5_0"')


def main() -> None:
    exporter.install()
    cages.plug("cx0", "juniper_740_174932")
    cages.plug("cx1", "mellanox_mma1b00")
    cages.plug("bcm0", "mellanox_670759_b23")
    for line in ("break fw", "break fw_fatal", "break tx", "store 28.43.2566"):
        knobs.Knobs("labnic", "cx0").write("devlink", line)
    daemon = exporter.Exporter(9400, "--collector.module", "--collector.neighbor", "--metrics.set=full")
    daemon.wait_until_ready()

    def page() -> str:
        for number, (netdev, other) in enumerate(WIRED.items(), 1):
            lldp.send(other, lldp.leaf(f"Ethernet1/{number}"))
        return daemon.get("/metrics").decode()

    wait_for(lambda: all(name in page() for name in NEEDED), "everything", timeout=240)
    pathlib.Path(sys.argv[1]).write_text(page())
    daemon.stop()


main()
