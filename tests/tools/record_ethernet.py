#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Records the kernel's answers to ethtool (generic netlink) and DCB (rtnetlink) requests, one file per answer.

Run in the lab (scripts/lab): record_ethernet.py OUTDIR NETDEV...
OUTDIR/address_N.bin are the addresses of all interfaces. OUTDIR/NETDEV/OPERATION.bin is what follows struct nlmsghdr; a refusal is OPERATION.errno with the errno's name.
The files are the fixtures of tests/unit/host/ethtool/genl_ethtool_test.cpp and dcb_test.cpp, and fuzz seeds.
"""
import errno
import os
import socket
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import record_netlink  # noqa: E402

NETLINK_ROUTE, NETLINK_GENERIC = 0, 16
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
NESTED = 0x8000
HEADER_DEV_NAME, HEADER_FLAGS, FLAG_COMPACT, FLAG_STATS = 2, 3, 1, 4
STATS_GROUPS, BITSET_NOMASK, BITSET_SIZE, BITSET_VALUE = 3, 1, 2, 4
RTM_GETADDR, NLM_F_DUMP = 22, 0x300
RTM_GETDCB, DCB_CMD_IEEE_GET, DCB_ATTR_IFNAME = 78, 21, 1
# name: (command, type of the header attribute, flags, all groups of statistics)
ETHTOOL = {
    "stats_get": (32, 2, 0, True), "pause_get": (21, 1, FLAG_STATS, False),
    "fec_get": (29, 1, FLAG_COMPACT | FLAG_STATS, False), "linkstate_get": (6, 1, FLAG_STATS, False),
    "linkstate_get_without_stats": (6, 1, 0, False), "linkmodes_get": (4, 1, FLAG_COMPACT, False),
    "linkmodes_get_named": (4, 1, 0, False), "rings_get": (15, 1, 0, False), "module_get": (34, 1, 0, False),
}


def attr(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def u32(value):
    return struct.pack("=I", value)


def ethtool_request(netdev, command, header_type, flags, groups):
    header = attr(HEADER_DEV_NAME, netdev.encode() + b"\0") + (attr(HEADER_FLAGS, u32(flags)) if flags else b"")
    payload = struct.pack("=BBH", command, 1, 0) + attr(header_type | NESTED, header)
    if groups:  # eth-phy, eth-mac, eth-ctrl, rmon
        payload += attr(STATS_GROUPS | NESTED,
                        attr(BITSET_NOMASK, b"") + attr(BITSET_SIZE, u32(4)) + attr(BITSET_VALUE, u32(15)))
    return payload


def family_id(answer):
    data = answer[4:]
    while data:
        length, kind = struct.unpack_from("=HH", data)
        if kind == CTRL_ATTR_FAMILY_ID:
            return struct.unpack_from("=H", data, 4)[0]
        data = data[(length + 3) & ~3:]
    raise RuntimeError("no family id in the answer")


def netlink(protocol):
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
    sock.bind((0, 0))
    return sock


def record(path, sock, kind, payload):
    """Writes the answer to PATH.bin, or the errno's name to PATH.errno; returns the answer."""
    try:
        answer = record_netlink.request(sock, kind, 0, payload)[0]
    except OSError as error:
        with open(path + ".errno", "w") as file:
            file.write(errno.errorcode[error.errno] + "\n")
        return None
    with open(path + ".bin", "wb") as file:
        file.write(answer)
    return answer


def main():
    out, netdevs = sys.argv[1], sys.argv[2:]
    os.makedirs(out, exist_ok=True)
    generic, route = netlink(NETLINK_GENERIC), netlink(NETLINK_ROUTE)
    request = struct.pack("=BBH", CTRL_CMD_GETFAMILY, 1, 0) + attr(CTRL_ATTR_FAMILY_NAME, b"ethtool\0")
    family = family_id(record(os.path.join(out, "getfamily"), generic, GENL_ID_CTRL, request))
    for netdev in netdevs:
        folder = os.path.join(out, netdev)
        os.makedirs(folder, exist_ok=True)
        for name, (command, header_type, flags, groups) in ETHTOOL.items():
            record(os.path.join(folder, name), generic, family,
                   ethtool_request(netdev, command, header_type, flags, groups))
        record(os.path.join(folder, "dcb_ieee_get"), route, RTM_GETDCB,
               struct.pack("=BBH", 0, DCB_CMD_IEEE_GET, 0) + attr(DCB_ATTR_IFNAME, netdev.encode() + b"\0"))
    for number, address in enumerate(record_netlink.request(route, RTM_GETADDR, NLM_F_DUMP, struct.pack("=8x"))):
        with open(os.path.join(out, f"address_{number}.bin"), "wb") as file:
            file.write(address)
    with open(os.path.join(out, "kernel"), "w") as file:
        file.write(os.uname().version + "\n")


if __name__ == "__main__":
    main()
