#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Records the kernel's answers to the SIOCETHTOOL commands for driver statistics, one file per answer.

Run in the lab (scripts/lab): record_ethtool.py OUTDIR INTERFACE... Writes INTERFACE_{sset_info,gstrings,gstats,drvinfo}.bin:
whole structures of include/uapi/linux/ethtool.h. They are the fixtures of tests/unit/host/ethtool/ethtool_stats_test.cpp and the
fuzz seeds.
"""
import ctypes
import fcntl
import os
import socket
import struct
import sys

SIOCETHTOOL = 0x8946
GDRVINFO, GSTRINGS, GSTATS, GSSET_INFO = 0x03, 0x1b, 0x1d, 0x37
ETH_SS_STATS = 1


def execute(sock, interface, request):
    """The answer, written over the request."""
    buffer = ctypes.create_string_buffer(request, len(request))
    fcntl.ioctl(sock, SIOCETHTOOL, struct.pack("16sP16x", interface.encode(), ctypes.addressof(buffer)))
    return buffer.raw


def record(sock, interface):
    answers = {"sset_info": execute(sock, interface, struct.pack("=IIQI", GSSET_INFO, 0, 1 << ETH_SS_STATS, 0))}
    count, = struct.unpack_from("=I", answers["sset_info"], 16)
    answers["gstrings"] = execute(sock, interface, struct.pack("=III", GSTRINGS, ETH_SS_STATS, count) + bytes(32 * count))
    answers["gstats"] = execute(sock, interface, struct.pack("=II", GSTATS, count) + bytes(8 * count))
    answers["drvinfo"] = execute(sock, interface, struct.pack("=I", GDRVINFO) + bytes(192))
    return answers


def main():
    out, *interfaces = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for interface in interfaces:
        for name, answer in record(sock, interface).items():
            with open(os.path.join(out, "%s_%s.bin" % (interface, name)), "wb") as file:
                file.write(answer)
    with open(os.path.join(out, "ORIGIN.md"), "w") as file:
        file.write("# Recorded ethtool answers\n\nWhole answers of `%s` to SIOCETHTOOL, recorded in the lab by\n"
                   "`tests/tools/record_ethtool.py`: GSSET_INFO, GSTRINGS, GSTATS and GDRVINFO of %s.\n"
                   % (os.uname().version, ", ".join(interfaces)))


if __name__ == "__main__":
    main()
