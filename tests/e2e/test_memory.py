# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The memory that clients can make the exporter use is bounded."""

import itertools
import os
import socket

from harness import Exporter, TestCase
from marks import timing

LIMIT = 6_000_000
IN_FLIGHT = "rdma_exporter_pages_in_flight_bytes"
REFUSED = "rdma_exporter_http_requests_refused_total"
COLLECTORS = ("device", "port", "events", "resource", "dcb", "roce_config", "ethtool_standard")


@timing
class SlowReaders(TestCase):
    """Each asks for a page that no other asks for, and takes nothing of it. Over a unix socket, because the kernel takes
    less of a page there: these clients have one address in common, and those over TCP another one."""
    CLIENTS = 100

    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.folder, "web.sock")
        self.exporter = Exporter(f"--web.listen-address=unix:{self.path}", f"--limits.pages-in-flight-bytes={LIMIT}",
                                 "--raw=all", "--metrics.set=full", sysfs=self.tree(devices=100).sys)
        self.addCleanup(self.exporter.__exit__, None, None, None)

    def ask(self, collectors):
        connection = socket.socket(socket.AF_UNIX)
        self.addCleanup(connection.close)
        connection.connect(self.path)
        query = "&".join(f"collect[]={name}" for name in ("hw_counters", "port_counters", *collectors))
        connection.sendall(f"GET /metrics?{query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return connection

    def in_flight(self):
        page = self.exporter.get("/metrics")
        self.assertEqual(page.status, 200, "a client of another address")
        return page.samples.one(IN_FLIGHT)

    def test_slow_readers_of_many_pages_hold_no_more_than_the_limit(self):
        page_bytes = len(self.exporter.get("/metrics").body)
        self.assertGreater(page_bytes, 300_000, "the kernel would take it whole")
        self.assertGreater(self.CLIENTS * page_bytes, 5 * LIMIT, "it would fit")
        sets = itertools.chain.from_iterable(itertools.combinations(COLLECTORS, n) for n in range(len(COLLECTORS)))
        clients = [self.ask(chosen) for chosen in itertools.islice(sets, self.CLIENTS)]
        self.assertTrue(self.eventually(lambda: self.in_flight() > LIMIT / 3, 20), "nobody holds anything")
        for _ in range(5):
            self.assertLess(self.in_flight(), LIMIT + 2 * page_bytes)
        samples = self.exporter.scrape().samples
        self.assertGreater(samples.one(REFUSED, reason="memory"), self.CLIENTS / 4)
        self.assertGreater(samples.one("rdma_exporter_http_requests_total", code="503"), self.CLIENTS / 4)
        for client in clients:
            client.close()
        self.assertTrue(self.eventually(lambda: self.in_flight() < page_bytes, 20), "a page is kept for nobody")

    def test_who_is_refused_is_told_when_to_come_back(self):
        held = [self.ask(chosen) for chosen in itertools.combinations(COLLECTORS, 3)]
        self.assertTrue(self.eventually(lambda: self.in_flight() > LIMIT / 3, 20))
        answers = []
        for client in held:
            client.settimeout(10)
            answers.append(client.recv(4096))
        refused = [answer for answer in answers if answer.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")]
        self.assertGreater(len(refused), 3)
        for answer in refused:
            self.assertIn(b"\r\nRetry-After: 1\r\n", answer)
            self.assertTrue(answer.endswith(b"\r\n\r\nnot enough memory for the answer, try again\n"), answer)
