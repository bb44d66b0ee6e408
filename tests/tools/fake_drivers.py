# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""What each RDMA driver shows in sysfs: identity texts, directories and counter names."""

from dataclasses import dataclass, replace

import counter_names as names


@dataclass(frozen=True)
class Driver:
    """One kind of device. None = the driver has no such file or directory."""

    pattern: str              # device name, with {} for its number
    pci_driver: str           # name below sys/bus/pci/drivers; "" = a device without PCI function
    sources: tuple            # kernel files that the names and formats follow
    vendor: str = "0x15b3"
    device_id: str = "0x1021"
    fw_ver: str = "28.39.1002"
    board_id: str = None
    hca_type: str = None
    hw_rev: str = None
    extra: tuple = ()         # (file, text) pairs of driver attributes
    node_type: str = "1: CA"
    link_layer: str = "Ethernet"
    rate: str = "400 Gb/sec (4X NDR)"
    ports: int = 1
    pma: tuple = None         # ports/N/counters
    port_hw: tuple = None     # ports/N/hw_counters
    device_hw: tuple = None   # hw_counters
    bits32: frozenset = frozenset()
    vf: bool = False
    pkeys: int = 1


_MLX5 = Driver(
    "mlx5_{}", "mlx5_core", ("hw/mlx5/counters.c", "hw/mlx5/mad.c", "hw/mlx5/main.c"), board_id="MT_0000000838",
    hca_type="MT4129", hw_rev="0", extra=(("fw_pages", "127844"), ("reg_pages", "0")), pma=names.PMA,
    port_hw=names.mlx5("6.1"), bits32=frozenset(names.MLX5_Q + names.MLX5_Q_6_12))

DRIVERS = {
    "mlx5": _MLX5,
    "mlx5-6.12": replace(_MLX5, port_hw=names.mlx5("6.12")),
    "mlx5-ib": replace(_MLX5, link_layer="InfiniBand", pkeys=128),
    "mlx5-dual": replace(_MLX5, ports=2, rate="100 Gb/sec (4X EDR)"),
    "mlx5-vf": replace(_MLX5, vf=True, device_id="0x101e"),
    "mlx4": Driver(
        "mlx4_{}", "mlx4_core", ("hw/mlx4/main.c", "hw/mlx4/mad.c"), device_id="0x1007", fw_ver="2.42.5000",
        board_id="MT_1090111023", hca_type="MT4103", hw_rev="0", rate="40 Gb/sec (4X QDR)", ports=2, pma=names.PMA,
        port_hw=names.MLX4_PORT, device_hw=names.MLX4_DEVICE, bits32=frozenset(names.MLX4_DEVICE)),
    "bnxt_re": Driver(
        "bnxt_re{}", "bnxt_en", ("hw/bnxt_re/hw_counters.c", "hw/bnxt_re/main.c"), "0x14e4", "0x1750",
        "230.0.157.0", hca_type="bnxt_re0", hw_rev="0x1", rate="200 Gb/sec (4X HDR)", port_hw=names.BNXT_RE),
    "irdma": Driver(
        "irdma{}", "ice", ("hw/irdma/verbs.c",), "0x8086", "0x1592", "1.58", rate="100 Gb/sec (4X EDR)",
        port_hw=names.IRDMA),
    "irdma-gen3": Driver(
        "irdma{}", "idpf", ("hw/irdma/verbs.c (6.18)",), "0x8086", "0x1452", "3.1", rate="200 Gb/sec (4X HDR)",
        port_hw=names.IRDMA_GEN3),
    "efa": Driver(
        "efa_{}", "efa", ("hw/efa/efa_verbs.c",), "0x1d0f", "0xefa2", "0.0.0.0", node_type="7: unspecified",
        link_layer="Unknown", rate="100 Gb/sec (4X EDR)", port_hw=names.EFA_PORT, device_hw=names.EFA_DEVICE),
    "hfi1": Driver(
        "hfi1_{}", "hfi1", ("hw/hfi1/chip.c", "hw/hfi1/sysfs.c", "hw/hfi1/verbs.c"), "0x8086", "0x24f0", "1.27.0",
        board_id="Intel Omni-Path Host Fabric Interface Adapter 100 Series", hw_rev="11",
        extra=(("nctxts", "24"), ("nfreectxts", "24"), ("serial", "0x00123456")), link_layer="InfiniBand",
        rate="100 Gb/sec (4X EDR)", pma=names.PMA, port_hw=names.hfi1_port(), device_hw=names.hfi1_device(),
        bits32=frozenset(n for n in names.hfi1_port() + names.hfi1_device() if n.endswith(",32")), pkeys=16),
    "mana": Driver(
        "mana_{}", "mana", ("hw/mana/counters.c",), "0x1414", "0x00ba", "0.0.0", rate="200 Gb/sec (4X HDR)",
        port_hw=names.MANA_PORT, device_hw=names.MANA_DEVICE),
    "rxe": Driver(
        "rxe{}", "", ("sw/rxe/rxe_hw_counters.c", "sw/rxe/rxe_verbs.c"), fw_ver="", rate="2.5 Gb/sec (1X SDR)",
        port_hw=names.RXE),
}
