# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""capture and --replay of an archive: the binary on written trees, and on the bundles."""

import gzip
import io
import json
import os
import re
import subprocess
import tarfile
import time

from harness import REPOSITORY, Exporter, Samples, TestCase, prom_text, run
from marks import slow

CAPTURES = os.path.join(REPOSITORY, "tests", "captures")


def bundles():
    return [os.path.join(CAPTURES, name) for name in sorted(os.listdir(CAPTURES)) if name.endswith(".tar.gz")]


class Capture(TestCase):
    def capture(self, tree, *flags, name="x.tar.gz", missing=()):
        """`missing`: the collectors, devices and reasons that it reports."""
        path = os.path.join(self.folder, name)
        done = run("capture", f"--path.sysfs={tree.sys}", path, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        reported = re.findall(r"data is missing from the recording.* collector=(\S+) device=(\S*) reason=(\S+)", done.stderr)
        self.assertEqual(reported, list(missing), done.stderr)
        return path

    def members(self, path):
        with tarfile.open(path) as archive:
            return {member.name: archive.extractfile(member).read() for member in archive}

    def test_a_replay_serves_what_was_there(self):
        tree = self.tree(driver="all")
        path = self.capture(tree)
        pages = [Samples(prom_text.parse(run("--once", flag).stdout.encode())).kernel()
                 for flag in (f"--path.sysfs={tree.sys}", f"--replay={path}")]
        self.assertGreater(len(pages[0]), 100)
        self.assertEqual(pages[1], pages[0])

    def test_doctor_says_the_same_of_it(self):
        tree = self.tree(devices=2)
        path = self.capture(tree)
        live, replay = [run("doctor", "--format=json", "--sample=0s", flag)
                        for flag in (f"--path.sysfs={tree.sys}", f"--replay={path}")]
        self.assertGreater(len(json.loads(live.stdout)["findings"]), 20)
        self.assertEqual(json.loads(replay.stdout), json.loads(live.stdout))
        self.assertEqual(replay.returncode, live.returncode)

    def test_it_is_marked(self):
        path = self.capture(self.tree(devices=2), name="some-host.tar.gz")
        with Exporter(f"--replay={path}") as exporter:
            samples = exporter.scrape().samples
            (labels,) = [dict(k[1]) for k in samples.select("rdma_exporter_replay_info")]
            self.assertEqual(labels["recording"], path)
            self.assertLess(abs(samples.one("rdma_exporter_replay_snapshot_timestamp_seconds") - time.time()), 100)
            self.assertIn(b"some-host.tar.gz", exporter.get("/").body)
            self.assertRegex(exporter.log(), r"level=warn.*recording")

    @slow(2)
    def test_snapshots_play_and_counters_never_fall(self):
        tree = self.tree(devices=2)
        path = self.capture(tree, "--snapshots=2", "--interval=1s")
        self.assertEqual(sorted(self.members(path)), ["manifest.json", "snapshots/0000", "snapshots/0001"])
        with Exporter(f"--replay={path}") as exporter:
            shown, last = set(), {}
            end = time.monotonic() + 60
            while len(shown) < 2 and time.monotonic() < end:
                page = exporter.scrape()
                shown.add(page.samples.one("rdma_exporter_replay_snapshot_timestamp_seconds"))
                now = {key: value for key, value in page.samples.kernel().items() if key[0].endswith("_total")}
                for key, value in now.items():
                    self.assertGreaterEqual(value, last.get(key, 0), key)
                last = now
                time.sleep(0.2)
            self.assertEqual(len(shown), 2)

    def test_the_manifest(self):
        manifest = json.loads(self.members(self.capture(self.tree(devices=2)))["manifest.json"])
        self.assertEqual(manifest["format"], 1)
        self.assertFalse(manifest["anonymized"])
        self.assertEqual([device["name"] for device in manifest["devices"]], ["mlx5_0", "mlx5_1"])

    def test_anonymize(self):
        tree = self.tree(devices=1)
        guid = open(f"{tree.sys}/class/infiniband/mlx5_0/node_guid", encoding="ascii").read().strip()
        plain, other = self.capture(tree), self.capture(tree, "--anonymize", name="other.tar.gz")
        self.assertIn(guid.encode(), self.members(plain)["snapshots/0000"])
        self.assertNotIn(guid.encode(), self.members(other)["snapshots/0000"])
        self.assertTrue(json.loads(self.members(other)["manifest.json"])["anonymized"])
        self.assertEqual(run("--once", f"--replay={other}").returncode, 0)

    @slow(4)
    def test_a_device_that_hangs_is_left_out(self):
        tree = self.tree(devices=2)
        self.fifo(tree.devices["mlx5_1"].hw_counter("np_cnp_sent"))
        path = self.capture(tree, "--timeout=4s", missing=[("hw_counters", "mlx5_1", "late")])
        page = Samples(prom_text.parse(run("--once", f"--replay={path}").stdout.encode()))
        self.assertEqual(page.one("rdma_devices"), 2)

    def test_mistakes(self):
        tree = self.tree(devices=1)
        for words, message in ((["/nonexistent/x.tar.gz"], "/nonexistent is not a directory"), (["x", "--snapshots=0"], "--snapshots"),
                               (["x", "--interval=1ms"], "--interval"), (["x", "--replay=y"], "cannot be recorded")):
            with self.subTest(words=words):
                done = run("capture", f"--path.sysfs={tree.sys}", *words)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(message, done.stderr)


class Archives(TestCase):
    def refused(self, content, message):
        path = os.path.join(self.folder, "bad.tar.gz")
        with open(path, "wb") as file:
            file.write(content)
        for flags in (("--once",), ("--check-config",)):
            done = run(f"--replay={path}", *flags)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def good(self):
        with open(bundles()[0], "rb") as file:
            return file.read()

    def archive(self, *members):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
            for name, kind, content in members:
                member = tarfile.TarInfo(name)
                member.type, member.size, member.linkname = kind, len(content), "/etc/passwd"
                archive.addfile(member, io.BytesIO(content))
        return buffer.getvalue()

    def test_truncated(self):
        self.refused(self.good()[:-1000], "truncated or damaged")

    def test_changed(self):
        content = bytearray(self.good())
        content[len(content) // 2] ^= 1
        self.refused(bytes(content), "truncated or damaged")

    def test_changed_and_packed_again(self):
        with tarfile.open(fileobj=io.BytesIO(self.good())) as archive:
            members = [(member.name, member.type, archive.extractfile(member).read()) for member in archive]
        name, kind, content = members[-1]
        self.refused(self.archive(*members[:-1], (name, kind, content + b"\n")), "has a modified member")

    def recorded(self, page):
        """But for what says how long this reading took, or how long ago it was."""
        samples = Samples(prom_text.parse(page.encode())).kernel()
        return {key: value for key, value in samples.items() if not key[0].endswith(("_age_seconds", "_duration_seconds"))}

    def test_packed_again_by_tar_of_any_format(self):
        subprocess.run(["tar", "-x", "-z", "-C", self.folder], input=self.good(), check=True)
        expected = run("--once", f"--replay={bundles()[0]}").stdout
        for style in ("v7", "ustar", "oldgnu", "gnu", "posix"):
            path = os.path.join(self.folder, f"{style}.tar.gz")
            subprocess.run(["tar", "-c", "-z", "-f", path, f"--format={style}", "-C", self.folder, "manifest.json",
                            *sorted(f"snapshots/{name}" for name in os.listdir(f"{self.folder}/snapshots"))], check=True)
            with self.subTest(style=style):
                done = run("--once", f"--replay={path}")
                self.assertEqual(done.stderr.count("level=error"), 0)
                self.assertEqual(self.recorded(done.stdout), self.recorded(expected))

    def test_nothing_of_the_kind(self):
        self.refused(b"hello", "is not a .tar.gz archive")
        self.refused(gzip.compress(b"hello"), "damaged")

    @slow(1)
    def test_hostile(self):
        plain = tarfile.REGTYPE
        self.refused(self.archive(("../../etc/cron.d/x", plain, b"x")), "name does not belong in a recording")
        self.refused(self.archive(("manifest.json", tarfile.SYMTYPE, b"")), "not a plain file")
        self.refused(self.archive(("manifest.json", plain, b"\0" * (64 << 20))), "unpacks to more")
        self.refused(self.archive(("snapshots/0000", plain, b"")), "no manifest")

    def test_newer(self):
        manifest = json.dumps({"format": 2, "kernel": {}, "snapshots": []}).encode()
        self.refused(self.archive(("manifest.json", tarfile.REGTYPE, manifest)), "use a newer version")


class Bundles(TestCase):
    @slow(1)
    def test_they_are_small_and_served_whole(self):
        self.assertEqual([os.path.basename(path) for path in bundles()],
                         ["connectx-incident.tar.gz", "soft-roce-host.tar.gz"])
        for path in bundles():
            with self.subTest(bundle=path), Exporter(f"--replay={path}") as exporter:
                self.assertLess(os.path.getsize(path), 300_000)
                page = exporter.scrape()
                self.assertGreaterEqual(page.samples.one("rdma_devices"), 4)
                failed = {key: value for key, value in page.samples.select("rdma_exporter_collector_success").items()
                          if value != 1}
                self.assertEqual(failed, {})
                self.assert_promtool(page.body)

    def test_the_incident_has_what_dashboards_show(self):
        path = os.path.join(CAPTURES, "connectx-incident.tar.gz")
        names = {key[0] for key in Samples(prom_text.parse(run("--once", f"--replay={path}").stdout.encode())).kernel()}
        for name in ("rdma_pfc_frames_total", "rdma_pfc_pause_seconds_total", "rdma_port_out_of_sequence_total",
                     "rdma_port_cnp_packets_total", "rdma_resource_owner_qps", "rdma_netdev_link_down_events_total"):
            self.assertIn(name, names)
