# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The portable program in Debian 12 and in Debian 13, each with its own C library and rdma-core: a daemon in each probes the
other. The suite `systems`."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import exporter
from guest import Path, kernel
from guest import shutil as guest_shutil
from labtest import LabTest, daemons, stop_daemons
from probe_pair import ATTEMPTS, wait_for

REPO = exporter.REPO
PROGRAM = REPO / "build/portable/rdma_exporter"
FOLDER = pathlib.PurePath("build/lab/systems")  # below the checkout, which the guest sees
IN_GUEST = Path("/tmp/portable")
# Of each system: its device, the address of it, where its daemon serves metrics.
ENDS = {"bookworm": ("rxe0", "10.9.0.1", 9410), "trixie": ("rxe1", "10.9.0.2", 9411)}
PEER = {"bookworm": "trixie", "trixie": "bookworm"}

sys.path.append(str(REPO / "tests/deploy"))
from roots import SUITES, VERBS, root_of  # noqa: E402


def unpack(suite):
    root = REPO / FOLDER / suite
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    subprocess.run(["tar", "-x", "-f", root_of(suite, *VERBS), "-C", root], check=True)
    for name in ("proc", "sys", "dev", "tmp"):
        (root / name).mkdir(exist_ok=True)


def enter(suite):
    """A program that is the exporter in that system, for a daemon of the guest."""
    root = Path("/repo") / FOLDER / suite
    for name in ("proc", "sys", "dev", "tmp"):
        kernel.run("mount", "--rbind", f"/{name}", str(root / name))
    script = Path(f"/tmp/in-{suite}")
    script.write_text(f'#!/bin/sh\nexec chroot {root} {IN_GUEST} "$@"\n')
    script.chmod(0o755)
    return script


def start(suite):
    device, address, port = ENDS[suite]
    peer_device, peer, _ = ENDS[PEER[suite]]
    daemons[suite] = exporter.Exporter(
        port, "--probe.responder", f"--probe.listen-address={address}:9401", f"--probe.secret-file={exporter.SECRET}",
        f"--probe.device-include={device}", "--probe.interval=200ms", "--probe.echo-interval=400ms",
        f"--probe.targets={peer}:9401,name={PEER[suite]},from={device},device={peer_device}", binary=enter(suite))


def setUpModule():
    if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
        raise unittest.SkipTest("mmdebstrap is not installed, or needs root here")
    if not PROGRAM.exists():
        raise unittest.SkipTest("there is no build/portable/rdma_exporter")
    for suite in SUITES:
        unpack(suite)
    guest_shutil.copy(str(Path("/repo") / PROGRAM.relative_to(REPO)), str(IN_GUEST))
    exporter.write_keys(exporter.KEY)
    for suite in SUITES:
        start(suite)
    for daemon in daemons.values():
        daemon.wait_until_ready()


def tearDownModule():
    stop_daemons()


class Systems(LabTest):
    def setUp(self):
        """When both have measured."""
        for suite in SUITES:
            def measured(suite=suite):
                page = daemons[suite].scrape()
                return all((page.get("rdma_probe_rtt_seconds_count", op=op, target=PEER[suite]) or 0) >= 3
                           for op in ("write", "echo"))
            wait_for(measured, f"writes and echoes from {suite}", 120)

    def test_each_probes_the_other(self):
        for suite in SUITES:
            with self.subTest(suite):
                page = daemons[suite].scrape()
                self.assertEqual(page.get("rdma_probe_up", target=PEER[suite]), 1)
                self.assertGreaterEqual(page.get(ATTEMPTS, op="write", target=PEER[suite]), 3)
                self.assertEqual(page.get("rdma_port_up", device=ENDS[suite][0], port="1"), 1)

    def test_each_has_the_verbs_and_the_c_library_of_its_system(self):
        versions = {}
        for suite in SUITES:
            # Of the daemon, which the script became.
            maps = Path(f"/proc/{daemons[suite].process.pid}/maps").read_text()
            loaded = set(re.findall(r"/\S+\.so[.\d]*", maps))
            self.assertEqual({path for path in loaded if f"/{FOLDER}/{suite}/" not in path}, set())
            self.assertTrue([path for path in loaded if re.search(r"/librxe-rdmav\d+\.so", path)], loaded)
            versions[suite], = {path.partition("libibverbs.so.")[2] for path in loaded if "/libibverbs.so." in path}
        self.assertNotEqual(versions["bookworm"], versions["trixie"])
