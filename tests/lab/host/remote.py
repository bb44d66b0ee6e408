# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Calls into the lab's guest (tests/lab/guest/agent.py). Plain values come back as they are; of anything else an Object comes
back, whose attributes and methods are those of the object in the guest."""

import builtins
import collections
import http.client
import importlib
import io
import os
import pathlib
import pickle
import re
import socket
import struct
import subprocess
import threading

GUEST_MODULES = pathlib.Path(__file__).resolve().parents[1] / "guest"
AGENT_PORT = 9399
ANSWER_TIMEOUT = 900  # seconds; a guard, the calls have limits of their own
# What an answer may be made of.
KNOWN = {"collections.Counter": collections.Counter, "subprocess.CompletedProcess": subprocess.CompletedProcess,
         "subprocess.TimeoutExpired": subprocess.TimeoutExpired, "posix.uname_result": os.uname_result,
         "subprocess.CalledProcessError": subprocess.CalledProcessError}


class Lost(Exception):
    """The guest does not answer any more."""


class Reader(pickle.Unpickler):
    def __init__(self, guest, data):
        super().__init__(io.BytesIO(data))
        self.guest = guest

    def persistent_load(self, reference):
        return Object(self.guest, *reference)

    def find_class(self, module, name):
        if module == "pathlib":
            return Path
        if module == "builtins":
            found = getattr(builtins, name)
            if found in (set, frozenset) or issubclass(found, BaseException):
                return found
        elif name.endswith("Error") and (GUEST_MODULES / f"{module}.py").exists():
            return getattr(importlib.import_module(module), name)  # it needs nothing that a host lacks
        return KNOWN[f"{module}.{name}"]


class Writer(pickle.Pickler):
    def persistent_id(self, value):
        return value._reference if isinstance(value, (Object, Module, Method)) else None


class Guest:
    """A guest whose agent listens. `monitor` is the socket of QEMU's monitor."""

    def __init__(self, monitor):
        self.monitor_path = monitor
        # {its port: the port of this host that leads there}, as QEMU has chosen them
        self.ports = {int(there): int(here) for here, there in re.findall(
            r"TCP\[HOST_FORWARD\] +\d+ +127\.0\.0\.1 +(\d+) +\S+ +(\d+)", self.monitor("info usernet"))}
        self.threads = threading.local()  # a connection for each, so that calls of several threads do not wait
        self.callable = set()

    def monitor(self, command):
        """What QEMU's monitor answers."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.monitor_path)
            connection.settimeout(10)
            text = b""
            connection.sendall(command.encode() + b"\n")
            while text.count(b"(qemu)") < 2:
                text += connection.recv(65536)
        return text.decode()

    def connection(self):
        if not hasattr(self.threads, "stream"):
            connection = socket.create_connection(("127.0.0.1", self.ports[AGENT_PORT]), timeout=ANSWER_TIMEOUT)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.threads.stream = connection.makefile("rwb")
        return self.threads.stream

    def ask(self, target, name="", call=False, arguments=(), options=None):
        """The attribute `name` of an object or module of the guest, or what calling it returns."""
        request = io.BytesIO()
        Writer(request, protocol=5).dump((target, name, call, arguments, options or {}))
        try:
            stream = self.connection()
            stream.write(struct.pack("!I", request.tell()) + request.getvalue())
            stream.flush()
            size, = struct.unpack("!I", stream.read(4))
            good, value, trace = Reader(self, stream.read(size)).load()
        except (OSError, EOFError, struct.error) as error:
            raise Lost(f"the guest does not answer: {error!r}") from error
        if good:
            return value
        value.add_note(f"In the guest:\n{trace}")
        raise value

    def get(self, thing, kind, name):
        """An attribute; of one that is known to be a method no question is asked until it is called."""
        if (kind, name) not in self.callable:
            value = self.ask(thing, name)
            if not isinstance(value, Object) or not value._callable:
                return value
            self.callable.add((kind, name))
        return Method(self, thing, name)

    def __getattr__(self, name):
        return Module(name, self)

    def http(self, port, timeout):
        """A connection to a server of the guest."""
        return http.client.HTTPConnection("127.0.0.1", self.ports[port], timeout=timeout)


class Method:
    def __init__(self, guest, thing, name):
        self._owner, self._thing, self._name = guest, thing, name

    @property
    def _reference(self):
        return self._thing._reference, self._name

    def __call__(self, *arguments, **options):
        return self._owner.ask(self._thing, self._name, True, arguments, options)


class Module:
    def __init__(self, name, guest=None):
        self._reference, self._owner = name, guest

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return (self._owner or the).get(self, self._reference, name)


class Object:
    def __init__(self, guest, number, kind, can_be_called):
        self._owner, self._reference, self._kind, self._callable = guest, number, kind, can_be_called

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._owner.get(self, self._kind, name)

    def __call__(self, *arguments, **options):
        return self._owner.ask(self, "", True, arguments, options)

    def __enter__(self):
        return self._owner.ask(self, "__enter__", True)

    def __exit__(self, *_):
        self._owner.ask(self, "__exit__", True, (None, None, None))


class Path(pathlib.PurePosixPath):
    """A path in the guest."""

    def __reduce__(self):
        return pathlib.PosixPath, (str(self),)


def _operation(name):
    def operation(self, *arguments, **options):
        return the.ask(self, name, True, arguments, options)
    return operation


for _name in ("chmod", "exists", "glob", "is_dir", "is_file", "iterdir", "mkdir", "open", "read_bytes", "read_text", "rename",
              "rmdir", "symlink_to", "touch", "unlink", "write_bytes", "write_text"):
    setattr(Path, _name, _operation(_name))

the: Guest = None  # which the tests mean when they name none


def use(guest):
    global the
    the = guest
