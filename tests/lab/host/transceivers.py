# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Transceivers and cables to plug into the cards of labnic: {(page, offset): bytes}. Memories are synthetic: bytes where
SFF-8636 rev 2.11 and CMIS 5.2 have them."""

from guest import knobs

QSFP28, QSFP_DD = 0x11, 0x18


def words(*values):
    return b"".join(value.to_bytes(2, "big") for value in values)


def text(value, length):
    return value.encode().ljust(length)


def optical_qsfp28():
    """100G-SR4 whose third lane receives a tenth of the light of the others. {(page, offset): bytes}"""
    return {(0, 0): bytes([QSFP28, 7, 0]), (0, 22): words(0x1f80), (0, 26): words(33012),
            (0, 34): words(8000, 8200, 800, 7900), (0, 42): words(3750, 3760, 3800, 3770),
            (0, 50): words(9000, 9100, 9200, 9300),
            (0, 128): bytes([QSFP28, 0, 0x0c]), (0, 146): bytes([50, 0]), (0, 148): text("EXAMPLE OPTICS", 16),
            (0, 168): text("EX-100G-SR4", 16), (0, 184): text("A1", 2), (0, 196): text("EX123456", 16),
            (0, 220): bytes([0x0c]),
            (3, 128): words(0x4b00, 0xfb00, 0x4600, 0), (3, 144): words(36300, 29700, 34650, 31350),
            (3, 176): words(21878, 407, 17378, 513), (3, 184): words(5000, 500, 4500, 1000),
            (3, 192): words(21878, 300, 17378, 513)}


def optical_cmis():
    """400G-DR8 with eight lanes. The factor of the bias is 1: ethtool divides by it where the standard multiplies."""
    return {(0, 0): bytes([QSFP_DD, 0x50, 0, 6]), (0, 14): words(0x3280, 32980), (0, 85): bytes([2]),
            (0, 128): bytes([QSFP_DD]), (0, 129): text("EXAMPLE OPTICS", 16), (0, 148): text("EX-400G-DR8", 16),
            (0, 164): text("02", 2), (0, 166): text("DD0042", 16), (0, 203): bytes([0x0c]), (0, 212): bytes([4]),
            (1, 151): bytes([0x10]), (1, 159): bytes([0x03, 0x07]),
            (2, 128): words(0x4b00, 0xfb00, 0x4600, 0), (2, 136): words(36300, 29700, 34650, 31350),
            (2, 176): words(31622, 1584, 25118, 1995), (2, 184): words(30000, 5000, 27500, 6250),
            (2, 192): words(31622, 1000, 25118, 1258),
            (0x11, 154): words(*range(11000, 19000, 1000)), (0x11, 170): words(*range(15000, 16600, 200)),
            (0x11, 186): words(*range(9000, 17000, 1000))}


def passive_copper():
    """3 m of copper: memory without pages and without monitors."""
    return {(0, 0): bytes([QSFP28, 0, 4]), (0, 128): bytes([QSFP28, 0, 0x23]), (0, 146): bytes([3, 0xa0]),
            (0, 148): text("EXAMPLE CABLES", 16), (0, 168): text("EX-DAC-3M", 16), (0, 196): text("C-77", 16)}


def plug(netdev, memory):
    knob = knobs.Knobs("labnic", f"{netdev}/module")
    for (page, offset), content in memory.items():
        knob.write("memory", f"{page:x} {offset:x} {content.hex()}")


def unplug(netdev):
    knobs.Knobs("labnic", f"{netdev}/module").write("memory", "remove")
