# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""systemd in the lab's guest: the system manager, PID 1 of a PID namespace, on the guest's kernel and devices. The
service is installed where a package puts it."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

import exporter

UNIT = "rdma_exporter.service"
SOCKET = "rdma_exporter.socket"
UNITS = pathlib.Path("/etc/systemd/system")
PACKAGED = pathlib.Path("/usr/lib/systemd/system")
GENERATORS = pathlib.Path("/usr/lib/systemd/system-generators")
CONFIG = pathlib.Path("/etc/rdma_exporter/rdma_exporter.yml")
DEFAULTS = pathlib.Path("/etc/default/rdma_exporter")
START_TIMEOUT = 300
# An emulated machine on a host with other work is slow: that is no reason to kill the service.
SLOW = """[Service]
TimeoutStartSec=5min
TimeoutStopSec=5min
WatchdogSec=5min
"""


class Manager:
    """A running systemd. Its /run is its own, everything else is the guest's."""

    def __init__(self):
        # Nothing of the host's /usr is started but the journal.
        for unit in {path.name for path in PACKAGED.glob("*.wants/*") if "journald" not in path.name}:
            mask(UNITS / unit)
        # None of these programs has anything to do here, and each reload of systemd would start them all.
        for generator in GENERATORS.iterdir():
            mask(pathlib.Path("/etc/systemd/system-generators", generator.name))
        pathlib.Path("/etc/machine-id").write_text("1" * 32 + "\n")
        start = "mount -t tmpfs run /run && exec /usr/lib/systemd/systemd --system --unit=multi-user.target \
--log-target=kmsg --show-status=no"
        self.process = subprocess.Popen(
            ["unshare", "--pid", "--mount", "--fork", "--mount-proc", "bash", "-c", start], stdin=subprocess.DEVNULL)
        self.init = None
        self.wait_until_running()

    def wait_until_running(self):
        end = time.monotonic() + START_TIMEOUT
        while True:
            children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            if children:
                self.init = children[0]
                state = self.try_run("systemctl", "is-system-running").stdout.strip()
                if state == "running":
                    return
            if time.monotonic() > end:
                raise AssertionError("systemd does not run: " + self.try_run("systemctl", "list-units").stdout)
            time.sleep(0.5)

    def try_run(self, *command, timeout=400):
        return subprocess.run(["nsenter", "--target", self.init, "--mount", "--pid", *command],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)

    def systemctl(self, *arguments):
        done = self.try_run("systemctl", *arguments)
        if done.returncode:
            raise AssertionError(f"systemctl {' '.join(arguments)}: {done.stderr}\n{self.journal()}")
        return done.stdout

    def show(self, unit, *properties):
        """The values of a unit's properties, in this order; one value for one property."""
        lines = self.systemctl("show", unit, *[f"--property={name}" for name in properties]).splitlines()
        values = dict(line.split("=", 1) for line in lines)
        found = [values[name] for name in properties]
        return found[0] if len(found) == 1 else found

    def process_of(self, unit=UNIT):
        """PID of the unit's only process, as it is outside of the namespace; None without one."""
        group = pathlib.Path(f"/proc/{self.init}/root/sys/fs/cgroup/system.slice/{unit}/cgroup.procs")
        try:
            processes = group.read_text().split()
        except OSError:
            return None  # no group, or one that goes away
        return int(processes[0]) if len(processes) == 1 else None

    def journal(self, unit=UNIT):
        return self.try_run("journalctl", "--no-pager", "--output=cat", f"--unit={unit}").stdout

    def drop_in(self, unit, name, text):
        """With an empty text the drop-in is removed."""
        path = UNITS / f"{unit}.d" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text) if text else path.unlink(missing_ok=True)
        self.systemctl("daemon-reload")

    def stop(self):
        os.kill(int(self.init), signal.SIGKILL)
        self.process.wait()


def mask(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/null")


def field(text, name):
    """A field of /proc/PID/status."""
    return next(line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith(name + ":"))


def status(pid):
    return pathlib.Path(f"/proc/{pid}/status").read_text()


def install():
    """The files of the package, at their places, and a drop-in of the lab."""
    slow = UNITS / f"{UNIT}.d" / "slow.conf"
    slow.parent.mkdir(parents=True, exist_ok=True)
    slow.write_text(SLOW)
    shutil.copy(os.environ.get("RDMA_EXPORTER", exporter.REPO / "build/release/rdma_exporter"), "/usr/bin/rdma_exporter")
    pathlib.Path("/usr/bin/rdma_exporter").chmod(0o755)
    for source, target in ((exporter.REPO / "config/rdma_exporter.yml", CONFIG),
                           (exporter.REPO / "deploy/packages/default", DEFAULTS),
                           (exporter.REPO / "deploy/systemd" / UNIT, PACKAGED / UNIT),
                           (exporter.REPO / "deploy/systemd" / SOCKET, PACKAGED / SOCKET)):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(0o644)
