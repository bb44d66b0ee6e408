# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Takes AF_NETLINK away from a process, as RestrictAddressFamilies= of systemd does."""

import ctypes
import errno
import socket
import struct

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
SYS_SOCKET = 41  # x86-64
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
OFFSET_NR, OFFSET_FIRST_ARGUMENT = 0, 16  # struct seccomp_data
REFUSE, ALLOW = 0x00050000, 0x7FFF0000

PROGRAM = b"".join(struct.pack("=HBBI", *step) for step in (
    (LOAD, 0, 0, OFFSET_NR),
    (JUMP_EQUAL, 0, 3, SYS_SOCKET),
    (LOAD, 0, 0, OFFSET_FIRST_ARGUMENT),
    (JUMP_EQUAL, 0, 1, socket.AF_NETLINK),
    (RETURN, 0, 0, REFUSE | errno.EAFNOSUPPORT),
    (RETURN, 0, 0, ALLOW),
))


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_char_p)]


def refuse() -> None:
    """For the calling process and what it starts, for good."""
    libc = ctypes.CDLL(None, use_errno=True)
    program = Filter(len(PROGRAM) // 8, PROGRAM)
    for arguments in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program))):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
