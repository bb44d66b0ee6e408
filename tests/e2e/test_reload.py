# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A new configuration takes effect as a whole or not at all."""

import contextlib
import os
import signal
import socket
import threading

from harness import Exporter, TestCase, fake_tree
from listening import reserved_port
from marks import slow, timing
from web_files import Authority, bcrypt, tls_section

STATUS = "rdma_exporter_config_last_reload_successful"


class Reload(TestCase):
    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.folder, "config.yml")
        self.write("")

    def write(self, text):
        with open(self.file + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self.file + ".new", self.file)

    def start(self, *flags, **options):
        return Exporter(f"--config.file={self.file}", *flags, **options)

    def hup(self, exporter, done):
        os.kill(exporter.pid, signal.SIGHUP)
        self.assertTrue(self.eventually(done), exporter.log())

    def test_sighup_takes_over_the_devices(self):
        with self.start(sysfs=self.tree(devices=3).sys) as exporter:
            self.assertEqual(exporter.scrape().samples.one("rdma_devices"), 3)
            self.write("device: {exclude: mlx5_1}\n")
            self.hup(exporter, lambda: exporter.scrape().samples.one("rdma_devices") == 2)
            self.assertEqual(exporter.scrape().samples.one(STATUS), 1)

    def test_a_bad_file_leaves_the_old_configuration(self):
        with self.start("--web.enable-lifecycle", sysfs=self.tree(devices=2).sys) as exporter:
            before = exporter.scrape().samples
            self.write("log: {level: info}\ndevice:\n  exclud: mlx5_1\n")
            self.hup(exporter, lambda: exporter.scrape().samples.one(STATUS) == 0)
            self.assertIn(f"{self.file}:3: device.exclud", exporter.log())
            answer = exporter.get("/-/reload", method="POST")
            self.assertEqual(answer.status, 500)
            self.assertIn(f"{self.file}:3: device.exclud", answer.body.decode())
            self.assertEqual(exporter.scrape().samples.kernel(), before.kernel())
            loaded = "rdma_exporter_config_last_reload_success_timestamp_seconds"
            self.assertEqual(exporter.scrape().samples.one(loaded), before.one(loaded))
            self.write("device: {exclude: mlx5_1}\n")
            self.assertEqual(exporter.get("/-/reload", method="POST").status, 200)
            after = exporter.scrape().samples
            self.assertEqual((after.one(STATUS), after.one("rdma_devices")), (1, 1))

    def test_post_needs_the_flag(self):
        with self.start(sysfs=self.tree(devices=1).sys) as exporter:
            self.assertEqual(exporter.get("/-/reload", method="POST").status, 403)
            self.assertEqual(exporter.get("/-/reload").status, 405)
            with exporter.socket() as connection:
                connection.sendall(b"POST /-/reload HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                self.assertTrue(connection.recv(65536).startswith(b"HTTP/1.1 403 Forbidden\r\n"))

    def test_counters_of_requests_and_of_the_kernel_go_on(self):
        with self.start("--web.enable-lifecycle", sysfs=self.tree(devices=1).sys) as exporter:
            for _ in range(5):
                before = exporter.scrape().samples
            self.write("limits: {series_per_device: 4000}\n")
            self.assertEqual(exporter.get("/-/reload", method="POST").status, 200)
            after = exporter.scrape().samples
            requests = "rdma_exporter_http_requests_total"
            self.assertGreater(after.one(requests, code=200), before.one(requests, code=200))
            self.assertEqual(after.kernel(), before.kernel())

    def test_32_bit_counters_stay_continued(self):
        host = self.tree(devices=1)
        path = next(iter(host.devices.values())).hw_counter("rx_write_requests")
        name, labels = "rdma_port_requests_total", {"direction": "rx", "operation": "write"}
        with self.start("--web.enable-lifecycle", sysfs=host.sys) as exporter:
            for raw in (2**32 - 10, 5):
                fake_tree.set_value(path, raw)
                self.assertTrue(self.eventually(lambda: exporter.scrape().samples.one(name, **labels) % 2**32 == raw))
            self.write("limits: {series_per_device: 4000}\n")
            self.assertEqual(exporter.get("/-/reload", method="POST").status, 200)
            self.assertEqual(exporter.scrape().samples.one(name, **labels), 2**32 + 5)

    def test_the_path_and_the_limits_of_the_server(self):
        with self.start("--web.enable-lifecycle", sysfs=self.tree(devices=1).sys) as exporter:
            self.write("web: {telemetry_path: /rdma, max_header_bytes: 1024}\n")
            self.assertEqual(exporter.get("/-/reload", method="POST").status, 200)
            self.assertEqual(exporter.get("/metrics").status, 404)
            self.assertEqual(exporter.get("/rdma").status, 200)
            self.assertEqual(exporter.get("/rdma", headers={"X-Long": "x" * 2000}).status, 431)

    def serve_on(self, *ports, **options):
        """Addresses from the file: a flag would win over it. The first port is the one of scrapes."""
        self.listen_on(*ports)
        return self.start("--web.enable-lifecycle", listen="--log.level=info", sysfs=self.tree(devices=1).sys, **options)

    def reserved_ports(self, count):
        contexts = contextlib.ExitStack()
        self.addCleanup(contexts.close)
        return [contexts.enter_context(reserved_port()) for _ in range(count)]

    def listen_on(self, *ports, more=""):
        addresses = ", ".join(f"'127.0.0.1:{port}'" for port in ports)
        self.write(f"web: {{listen_address: [{addresses}]{more}}}\n")

    def test_addresses_come_and_go_and_connections_stay(self):
        stays, goes, comes = self.reserved_ports(3)
        with self.serve_on(stays, goes) as exporter:
            held = socket.create_connection(("127.0.0.1", goes))
            self.addCleanup(held.close)
            self.assertIn(b" 200 ", self.ask(held))
            self.listen_on(stays, comes)
            self.assertEqual(exporter.get("/-/reload", method="POST").status, 200)
            self.assertIn(b" 200 ", self.ask(held))
            with socket.create_connection(("127.0.0.1", comes)) as fresh:
                self.assertIn(b" 200 ", self.ask(fresh))
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", goes))
            self.assertEqual(exporter.get("/-/ready").status, 200)

    def test_an_address_in_use_refuses_all_of_the_configuration(self):
        first, other = self.reserved_ports(2)
        with socket.create_server(("127.0.0.1", 0)) as taken, self.serve_on(first) as exporter:
            self.listen_on(other, taken.getsockname()[1], more=", telemetry_path: /rdma")
            answer = exporter.get("/-/reload", method="POST")
            self.assertEqual(answer.status, 500)
            self.assertIn(f"127.0.0.1:{taken.getsockname()[1]}", answer.body.decode())
            # Not at once: the first scrape may join the collection that began with the start.
            self.assertTrue(self.eventually(lambda: exporter.scrape().samples.one(STATUS) == 0), exporter.log())
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", other))

    def ask(self, connection):
        connection.sendall(b"GET /-/ready HTTP/1.1\r\nHost: x\r\n\r\n")
        return connection.recv(4096)

    def test_a_web_config_that_is_bad_refuses_all_of_the_configuration(self):
        authority = Authority(self.folder)
        web = os.path.join(self.folder, "web.yml")
        good = tls_section(authority.issue("server"))
        with open(web, "w", encoding="utf-8") as file:
            file.write(good)
        with self.start("--web.enable-lifecycle", f"--web.config.file={web}", sysfs=self.tree(devices=2).sys,
                        tls=authority.client()) as exporter:
            self.assertEqual(exporter.scrape().samples.one("rdma_devices"), 2)
            self.write("device: {exclude: mlx5_1}\n")
            with open(web, "w", encoding="utf-8") as file:
                file.write(good + "bogus: 1\n")
            answer = exporter.get("/-/reload", method="POST")
            self.assertEqual(answer.status, 500)
            self.assertIn("bogus", answer.body.decode())
            self.assertEqual(exporter.scrape().samples.one("rdma_devices"), 2)
            with open(web, "w", encoding="utf-8") as file:
                file.write(good)
            self.assertEqual(exporter.get("/-/reload", method="POST").status, 200)
            self.assertEqual(exporter.scrape().samples.one("rdma_devices"), 1)

    def test_what_needs_a_restart_says_so(self):
        with self.start("--web.enable-lifecycle", sysfs=self.tree(devices=1).sys) as exporter:
            for text, flag in (("web: {systemd_socket: true}", "--web.systemd-socket"),
                               (f"textfile: {self.folder}/x.prom", "--textfile")):
                self.write(text + "\n")
                answer = exporter.get("/-/reload", method="POST")
                self.assertEqual(answer.status, 500, text)
                self.assertIn(f"{flag}: a change requires a restart", answer.body.decode())

    def test_sighup_reaches_the_text_file_too(self):
        path = os.path.join(self.folder, "rdma.prom")
        with self.start(listen=f"--textfile={path}", ready=False, sysfs=self.tree(devices=3).sys) as exporter:
            def devices():
                if not os.path.exists(path):
                    return None
                with open(path, encoding="utf-8") as file:
                    return next((line.split()[1] for line in file if line.startswith("rdma_devices ")), None)
            self.write("interval: 1s\n")
            self.assertTrue(self.eventually(lambda: devices() == "3"), exporter.log())
            self.write("interval: 1s\ndevice: {exclude: mlx5_1}\n")
            self.hup(exporter, lambda: devices() == "2")

    def test_reads_that_are_stuck_do_not_stop_a_reload(self):
        tree = self.tree(devices=3)
        fifo = self.fifo(tree.devices["mlx5_0"].hw_counter("np_cnp_sent"))
        with self.start("--scrape.timeout=200ms", "--web.enable-lifecycle", sysfs=tree.sys) as exporter:
            exporter.scrape()
            for i in range(4):
                self.write(f"limits: {{workers: 3, series_per_device: {4000 + i}}}\n")
                self.assertEqual(exporter.get("/-/reload", method="POST").status, 200)
                exporter.scrape()
            threads = exporter.status("Threads")
            for i in range(6):
                self.write(f"limits: {{workers: 3, series_per_device: {5000 + i}}}\n")
                refused = exporter.get("/-/reload", method="POST")
                self.assertEqual(refused.status, 500)
                self.assertIn("stuck", refused.body.decode())
                exporter.scrape()
            # A busy machine gets the workers that there may be, but no refused configuration has workers of its own.
            self.assertLessEqual(exporter.status("Threads"), threads + 3)
            fifo.replace("5\n")
            self.assertTrue(self.eventually(lambda: fifo.release("5\n")), "no read was stuck")
            self.assertTrue(self.eventually(lambda: exporter.get("/-/reload", method="POST").status == 200, 10))
            self.assertTrue(self.eventually(lambda: exporter.status("Threads") < threads, 10))

    @slow(2)
    def test_scrapes_while_reloading_are_all_answered(self):
        with self.start("--web.enable-lifecycle", sysfs=self.tree(devices=9).sys) as exporter:
            stop = threading.Event()
            counts = []

            def scrape():
                done = 0
                while not stop.is_set():
                    exporter.scrape()
                    done += 1
                counts.append(done)

            threads = [threading.Thread(target=scrape) for _ in range(3)]
            for thread in threads:
                thread.start()
            for i in range(30):
                self.write(f"limits: {{series_per_device: {4000 + i}}}\n")
                # Refused while four earlier configurations still answer scrapes.
                self.assertTrue(self.eventually(lambda: exporter.get("/-/reload", method="POST").status == 200))
            stop.set()
            for thread in threads:
                thread.join(10)
            self.assertEqual(len(counts), 3)
            self.assertTrue(all(counts), counts)

    def test_what_is_no_file_is_refused_and_a_repair_is_taken(self):
        exporter = self.start("--web.enable-lifecycle", sysfs=self.tree(devices=2).sys)
        with exporter:
            os.unlink(self.file)
            self.fifo(self.file)  # opened as a file it would wait for a writer
            answer = exporter.get("/-/reload", method="POST")
            self.assertEqual(answer.status, 500)
            self.assertIn(f"{self.file}: is not a regular file", answer.body.decode())
            self.assertTrue(self.eventually(lambda: exporter.scrape().samples.one(STATUS) == 0), exporter.log())
            self.write("device: {exclude: mlx5_1}\n")
            self.assertEqual(exporter.get("/-/reload", method="POST").status, 200)
            samples = exporter.scrape().samples
            self.assertEqual((samples.one(STATUS), samples.one("rdma_devices")), (1, 1))

    def test_the_last_of_many_edits_wins(self):
        with self.start(sysfs=self.tree(devices=3).sys) as exporter:
            exporter.scrape()
            for i in range(20):
                self.write("device: {exclude: mlx5_1}\n")
                os.kill(exporter.pid, signal.SIGHUP)
                self.write(f"limits: {{series_per_device: {4000 + i}}}\n")
                self.hup(exporter, lambda: exporter.scrape().samples.one("rdma_devices") == 3)

    def test_an_emptied_file_changes_nothing(self):
        with reserved_port() as port:
            self.write(f"web: {{listen_address: ['127.0.0.1:{port}'], enable_lifecycle: true}}\ndevice: {{exclude: mlx5_1}}\n")
            with self.start(listen="--log.level=info", sysfs=self.tree(devices=3).sys) as exporter:
                for text, message in (("", "the file is empty"), ("# all of it is gone\n", "the file is empty"),
                                      ("device: {exclude: mlx5_1}\n", "--web.listen-address is no longer set")):
                    with self.subTest(text=text):
                        self.write(text)
                        answer = exporter.get("/-/reload", method="POST")
                        self.assertEqual(answer.status, 500)
                        self.assertIn(message, answer.body.decode())
                        self.assertEqual(exporter.scrape().samples.one("rdma_devices"), 2)

    def test_credentials_and_settings_change_together(self):
        web = os.path.join(self.folder, "web.yml")

        def write_password(password):
            with open(web, "w", encoding="utf-8") as file:
                file.write(f"basic_auth_users: {{scraper: '{bcrypt(password)}'}}\n")

        write_password("one")
        self.write(f"web: {{config: {{file: {web}}}, enable_lifecycle: true}}\n")
        with self.start(sysfs=self.tree(devices=2).sys, user="scraper:one") as exporter:
            write_password("two")
            # Refused after the web config has been read and found good.
            self.write(f"web: {{config: {{file: {web}}}, systemd_socket: true}}\n")
            self.assertEqual(exporter.get("/-/reload", method="POST").status, 500)
            self.assertTrue(self.eventually(lambda: "configuration reload failed" in exporter.log()))
            before, _, _ = exporter.log().partition("configuration reload failed")
            self.assertNotIn("web config reloaded", before)
            # By itself the web config follows its file all the same.
            exporter.user = "scraper:two"
            self.assertTrue(self.eventually(lambda: exporter.get("/metrics").status == 200, 8), exporter.log())

    def test_signals_in_the_first_moment_end_nothing(self):
        with self.start(sysfs=self.tree(devices=2).sys, ready=False) as exporter:
            # From the first line of main() on.
            self.assertTrue(self.eventually(lambda: int(exporter.status_text("SigBlk"), 16) & 1 or exporter.log()))
            for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP):
                os.kill(exporter.pid, number)
            exporter.wait_ready()
            self.assertTrue(self.eventually(lambda: "configuration loaded" in exporter.log()), exporter.log())


if __name__ == "__main__":
    import unittest
    unittest.main()
