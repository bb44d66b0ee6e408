# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Neither many slow clients nor many fast ones keep Prometheus from scraping on time."""

import multiprocessing
import resource
import shutil
import socket
import ssl
import threading
import time
import unittest

import web_files
from harness import Exporter, TestCase, temporary_folder
from marks import slow, timing, timing_only
from prometheus_server import PROMETHEUS, Server
from web_files import OPENSSL, Authority, tls_section

SLOW_HEADERS, HALF_OPEN = 1000, 500
SECONDS = 9  # of the siege


class Slow:
    """A client that opens a connection, and then sends too little, too slowly. Comes back when it is thrown out."""

    def __init__(self, port, first, rest):
        self.port, self.first, self.rest = port, first, rest
        self.open()

    def open(self):
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.connect_ex(("127.0.0.1", self.port))
        self.sent = False

    def trickle(self):
        try:
            self.socket.send(self.rest if self.sent else self.first)
            self.sent = True
        except BlockingIOError:
            pass
        except OSError:
            self.socket.close()
            self.open()


def hello():
    """The first half of a TLS ClientHello."""
    outgoing = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    data = outgoing.read()
    return data[:len(data) // 2]


def besiege(http_port, tls_port):
    """Never returns. Each client acts about once a second."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    half = hello()
    clients = [Slow(http_port, b"GET /metrics HTTP/1.1\r\nHost: x\r\n", b"X-Slow: 1\r\n") for _ in range(SLOW_HEADERS)]
    clients += [Slow(tls_port, half, half[:1]) for _ in range(HALF_OPEN)]
    while True:
        begin = time.monotonic()
        for i, client in enumerate(clients):
            client.trickle()
            if i % 50 == 49:
                time.sleep(max(0, begin + i / len(clients) - time.monotonic()))


@slow(16)
@timing
@unittest.skipUnless(PROMETHEUS and OPENSSL, "prometheus or openssl is not installed")
class Siege(TestCase):
    """With the limits as they are by default."""

    def setUp(self):
        super().setUp()
        ca = Authority(self.folder)
        config = web_files.write(f"{self.folder}/web.yml", tls_section(ca.issue("server")))
        tree = self.tree(devices=2)
        self.exporters = {"http": Exporter(sysfs=tree.sys),
                          "tls": Exporter(f"--web.config.file={config}", sysfs=tree.sys, tls=ca.client())}
        for exporter in self.exporters.values():
            self.addCleanup(exporter.__exit__, None, None, None)
        place = temporary_folder()
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        self.server = Server(place, self.exporters,
                             settings={"tls": f"    scheme: https\n    tls_config: {{ca_file: {ca.cert}}}\n"})
        self.addCleanup(self.server.stop)
        self.assertTrue(self.eventually(lambda: len(self.server.query("up == 1")) == 2, 20), self.server.targets())

    def refusals(self, job, **labels):
        return self.exporters[job].scrape().samples.one("rdma_exporter_http_connections_refused_total", **labels)

    def test_prometheus_scrapes_on_time(self):
        siege = multiprocessing.Process(target=besiege, args=[self.exporters[job].port for job in ("http", "tls")])
        siege.start()
        self.addCleanup(siege.join)
        self.addCleanup(siege.terminate)
        time.sleep(SECONDS)
        window = f"[{SECONDS - 2}s]"
        for job in self.exporters:
            up = self.server.query(f'min_over_time(up{{job="{job}"}}{window})')
            self.assertEqual([r["value"][1] for r in up], ["1"], self.server.targets())
            scrapes = self.server.query(f'count_over_time(up{{job="{job}"}}{window})')
            self.assertGreaterEqual(int(scrapes[0]["value"][1]), SECONDS - 4)
            slowest = self.server.query(f'max_over_time(scrape_duration_seconds{{job="{job}"}}{window})')
            self.assert_within(float(slowest[0]["value"][1]), 0.5)
            # Clients that connect during the siege get in, too.
            self.assertEqual(self.exporters[job].get("/-/healthy").status, 200)
            self.assertGreater(self.refusals(job, reason="displaced"), 100, "it was no siege")
            self.assertLess(self.exporters[job].open_files(), 300)
            self.assert_within(self.exporters[job].status("VmRSS"), 40_000)
            self.assert_within(self.exporters[job].status("Threads"), 6)
        self.assertEqual(siege.exitcode, None, "the siege ended early")


@slow(15)
@timing_only
class Load(TestCase):
    REQUESTS, SECONDS = 12000, 15

    def test_800_requests_a_second_with_stable_memory(self):
        exporter = Exporter(sysfs=self.tree(devices=2).sys)
        self.addCleanup(exporter.__exit__, None, None, None)
        begin = time.monotonic()
        answered, failed, memory = [0] * 4, [], []

        def ask(thread):
            """A quarter of the requests, a fifth of them on a connection of its own."""
            kept = exporter.connect()
            for i in range(self.REQUESTS // 4):
                time.sleep(max(0, begin + i * 4 * self.SECONDS / self.REQUESTS - time.monotonic()))
                connection = exporter.connect() if i % 5 == 0 else kept
                connection.request("GET", "/metrics")
                answer = connection.getresponse()
                body = answer.read()
                if answer.status != 200 or b"rdma_device_up" not in body:
                    failed.append(answer.status)
                if connection is not kept:
                    connection.close()
                answered[thread] += 1
            kept.close()

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.5)
            memory.append(exporter.status("VmRSS"))
        seconds = time.monotonic() - begin
        self.assertEqual((sum(answered), failed[:5]), (self.REQUESTS, []))
        self.assert_within(seconds, self.SECONDS * 1.1, "it did not keep up")
        settled = memory[len(memory) // 6:]  # after 2000 requests
        self.assert_within(max(settled) - settled[0], 512, f"kB of resident memory: {memory}")
        self.assertLess(exporter.open_files(), 250)
