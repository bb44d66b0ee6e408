# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The daemon under test, in the lab's guest: started there (tests/lab/guest/exporter.py), scraped from here."""

import contextlib
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import remote

REPO = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPO / "tests/tools"))

import prom_text  # noqa: E402

guests = remote.Module("exporter")
programs = remote.Module("subprocess")
BINARY = remote.Path("/tmp/rdma_exporter")
NOBODY = 65534
NETLINK_RDMA = 20
SECRET = remote.Path("/tmp/probe.psk")
PART_OF_KEY = "5a5a"  # which nothing may show
KEY = "fleet:" + PART_OF_KEY * 16
START_TIMEOUT = 60  # seconds; the emulated processor is ten times slower than a real one


def install():
    """Copy the binary to where every user of the guest may run it."""
    guests.install()


def capture(name, *flags, **account):
    """A recording of the guest in its /tmp."""
    return guests.capture(name, *flags, **account)


def only(*collectors):
    """Flags that switch all other collectors off."""
    return guests.only(*collectors)


def patience(time="20s"):
    """Flags for a test that is not about time: nothing is left out because the machine is slow."""
    return guests.patience(time)


def once(*flags, prefix=(), patient=True):
    """One collection with --once, perhaps under another command such as `ip netns exec`."""
    return Scrape(guests.once(*flags, prefix=prefix, patient=patient))


def doctor(*flags, user=None):
    """Exit status and document."""
    status, document = guests.doctor(*flags, user=user)
    return status, json.loads(document)


def write_keys(*keys, file=SECRET, guest=None):
    """Those of the mesh, which only their owner may read."""
    guest = guest or remote.the
    guest.ask(file, "write_text", True, ("".join(f"{key}\n" for key in keys),))
    guest.ask(file, "chmod", True, (0o400,))


def probe(*flags, secret=SECRET, status=0, responder=None):
    """What the command `probe` prints, with --json its results. It must end with this status. `responder`: the daemon that it
    connects to; where a busy machine makes the handshakes take longer than that gives a peer, the command is run again."""
    for _ in range(3):
        before = late_handshakes(responder)
        done = programs.run([BINARY, "probe", f"--probe.secret-file={secret}", *flags], capture_output=True, text=True,
                            timeout=300)  # takes half a minute on a guest that shares its processor
        if late_handshakes(responder) == before:
            break
        print("the handshakes took longer than a peer is given, so `probe` is run again", flush=True)
    said = done.stdout + done.stderr
    if done.returncode != status:
        raise AssertionError(f"probe ended with {done.returncode} instead of {status}: {said}")
    if PART_OF_KEY in said:
        raise AssertionError(f"probe prints its key: {said}")
    return json.loads(done.stdout)["results"] if "--json" in flags else done.stdout


def late_handshakes(responder):
    return responder.scrape().get("rdma_probe_inbound_rejected_total", reason="deadline") or 0 if responder else 0


class Recording:
    """A recording, copied here: reading it needs no guest, as a recording is read on any host."""

    def __init__(self, path):
        self.folder = tempfile.TemporaryDirectory(prefix="lab-")
        self.path = pathlib.Path(self.folder.name, path.name)
        self.path.write_bytes(path.read_bytes())

    def run(self, *command):
        binary = os.environ.get("RDMA_EXPORTER", REPO / "build/release/rdma_exporter")
        return subprocess.run([binary, *command, f"--replay={self.path}"], capture_output=True, cwd="/",
                              timeout=START_TIMEOUT)

    def once(self, *flags):
        """The page of one collection."""
        done = self.run("--once", *guests.all_metrics(flags))
        if done.returncode:
            raise AssertionError(f"--replay ended with {done.returncode}: {done.stderr.decode()}")
        return Scrape(done.stdout)

    def doctor(self, *flags):
        """Exit status and document."""
        done = self.run("doctor", "--format=json", *flags)
        if done.stderr.strip():
            raise AssertionError(done.stderr.decode())
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
        own = ("rdma_exporter_", "process_", "rdma_resource_dump_", "rdma_resource_detail_", "rdma_netdev_statistics_age_",
               "rdma_config_check")
        return {key: value for key, value in self.find(**labels).items() if not key[0].startswith(own)}


class Exporter:
    """A running daemon. What is not here is asked of the guest's Exporter. Its log is kept for the report of a failing
    test."""

    def __init__(self, port, *flags, guest=None, **options):
        self.guest = guest or remote.the
        self.port = port
        self.there = self.guest.exporter.Exporter(port, *flags, **options)
        self.process, self.log = self.there.process, self.there.log

    def __getattr__(self, name):
        return getattr(self.there, name)

    def get(self, path, timeout=15):
        connection = self.guest.http(self.port, timeout)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise AssertionError(f"GET {path}: {answer.status} {body[:200]!r}")
            return body
        finally:
            connection.close()

    def wait_until_ready(self):
        end = time.monotonic() + START_TIMEOUT
        while True:
            try:
                self.get("/-/ready", timeout=2)
                return
            except (OSError, http.client.HTTPException, AssertionError):
                if not self.alive():
                    raise AssertionError(f"the exporter ended with {self.process.returncode}:\n{self.log.read_text()}")
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def scrape(self):
        return Scrape(self.get("/metrics"))

    @contextlib.contextmanager
    def keep(self, timeout=15):
        """scrape() over one connection, as Prometheus does."""
        with contextlib.closing(self.guest.http(self.port, timeout)) as connection:
            def scrape():
                connection.request("GET", "/metrics")
                answer = connection.getresponse()
                body = answer.read()
                if answer.status != 200:
                    raise AssertionError(f"{answer.status} {body[:200]!r}")
                return Scrape(body)
            yield scrape
