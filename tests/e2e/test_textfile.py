# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""--textfile: metrics for hosts that must not listen."""

import os
import shutil
import signal
import stat
import subprocess
import time
import urllib.request

from harness import BINARY, REPOSITORY, Samples, TestCase
from listening import PROMETHEUS, Announced
from marks import slow
import prom_text

RECORDING = os.path.join(REPOSITORY, "tests", "recordings", "soft-roce-host")


class Textfile(TestCase):
    def setUp(self):
        super().setUp()
        self.path = f"{self.folder}/rdma.prom"

    def start(self, *flags, path=None):
        process = subprocess.Popen(
            [BINARY, f"--replay={RECORDING}", f"--textfile={path or self.path}", "--interval=1s", *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, umask=0o077)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def page(self):
        with open(self.path, "rb") as file:
            return Samples(prom_text.parse(file.read()))

    def scrapes(self):
        return self.page().one("rdma_exporter_scrapes_total")

    @slow(2)
    def test_writes_a_whole_readable_page_at_each_interval(self):
        process = self.start()
        self.assertTrue(self.eventually(lambda: os.path.exists(self.path)))
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o644)
        self.assertTrue(self.page().select("rdma_port_up"))
        first = self.scrapes()
        self.assertTrue(self.eventually(lambda: self.scrapes() >= first + 2))
        self.assertIsNone(process.poll())
        self.assertEqual(os.listdir(self.folder), ["rdma.prom"])

    @slow(2.6)
    def test_a_reader_never_sees_a_part_of_a_page(self):
        self.start()
        self.assertTrue(self.eventually(lambda: os.path.exists(self.path)))
        end = time.monotonic() + 2.5
        reads = 0
        while time.monotonic() < end:
            self.page()
            reads += 1
        self.assertGreater(reads, 20)

    def test_does_not_listen(self):
        process = self.start()
        self.assertTrue(self.eventually(lambda: os.path.exists(self.path)))
        inodes = set()
        for fd in os.listdir(f"/proc/{process.pid}/fd"):
            try:
                inodes.add(os.readlink(f"/proc/{process.pid}/fd/{fd}"))
            except FileNotFoundError:
                pass
        self.assertIn("/dev/null", inodes, "its standard input")
        self.assertFalse([inode for inode in inodes if inode.startswith("socket:")])

    def test_takes_the_file_along_when_it_stops(self):
        process = self.start()
        self.assertTrue(self.eventually(lambda: os.path.exists(self.path)))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(5), 0)
        self.assertEqual(os.listdir(self.folder), [], "old values must not be served as new ones")

    def test_says_at_the_start_that_it_cannot_write(self):
        process = self.start(path=f"{self.folder}/missing/rdma.prom")
        output, _ = process.communicate(timeout=5)
        self.assertEqual(process.returncode, 1)
        self.assertIn(f"{self.folder}/missing is not a directory", output)

    @slow(2)
    def test_goes_on_when_the_disk_does(self):
        process = self.start()
        self.assertTrue(self.eventually(lambda: os.path.exists(self.path)))
        hidden = self.folder + ".away"
        os.rename(self.folder, hidden)
        self.addCleanup(shutil.rmtree, hidden, ignore_errors=True)
        time.sleep(1.5)
        os.rename(hidden, self.folder)
        before = self.scrapes()
        self.assertTrue(self.eventually(lambda: self.scrapes() > before))
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=5)
        self.assertEqual(output.count("cannot write the text file"), 1)

    def test_node_exporter_serves_it(self):
        """Its own process_* metrics are on the same page: with ours in the file it would log an error per scrape."""
        node_exporter = shutil.which("prometheus-node-exporter")
        if not node_exporter:
            self.skipTest("prometheus-node-exporter is not installed")
        self.start()
        self.assertTrue(self.eventually(lambda: os.path.exists(self.path)))
        log_path = f"{self.folder}/node_exporter.log"
        with open(log_path, "wb") as log:
            node = subprocess.Popen(
                [node_exporter, "--collector.disable-defaults", "--collector.textfile",
                 f"--collector.textfile.directory={self.folder}", "--web.listen-address=127.0.0.1:0"],
                stdout=log, stderr=log)
        self.addCleanup(node.wait)
        self.addCleanup(node.kill)
        announced = Announced(node, log_path, PROMETHEUS)
        port = announced.ports()[0]

        def page():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                    return answer.read()
            except OSError:
                return None

        served = self.eventually(page, seconds=20)
        self.assertIn(b"node_textfile_scrape_error 0", served)
        self.assertIn(b"process_open_fds", served)
        names = {line.partition(b" ")[0] for line in served.splitlines() if not line.startswith(b"#")}
        for name in (b'rdma_port_up{device="rxe0",port="1"}', b"rdma_exporter_scrape_duration_seconds_count"):
            self.assertIn(name, names)
        node.terminate()
        node.wait(5)
        self.assertNotIn("level=error", announced.log())
