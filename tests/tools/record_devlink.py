#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Records the kernel's answers to devlink requests (generic netlink), one file per message payload.

Run in the lab (scripts/lab): record_devlink.py OUTDIR HANDLE, such as pci/0000:00:10.0
OUTDIR/reporter_N.bin and port_N.bin are the messages of the dumps of that instance (Linux 6.1: of all instances),
info.bin is the answer to INFO_GET, getfamily.bin the controller's answer about the family. What follows struct nlmsghdr.
The files are the fixtures of tests/unit/host/netlink/devlink_test.cpp, and fuzz seeds.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import record_ethernet as ethernet  # noqa: E402
import record_netlink  # noqa: E402

PORT_GET, INFO_GET, HEALTH_REPORTER_GET = 5, 51, 52
BUS_NAME, DEV_NAME = 1, 2


def main():
    out, (bus, device) = sys.argv[1], sys.argv[2].split("/")
    os.makedirs(out, exist_ok=True)
    sock = ethernet.netlink(ethernet.NETLINK_GENERIC)
    request = struct.pack("=BBH", ethernet.CTRL_CMD_GETFAMILY, 1, 0) + ethernet.attr(ethernet.CTRL_ATTR_FAMILY_NAME,
                                                                                     b"devlink\0")
    family = ethernet.family_id(ethernet.record(os.path.join(out, "getfamily"), sock, ethernet.GENL_ID_CTRL, request))
    handle = ethernet.attr(BUS_NAME, bus.encode() + b"\0") + ethernet.attr(DEV_NAME, device.encode() + b"\0")
    for name, command in (("reporter", HEALTH_REPORTER_GET), ("port", PORT_GET)):
        answers = record_netlink.request(sock, family, ethernet.NLM_F_DUMP, struct.pack("=BBH", command, 1, 0) + handle)
        for number, answer in enumerate(answers):
            record_netlink.write(out, f"{name}_{number}", answer)
    ethernet.record(os.path.join(out, "info"), sock, family, struct.pack("=BBH", INFO_GET, 1, 0) + handle)
    with open(os.path.join(out, "kernel"), "w") as file:
        file.write(os.uname().version + "\n")


if __name__ == "__main__":
    main()
