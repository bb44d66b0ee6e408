# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The suites `capture`: what a recording serves is, sample for sample, what the daemon served when it was made. See
tests/lab/run capture capture-connectx."""

import collections
import ipaddress
import io
import json
import re
import tarfile
import unittest

import exporter
from exporter import Recording, capture, doctor
from guest import Path, actors, kernel, shutil, socket
from labtest import LabTest, daemons, gid_types, readable, stop_daemons, wait_for

# What is of the process that serves, and not of the host. Scrape.kernel_series() leaves out what the exporter says of
# itself (rdma_exporter_*, process_*) and how old its dumps are (rdma_resource_dump_*, rdma_resource_detail_*,
# rdma_ethtool_age_*); these say what has happened, and who was heard, since the daemon started.
OF_THE_PROCESS = ("rdma_async_events_", "rdma_netdev_neighbor", "rdma_burst_")
POD = "40934a46_d409_4f4a_bb8b_1ec0b0436320"
CONTAINER = "afc114c69e71f18166abd63715398d7daa763c69a6454f71157272ab0bdca783"
CGROUPS = {"pod": actors.CGROUP2 / (f"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{POD}.slice/"
                                    f"cri-containerd-{CONTAINER}.scope"),
           "job": actors.CGROUP2 / "system.slice/slurmstepd.scope/job_4711/step_0/user/task_0"}


HOST_NAME = "whale-17"
PROCESS_NAME = "krill-trainer"
ADDRESSES = ("10.77.201.133/32", "2001:db9:77:51::c9:85ab:1ef7/128")
GIDS = {"0000:0000:0000:0000:0000:ffff:0a4d:c985", "2001:0db9:0077:0051:0000:00c9:85ab:1ef7"}
# Checks that are made here whatever else: files, RDMA netlink, addresses over rtnetlink, verbs, /dev/infiniband.
KNOWN = {"port_state", "netns", "roce_gids", "resource_limits", "kernel_hazards", "udp_port", "locked_memory", "device_files"}


def everything_on():
    """All collectors; the daemon's own verbs contexts would be in its own page only."""
    return [*exporter.patience(), "--metrics.set=full", "--collector.events.async=off", "--collector.ethtool.interval=0ms",
            "--collector.resource.detail-interval=1s", *(f"--collector.{name}" for name in exporter.guests.collectors())]


def opened(archive):
    return tarfile.open(fileobj=io.BytesIO(archive.read_bytes()))


def of_host(page):
    """Without contexts: who asks for the MTU of a port has one of its own meanwhile, and a dump beside it may count it."""
    return {key: value for key, value in page.kernel_series().items()
            if not key[0].startswith(OF_THE_PROCESS) and ("type", "ctx") not in key[1]}


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
    return "rxe0" if Path("/sys/class/infiniband/rxe0").exists() else "mlx5_0"


def dumped(daemon):
    """A page of a daemon that has dumped the tables of all devices."""
    def complete():
        page = daemon.scrape()
        devices = {dict(labels)["device"] for _, labels in page.find("rdma_resource_objects")}
        dumped = {dict(labels)["device"] for _, labels in page.find("rdma_resource_detail_age_seconds")}
        return page if devices and devices == dumped else None

    wait_for(complete, "dumps of all devices")
    return daemon.scrape()


def has_all_gids(page):
    devices = {dict(labels)["device"] for _, labels in page.find("rdma_port_gids")}
    return all(gid_types(page, device) == kernel.gid_types(device) for device in devices)


class Capture(LabTest):
    @classmethod
    def setUpClass(cls):
        """An archive, and a page of a time in which the daemon served the same before and after it was made. The daemon
        reads GIDs once a minute here; a router gives eth0 an address of its own in the first seconds."""
        for _ in range(10):
            wait_for(lambda: has_all_gids(daemons["default"].scrape()), "a page with all GIDs", 90)
            cls.live = of_host(dumped(daemons["default"]))
            cls.archive = capture("quiet.tar.gz")
            after = daemons["default"].scrape()
            if of_host(after) == cls.live and has_all_gids(after):
                return
        raise AssertionError("the host never stood still")

    def test_a_replay_serves_what_the_daemon_served(self):
        self.assertGreater(len(self.live), 200)
        replay = of_host(Recording(self.archive).once(*everything_on()))
        self.assertEqual(readable(replay), readable(self.live))

    def test_a_daemon_that_replays_serves_the_same_again_and_again(self):
        daemon = exporter.Exporter(9403, f"--replay={self.archive}", *everything_on())
        self.addCleanup(daemon.stop)
        daemon.wait_until_ready()
        for _ in range(2):
            page = dumped(daemon)
            self.assertEqual(readable(of_host(page)), readable(self.live))
            self.assertEqual(page.get("rdma_exporter_replay_info", recording=str(self.archive)), 1)
            self.assertEqual({key: value for key, value in
                              page.find("rdma_exporter_collector_success").items() if value != 1}, {})

    def test_owners_are_those_of_the_recorded_host(self):
        page = Recording(self.archive).once()
        owners = {dict(labels).get("owner") for _, labels in page.series}
        self.assertIn(POD.replace("_", "-"), owners)
        self.assertIn("4711", owners)

    def test_it_needs_no_privilege_and_says_what_was_refused(self):
        path = capture("nobody.tar.gz", user=exporter.NOBODY, group=exporter.NOBODY, extra_groups=[])
        self.assertTrue(of_host(Recording(path).once()))

    def test_doctor_says_the_same_of_the_recording(self):
        """All of it: verdicts, evidence, host, kernel. Nothing moves, as counters are read once."""
        for _ in range(10):
            before, archive, after = doctor("--sample=0s"), capture("doctor.tar.gz"), doctor("--sample=0s")
            if before == after:
                break
        self.assertEqual(before, after, "the host never stood still")
        known = {finding["check"] for finding in before[1]["findings"] if finding["verdict"] != "unknown"}
        self.assertLessEqual(KNOWN, known)
        self.assertEqual(Recording(archive).doctor("--sample=0s"), before)

    def test_no_key_is_in_it(self):
        """Regions have keys, which `rdma` shows to root; the archive has none of these attributes."""
        shown = json.loads(kernel.run("rdma", "-j", "-d", "resource", "show", "mr"))
        keys = {int(row[name], 16) for row in shown for name in ("rkey", "lkey") if name in row} - {0}
        self.assertTrue(keys)
        with opened(self.archive) as archive:
            text = archive.extractfile("snapshots/0000").read().decode()
        for key in keys:
            for attribute in (42, 43):  # RDMA_NLDEV_ATTR_RES_RKEY, RES_LKEY
                needle = (8).to_bytes(2, "little") + attribute.to_bytes(2, "little") + key.to_bytes(4, "little")
                self.assertFalse(needle.hex() in text, f"a key {key:#x}")

    def test_the_manifest_says_what_was_recorded(self):
        with opened(capture("manifest.tar.gz", "--snapshots=2", "--interval=1s")) as archive:
            manifest = json.load(archive.extractfile("manifest.json"))
        self.assertEqual(manifest["kernel"]["release"], kernel.run("uname", "-r").strip())
        self.assertEqual(sorted(device["name"] for device in manifest["devices"]),
                         sorted(path.name for path in Path("/sys/class/infiniband").iterdir()))
        self.assertEqual(len(manifest["snapshots"]), 2)


