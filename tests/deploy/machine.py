# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A Debian whose PID 1 is systemd, in namespaces and a control group of its own: it shares only the kernel with this
machine."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from deploytest import run
from packages import debian

PROGRAMS = ("python3-apt", "rpm", "systemd")  # in addition to what the package needs; python3-apt is Ansible's
KEPT = "journald"  # of all units that systemd would start
SECONDS = 120  # until something that is bound to happen has happened

# Takes the folder of the root and an empty one.
START = r"""
set -e
root=$1 groups=$2
mount -t cgroup2 none "$groups"
group=$groups/$(basename "$groups")
mkdir "$group"
echo $$ >"$group/cgroup.procs"
exec unshare --cgroup --mount --pid --net --uts --ipc --fork --kill-child bash -ec '
  mount --bind "$0" "$0"
  cd "$0"
  mount -t proc proc proc
  mount --bind proc/sys proc/sys && mount -o remount,bind,ro proc/sys
  mount -t sysfs sysfs sys
  mount -t cgroup2 none sys/fs/cgroup
  mount -t tmpfs run run
  mount -t tmpfs dev dev
  for device in null zero full random urandom tty; do cp -a "/dev/$device" dev; done
  ln -s /proc/self/fd dev/fd
  ip link set lo up
  mkdir -p old
  pivot_root . old
  umount -l old
  exec env -i PATH=/usr/sbin:/usr/bin container=test /usr/lib/systemd/systemd --system --unit=multi-user.target \
    --show-status=no --log-target=journal
' "$root"
"""
CLEAN = r"""
mount -t cgroup2 none "$1" && find "$1/$(basename "$1")" -depth -type d -delete
"""


def need(programs=("mmdebstrap", "ip", "nsenter", "curl")):
    for program in programs:
        if not shutil.which(program):
            raise unittest.SkipTest(f"{program} is not installed")


class Machine:
    """Started by with; SkipTest where this machine does not allow it."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="rdma_exporter_machine."))
        self.groups = pathlib.Path(tempfile.mkdtemp(prefix="rdma_exporter_groups."))
        self.log = tempfile.TemporaryFile()

    def __enter__(self):
        try:
            self.extract()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def extract(self):
        run("tar", "-x", "-f", debian(*PROGRAMS), "-C", self.root)
        units = self.root / "etc/systemd/system"
        for path in (self.root / "usr/lib/systemd/system").glob("*.wants/*"):
            if KEPT not in path.name and not (units / path.name).is_symlink():
                (units / path.name).symlink_to("/dev/null")
        for path in (self.root / "usr/lib/systemd/system-generators").iterdir():
            path.unlink()
        (self.root / "etc/machine-id").write_text("1" * 32 + "\n", encoding="ascii")

    def start(self):
        self.process = subprocess.Popen(["unshare", "--mount", "bash", "-c", START, "bash", self.root, self.groups],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.init = None
        self.wait_for(self.is_running, "systemd runs")

    def is_running(self):
        if self.process.poll() is not None:
            self.log.seek(0)
            raise unittest.SkipTest(f"this machine cannot run systemd in a namespace: {self.log.read().decode()}")
        if not self.init:
            children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            if not children or pathlib.Path(f"/proc/{children[0]}/comm").read_text() != "systemd\n":
                return False
            self.init = children[0]
        return self.inside("systemctl", "is-system-running", check=False).stdout.strip() in ("running", "degraded")

    def wait_for(self, condition, what):
        end = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"{what}: not within {SECONDS} s")
            time.sleep(0.1)

    def __exit__(self, *_):
        if hasattr(self, "process"):
            if self.init:
                os.kill(int(self.init), signal.SIGKILL)  # is waited for when all of its processes have ended
            else:
                self.process.kill()
            self.process.wait()
            run("unshare", "--mount", "bash", "-c", CLEAN, "bash", self.groups)
        shutil.rmtree(self.root)
        self.groups.rmdir()

    def inside(self, *command, check=True):
        return run("nsenter", f"--target={self.init}", "--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--",
                   "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
                   *command, check=check)

    def get(self, port=9400, path="/metrics"):
        """The answer's body; none when nobody answers."""
        done = run("nsenter", f"--target={self.init}", "--net", "--", "curl", "--silent", "--fail",
                   f"http://localhost:{port}{path}", check=False)
        return None if done.returncode else done.stdout

    def show(self, unit, name):
        return self.inside("systemctl", "show", "--value", f"--property={name}", unit).stdout.strip()
