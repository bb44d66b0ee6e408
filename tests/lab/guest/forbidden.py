#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Runs in the service's sandbox in place of the daemon: tries what the service must not be able to do, and what it must be
able to do, and prints {"what": "the errno's name, or ok"} as JSON."""

import ctypes
import errno
import json
import mmap
import os
import socket
import time

NETLINK_ROUTE, NETLINK_KOBJECT_UEVENT, NETLINK_RDMA = 0, 15, 20
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PTRACE_ATTACH = 16
libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    if getattr(libc, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), name)


def opened(path, flags):
    os.close(os.open(path, flags))


def raw_socket():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()


def listening():
    with socket.create_server(("127.0.0.1", 0)):
        pass


def netlink(protocol):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol).close()


def writable_and_executable():
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close()


TRIALS = {
    # must not
    "write to a device's counters": lambda: opened("/sys/class/infiniband/rxe0/ports/1/hw_counters/lifespan", os.O_WRONLY),
    "write to a kernel setting": lambda: opened("/proc/sys/kernel/hostname", os.O_WRONLY),
    "write to /usr": lambda: opened("/usr/bin/new", os.O_WRONLY | os.O_CREAT),
    "write to /etc": lambda: opened("/etc/rdma_exporter/rdma_exporter.yml", os.O_WRONLY),
    "read the memory": lambda: opened("/dev/mem", os.O_RDONLY),
    "write to the kernel's log": lambda: opened("/dev/kmsg", os.O_WRONLY),
    "manage the fabric": lambda: opened("/dev/infiniband/umad0", os.O_RDWR),
    "raw packets": raw_socket,
    "mount": lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    "a user namespace": lambda: call("unshare", CLONE_NEWUSER),
    "a network namespace": lambda: call("unshare", CLONE_NEWNET),
    "the host name": lambda: call("sethostname", b"x", 1),
    "the clock": lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()),
    "trace a process": lambda: call("ptrace", PTRACE_ATTACH, 1, 0, 0),
    "writable and executable memory": writable_and_executable,
    "become root": lambda: os.setuid(0),
    # must
    "verbs": lambda: opened("/dev/infiniband/uverbs0", os.O_RDWR),
    "RDMA netlink": lambda: netlink(NETLINK_RDMA),
    "link messages": lambda: netlink(NETLINK_ROUTE),
    "uevents": lambda: netlink(NETLINK_KOBJECT_UEVENT),
    "read a counter": lambda: opened("/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts", os.O_RDONLY),
    "another process's name": lambda: opened("/proc/1/comm", os.O_RDONLY),
    "listen": listening,
}


def outcome(trial):
    try:
        trial()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    return "ok"


print(json.dumps({what: outcome(trial) for what, trial in TRIALS.items()}))
