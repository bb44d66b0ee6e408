#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Unpack the ELF kernel out of a bzImage: extract_vmlinux.py BZIMAGE VMLINUX.

QEMU can enter an ELF kernel directly (PVH). Without this the guest spends about 7 seconds of emulated
CPU on unpacking itself. Offsets are those of the x86 boot protocol (Documentation/arch/x86/boot.rst).
"""

import lzma
import pathlib
import struct
import subprocess
import sys
import zlib

SECTOR = 512
XZ_MAGIC = b"\xfd7zXZ\x00"
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
SIZE_OF_SIZE = 4  # what follows the compressed stream: the size of what it contains


def payload_of(image: bytes) -> bytes:
    """The compressed kernel inside a bzImage, without the size behind it. ValueError if this is no bzImage that says where it is."""
    if image[0x202:0x206] != b"HdrS":
        raise ValueError("not a bzImage (no HdrS signature)")
    setup_sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (setup_sectors + 1) * SECTOR + offset
    return image[start : start + length - SIZE_OF_SIZE]


def decompress(payload: bytes) -> bytes:
    if payload.startswith(XZ_MAGIC):
        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(payload)
    if payload.startswith(GZIP_MAGIC):
        return zlib.decompressobj(wbits=31).decompress(payload)
    if payload.startswith(ZSTD_MAGIC):  # no module of Python 3.11 reads it
        return subprocess.run(["zstd", "-dc"], input=payload, stdout=subprocess.PIPE, check=True).stdout
    raise ValueError(f"kernel is compressed in a way this script does not know (starts {payload[:6].hex()})")


def main() -> int:
    source, target = sys.argv[1:3]
    try:
        kernel = decompress(payload_of(pathlib.Path(source).read_bytes()))
    except (ValueError, lzma.LZMAError, zlib.error, subprocess.CalledProcessError) as error:
        print(f"{source}: {error}", file=sys.stderr)
        return 1
    if not kernel.startswith(b"\x7fELF"):
        print(f"{source}: what it contains is not an ELF file", file=sys.stderr)
        return 1
    pathlib.Path(target).write_bytes(kernel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
