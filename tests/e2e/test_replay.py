# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A recording is served, and cannot be mistaken for a live host."""

import os
import subprocess

from harness import BINARY, REPOSITORY, Exporter, TestCase, run
from marks import timing_only


class Replay(TestCase):
    def recording(self, name="imagined"):
        tree = self.tree(devices=2)
        place = os.path.join(self.folder, name)
        os.rename(tree.root, place)
        os.mkdir(f"{place}/proc")
        with open(f"{place}/ORIGIN.md", "w", encoding="ascii") as file:
            file.write("# Imagined host\n\nMade by a test.\n")
        return place

    def test_it_is_marked_in_log_landing_page_and_metric(self):
        place = self.recording()
        with Exporter(f"--replay={place}") as exporter:
            samples = exporter.scrape().samples
            self.assertEqual(samples.one("rdma_devices"), 2)
            (labels,) = [dict(k[1]) for k in samples.select("rdma_exporter_replay_info")]
            self.assertIn("imagined", labels["recording"])
            self.assertIn(b"imagined", exporter.get("/").body)
            self.assertIn(b"recording", exporter.get("/").body.lower())
            self.assertRegex(exporter.log(), r"level=warn.*(recording|replay)")

    def test_without_it_there_is_no_mark(self):
        with Exporter(sysfs=self.tree(devices=2).sys) as exporter:
            self.assertFalse(exporter.scrape().samples.select("rdma_exporter_replay_info"))
            self.assertNotIn(b"recording", exporter.get("/").body.lower())

    def test_nothing_of_the_host_is_mixed_in(self):
        with Exporter(f"--replay={self.recording()}") as exporter:
            devices = {dict(k[1])["device"] for k in exporter.scrape().samples.select("rdma_device_up")}
            self.assertEqual(devices, {"mlx5_0", "mlx5_1"})

    @timing_only
    def test_a_small_archive_takes_little_memory(self):
        archive = os.path.join(REPOSITORY, "tests/captures/soft-roce-host.tar.gz")
        self.assertLess(os.path.getsize(archive), 100_000)
        process = subprocess.Popen([BINARY, "--once", f"--replay={archive}"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        _, process.returncode, usage = os.wait4(process.pid, 0)
        self.assertEqual(process.returncode, 0)
        self.assertLess(usage.ru_maxrss, 40_000, "kB; a daemon without devices takes 14,000")

    def test_a_folder_that_is_no_recording_is_refused(self):
        empty = os.path.join(self.folder, "empty")
        os.mkdir(empty)
        for place in (empty, "/nonexistent"):
            done = run(f"--replay={place}", "--web.listen-address=127.0.0.1:0", timeout=5)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("replay", done.stderr)

    def test_bundled_recordings(self):
        """Every recording in tests/recordings is served whole and well-formed."""
        folder = os.path.join(REPOSITORY, "tests", "recordings")
        names = [n for n in sorted(os.listdir(folder)) if os.path.exists(f"{folder}/{n}/ORIGIN.md")]
        self.assertIn("soft-roce-host", names)
        for name in names:
            with self.subTest(recording=name), Exporter(f"--replay={folder}/{name}") as exporter:
                page = exporter.scrape()
                self.assert_promtool(page.body)
                count = len(os.listdir(f"{folder}/{name}/sys/class/infiniband"))
                self.assertEqual(page.samples.one("rdma_devices"), count)
                self.assertEqual(len(page.samples.select("rdma_device_info")), count)
