# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The cages of labnic's cards, and memories that real modules returned (tests/unit/data/modules/ORIGIN.md)."""

import pathlib

import knobs

MODULES = pathlib.Path("/repo/tests/unit/data/modules")
SECOND = 0x100  # labnic's name of the memory at 0x51


def recorded() -> list[str]:
    return sorted(path.stem for path in MODULES.glob("*.txt"))


def plug(netdev: str, name: str) -> None:
    cage = knobs.Knobs("labnic", f"{netdev}/module")
    for row in (MODULES / f"{name}.txt").read_text().splitlines():
        address, page, offset, *content = row.split()
        cage.write("memory", f"{int(page, 16) + SECOND * (address == '51'):x} {offset} {''.join(content)}")
