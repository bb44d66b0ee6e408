# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The daemon stops when it is told to."""

import signal
import threading
import time

from harness import Exporter, TestCase
from marks import timing


@timing
class Stop(TestCase):
    def assert_clean(self, exporter, number=signal.SIGTERM, within=2.0):
        code, seconds = exporter.stop(number)
        self.assertEqual(code, 0, exporter.log())
        self.assert_within(seconds, within)

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number=number):
                exporter = Exporter(sysfs=self.tree(devices=2).sys)
                exporter.scrape()
                self.assert_clean(exporter, number)

    def test_with_reads_that_are_stuck(self):
        for hold in (False, True):
            with self.subTest(hold=hold):
                tree = self.tree(devices=9)
                for device in list(tree.devices.values())[:5]:
                    self.fifo(device.hw_counter("np_cnp_sent"), hold)
                exporter = Exporter("--scrape.timeout=200ms", sysfs=tree.sys)
                exporter.scrape()
                self.assert_clean(exporter)

    def test_in_the_middle_of_a_scrape_that_waits(self):
        tree = self.tree(devices=9)
        self.fifo(tree.devices["mlx5_4"].hw_counter("np_cnp_sent"))
        exporter = Exporter("--scrape.timeout=8s", sysfs=tree.sys)
        failures = []

        def scrape():
            try:
                exporter.scrape()
            except Exception as error:  # noqa: B902  (any answer or cut is fine, a hang is not)
                failures.append(error)

        thread = threading.Thread(target=scrape)
        thread.start()
        time.sleep(0.3)
        self.assert_clean(exporter)
        thread.join(2)
        self.assertFalse(thread.is_alive())

    def test_with_open_connections(self):
        exporter = Exporter(sysfs=self.tree(devices=1).sys)
        sockets = [exporter.socket() for _ in range(10)]
        sockets[0].sendall(b"GET /metrics HTTP/1.1\r\n")
        sockets[1].sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assert_clean(exporter)
        for connection in sockets:
            connection.close()

    def test_a_second_signal_does_no_harm(self):
        tree = self.tree(devices=1)
        self.fifo(tree.devices["mlx5_0"].hw_counter("np_cnp_sent"))
        exporter = Exporter("--scrape.timeout=200ms", sysfs=tree.sys)
        exporter.scrape()
        exporter.process.send_signal(signal.SIGTERM)
        self.assertIn(exporter.stop(signal.SIGINT)[0], (0, -signal.SIGINT))

    def test_broken_pipe_of_the_log(self):
        exporter = Exporter(sysfs=self.tree(devices=1).sys)
        exporter.process.send_signal(signal.SIGPIPE)
        self.assertEqual(exporter.get("/-/healthy").status, 200)
        self.assert_clean(exporter)
