# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Programs that hold RDMA resources, and the control groups they are put into. For the guest only."""

import os
import pathlib
import subprocess

REPO = pathlib.Path(__file__).resolve().parents[3]
CGROUP2 = pathlib.Path("/sys/fs/cgroup")
CGROUP1 = pathlib.Path("/tmp/cgroup1")


def qpactor() -> str:
    """The program of tests/lab/programs, built beside the exporter."""
    binary = pathlib.Path(os.environ.get("RDMA_EXPORTER", REPO / "build/release/rdma_exporter"))
    return str(binary.parent / "tests/lab/programs/qpactor")


def mount_cgroups() -> None:
    """Version 2, and version 1 with a hierarchy that has no controller: as a host of the hybrid kind has them."""
    if os.path.ismount(CGROUP1):
        return
    CGROUP1.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "cgroup2", "none", CGROUP2], check=True)
    subprocess.run(["mount", "-t", "cgroup", "-o", "none,name=systemd", "none", CGROUP1], check=True)


class Actor:
    """A program in a control group (a directory below /sys/fs/cgroup or CGROUP1), up to its first line of output."""

    def __init__(self, *command: str, cgroup: pathlib.Path | None = None, wait: bool = True):
        if cgroup:
            cgroup.mkdir(parents=True, exist_ok=True)
            command = ("sh", "-c", 'echo $$ >"$0/cgroup.procs"; exec "$@"', str(cgroup), *command)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.first_line = self.read_line() if wait else ""

    def read_line(self) -> str:
        line = self.process.stdout.readline().strip()
        if not line:
            raise AssertionError(f"{self.process.args} ended with {self.process.wait()}")
        return line

    def say(self, line: str) -> None:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def hold(*arguments: str, cgroup: pathlib.Path | None = None, program: str | None = None) -> Actor:
    """qpactor, or a copy of it under another name, in a state; returns when it is in it."""
    actor = Actor(program or qpactor(), *arguments, cgroup=cgroup)
    while actor.first_line.startswith("failed"):
        actor.first_line = actor.read_line()
    assert actor.first_line == "ready", actor.first_line
    return actor


def connect(passive: str, active: str, kind: str) -> tuple[Actor, Actor]:
    """Two qpactors whose queue pairs are connected: `active` is one of write, rnr, badkey."""
    one, other = Actor(qpactor(), passive, "peer"), Actor(qpactor(), active, kind)
    one.say(other.first_line)
    assert one.read_line() == "ready"
    other.say(one.first_line)
    assert other.read_line() == "ready"
    return one, other
