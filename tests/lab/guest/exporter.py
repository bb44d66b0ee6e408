# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The daemon under test, in the lab's guest: start, look at its descriptors, stop. Its pages are read by
tests/lab/host/exporter.py."""

import functools
import http.client
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

REPO = pathlib.Path(__file__).resolve().parents[3]
BINARY = pathlib.Path("/tmp/rdma_exporter")
NOBODY = 65534
NETLINK_RDMA = 20
START_TIMEOUT = 60  # seconds; the emulated processor is ten times slower than a real one
TEMPORARY = ("/tmp", "/dev/shm", "/run")


def install() -> None:
    """Copy the binary named by RDMA_EXPORTER to where every user may run it, whatever the checkout's permissions."""
    source = pathlib.Path(os.environ.get("RDMA_EXPORTER", REPO / "build/release/rdma_exporter"))
    if not source.is_file():
        raise FileNotFoundError(f"{source}: build the preset release first, or set RDMA_EXPORTER")
    if BINARY.exists() and BINARY.stat().st_size == source.stat().st_size:
        return
    shutil.copyfile(source, BINARY)
    BINARY.chmod(0o755)


@functools.cache
def collectors() -> list[str]:
    usage = subprocess.run([BINARY, "--help"], capture_output=True, text=True, timeout=START_TIMEOUT).stdout
    return sorted(set(re.findall(r"--\[no-\]collector\.(\w+) ", usage)))


def only(*wanted: str) -> list[str]:
    """Flags that switch all other collectors off."""
    if not set(collectors()).issuperset(wanted):
        raise AssertionError(f"no collector {set(wanted).difference(collectors())} in {collectors()}")
    return [f"--no-collector.{name}" for name in collectors() if name not in wanted]


def patience(time: str = "20s") -> list[str]:
    """Flags for a test that is not about time: nothing is left out because the machine is slow."""
    return [f"--scrape.timeout={time}", *(f"--collector.{name}.timeout={time}" for name in collectors())]


def all_metrics(flags: tuple[str, ...]) -> list[str]:
    """What the lab compares with the kernel is everything, where a test does not say which set it wants."""
    return [*flags] if any(flag.startswith("--metrics.set=") for flag in flags) else ["--metrics.set=full", *flags]


def once(*flags: str, prefix: tuple[str, ...] = (), patient: bool = True) -> bytes:
    """The page of one collection with --once, perhaps under another command such as `ip netns exec`."""
    said = {flag.split("=")[0] for flag in flags}
    more = [flag for flag in patience() if flag.split("=")[0] not in said] if patient else []
    done = subprocess.run([*prefix, BINARY, "--once", *more, *all_metrics(flags)], capture_output=True, timeout=2 * START_TIMEOUT)
    if done.returncode:
        raise AssertionError(f"--once ended with {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def end_of_kernel_log() -> str:
    """Where a program was that the kernel ended by a signal."""
    return subprocess.run(["dmesg"], capture_output=True, text=True, timeout=START_TIMEOUT).stdout[-500:]


def capture(name: str, *flags: str, **account) -> pathlib.Path:
    """A recording of this host in /tmp. It waits for a slow machine: what is late would not be in it."""
    path = pathlib.Path("/tmp", name)
    done = subprocess.run([BINARY, "capture", "--timeout=2m", path, *flags], capture_output=True, text=True,
                          timeout=300, cwd="/tmp", **account)
    if done.returncode:
        raise AssertionError(f"capture ended with {done.returncode}: {done.stderr}\n{end_of_kernel_log()}")
    if re.search(r"reason=(?!failed)", done.stderr):  # what `nobody` may not read has failed
        raise AssertionError(f"the recording is not whole: {done.stderr}\n{end_of_kernel_log()}")
    return path


def doctor(*flags: str, user: int | None = None) -> tuple[int, str]:
    """Exit status and JSON document."""
    account = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
    done = subprocess.run([BINARY, "doctor", "--format=json", "--scrape.timeout=5m", *flags], capture_output=True,
                          text=True, timeout=300, cwd="/", **account)
    if done.stderr.strip():
        raise AssertionError(done.stderr)
    return done.returncode, done.stdout


class Exporter:
    """A running daemon. Its log is kept for the report of a failing test."""

    def __init__(self, port: int, *flags: str, user: int | None = None, before=None, binary: pathlib.Path = BINARY):
        """`before` is called in the new process before the daemon runs."""
        self.port = port
        self.log = pathlib.Path(f"/tmp/exporter-{port}.log")
        account = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [binary, f"--web.listen-address=0.0.0.0:{port}", *all_metrics(flags)],
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

    def footprint(self) -> dict[str, int]:
        """What it holds, and what lies where it could have put temporary files. Of its memory the anonymous part: pages of the
        program come and go, and VmRSS may be off by 64 pages for each thread."""
        memory = pathlib.Path("/proc", str(self.process.pid), "smaps_rollup").read_text()
        return {"memory in kB": int(re.search(r"Anonymous:\s+(\d+)", memory)[1]), "threads": self.threads(),
                "descriptors": len(self.open_files()),
                "temporary files": sum(len(os.listdir(folder)) for folder in TEMPORARY if os.path.isdir(folder))}

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
