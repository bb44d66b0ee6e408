#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Records the kernel's answers to RDMA netlink requests, one file per message payload.

Run in the lab with Soft-RoCE devices present, QPACTOR being the program of tests/lab/programs:
    scripts/lab run --fabric --out DIR tests/tools/record_netlink.py /out/netlink [QPACTOR]
With QPACTOR also resources of rxe0 and rxe1 are made and their tables recorded: RES_GET of each device, the dumps of
rxe0 (rxe1 for CM ids) in all their parts. The payloads (what follows struct nlmsghdr) are the fixtures of tests/unit/host/netlink/nldev/nldev_test.cpp and the fuzz seeds.
"""
import json
import os
import socket
import struct
import subprocess
import sys
import time

NETLINK_RDMA = 20
NLM_F_REQUEST, NLM_F_DUMP = 0x1, 0x300
GET, PORT_GET, STAT_GET, RES_GET, STAT_GET_STATUS, SYS_GET = ((5 << 10) + n for n in (1, 5, 17, 9, 24, 6))
TABLES = {"qp": 10, "cm_id": 11, "cq": 12, "mr": 13, "ctx": 22, "srq": 23}
ATTR_DEV_INDEX, ATTR_PORT_INDEX = 1, 3
NLMSG_ERROR, NLMSG_DONE = 2, 3


def attr_u32(kind, value):
    return struct.pack("=HHI", 8, kind, value)


def request(sock, kind, flags, payload=b""):
    """Returns the payloads of all answers; raises OSError with the kernel's errno."""
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
                refusal = -struct.unpack_from("=i", body)[0]
                raise OSError(refusal, os.strerror(refusal))
            payloads.append(body)
            if not answer_flags & 2:  # NLM_F_MULTI
                return payloads


def open_socket():
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA)
    sock.bind((0, 0))
    return sock


def write(out, name, body):
    with open(os.path.join(out, name + ".bin"), "wb") as file:
        file.write(body)


def make_resources(program):
    """Queue pairs in every state that Soft-RoCE has, a listener and a connection of rdma_cm; in this order."""
    started = []
    for arguments in (["-n", "100", "-m", "100000", "rxe0", "rts"], ["rxe0", "reset"], ["rxe0", "init"], ["rxe0", "rtr"],
                      ["rxe0", "sqd"], ["-n", "2", "rxe0", "err"], ["-t", "ud", "-n", "3", "rxe0", "rts"],
                      ["-t", "uc", "rxe0", "rts"]):
        started.append(subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        started[-1].stdout.readline()
    for arguments in (["-s"], ["-c"]):
        started.append(subprocess.Popen(["rping", *arguments, "-a", "10.9.0.2", "-C", "1000000"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        time.sleep(2)
    return started


def record_resources(sock, out, program):
    started = make_resources(program)
    for index in range(2):
        device = attr_u32(ATTR_DEV_INDEX, index)
        write(out, "res_get_%d" % index, request(sock, RES_GET, 0, device)[0])
        write(out, "stat_get_status_%d" % index,
              request(sock, STAT_GET_STATUS, 0, device + attr_u32(ATTR_PORT_INDEX, 1))[0])
    for table, command in TABLES.items():
        device = attr_u32(ATTR_DEV_INDEX, 1 if table == "cm_id" else 0)
        # A socket of its own: the first part of its first dump is a small one.
        for part, body in enumerate(request(open_socket(), (5 << 10) + command, NLM_F_DUMP, device)):
            write(out, "res_%s_%d" % (table, part), body)
    with open(os.path.join(out, "rdma_resource_show.json"), "w") as file:
        json.dump({table: [row for row in json.loads(subprocess.check_output(
            ["rdma", "-j", "-d", "resource", "show", table])) if row["ifname"] == "rxe%d" % (table == "cm_id")]
            for table in TABLES}, file)
    for process in started:
        process.kill()


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    sock = open_socket()
    write(out, "sys_get", request(sock, SYS_GET, 0)[0])
    for device, payload in enumerate(request(sock, GET, NLM_F_DUMP)):
        index = struct.unpack_from("=I", payload, 4)[0]
        port = attr_u32(ATTR_DEV_INDEX, index) + attr_u32(ATTR_PORT_INDEX, 1)
        files = {"get": payload, "port_get": request(sock, PORT_GET, 0, port)[0],
                 "stat_get": request(sock, STAT_GET, 0, port)[0]}
        for name, body in files.items():
            write(out, "%s_%d" % (name, device), body)
    if len(sys.argv) > 2:
        record_resources(sock, out, sys.argv[2])
    with open(os.path.join(out, "ORIGIN.md"), "w") as file:
        file.write("# Recorded RDMA netlink answers\n\nPayloads of nldev answers of `%s`, recorded in the lab by\n"
                   "`tests/tools/record_netlink.py` with Soft-RoCE devices: SYS_GET, GET (dump), PORT_GET and STAT_GET (port 1);\n"
                   "RES_GET, STAT_GET_STATUS (port 1) and the dumps of resource tables, whose file names say which part they are.\n"
                   "`rdma_resource_show.json` is what `rdma -j -d resource show` said of the same objects.\n"
                   % os.uname().version)


if __name__ == "__main__":
    main()
