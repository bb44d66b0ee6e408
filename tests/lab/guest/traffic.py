#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""RDMA traffic from rxe0 to rxe1 of the lab's fabric. A module for the tests, and a command for people:
traffic.py [TOOL [ARGS...]], for example traffic.py ib_write_bw -n 100 -s 65536."""

import pathlib
import signal
import socket
import struct
import subprocess
import sys
import time

SERVER, CLIENT = ("rxe1", "10.9.0.2"), ("rxe0", "10.9.0.1")
PERFTEST_PORT = 18515
ROCE_PORT = 4791


class TrafficError(Exception):
    """The tool failed; the text has what both ends printed."""


def gid_index(device: str, address: str) -> int:
    """Index of the RoCE v2 GID that stands for an IPv4 address (::ffff:a.b.c.d)."""
    packed = socket.inet_aton(address).hex()
    wanted = f"0000:0000:0000:0000:0000:ffff:{packed[:4]}:{packed[4:]}"
    gids = pathlib.Path("/sys/class/infiniband", device, "ports/1/gids")
    for index in range(16):
        if (gids / str(index)).read_text().strip() == wanted:
            return index
    raise TrafficError(f"{device} has no GID for {address}")


def roce_senders(netdev: str, count: int, timeout: float) -> set[tuple[str, int, int]]:
    """(address, traffic class, UDP source port) of so many who send RoCE v2 over an interface, or fewer in this time."""
    seen = set()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003)) as tap:
        tap.bind((netdev, 0))
        tap.settimeout(10)
        end = time.monotonic() + timeout
        while len(seen) < count and time.monotonic() < end:
            frame = tap.recv(2048)
            if frame[12:14] != b"\x08\x00" or frame[23] != 17:
                continue
            source, destination = struct.unpack("!HH", frame[34:38])
            if destination == ROCE_PORT:
                seen.add((socket.inet_ntoa(frame[26:30]), frame[15], source))
    return seen


def wait_for_listener(port: int, server: subprocess.Popen, timeout: float = 30) -> None:
    """Wait until some socket listens on a TCP port, by the kernel's own table."""
    needle = f":{port:04X} "
    end = time.monotonic() + timeout
    while time.monotonic() < end and server.poll() is None:
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            for line in pathlib.Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if (fields[1] + " ").endswith(needle) and fields[3] == "0A":
                    return
        time.sleep(0.05)
    raise TrafficError(f"nothing listens on port {port}")


def stop_for(process: subprocess.Popen, seconds: float, server=SERVER) -> None:
    """Stop the receiver in the middle of the traffic: its receive queue runs dry, and it answers with RNR NAKs."""
    packets = pathlib.Path("/sys/class/infiniband", server[0], "ports/1/hw_counters/rcvd_pkts")
    before = int(packets.read_text())
    end = time.monotonic() + 10
    while int(packets.read_text()) < before + 50:
        if time.monotonic() > end:
            raise TrafficError("no packet arrived")
        time.sleep(0.02)
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)


def run(*args, **options) -> str:
    """attempt(), again where perftest has sent but cannot tell how fast: at its end it compares the processor's clock with
    the system's, and on a busy machine they are not straight enough for it."""
    for _ in range(4):
        try:
            return attempt(*args, **options)
        except TrafficError as error:
            if "Can't produce a report" not in str(error):
                raise
    return attempt(*args, **options)


def attempt(tool: str = "ib_send_bw", *args: str, stop_receiver: float = 0, timeout: float = 60,
            server: tuple[str, str] = SERVER, client: tuple[str, str] = CLIENT) -> str:
    """One perftest run between two devices; returns what the client printed. TrafficError if an end fails.
    `stop_receiver`: seconds for which the receiving process is stopped in the middle."""

    def line(end):
        return [tool, "-d", end[0], "-x", str(gid_index(*end)), *args]

    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    receiver = subprocess.Popen(line(server), **pipes)
    sender = None
    try:
        wait_for_listener(PERFTEST_PORT, receiver)
        sender = subprocess.Popen([*line(client), server[1]], **pipes)
        if stop_receiver:
            stop_for(receiver, stop_receiver, server)
        output, _ = sender.communicate(timeout=timeout)
        other_output, _ = receiver.communicate(timeout=10)
        if sender.returncode or receiver.returncode:
            raise TrafficError(f"{tool}: client {sender.returncode}, server {receiver.returncode}\n{output}{other_output}")
        return output
    except subprocess.TimeoutExpired as error:
        raise TrafficError(f"{tool}: no end after {timeout} s") from error
    finally:
        for process in (receiver, sender):
            if process and process.poll() is None:
                process.kill()
                process.wait()


if __name__ == "__main__":
    try:
        print(run(*(sys.argv[1:] or ["ib_send_bw", "-n", "200", "-s", "4096"])), end="")
    except TrafficError as error:
        sys.exit(f"traffic.py: {error}")
