#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Records the kernel's answers to RDMA netlink requests, one file per message payload.

Run in the lab (scripts/lab) with Soft-RoCE devices present: record_netlink.py OUTDIR.
The payloads (what follows struct nlmsghdr) are the fixtures of tests/unit/nldev_test.cpp and the fuzz seeds.
"""
import os
import socket
import struct
import sys

NETLINK_RDMA = 20
NLM_F_REQUEST, NLM_F_DUMP = 0x1, 0x300
GET, PORT_GET, STAT_GET = ((5 << 10) + n for n in (1, 5, 17))
ATTR_DEV_INDEX, ATTR_PORT_INDEX = 1, 3
NLMSG_ERROR, NLMSG_DONE = 2, 3


def attr_u32(kind, value):
    return struct.pack("=HHI", 8, kind, value)


def request(sock, kind, flags, payload=b""):
    """Returns the payloads of all answers; a refusal is the bytes of its errno."""
    sock.send(struct.pack("=IHHII", 16 + len(payload), kind, NLM_F_REQUEST | flags, 1, 0) + payload)
    payloads = []
    while True:
        data = sock.recv(65536)
        while data:
            length, answer, answer_flags = struct.unpack_from("=IHH", data)
            body, data = data[16:length], data[(length + 3) & ~3:]
            if answer == NLMSG_DONE:
                return payloads
            if answer == NLMSG_ERROR:
                sys.exit("kernel refused: %d" % struct.unpack_from("=i", body))
            payloads.append(body)
            if not answer_flags & 2:  # NLM_F_MULTI
                return payloads


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA)
    sock.bind((0, 0))
    for device, payload in enumerate(request(sock, GET, NLM_F_DUMP)):
        index = struct.unpack_from("=I", payload, 4)[0]
        port = attr_u32(ATTR_DEV_INDEX, index) + attr_u32(ATTR_PORT_INDEX, 1)
        files = {"get": payload, "port_get": request(sock, PORT_GET, 0, port)[0],
                 "stat_get": request(sock, STAT_GET, 0, port)[0]}
        for name, body in files.items():
            with open(os.path.join(out, "%s_%d.bin" % (name, device)), "wb") as file:
                file.write(body)
    with open(os.path.join(out, "ORIGIN.md"), "w") as file:
        file.write("# Recorded RDMA netlink answers\n\nPayloads of nldev answers of `%s`, recorded in the lab by\n"
                   "`tests/tools/record_netlink.py` with Soft-RoCE devices: GET (dump), PORT_GET and STAT_GET (port 1).\n"
                   % os.uname().version)


main()
