# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""TLS: versions, suites, client certificates, certificates that change, and what is said when something is wrong."""

import os
import re
import socket
import ssl
import subprocess
import sys
import time
import unittest

import web_files
from harness import BINARY, Exporter, TestCase, run
from marks import slow, timing
from web_files import OPENSSL, Authority, tls_section

REQUEST = b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


class TlsCase(TestCase):
    def setUp(self):
        if not OPENSSL:
            self.skipTest("openssl is not installed")
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.ca = Authority(self.folder)
        self.server = self.ca.issue("server")
        self.config = os.path.join(self.folder, "web.yml")
        self.sysfs = self.tree(devices=1).sys

    def serve(self, *lines, ready=True, flags=()):
        web_files.write(self.config, tls_section(self.server, *lines))
        exporter = Exporter(f"--web.config.file={self.config}", *flags, sysfs=self.sysfs, tls=self.ca.client(), ready=ready)
        self.addCleanup(exporter.stop)
        return exporter

    def s_client(self, exporter, *arguments, data=REQUEST):
        """What openssl s_client prints, both streams."""
        done = subprocess.run(
            [OPENSSL, "s_client", "-connect", f"127.0.0.1:{exporter.port}", "-CAfile", self.ca.cert, "-ign_eof",
             *arguments], input=data, capture_output=True, timeout=20, check=False)
        return (done.stdout + done.stderr).decode(errors="replace")

    def assert_serves(self, output, served=True):
        self.assertEqual("HTTP/1.1 200 OK" in output, served, output[-1500:])


class Versions(TlsCase):
    def test_by_default_1_2_and_1_3_and_nothing_older(self):
        exporter = self.serve()
        for version in ("-tls1_2", "-tls1_3"):
            self.assert_serves(self.s_client(exporter, version))
        for version in ("-tls1", "-tls1_1"):
            output = self.s_client(exporter, version, "-cipher", "ALL:@SECLEVEL=0")
            self.assert_serves(output, False)
            self.assertIn("alert protocol version", output)
        self.assertIn("unsupported protocol", exporter.log())

    def test_the_range_can_be_chosen(self):
        exporter = self.serve("min_version: TLS13")
        self.assert_serves(self.s_client(exporter, "-tls1_2"), False)
        self.assert_serves(self.s_client(exporter, "-tls1_3"))
        exporter.stop()
        exporter = self.serve("min_version: TLS10", "max_version: TLS12", ready=False)
        exporter.wait_ready()
        self.assert_serves(self.s_client(exporter, "-tls1", "-cipher", "ALL:@SECLEVEL=0"))
        self.assert_serves(self.s_client(exporter, "-tls1_1", "-cipher", "ALL:@SECLEVEL=0"))
        self.assert_serves(self.s_client(exporter, "-tls1_3"), False)

    def test_suites_and_curves_can_be_chosen(self):
        exporter = self.serve("cipher_suites: [TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256]",
                              "curve_preferences: [CurveP384]")
        output = self.s_client(exporter, "-tls1_2")
        self.assert_serves(output)
        self.assertIn("ECDHE-ECDSA-CHACHA20-POLY1305", output)
        self.assertIn("secp384r1", output)
        self.assertIn("alert handshake failure",
                      self.s_client(exporter, "-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"))
        self.assert_serves(self.s_client(exporter, "-tls1_3", "-curves", "X25519"), False)

    def test_only_suites_with_forward_secrecy_and_authenticated_encryption(self):
        exporter = self.serve()
        for suite in ("ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES128-SHA256", "AES128-GCM-SHA256", "AES128-SHA"):
            self.assert_serves(self.s_client(exporter, "-tls1_2", "-cipher", suite), False)

    def test_no_session_is_resumed_and_nothing_renegotiated(self):
        exporter = self.serve()
        output = self.s_client(exporter, "-tls1_3")
        self.assertNotIn("Post-Handshake New Session Ticket", output)
        reconnected = self.s_client(exporter, "-tls1_2", "-reconnect")
        self.assertGreaterEqual(reconnected.count("New, TLSv1.2"), 5, reconnected[-1500:])
        self.assertNotIn("Reused", reconnected)
        done = subprocess.run([OPENSSL, "s_client", "-connect", f"127.0.0.1:{exporter.port}", "-tls1_2"],
                              input=b"R\n", capture_output=True, timeout=20, check=False)
        self.assertIn(b"no renegotiation", done.stderr)

    def test_http_1_1_is_spoken_also_with_those_who_prefer_2(self):
        exporter = self.serve()
        output = self.s_client(exporter, "-alpn", "h2,http/1.1")
        self.assert_serves(output)
        self.assertIn("ALPN protocol: http/1.1", output)
        self.assertIn("no application protocol", self.s_client(exporter, "-alpn", "h2"))

    def test_plain_http_is_told_to_use_https(self):
        exporter = self.serve()
        with exporter.socket() as connection:
            connection.sendall(REQUEST)
            answer = connection.recv(65536)
        self.assertTrue(answer.startswith(b"HTTP/1.1 400 "), answer)
        self.assertIn(b"HTTPS", answer)
        self.assertTrue(self.eventually(lambda: "plain HTTP" in exporter.log()))

    def test_a_large_page_arrives_whole_and_the_end_is_announced(self):
        exporter = self.serve()
        output = self.s_client(exporter, "-quiet", data=REQUEST.replace(b"/-/healthy", b"/metrics"))
        self.assertIn("rdma_exporter_build_info", output)
        self.assertNotIn("unexpected eof", output)
        self.assertGreater(len(exporter.scrape().samples), 50)

    @timing
    def test_a_handshake_has_its_time(self):
        exporter = self.serve(flags=["--web.read-timeout=500ms"])
        with exporter.socket() as silent:
            begin = time.monotonic()
            self.assertEqual(silent.recv(100), b"")
            self.assert_within(time.monotonic() - begin, 2)
        refused = "rdma_exporter_http_connections_refused_total"
        self.assertEqual(exporter.scrape().samples.one(refused, reason="tls_timeout"), 1)

    def test_failed_handshakes_are_counted(self):
        exporter = self.serve()
        self.s_client(exporter, "-tls1_1", "-cipher", "ALL:@SECLEVEL=0")
        with exporter.socket():
            pass
        refused = "rdma_exporter_http_connections_refused_total"
        self.assertTrue(self.eventually(lambda: exporter.scrape().samples.one(refused, reason="tls_handshake") == 2))


