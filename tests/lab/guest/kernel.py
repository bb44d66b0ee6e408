# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""What the guest's kernel reports about its RDMA devices: the other side of every comparison."""

import json
import os
import pathlib
import socket
import struct
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import record_ethtool  # noqa: E402

CLASS = pathlib.Path("/sys/class/infiniband")
EMPTY_GID = ":".join(["0000"] * 8)


def content(path: str) -> str:
    """Content of a small kernel file. pathlib takes ten times as long, which is much when there are a thousand files."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 4096).decode().strip()
    finally:
        os.close(file)


def run(*command: str, timeout: float = 20) -> str:
    for _ in range(5):
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        # `dcb ... set` reads before it writes and numbers both requests by the time in seconds: when the clock ticks in
        # between, it takes the rest of the first answer for one to the second, with a wrong number.
        if command[0] != "dcb" or "Protocol error" not in done.stderr:
            break
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.returncode} {done.stderr}{done.stdout}")
    return done.stdout


def devices() -> list[str]:
    return sorted(path.name for path in CLASS.iterdir())


def port_text(device: str, attribute: str) -> str:
    return (CLASS / device / "ports/1" / attribute).read_text().strip()


def port_number(device: str, attribute: str) -> int:
    """The number in front of texts such as `4: ACTIVE`."""
    return int(port_text(device, attribute).split(":")[0])


def rate_bytes(device: str) -> float:
    """`2.5 Gb/sec (1X SDR)` -> bytes per second."""
    return float(port_text(device, "rate").split()[0]) * 1e9 / 8


def hw_counters(*only: str) -> dict[tuple[str, str], int]:
    """{(device, counter): value} of port 1 of every device or of these, from sysfs. `lifespan` is a setting, not a
    counter."""
    values = {}
    for device in only or devices():
        folder = f"{CLASS}/{device}/ports/1/hw_counters"
        for name in os.listdir(folder):
            if name != "lifespan":
                values[device, name] = int(content(f"{folder}/{name}"))
    return values


def rdma_statistic(*link: str) -> dict[tuple[str, str], int]:
    """The same from `rdma statistic`, which asks over netlink; of one link such as "link", "mlx5_0/1" or of all."""
    values = {}
    for link in json.loads(run("rdma", "-j", "statistic", "show", *link)):
        device = link.pop("ifname")
        assert link.pop("port") == 1
        values |= {(device, name): value for name, value in link.items()}
    return values


def port_counters(device: str) -> dict[str, int]:
    """{counter: value} of the performance management agent's counters of port 1."""
    return {path.name: int(path.read_text()) for path in (CLASS / device / "ports/1/counters").iterdir()}


def gid_types(device: str) -> dict[str, int]:
    """Number of used GIDs of each type."""
    counts: dict[str, int] = {}
    port = f"{CLASS}/{device}/ports/1"
    for slot in os.listdir(f"{port}/gids"):
        if content(f"{port}/gids/{slot}") != EMPTY_GID:
            kind = content(f"{port}/gid_attrs/types/{slot}")
            counts[kind] = counts.get(kind, 0) + 1
    return counts


def gids(device: str) -> set[str]:
    """The used GIDs of all ports."""
    ports = f"{CLASS}/{device}/ports"
    return {content(f"{ports}/{port}/gids/{slot}") for port in os.listdir(ports)
            for slot in os.listdir(f"{ports}/{port}/gids")} - {EMPTY_GID}


def statistics(netdev: str) -> dict[str, int]:
    """{name: value} of an interface by the ioctl."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        answers = record_ethtool.record(sock, netdev)
    names, values = answers["gstrings"][12:], answers["gstats"][8:]
    return {names[32 * i:32 * i + 32].split(b"\0")[0].decode(): struct.unpack_from("=Q", values, 8 * i)[0]
            for i in range(len(values) // 8)}


def devinfo() -> dict[str, dict[str, str]]:
    """{device: {field: value}} of `ibv_devinfo`, which asks libibverbs."""
    found: dict[str, dict[str, str]] = {}
    for line in run("ibv_devinfo").splitlines():
        field, _, value = line.strip().partition(":")
        if field == "hca_id":
            fields = found.setdefault(value.strip(), {})
        elif value:
            fields[field] = value.strip()
    return found


def links() -> dict[str, dict]:
    """{device: row of `rdma link`}, which asks over netlink."""
    return {row["ifname"]: row for row in json.loads(run("rdma", "-j", "link"))}


def device_index(device: str) -> int:
    return json.loads(run("rdma", "-j", "dev", "show", device))[0]["ifindex"]


def contexts(device: str) -> int:
    """Number of open verbs contexts of a device."""
    return next(row["ctx"] for row in json.loads(run("rdma", "-j", "resource", "show", device)))


def carrier_changes(netdevs) -> dict[tuple[str, str], int]:
    """{(netdev, "up" or "down"): times} as the kernel has counted them."""
    return {(netdev, to): int(pathlib.Path("/sys/class/net", netdev, f"carrier_{to}_count").read_text())
            for netdev in netdevs for to in ("up", "down")}


def release() -> tuple[int, int]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int(minor)


def uverbs_devices() -> dict[str, str]:
    """The uverbs device of each RDMA device: {"rxe0": "uverbs0"}."""
    return {file.read_text().strip(): file.parent.name
            for file in pathlib.Path("/sys/class/infiniband_verbs").glob("uverbs*/ibdev")}


def uverbs_path(device: str) -> str:
    """Character device through which programs use an RDMA device."""
    return f"/dev/infiniband/{uverbs_devices()[device]}"
