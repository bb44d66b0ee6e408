# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Ports of programs that run concurrently: the kernel chooses them, and the programs report them."""

import contextlib
import pathlib
import re
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import marks  # noqa: E402


@contextlib.contextmanager
def reserved_port():
    """A port that only a program which asks for it by its number gets, as long as the context lasts: a socket holds it
    without listening. For the few programs that cannot choose a port and tell it, and for those that are to come back on
    the same one."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


EXPORTER = re.compile(r'msg(?:=|":")listening"?[ ,]+"?address"?[=:]"?\S+?:(\d+)[" ]')
PROMETHEUS = re.compile(r'msg="Listening on"(?: component=web)? address=\S+?:(\d+)$', re.M)  # and Alertmanager, node_exporter


class Announced:
    """The ports that a program listens on, as its log tells them."""

    def __init__(self, process, log_path, pattern):
        self.process, self.log_path, self.pattern = process, pathlib.Path(log_path), pattern

    def log(self):
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def now(self):
        """In the order of the log."""
        return [int(port) for port in self.pattern.findall(self.log())]

    def ports(self, seconds=30):
        """Waits for the first."""
        end = time.monotonic() + seconds * marks.PATIENCE
        while not self.now():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"{self.process.args[0]} does not listen:\n{self.log()}")
            time.sleep(0.01)
        return self.now()