class ClientCertificates(TlsCase):
    def setUp(self):
        super().setUp()
        self.good = self.ca.issue("good", "DNS:prometheus.example,IP:192.0.2.7,URI:spiffe://cluster/prometheus")
        self.expired = self.ca.issue("expired", days=-1)
        self.foreign = Authority(self.folder, "other-ca").issue("foreign")

    def outcomes(self, *lines):
        """Which of no, the good, the expired and the foreign certificate are served, by a server of its own."""
        exporter = self.serve(*lines, ready=False)
        exporter.tls = self.ca.client(self.good)
        exporter.wait_ready()
        served = []
        for name, pair in (("none", None), ("good", self.good), ("expired", self.expired), ("foreign", self.foreign)):
            arguments = ["-cert", pair.cert, "-key", pair.key] if pair else []
            outputs = [self.s_client(exporter, version, *arguments) for version in ("-tls1_2", "-tls1_3")]
            self.assertEqual("200 OK" in outputs[0], "200 OK" in outputs[1], "TLS 1.2 and 1.3 differ")
            if "200 OK" in outputs[0]:
                served.append(name)
        exporter.stop()
        return served, exporter.log()

    @slow(2)
    def test_each_policy(self):
        ca = f"client_ca_file: {self.ca.cert}"
        everybody = ["none", "good", "expired", "foreign"]
        for policy, lines, expected in (
                ("NoClientCert", [], everybody),
                ("RequestClientCert", [ca], everybody),
                ("RequireAnyClientCert", [ca], ["good", "expired", "foreign"]),
                ("RequireClientCert", [ca], ["good", "expired", "foreign"]),
                ("VerifyClientCertIfGiven", [ca], ["none", "good"]),
                ("RequireAndVerifyClientCert", [ca], ["good"])):
            with self.subTest(policy=policy):
                served, _ = self.outcomes(f"client_auth_type: {policy}", *lines)
                self.assertEqual(served, expected)

    def refusal(self, pair, *lines):
        """What the log of a server that verifies says about a client with this certificate."""
        exporter = self.serve("client_auth_type: RequireAndVerifyClientCert", f"client_ca_file: {self.ca.cert}",
                              *lines, ready=False)
        self.eventually(lambda: "listening" in exporter.log())
        self.assert_serves(self.s_client(exporter, *(["-cert", pair.cert, "-key", pair.key] if pair else [])), False)
        exporter.stop()
        return exporter.log()

    def test_the_log_says_why_a_client_was_refused(self):
        self.assertIn("peer did not return a certificate", self.refusal(None))
        self.assertIn("certificate has expired", self.refusal(self.expired))
        self.assertIn("unable to get local issuer certificate", self.refusal(self.foreign))
        self.assertIn("none of the names in client_allowed_sans", self.refusal(self.good, "client_allowed_sans: [somebody.else]"))

    @slow(1)
    def test_names_that_are_allowed(self):
        for name in ("prometheus.example", "192.0.2.7", "spiffe://cluster/prometheus"):
            served, _ = self.outcomes("client_auth_type: RequireAndVerifyClientCert",
                                      f"client_ca_file: {self.ca.cert}", f"client_allowed_sans: [x, '{name}']")
            self.assertEqual(served, ["good"], name)


