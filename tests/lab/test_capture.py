#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The suites `capture`: what a recording serves is, sample for sample, what the daemon served when it was made. Run in the
lab's guest (tests/lab/run capture capture-connectx)."""

import json
import pathlib
import re
import subprocess
import sys
import tarfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "guest"))

import actors  # noqa: E402
import exporter  # noqa: E402
import kernel  # noqa: E402
from exporter import BINARY  # noqa: E402
from labtest import LabTest, daemons, readable, run_in_order, stop_daemons, wait_for  # noqa: E402

# What is of the process that serves, and not of the host. Scrape.kernel_series() leaves out what the exporter says of
# itself (rdma_exporter_*, process_*) and how old its dumps are (rdma_resource_dump_*, rdma_resource_detail_*,
# rdma_ethtool_age_*); these count what has happened since the daemon started.
OF_THE_PROCESS = ("rdma_async_events_",)
POD = "40934a46_d409_4f4a_bb8b_1ec0b0436320"
CONTAINER = "afc114c69e71f18166abd63715398d7daa763c69a6454f71157272ab0bdca783"
CGROUPS = {"pod": actors.CGROUP2 / (f"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{POD}.slice/"
                                    f"cri-containerd-{CONTAINER}.scope"),
           "job": actors.CGROUP2 / "system.slice/slurmstepd.scope/job_4711/step_0/user/task_0"}


def everything_on():
    """All collectors; the daemon's own verbs contexts would be in its own page only."""
    usage = subprocess.run([BINARY, "--help"], capture_output=True, text=True, timeout=30, check=True).stdout
    collectors = set(re.findall(r"--\[no-\]collector\.(\w+) ", usage))
    return ["--scrape.timeout=20s", "--collector.events.async=off", "--collector.ethtool.interval=0ms",
            "--collector.resource.detail-interval=1s", *(f"--collector.{name}" for name in sorted(collectors)),
            *(f"--collector.{name}.timeout=20s" for name in sorted(collectors))]


def capture(name, *flags):
    path = pathlib.Path("/tmp", name)
    done = subprocess.run([BINARY, "capture", path, *flags], capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise AssertionError(f"capture ended with {done.returncode}: {done.stderr}")
    return path


def of_host(page):
    return {key: value for key, value in page.kernel_series().items() if not key[0].startswith(OF_THE_PROCESS)}


def setUpModule():
    exporter.install()
    actors.mount_cgroups()
    for kind, cgroup in CGROUPS.items():
        holder = actors.hold("-n", "3" if kind == "pod" else "2", device_of_verbs(), "rts", cgroup=cgroup)
        unittest.addModuleCleanup(holder.kill)
    # A ConnectX shows in DCB what somebody has read of the driver's statistics, and the daemon keeps that for a while.
    exporter.once()
    daemons["default"] = exporter.Exporter(9400, *everything_on())
    unittest.addModuleCleanup(stop_daemons)
    daemons["default"].wait_until_ready()


def device_of_verbs():
    return "rxe0" if pathlib.Path("/sys/class/infiniband/rxe0").exists() else "mlx5_0"


class Capture(LabTest):
    def dumped(self, daemon):
        """A page of a daemon that has dumped the tables of all devices."""
        def complete():
            page = daemon.scrape()
            devices = {dict(labels)["device"] for _, labels in page.find("rdma_resource_objects")}
            dumped = {dict(labels)["device"] for _, labels in page.find("rdma_resource_detail_age_seconds")}
            return page if devices and devices == dumped else None

        wait_for(complete, "dumps of all devices", timeout=30)
        return daemon.scrape()

    def recorded(self):
        """(page, archive) of a time in which the daemon served the same before and after."""
        for _ in range(10):
            before = of_host(self.dumped(self.daemon))
            archive = capture("quiet.tar.gz")
            if of_host(self.daemon.scrape()) == before:
                return before, archive
        raise AssertionError("the host never stood still")

    def test_a_replay_serves_what_the_daemon_served(self):
        live, archive = self.recorded()
        self.assertGreater(len(live), 200)
        replay = of_host(exporter.once(f"--replay={archive}", *everything_on()))
        self.assertEqual(readable(replay), readable(live))

    def test_a_daemon_that_replays_serves_the_same_again_and_again(self):
        live, archive = self.recorded()
        daemon = exporter.Exporter(9403, f"--replay={archive}", *everything_on())
        self.addCleanup(daemon.stop)
        daemon.wait_until_ready()
        for _ in range(2):
            page = self.dumped(daemon)
            self.assertEqual(readable(of_host(page)), readable(live))
            self.assertEqual(page.get("rdma_exporter_replay_info", recording=str(archive)), 1)
            self.assertEqual({key: value for key, value in
                              page.find("rdma_exporter_collector_success").items() if value != 1}, {})

    def test_owners_are_those_of_the_recorded_host(self):
        page = exporter.once(f"--replay={capture('owners.tar.gz')}")
        owners = {dict(labels).get("owner") for _, labels in page.series}
        self.assertIn(POD.replace("_", "-"), owners)
        self.assertIn("4711", owners)

    def test_it_needs_no_privilege_and_says_what_was_refused(self):
        path = pathlib.Path("/tmp/nobody.tar.gz")
        subprocess.run([BINARY, "capture", path], check=True, capture_output=True, timeout=120, cwd="/tmp",
                       user=exporter.NOBODY, group=exporter.NOBODY, extra_groups=[])
        self.assertTrue(of_host(exporter.once(f"--replay={path}")))

    def test_no_key_is_in_it(self):
        """Regions have keys, which `rdma` shows to root; the archive has none of these attributes."""
        shown = json.loads(kernel.run("rdma", "-j", "-d", "resource", "show", "mr"))
        keys = {int(row[name], 16) for row in shown for name in ("rkey", "lkey") if name in row} - {0}
        self.assertTrue(keys)
        with tarfile.open(capture("keys.tar.gz")) as archive:
            text = archive.extractfile("snapshots/0000").read().decode()
        for key in keys:
            for attribute in (42, 43):  # RDMA_NLDEV_ATTR_RES_RKEY, RES_LKEY
                needle = (8).to_bytes(2, "little") + attribute.to_bytes(2, "little") + key.to_bytes(4, "little")
                self.assertFalse(needle.hex() in text, f"a key {key:#x}")

    def test_the_manifest_says_what_was_recorded(self):
        with tarfile.open(capture("manifest.tar.gz", "--snapshots=2", "--interval=1s")) as archive:
            manifest = json.load(archive.extractfile("manifest.json"))
        self.assertEqual(manifest["kernel"]["release"], kernel.run("uname", "-r").strip())
        self.assertEqual(sorted(device["name"] for device in manifest["devices"]),
                         sorted(path.name for path in pathlib.Path("/sys/class/infiniband").iterdir()))
        self.assertEqual(len(manifest["snapshots"]), 2)


if __name__ == "__main__":
    sys.exit(run_in_order(Capture))