class Secrets:
    """What tells whose host this is, as texts and as bytes. A number that is nearly 0 tells nothing: it may be a
    pseudonym, too."""

    def __init__(self):
        self.texts = {HOST_NAME, POD, POD.replace("_", "-"), CONTAINER, PROCESS_NAME}
        self.bytes = set()
        for device in Path("/sys/class/infiniband").iterdir():
            for guid in ("node_guid", "sys_image_guid"):
                self.add_number((device / guid).read_text().strip())
            for gid in kernel.gids(device.name):
                self.add_number(gid)
        for mac in Path("/sys/class/net").glob("*/address"):
            self.add_number(mac.read_text().strip())
        for interface in json.loads(kernel.run("ip", "-json", "address")):
            for address in interface["addr_info"]:
                ip = ipaddress.ip_address(address["local"])
                if not ip.is_loopback and ip.packed[-3:].count(0) == 0:
                    self.texts.add(str(ip))
                    self.bytes.add(ip.packed)

    def add_number(self, text):
        packed = bytes.fromhex(text.replace(":", ""))
        if packed[-3:].count(0) == 0:
            self.texts.add(text)
            self.bytes |= {packed, packed[::-1]}  # netlink has GUIDs in the byte order of the host

    def of(self, archive):
        """Those that are in the archive: in names of members, questions, texts, or bytes."""
        found = set()
        with opened(archive) as members:
            for member in members:
                content = members.extractfile(member).read().decode().lower()
                found |= {text for text in self.texts if text.lower() in content + member.name}
                for run in set(re.findall(r"[0-9a-f]{8,}", content)):
                    packed = bytes.fromhex(run[:len(run) & ~1])
                    # Attributes, and what is in them, are aligned.
                    found |= {secret.hex() for secret in self.bytes for at in range(0, len(packed), 4)
                              if packed.startswith(secret, at)}
        return found


class Anonymous(LabTest):
    """A host with a name, addresses and a process of its own: nothing of them is in an archive that is anonymous."""

    @classmethod
    def setUpClass(cls):
        netdev = "ve0" if device_of_verbs() == "rxe0" else "cx0"
        old_name = socket.gethostname()
        cls.addClassCleanup(socket.sethostname, old_name)
        socket.sethostname(HOST_NAME)
        for address in ADDRESSES:
            cls.addClassCleanup(kernel.run, "ip", "address", "del", address, "dev", netdev)
            kernel.run("ip", "address", "add", address, "dev", netdev)
        wait_for(lambda: GIDS <= kernel.gids(device_of_verbs()), "GIDs of the addresses", 60)
        program = shutil.copy(actors.qpactor(), Path("/tmp", PROCESS_NAME))
        cls.addClassCleanup(actors.hold(device_of_verbs(), "rts", program=str(program)).kill)
        cls.secrets = Secrets()
        cls.plain, cls.other = capture("plain.tar.gz"), capture("anonymous.tar.gz", "--anonymize")

    def test_nothing_tells_whose_host_it_is(self):
        in_bytes = {ipaddress.ip_interface(address).packed.hex() for address in ADDRESSES}
        # A search that finds nothing anywhere is none: the plain archive has them all.
        self.assertLessEqual({HOST_NAME, PROCESS_NAME, POD, CONTAINER, *GIDS, *in_bytes}, self.secrets.of(self.plain))
        self.assertEqual(self.secrets.of(self.other), set())

    def test_it_is_served_and_examined_as_the_other_one(self):
        recordings = [Recording(path) for path in (self.plain, self.other)]
        pages = [recording.once(*everything_on()) for recording in recordings]
        families = [collections.Counter(name for name, _ in of_host(page)) for page in pages]
        self.assertEqual(families[1], families[0])
        verdicts = [sorted((f["check"], f["device"], f["port"], f["netdev"], f["verdict"])
                           for f in recording.doctor("--sample=0s")[1]["findings"]) for recording in recordings]
        self.assertEqual(verdicts[1], verdicts[0])


IN_ORDER = (Capture, Anonymous)