class Changes(TlsCase):
    def serial(self, exporter):
        with socket.create_connection(("127.0.0.1", exporter.port), timeout=5) as plain:
            with self.ca.client().wrap_socket(plain, server_hostname="localhost") as connection:
                return connection.getpeercert()["serialNumber"]

    @slow(2)
    def test_a_new_certificate_is_used_and_open_connections_stay(self):
        exporter = self.serve()
        first = self.serial(exporter)
        kept = exporter.connect()
        kept.request("GET", "/-/healthy")
        kept.getresponse().read()
        self.ca.issue("server")
        self.assertTrue(self.eventually(lambda: self.serial(exporter) != first, 8))
        kept.request("GET", "/-/healthy")
        self.assertEqual(kept.getresponse().status, 200)
        kept.close()

    @slow(4)
    def test_a_bad_file_changes_nothing_and_is_reported(self):
        exporter = self.serve()
        good, failures = ("rdma_exporter_web_config_last_reload_successful",
                          "rdma_exporter_web_config_reload_failures_total")
        samples = exporter.scrape().samples
        self.assertEqual((samples.one(good), samples.one(failures)), (1, 0))
        first = self.serial(exporter)
        with open(self.server.cert, "w", encoding="ascii") as file:
            file.write("nonsense\n")
        self.assertTrue(self.eventually(lambda: exporter.scrape().samples.one(good) == 0, 8))
        self.assertEqual(self.serial(exporter), first)
        self.assertEqual(exporter.scrape().samples.one(failures), 1)
        self.assertIn("server.pem: no certificate in PEM form", exporter.log())
        self.ca.issue("server")
        self.assertTrue(self.eventually(lambda: exporter.scrape().samples.one(good) == 1, 8))
        self.assertNotEqual(self.serial(exporter), first)

    @slow(2)
    def test_an_empty_file_does_not_open_the_port(self):
        exporter = self.serve()
        web_files.write(self.config, "")
        good = "rdma_exporter_web_config_last_reload_successful"
        self.assertTrue(self.eventually(lambda: exporter.scrape().samples.one(good) == 0, 8))
        self.assertIn("restart the exporter", exporter.log())
        with exporter.socket() as connection:
            connection.sendall(REQUEST)
            self.assertTrue(connection.recv(65536).startswith(b"HTTP/1.1 400 "))


class AtTheStart(TlsCase):
    def refused(self, text, status=2):
        """The message of a daemon that must not start. Status 1: what may pass, so that systemd tries again."""
        web_files.write(self.config, text)
        flags = [f"--web.config.file={self.config}", f"--path.sysfs={self.sysfs}"]
        checked = run(*flags, "--check-config")
        self.assertEqual(checked.returncode, status, checked.stderr)
        served = run(*flags, "--web.listen-address=127.0.0.1:0")
        self.assertEqual(served.returncode, status, served.stderr)
        self.assertIn(checked.stderr.strip().removeprefix("rdma_exporter: "), served.stderr.replace('\\"', '"').replace("\\\\", "\\"))
        self.assertIn("--web.config.file: ", checked.stderr)
        return checked.stderr.replace(self.folder + "/", "")

    def test_every_mistake_has_its_message(self):
        other = self.ca.issue("other")
        os.rename(other.key, self.folder + "/odd.key")
        for text, message in (
                ("tls_server_config:\n  cert_file: none.pem\n  key_file: server.key\n",
                 "web.yml:2: tls_server_config.cert_file: none.pem: No such file or directory"),
                ("tls_server_config:\n  cert_file: server.pem\n  key_file: odd.key\n",
                 "web.yml:3: tls_server_config.key_file: odd.key: the key does not belong to the certificate"),
                ("tls_server_config:\n  cert_file: server.pem\n  key_flie: x\n", "did you mean tls_server_config.key_file?"),
                ("basic_auth_users:\n  a: secret\n", 'web.yml:2: basic_auth_users."a": is not a bcrypt hash')):
            message_seen = self.refused(text, status=1 if "No such file" in message else 2)
            self.assertIn(message, message_seen)
            self.assertNotIn("secret", message_seen)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody who may not read the key")
    def test_a_key_that_may_not_be_read(self):
        web_files.write(self.config, tls_section(self.server))
        os.chmod(self.config, 0o644)
        os.chmod(self.server.key, 0o600)
        done = subprocess.run([sys.executable, "-c", "import os, sys; os.setgid(65534); os.setuid(65534);"
                               "os.execv(sys.argv[1], sys.argv[1:])", BINARY, f"--web.config.file={self.config}",
                               "--path.sysfs=/", "--check-config"],
                              capture_output=True, text=True, timeout=10, check=False)
        if "execv" in done.stderr:
            self.skipTest("others cannot run the binary where it is")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, re.escape("tls_server_config.key_file: ") + ".*server.key: Permission denied")

    def test_warnings_for_what_works_but_is_hardly_meant(self):
        self.server = self.ca.issue("server", days=-1)
        os.chmod(self.server.key, 0o644)
        exporter = self.serve("client_auth_type: VerifyClientCertIfGiven", ready=False)
        self.assertTrue(self.eventually(lambda: "listening" in exporter.log()))
        for words in ("clients will reject the TLS certificate", "expired at", "is readable by every user of this host",
                      "no client_ca_file"):
            self.assertIn(words, exporter.log())
        with self.assertRaises(ssl.SSLCertVerificationError):
            exporter.get("/-/healthy")
