#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Copy what /sys says about the RDMA devices and their netdevs: record_sysfs.py TARGET. Prints what it left out.

Links stay relative links as sysfs has them; a file whose read fails is absent in the copy."""

import collections
import os
import pathlib
import sys

SYS = pathlib.Path("/sys")
EMPTY_GID = ":".join(["0000"] * 8)
EMPTY_SLOTS_KEPT = 2
# The CM message counters are 44 more files per port that no collector reads yet; power and uevent say nothing.
LEFT_OUT = ("cm_rx_duplicates", "cm_rx_msgs", "cm_tx_msgs", "cm_tx_retries", "power", "uevent", "subsystem")
NETDEV_FILES = (
    "addr_assign_type address addr_len carrier carrier_down_count carrier_up_count dev_id dev_port duplex flags "
    "ifindex iflink mtu name_assign_type "
    "operstate phys_port_name phys_switch_id speed tx_queue_len type"
).split()

failures = collections.Counter()
empty_slots = collections.Counter()


def copy_file(source: pathlib.Path, target: pathlib.Path) -> None:
    try:
        content = source.read_bytes()
    except OSError as error:
        name = "gid_attrs of an empty slot" if "gid_attrs" in source.parts else f"{source.parent.name}/{source.name}"
        failures[name, os.strerror(error.errno)] += 1
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def copy_link(source: pathlib.Path, target: pathlib.Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(os.readlink(source))


def kept_gids(port: pathlib.Path) -> set[str]:
    """Names of the used GID slots of a port and of the first few empty ones."""
    kept, empty = set(), []
    for slot in sorted((port / "gids").iterdir(), key=lambda path: int(path.name)):
        if slot.read_text().strip() == EMPTY_GID:
            empty.append(slot.name)
        else:
            kept.add(slot.name)
    empty_slots[port.parent.parent.name] = len(empty) - EMPTY_SLOTS_KEPT
    return kept | set(empty[:EMPTY_SLOTS_KEPT])


def copy_tree(source: pathlib.Path, target: pathlib.Path, gids: set[str] | None = None) -> None:
    for entry in sorted(source.iterdir()):
        inside_gids = "gids" in entry.parent.parts[-1:] or "gid_attrs" in entry.parts[:-1]
        if entry.name in LEFT_OUT or (inside_gids and entry.is_file() and entry.name not in gids):
            continue
        if entry.is_symlink():
            copy_link(entry, target / entry.name)
        elif entry.is_dir():
            is_port = entry.parent.name == "ports"
            copy_tree(entry, target / entry.name, kept_gids(entry) if is_port else gids)
        else:
            copy_file(entry, target / entry.name)


def main() -> None:
    target = pathlib.Path(sys.argv[1])
    for device in sorted((SYS / "class/infiniband").iterdir()):
        copy_link(device, target / device.relative_to(SYS))
        real = device.resolve()
        copy_tree(real, target / real.relative_to(SYS))
    netdevs = {path.read_text().strip() for path in SYS.glob("class/infiniband/*/parent")}
    for netdev in sorted(netdevs):
        link = SYS / "class/net" / netdev
        copy_link(link, target / link.relative_to(SYS))
        for name in NETDEV_FILES:
            if (link / name).exists():
                copy_file(link / name, target / link.resolve().relative_to(SYS) / name)
    for device, count in sorted(empty_slots.items()):
        print(f"- {count} further empty GID slots of {device}")
    for (name, reason), count in sorted(failures.items()):
        print(f"- {count} x {name}: the read fails with \"{reason}\"")


if __name__ == "__main__":
    main()
