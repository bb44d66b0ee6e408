# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The debugfs knobs of the lab's own kernel modules (tests/lab/modules/lab_counters.h)."""

import contextlib
import pathlib

DEBUGFS = pathlib.Path("/sys/kernel/debug")


class Knobs:
    """Knobs of one device: Knobs("labnic", "cx0"), Knobs("labib", "mlx5_0")."""

    def __init__(self, module: str, device: str):
        self.folder = DEBUGFS / module / device

    def set(self, *assignments: str) -> None:
        """"NAME=77", "NAME+=3", "NAME@50000" (per second), "NAME~50000:20:200" (for 20 ms of each 200)."""
        self.write("ctl", " ".join(assignments))

    def write(self, knob: str, value) -> None:
        (self.folder / knob).write_text(f"{value}\n")

    def reads(self) -> int:
        return int((self.folder / "reads").read_text())

    @contextlib.contextmanager
    def during(self, knob: str, value):
        """`stuck`, `delay_ms`, `errno` have that value while this context lasts, and 0 afterwards."""
        self.write(knob, value)
        try:
            yield
        finally:
            self.write(knob, 0)


def add(device: str, netdev: str) -> None:
    """Register a device of labib."""
    (DEBUGFS / "labib/add").write_text(f"{device} {netdev}\n")


def remove(device: str) -> None:
    """Returns when the kernel has let the device go, which waits for reads that are under way."""
    (DEBUGFS / "labib/remove").write_text(f"{device}\n")
