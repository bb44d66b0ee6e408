# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A switch's LLDP frames (IEEE 802.1AB), for the interface at the other end of a wire."""

import socket
import struct

ETHERTYPE = 0x88cc
NEAREST_BRIDGE = bytes.fromhex("0180c200000e")
CHASSIS = bytes.fromhex("443839000012")


def tlv(kind: int, value: bytes) -> bytes:
    return struct.pack("!H", kind << 9 | len(value)) + value


def leaf(port: str, ttl: int = 120, system: str = "leaf-a12") -> bytes:
    """Chassis 44:38:39:00:00:12."""
    return b"".join((tlv(1, b"\x04" + CHASSIS), tlv(2, b"\x05" + port.encode()), tlv(3, struct.pack("!H", ttl)),
                     tlv(4, b"to gpu-17"), tlv(5, system.encode()), tlv(0, b"")))


def send(netdev: str, units: bytes) -> None:
    """What follows the Ethernet header."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as wire:
        wire.bind((netdev, ETHERTYPE))
        wire.send(NEAREST_BRIDGE + wire.getsockname()[4] + struct.pack("!H", ETHERTYPE) + units)
