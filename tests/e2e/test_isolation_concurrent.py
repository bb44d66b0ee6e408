# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Scrapes that overlap share one collection."""

import time

from harness import Exporter, TestCase, fake_tree
from marks import PATIENCE, slow, timing


class Concurrent(TestCase):
    def test_20_concurrent_scrapes_cause_one_collection(self):
        tree = self.tree(devices=9)
        fifo = self.fifo(tree.devices["mlx5_4"].hw_counter("out_of_sequence"))
        with Exporter("--scrape.timeout=5s", sysfs=tree.sys) as exporter:
            def work(i):
                if i == 20:
                    time.sleep(0.5 * PATIENCE)  # all 20 wait by now
                    return self.eventually(lambda: fifo.release("4711\n"))
                return exporter.scrape()

            *pages, released = self.in_threads(21, work)
            self.assertTrue(released, "no read was under way")
            self.assertGreater(min(p.seconds for p in pages), 0.2, "they did not overlap")
            first = pages[0].samples.kernel()
            for page in pages:
                self.assertEqual(page.samples.kernel(), first)
            numbers = {p.samples.one("rdma_exporter_scrapes_total") for p in pages}
            self.assertEqual(len(numbers), 1, numbers)
            fifo.replace("1")
            self.assertEqual(exporter.scrape().samples.one("rdma_exporter_scrapes_total"), numbers.pop() + 1)

    @timing
    def test_the_impatient_one_is_answered_at_its_own_deadline(self):
        """Two Prometheus servers with different timeouts join one collection; neither waits for the other."""
        tree = self.tree(devices=9)
        self.fifo(tree.devices["mlx5_4"].hw_counter("out_of_sequence"))
        with Exporter("--scrape.timeout=8s", sysfs=tree.sys) as exporter:
            quick, slow = self.in_threads(2, lambda i: exporter.scrape(prometheus_timeout=(0.8, 1.5)[i]))
            self.assert_on_time(quick, 0.3)
            self.assert_on_time(slow, 1.0)

    def test_scrapes_one_after_the_other_each_see_new_values(self):
        tree = self.tree(devices=2)
        path = tree.devices["mlx5_1"].hw_counter("out_of_sequence")
        with Exporter("--raw=all", "--metrics.set=full", sysfs=tree.sys) as exporter:
            exporter.scrape()  # this one may join the collection of the start
            for value in (1, 2, 30, 4000):
                fake_tree.set_value(path, value)
                self.assertEqual(exporter.scrape().samples.one(
                    "rdma_port_raw_total", device="mlx5_1", source="hw_counters", counter="out_of_sequence"), value)

    @slow(1)
    def test_hundreds_of_scrapes_from_many_clients(self):
        tree = self.tree(devices=9)
        with Exporter(sysfs=tree.sys) as exporter:
            whole = exporter.scrape().samples.kernel()
            self.in_threads(8, lambda i: [
                self.assertEqual(exporter.scrape().samples.kernel(), whole) for _ in range(10)])
