# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""PCIe errors: what the kernel has counted, and its own injector."""

import pathlib
import struct

LEVELS = {"correctable": "cor", "nonfatal": "nonfatal", "fatal": "fatal"}
CORRECTABLE = {"RxErr": 1 << 0, "BadTLP": 1 << 6, "BadDLLP": 1 << 7}  # PCI_ERR_COR_... of <linux/pci_regs.h>


def ends(netdev: str) -> dict[str, str]:
    """The card of an interface, and the port above it: {end: path}. The port is the root port."""
    function = next(path for path in pathlib.Path("/sys/class/net", netdev, "device").resolve().parents
                    if (path / "aer_dev_correctable").exists())
    return {"function": str(function), "port": str(function.parent)}


def messages(ends: dict[str, str]) -> dict[tuple[str, str], int]:
    """{(end, level): messages}; the last line of each file of an end has their number."""
    found = {(end, level): int((pathlib.Path(path) / f"aer_dev_{level}").read_text().split()[-1])
             for end, path in ends.items() for level in LEVELS}
    port = pathlib.Path(ends["port"])
    return found | {("root", level): int((port / f"aer_rootport_total_err_{name}").read_text())
                    for level, name in LEVELS.items()}


def inject(path: str, correctable: tuple[str, ...]) -> None:
    """Errors of a function that the next interrupt of its root port reports: struct aer_error_inj of
    drivers/pci/pcie/aer_inject.c."""
    domain, bus, rest = path.rpartition("/")[2].split(":")
    device, function = rest.split(".")
    errors = sum(CORRECTABLE[name] for name in correctable)
    pathlib.Path("/dev/aer_inject").write_bytes(struct.pack(
        "=4B7I", int(bus, 16), int(device, 16), int(function), 0, 0, errors, 0, 0, 0, 0, int(domain, 16)))
