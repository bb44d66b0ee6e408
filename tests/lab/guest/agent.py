#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Runs in the guest and executes calls of the tests, which run on the host (tests/lab/host/guest.py): gets attributes of
modules and objects, and calls them. One process does all of it, because starting a program is slow in the guest.

A connection carries requests and answers, each a pickle preceded by its length. Plain values are sent as they are; any other
object stays here, and a reference to it is sent. Each connection has a thread of its own, so that calls may take long."""

import collections
import importlib
import io
import itertools
import os
import pathlib
import pickle
import socket
import struct
import subprocess
import sys
import threading
import traceback
import types

PORT = 9399
PLAIN = (type(None), bool, int, float, str, bytes, tuple, list, dict, set, frozenset, collections.Counter,
         pathlib.PosixPath, subprocess.CompletedProcess, os.uname_result)
LAZY = (types.GeneratorType, map, filter)

objects = {}
numbers = itertools.count(1)


class Writer(pickle.Pickler):
    def persistent_id(self, value):
        """None for what travels as it is, otherwise the reference: its number, its kind, whether it can be called."""
        kind = value if isinstance(value, type) else type(value)
        if kind in PLAIN or issubclass(kind, BaseException):
            return None
        number = next(numbers)
        objects[number] = value
        return number, f"{kind.__module__}.{kind.__qualname__}", callable(value)


class Reader(pickle.Unpickler):
    def persistent_load(self, reference):
        """The name of a module, the number of an object, or one of these and the name of an attribute."""
        if isinstance(reference, tuple):
            return getattr(self.persistent_load(reference[0]), reference[1])
        return importlib.import_module(reference) if isinstance(reference, str) else objects[reference]


def packed(answer):
    out = io.BytesIO()
    Writer(out, protocol=5).dump(answer)
    return out.getvalue()


def answered(request):
    try:
        target, name, call, arguments, options = Reader(io.BytesIO(request)).load()
        value = getattr(target, name) if name else target
        if call:
            value = value(*arguments, **options)
        return packed((True, list(value) if isinstance(value, LAZY) else value, ""))
    except BaseException as error:  # noqa: BLE001  whatever it is, it belongs to who asked
        trace = traceback.format_exc()
        try:
            return packed((False, error, trace))
        except Exception:  # noqa: BLE001
            return packed((False, RuntimeError(repr(error)), trace))


def exactly(stream, count):
    data = stream.read(count)
    return data if len(data) == count else None


def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection, connection.makefile("rb") as stream:
        while header := exactly(stream, 4):
            answer = answered(exactly(stream, struct.unpack("!I", header)[0]))
            connection.sendall(struct.pack("!I", len(answer)) + answer)


def children():
    """Processes that this one has started, and theirs."""
    found, parents = [], [os.getpid()]
    while parents:
        parent = parents.pop()
        try:
            tasks = list(pathlib.Path("/proc", str(parent), "task").iterdir())
            below = [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
        found += below
        parents += below
    return found


def end(status):
    """Ends the guest with this status."""
    sys.stdout.flush()
    os._exit(status)


def main():
    # A module that refers to this one means this one, not a second copy.
    sys.modules["agent"] = sys.modules["__main__"]
    with socket.create_server(("", PORT), backlog=64) as server:
        pathlib.Path("/out/ready").touch()
        while True:
            threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    main()
