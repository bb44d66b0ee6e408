#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Records the kernel's notifications while devices change, one file per datagram, and its answer to SYS_GET.

Run as root in the lab (scripts/lab run --fabric) on each kernel: record_events.py OUTDIR. Files that a kernel does not
send (MONITOR before 6.12) are not written. They are the fixtures of tests/unit/*event*_test.cpp, and fuzz
seeds.
"""
import os
import pathlib
import select
import socket
import struct
import subprocess
import sys

NETLINK_ROUTE, NETLINK_KOBJECT_UEVENT, NETLINK_RDMA = 0, 15, 20
SOL_NETLINK, NETLINK_ADD_MEMBERSHIP = 270, 1
GROUPS = {"uevent": (NETLINK_KOBJECT_UEVENT, 1), "link": (NETLINK_ROUTE, 1), "monitor": (NETLINK_RDMA, 4)}
SYS_GET = (5 << 10) + 6

# What is done, and which datagrams of it are kept: {file: (source, text that it has)}.
STEPS = (
    ("rdma dev set rxe_dummy name renamed", {"uevent_move": ("uevent", b"move@")}),
    ("rdma dev set renamed name rxe_dummy", {}),
    ("rdma link delete rxe_dummy", {
        "uevent_verbs_remove": ("uevent", b"SUBSYSTEM=infiniband_verbs"),
        "uevent_remove": ("uevent", b"SUBSYSTEM=infiniband\0"),
        "monitor_unregister": ("monitor", b"rxe_dummy")}),
    ("rdma link add rxe_dummy type rxe netdev dum0", {
        "uevent_add": ("uevent", b"SUBSYSTEM=infiniband\0"),
        "monitor_register": ("monitor", b"rxe_dummy"),
        "monitor_attach": ("monitor", b"dum0")}),
    ("ip link set dum0 mtu 1400", {"link_mtu": ("link", b"dum0")}),
    ("ip link add br0 type bridge", {"uevent_net_add": ("uevent", b"INTERFACE=br0")}),
    ("ip link set dum0 master br0", {"link_bridge_port": ("link", b"dum0")}),
    ("ip link set dum0 nomaster", {}),
    ("ip link del br0", {"link_removed": ("link", b"br0")}),
)


def listen():
    sockets = {}
    for name, (protocol, group) in GROUPS.items():
        sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        sock.bind((0, 0))
        sock.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group)
        sockets[sock] = name
    return sockets


def received(sockets):
    """[(source, datagram)] until nothing has come for a second."""
    datagrams = []
    while ready := select.select(list(sockets), [], [], 1)[0]:
        datagrams += [(sockets[sock], sock.recv(65536)) for sock in ready]
    return datagrams


def wanted(name, source, text, datagram):
    if datagram[0] != source or text not in datagram[1]:
        return False
    if source == "link":  # the family in struct ifinfomsg tells a bridge's port from the interface itself
        bridge = datagram[1][16] == socket.AF_BRIDGE
        return bridge == (name == "link_bridge_port")
    return True


def sys_get():
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA)
    sock.send(struct.pack("=IHHII", 16, SYS_GET, 1, 1, 0))
    return sock.recv(65536)[16:]


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    sockets = listen()
    for command, files in STEPS:
        subprocess.run(command.split(), check=True)
        datagrams = received(sockets)
        for name, (source, text) in files.items():
            matches = [datagram for datagram in datagrams if wanted(name, source, text, datagram)]
            if matches:
                (out / f"{name}.bin").write_bytes(matches[0 if source == "monitor" else -1][1])
            elif source != "monitor":
                sys.exit(f"{command}: no {name} in {datagrams}")
    (out / "sys_get.bin").write_bytes(sys_get())
    (out / "kernel").write_text(os.uname().version + "\n")


main()
