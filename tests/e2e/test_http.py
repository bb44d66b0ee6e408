# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The HTTP side, over real sockets."""

import os
import re
import socket
import time

from harness import Exporter, TestCase, run
from listening import reserved_port
from marks import timing, timing_only


def exchange(connection, data, seconds=5):
    """Sends bytes, then reads until the peer closes or `seconds` have passed."""
    connection.settimeout(seconds)
    answer = b""
    try:
        connection.sendall(data)
        while True:
            part = connection.recv(65536)
            if not part:
                break
            answer += part
    except (socket.timeout, ConnectionResetError, BrokenPipeError):
        pass
    return answer


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else None


def is_closed(connection, seconds):
    """Whether the peer closes within so many seconds; what it sends before is thrown away."""
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            connection.settimeout(max(0.01, end - time.monotonic()))
            if not connection.recv(65536):
                return True
    except socket.timeout:
        return False
    except ConnectionResetError:
        return True
    return False


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


class Served(TestCase):
    def setUp(self):
        super().setUp()
        self.exporter = Exporter(sysfs=self.tree(devices=2).sys)
        self.addCleanup(self.exporter.__exit__, None, None, None)

    def ask(self, text):
        with self.exporter.socket() as connection:
            return exchange(connection, text.replace("\n", "\r\n").encode("latin-1"), 3)

    def test_endpoints(self):
        metrics = self.exporter.get("/metrics")
        self.assertEqual(metrics.status, 200)
        self.assertEqual(metrics.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(int(metrics.headers["Content-Length"]), len(metrics.body))
        for path in ("/-/healthy", "/-/ready"):
            self.assertEqual(self.exporter.get(path).status, 200, path)
        landing = self.exporter.get("/")
        self.assertEqual(landing.status, 200)
        self.assertTrue(landing.headers["Content-Type"].startswith("text/html"))
        for words in (b"rdma_exporter", b"/metrics", b"mlx5_0", b"mlx5_1"):
            self.assertIn(words, landing.body)

    def test_query_strings_do_not_matter(self):
        self.assertEqual(self.exporter.get("/metrics?a=b").status, 200)

    def test_unknown_paths(self):
        for path in ("/nothing", "/metrics/", "/metricsx", "//metrics", "/-/", "/../metrics", "/%6detricsx",
                     "/-/healthy/x"):
            self.assertEqual(self.exporter.get(path).status, 404, path)

    def test_other_methods_are_refused_and_the_allowed_ones_named(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
            answer = self.exporter.get("/metrics", method=method)
            self.assertEqual(answer.status, 405, method)
            self.assertEqual({m.strip() for m in answer.headers["Allow"].split(",")}, {"GET", "HEAD"})

    def test_head_has_the_headers_and_no_body(self):
        for path in ("/", "/-/healthy", "/metrics"):
            with self.exporter.socket() as connection:
                answer = exchange(connection, f"HEAD {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            head, body = answer.split(b"\r\n\r\n", 1)
            self.assertEqual((status_of(head), body), (200, b""), path)
            self.assertIn(b"content-type:", head.lower())

    def test_garbage_is_a_bad_request(self):
        for text in ("GARBAGE\n\n", "GET\n\n", "GET /metrics\n\n", "GET /metrics HTTP/9.9\nHost: x\n\n",
                     "\x16\x03\x01\x02\x00\x01\n\n", "GET /metrics HTTP/1.1\nbad header\n\n",
                     "GET /metrics HTTP/1.1\nHost: x\nContent-Length: -1\n\n"):
            with self.subTest(text=text):
                answer = self.ask(text)
                self.assertEqual(status_of(answer), 400, answer[:100])
        self.assertEqual(self.exporter.get("/-/healthy").status, 200)

    def test_keep_alive_serves_many_requests_on_one_connection(self):
        connection = self.exporter.connect()
        for _ in range(5):
            connection.request("GET", "/metrics")
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200)
            answer.read()
            first = connection.sock
            self.assertIsNotNone(first, "the connection was closed")
        connection.close()

    def test_close_is_honoured(self):
        answer = self.ask("GET /-/healthy HTTP/1.1\nHost: x\nConnection: close\n\n")
        self.assertEqual(status_of(answer), 200)
        with self.exporter.socket() as connection:
            connection.sendall(b"GET /-/healthy HTTP/1.0\r\n\r\n")
            self.assertTrue(is_closed(connection, 2), "HTTP/1.0 without keep-alive stays open")

    def test_pipelined_requests_are_answered_in_order(self):
        answer = self.ask("GET /-/healthy HTTP/1.1\nHost: x\n\nGET /nothing HTTP/1.1\nHost: x\n\n"
                          "GET /-/ready HTTP/1.1\nHost: x\nConnection: close\n\n")
        self.assertEqual([int(s) for s in re.findall(rb"HTTP/1\.1 (\d+)", answer)], [200, 404, 200])

    def test_a_request_in_small_pieces(self):
        with self.exporter.socket() as connection:
            for byte in b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n":
                connection.sendall(bytes([byte]))
            self.assertEqual(status_of(exchange(connection, b"")), 200)

    def test_a_body_is_not_wanted(self):
        answer = self.ask("GET /metrics HTTP/1.1\nHost: x\nContent-Length: 1000000000\n\n")
        self.assertIn(status_of(answer), (200, 400, 413))
        self.assertEqual(self.exporter.get("/-/healthy").status, 200)

    def test_header_over_the_limit(self):
        for text in ("GET /metrics HTTP/1.1\r\nHost: x\r\nA: " + "x" * 100_000 + "\r\n\r\n",
                     "GET /" + "x" * 100_000 + " HTTP/1.1\r\nHost: x\r\n\r\n",
                     "GET / HTTP/1.1\r\n" + "".join(f"H{i}: {i}\r\n" for i in range(20_000)) + "\r\n"):
            with self.exporter.socket() as connection:
                answer = exchange(connection, text.encode())
            # The answer may get lost when the peer closes while we still send; it must be cut in any case.
            self.assertIn(status_of(answer), (431, None), answer[:100])
        with self.exporter.socket() as connection:
            answer = exchange(connection, b"GET /metrics HTTP/1.1\r\nHost: x\r\nA: " + b"x" * 17_000 + b"\r\n\r\n")
        self.assertEqual(status_of(answer), 431)

    def test_client_that_hangs_up_early(self):
        for _ in range(20):
            with self.exporter.socket() as connection:
                connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # RST
        self.assertEqual(self.exporter.get("/metrics").status, 200)

    @timing
    def test_client_that_never_reads(self):
        connections = []
        for _ in range(5):
            connection = self.exporter.socket()
            self.addCleanup(connection.close)
            connections.append(connection)
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
        page = self.exporter.get("/metrics")
        self.assertEqual(page.status, 200)
        self.assert_within(page.seconds, 2)

    def test_requests_are_counted_by_code(self):
        self.exporter.scrape()
        self.exporter.get("/nothing")
        before = self.exporter.scrape().samples
        self.exporter.get("/nothing")
        self.exporter.get("/nothing")
        after = self.exporter.scrape().samples
        name = "rdma_exporter_http_requests_total"
        self.assertEqual(after.one(name, code="404") - before.one(name, code="404"), 2)
        self.assertGreater(after.one(name, code="200"), before.one(name, code="200"))


class Limits(TestCase):
    def exporter(self, *flags):
        return Exporter(*flags, sysfs=self.tree(devices=1).sys)

    @timing
    def test_a_slow_header_is_cut(self):
        with self.exporter("--web.read-timeout=500ms") as exporter, exporter.socket() as connection:
            begin = time.monotonic()
            connection.sendall(b"GET /metrics HTTP/1.1\r\n")
            for _ in range(4):  # a trickle must not extend the time
                time.sleep(0.2)
                try:
                    connection.sendall(b"A: b\r\n")
                except OSError:
                    break
            self.assertTrue(is_closed(connection, 2))
            self.assert_within(time.monotonic() - begin, 1.5)
            self.assertEqual(exporter.get("/-/healthy").status, 200)

    @timing
    def test_a_connection_that_says_nothing_is_cut(self):
        with self.exporter("--web.read-timeout=500ms", "--web.idle-timeout=500ms") as exporter:
            with exporter.socket() as connection:
                self.assertTrue(is_closed(connection, 2))

    @timing
    def test_an_idle_connection_is_closed_after_its_time_and_not_before(self):
        with self.exporter("--web.idle-timeout=1s") as exporter, exporter.socket() as connection:
            connection.sendall(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n")
            begin = time.monotonic()
            self.assertFalse(is_closed(connection, 0.6))
            self.assertTrue(is_closed(connection, 1.4))
            self.assertGreater(time.monotonic() - begin, 0.6)

    def test_connections_are_bounded_and_slow_ones_make_room(self):
        with self.exporter("--web.max-connections=4") as exporter:
            exporter.scrape()  # opens the files that stay open
            files = exporter.open_files()
            begun = [exporter.socket() for _ in range(600)]
            for connection in begun:
                try:
                    connection.sendall(b"GET /metr")
                except OSError:
                    pass  # it has made room already
            self.assertTrue(self.eventually(lambda: exporter.open_files() <= files + 4, 5))
            self.assertEqual(exporter.get("/-/healthy").status, 200)
            self.assertGreaterEqual(
                exporter.scrape().samples.one("rdma_exporter_http_connections_refused_total", reason="displaced"), 596)
            # Each of the two requests took the place of one at most: of the second, the first may have left its own.
            self.assertIn(sum(not is_closed(connection, 0.01) for connection in begun[-4:]), (2, 3))
            for connection in begun:
                connection.close()

    def test_an_idle_connection_is_kept_while_others_are_slow(self):
        with self.exporter("--web.max-connections=4") as exporter:
            kept = exporter.connect()
            kept.request("GET", "/-/healthy")
            kept.getresponse().read()
            slow = [exporter.socket() for _ in range(50)]
            self.assertEqual(exporter.get("/-/healthy").status, 200)
            self.assertFalse(is_closed(kept.sock, 0.2))
            for connection in [kept, *slow]:
                connection.close()

    def test_a_connection_ends_after_so_many_requests(self):
        with self.exporter("--web.max-requests-per-connection=2") as exporter:
            connection = exporter.connect()
            for expected in (None, "close"):
                connection.request("GET", "/-/healthy")
                answer = connection.getresponse()
                answer.read()
                self.assertEqual((answer.status, answer.headers["Connection"]), (200, expected))

    def test_a_client_that_does_not_take_its_answer_is_dropped_and_counted(self):
        tree = self.tree(devices=9, driver="all")
        with Exporter("--web.write-timeout=300ms", sysfs=tree.sys) as exporter:
            with socket.socket() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.connect(("127.0.0.1", exporter.port))
                connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 200)
                refused = "rdma_exporter_http_requests_refused_total"
                self.assertTrue(self.eventually(
                    lambda: exporter.scrape().samples.one(refused, reason="write_timeout") == 1, 10))

    # Not with the sanitized binary: to look at an object, the sanitizer needs a descriptor of its own.
    @timing_only
    def test_many_connections_leave_descriptors_to_read_with(self):
        tree = self.tree(devices=1)
        with Exporter("--web.max-connections=1000", sysfs=tree.sys, open_files=64) as exporter:
            held = [exporter.socket() for _ in range(100)]
            self.assertEqual(exporter.get("/metrics").status, 200, "connections leave descriptors to read with")
            ticks = cpu_ticks(exporter.pid)
            time.sleep(0.5)
            self.assert_within(cpu_ticks(exporter.pid) - ticks, 20, "it spins")
            for connection in held:
                connection.close()
            self.assertEqual(exporter.get("/metrics").status, 200)

    def test_another_telemetry_path(self):
        with self.exporter("--web.telemetry-path=/rdma") as exporter:
            self.assertEqual(exporter.get("/rdma").status, 200)
            self.assertEqual(exporter.get("/metrics").status, 404)
            self.assertIn(b"/rdma", exporter.get("/").body)


class Listening(TestCase):
    def test_port_in_use_names_the_flag(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            done = run(f"--web.listen-address={address}", f"--path.sysfs={self.tree(devices=1).sys}")
        self.assertEqual(done.returncode, 1, done.stderr)
        for words in ("--web.listen-address", address, "in use"):
            self.assertIn(words, done.stderr)

    def test_several_addresses(self):
        with Exporter("--web.listen-address=127.0.0.1:0", sysfs=self.tree(devices=1).sys) as exporter:
            ports = exporter.announced.ports()
            self.assertEqual(len(set(ports)), 2)
            for exporter.port in ports:
                self.assertEqual(exporter.get("/-/healthy").status, 200)

    def test_an_address_without_host_is_reached_over_both_protocols(self):
        if not os.path.exists("/proc/net/if_inet6"):
            self.skipTest("no IPv6 on this machine")
        with Exporter(listen="--web.listen-address=:0", sysfs=self.tree(devices=1).sys) as exporter:
            for host in ("127.0.0.1", "::1"):
                with socket.create_connection((host, exporter.port), timeout=3) as connection:
                    answer = exchange(connection, b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    self.assertEqual(status_of(answer), 200, host)

    def test_restart_on_the_same_port_at_once(self):
        tree = self.tree(devices=1)
        with reserved_port() as port:
            listen = f"--web.listen-address=127.0.0.1:{port}"
            exporter = Exporter(listen=listen, sysfs=tree.sys)
            with exporter.socket() as connection:
                connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                connection.recv(100)
                exporter.stop()
                with Exporter(listen=listen, sysfs=tree.sys) as again:
                    self.assertEqual(again.port, port)
