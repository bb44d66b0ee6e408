# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Devices and queue pairs that come and go without end. For the guest only: a call from outside for each step would take
longer than the step."""

import pathlib
import subprocess
import threading
import time

import actors
import kernel

DEVICE, NETDEV = "rxe_dummy", "dum0"
CLASS = pathlib.Path("/sys/class/infiniband")
NET = pathlib.Path("/sys/class/net")
STEP_TIMEOUT = 30  # seconds; a guard


class Batch:
    """A program that takes its commands from its standard input: starting one for each would take a tenth of a second."""

    def __init__(self, *command: str):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)

    def run(self, command: str, done) -> None:
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        end = time.monotonic() + STEP_TIMEOUT
        while not done():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"`{command}` has no effect")
            time.sleep(0.005)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


class Replugs:
    """Unplugs and plugs the device of Soft-RoCE and its interface: in turn the interface takes the device along, or the
    device goes first. Each fifth device stays until a page has had it. It is back when the thread has ended."""

    def __init__(self, times: int):
        self.times, self.done, self.error = times, 0, None
        self.seen = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        ip = Batch("ip", "-batch", "-")
        try:
            for self.done in range(1, self.times + 1):
                if self.done % 2:
                    self.delete()
                ip.run(f"link del {NETDEV}", lambda: not (NET / NETDEV).exists() and not (CLASS / DEVICE).exists())
                ip.run(f"link add {NETDEV} address 02:00:00:00:00:03 type dummy", (NET / NETDEV).exists)
                ip.run(f"address add 10.9.1.1/24 dev {NETDEV}\nlink set {NETDEV} up", self.is_up)
                self.add()
                if self.done % 5 == 0:
                    self.seen.clear()
                    if not self.seen.wait(STEP_TIMEOUT):
                        raise AssertionError(f"no page has {DEVICE}")
        except Exception as error:  # noqa: BLE001  it is the test's result
            self.error = repr(error)
        finally:
            ip.close()

    def is_on_a_page(self) -> None:
        self.seen.set()

    @classmethod
    def add(cls) -> None:
        """The kernel frees the name a moment after the folder of the device before is gone: until then, ENFILE."""
        cls.repeat(["rdma", "link", "add", DEVICE, "type", "rxe", "netdev", NETDEV], (CLASS / DEVICE).exists)
        end = time.monotonic() + STEP_TIMEOUT
        while not cls.is_registered():
            if time.monotonic() > end:
                raise AssertionError(f"{DEVICE} has no uverbs device")
            time.sleep(0.005)

    @classmethod
    def delete(cls) -> None:
        """Netlink has a new device later than sysfs."""
        cls.repeat(["rdma", "link", "delete", DEVICE], lambda: not (CLASS / DEVICE).exists())

    @staticmethod
    def repeat(command: list[str], done) -> None:
        """One process each: a batch ends at its first error."""
        end = time.monotonic() + STEP_TIMEOUT
        while not done():
            ran = subprocess.run(command, capture_output=True, text=True)
            if time.monotonic() > end:
                raise AssertionError(f"`{' '.join(command)}` has no effect: {ran.stderr}")

    @staticmethod
    def is_registered() -> bool:
        """The folder in CLASS is there earlier. If the interface is deleted in between, the kernel unregisters the device
        before it has registered it, and waits for its references without end."""
        return DEVICE in kernel.uverbs_devices()

    @staticmethod
    def is_up() -> bool:
        try:
            return int((NET / NETDEV / "flags").read_text(), 16) & 1 == 1
        except FileNotFoundError:
            return False  # the kernel makes the folder first

    def running(self) -> bool:
        return self.thread.is_alive()


class QueuePairs:
    """Programs that make queue pairs on a device and end, one after another, until stop()."""

    def __init__(self, device: str, count: int):
        self.command = [actors.qpactor(), "-n", str(count), device, "init"]
        self.stopped, self.programs, self.failed = threading.Event(), 0, 0
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        while not self.stopped.is_set():
            done = subprocess.run(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            self.programs += 1
            self.failed += done.returncode != 0

    def stop(self) -> None:
        self.stopped.set()
        self.thread.join()
