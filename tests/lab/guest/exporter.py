# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The daemon under test, in the lab's guest: start, scrape, look at its descriptors, stop."""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

REPO = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPO / "tests/tools"))

import prom_text  # noqa: E402

BINARY = pathlib.Path("/tmp/rdma_exporter")
NOBODY = 65534
NETLINK_RDMA = 20
START_TIMEOUT = 30  # seconds; the emulated processor is ten times slower than a real one


def install() -> None:
    """Copy the binary named by RDMA_EXPORTER to where every user may run it, whatever the checkout's permissions."""
    source = pathlib.Path(os.environ.get("RDMA_EXPORTER", REPO / "build/release/rdma_exporter"))
    if not source.is_file():
        raise FileNotFoundError(f"{source}: build the preset release first, or set RDMA_EXPORTER")
    shutil.copyfile(source, BINARY)
    BINARY.chmod(0o755)


def only(*collectors: str) -> list[str]:
    """Flags that switch all other collectors off."""
    usage = subprocess.run([BINARY, "--help"], capture_output=True, text=True, timeout=START_TIMEOUT).stdout
    names = set(re.findall(r"--\[no-\]collector\.(\w+) ", usage))
    if not names.issuperset(collectors):
        raise AssertionError(f"no collector {set(collectors) - names} in {sorted(names)}")
    return [f"--no-collector.{name}" for name in sorted(names.difference(collectors))]


def once(*flags: str, prefix: tuple[str, ...] = ()) -> "Scrape":
    """One collection with --once, perhaps under another command such as `ip netns exec`."""
    done = subprocess.run([*prefix, BINARY, "--once", *flags], capture_output=True, timeout=START_TIMEOUT)
    if done.returncode:
        raise AssertionError(f"--once ended with {done.returncode}: {done.stderr.decode()}")
    return Scrape(done.stdout)


def capture(name: str, *flags: str, **account) -> pathlib.Path:
    """A recording of this host in /tmp. It waits for a slow machine: what is late would not be in it."""
    path = pathlib.Path("/tmp", name)
    done = subprocess.run([BINARY, "capture", "--timeout=2m", path, *flags], capture_output=True, text=True,
                          timeout=300, cwd="/tmp", **account)
    if done.returncode:
        raise AssertionError(f"capture ended with {done.returncode}: {done.stderr}")
    return path


def doctor(*flags: str, user: int | None = None) -> tuple[int, dict]:
    """Exit status and document."""
    account = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
    done = subprocess.run([BINARY, "doctor", "--format=json", "--scrape.timeout=5m", *flags], capture_output=True,
                          text=True, timeout=300, cwd="/", **account)
    if done.stderr.strip():
        raise AssertionError(done.stderr)
    return done.returncode, json.loads(done.stdout)


class Scrape:
    """One page of metrics. Reading a malformed page raises prom_text.PageError."""

    def __init__(self, page: bytes):
        self.page = page
        self.series = prom_text.parse(page)

    def get(self, name: str, **labels: str):
        """Value of the one series with this name and at least these labels; None if there is none."""
        found = self.find(name, **labels)
        if len(found) > 1:
            raise AssertionError(f"{name} {labels} is ambiguous: {found}")
        return next(iter(found.values()), None)

    def find(self, name: str | None = None, **labels: str) -> dict:
        """All series with this name and at least these labels."""
        wanted = set(labels.items())
        return {key: value for key, value in self.series.items()
                if (name is None or key[0] == name) and wanted <= key[1]}

    def kernel_series(self, **labels: str) -> dict:
        """What was read of the kernel's devices: not what the exporter says of itself, its dumps and its checks."""
        own = ("rdma_exporter_", "process_", "rdma_resource_dump_", "rdma_resource_detail_", "rdma_ethtool_age_",
               "rdma_config_check")
        return {key: value for key, value in self.find(**labels).items() if not key[0].startswith(own)}


class Exporter:
    """A running daemon. Its log is kept for the report of a failing test."""

    def __init__(self, port: int, *flags: str, user: int | None = None, before=None, binary: pathlib.Path = BINARY):
        """`before` is called in the new process before the daemon runs."""
        self.port = port
        self.log = pathlib.Path(f"/tmp/exporter-{port}.log")
        account = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [binary, f"--web.listen-address=127.0.0.1:{port}", *flags],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", preexec_fn=before, **account)

    def get(self, path: str, timeout: float = 15) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise AssertionError(f"GET {path}: {answer.status} {body[:200]!r}")
            return body
        finally:
            connection.close()

    def wait_until_ready(self) -> None:
        end = time.monotonic() + START_TIMEOUT
        while True:
            if self.process.poll() is not None:
                raise AssertionError(f"the exporter ended with {self.process.returncode}:\n{self.log.read_text()}")
            try:
                self.get("/-/ready", timeout=2)
                return
            except (OSError, http.client.HTTPException, AssertionError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def scrape(self) -> Scrape:
        return Scrape(self.get("/metrics"))

    def alive(self) -> bool:
        return self.process.poll() is None

    def open_files(self) -> list[str]:
        """What its descriptors point to."""
        folder = pathlib.Path("/proc", str(self.process.pid), "fd")
        targets = []
        for entry in folder.iterdir():
            try:
                targets.append(os.readlink(entry))
            except FileNotFoundError:
                pass  # closed in between
        return targets

    def threads(self) -> int:
        return len(list(pathlib.Path("/proc", str(self.process.pid), "task").iterdir()))

    def uninterruptible_in(self, function: str) -> int:
        """Number of its threads that the kernel holds in uninterruptible sleep within this kernel function."""
        found = 0
        for task in pathlib.Path("/proc", str(self.process.pid), "task").iterdir():
            try:
                state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                found += state == "D" and function in (task / "stack").read_text()
            except (FileNotFoundError, ProcessLookupError):
                pass  # ended in between
        return found

    def netlink_sockets(self) -> list[int]:
        """The protocols of its netlink sockets, one entry each. Dumps in the background open and close some."""
        protocols = {}
        for line in pathlib.Path("/proc", str(self.process.pid), "net/netlink").read_text().splitlines()[1:]:
            fields = line.split()
            protocols[f"socket:[{fields[9]}]"] = int(fields[1])
        return [protocols[file] for file in self.open_files() if file in protocols]

    def rdma_netlink_sockets(self) -> int:
        return self.netlink_sockets().count(NETLINK_RDMA)

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> int:
        """SIGTERM; returns the exit status."""
        self.process.terminate()
        try:
            return self.process.wait(timeout=10)
        finally:
            if self.alive():
                self.process.kill()
                self.process.wait()
