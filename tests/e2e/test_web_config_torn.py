# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A web config file that was truncated anywhere, for example by a full disk, weakens no protection."""

import os
import signal
import ssl

import web_files
from harness import Exporter, TestCase
from web_files import OPENSSL, Authority, tls_section, users_section

STATUS = "rdma_exporter_config_last_reload_successful"
WEB_STATUS = "rdma_exporter_web_config_last_reload_successful"


class TornWebConfig(TestCase):
    def setUp(self):
        if not OPENSSL:
            self.skipTest("openssl is not installed")
        super().setUp()
        self.ca = Authority(self.folder)
        self.client = self.ca.issue("client", "DNS:prometheus.example")
        self.stranger = self.ca.issue("stranger", "DNS:somebody.example")
        self.web = os.path.join(self.folder, "web.yml")
        self.whole = users_section({"alice": "secret"}) + tls_section(
            self.ca.issue("server"), "client_auth_type: RequireAndVerifyClientCert", f"client_ca_file: {self.ca.cert}",
            "client_allowed_sans:", "  - prometheus.example", "min_version: TLS13")
        web_files.write(self.web, self.whole)

    def start(self):
        return Exporter(f"--web.config.file={self.web}", "--web.enable-lifecycle", sysfs=self.tree(devices=1).sys,
                        tls=self.ca.client(self.client), user="alice:secret")

    def status_of(self, exporter, pair, user=None, newest=None):
        """What a client with this certificate gets: an HTTP status, or None when TLS refuses it."""
        known = exporter.tls, exporter.user
        exporter.tls, exporter.user = self.ca.client(pair), user
        if newest:
            exporter.tls.maximum_version = newest
        try:
            return exporter.get("/-/healthy").status
        except (ssl.SSLError, ConnectionError):
            return None
        finally:
            exporter.tls, exporter.user = known

    def assert_as_strict_as_before(self, exporter):
        self.assertEqual(self.status_of(exporter, self.client, "alice:secret"), 200)
        self.assertEqual(self.status_of(exporter, self.client), 401)
        self.assertIsNone(self.status_of(exporter, None, "alice:secret"), "without a certificate")
        self.assertIsNone(self.status_of(exporter, self.stranger, "alice:secret"), "a name that is not allowed")
        self.assertIsNone(self.status_of(exporter, self.client, "alice:secret", ssl.TLSVersion.TLSv1_2), "TLS 1.2")

    def test_wherever_it_is_cut_everything_that_was_asked_for_still_is(self):
        lines = [i + 1 for i, c in enumerate(self.whole) if c == "\n"]
        cuts = sorted({0, 5, *lines[:-1], *(end - 3 for end in lines)})
        refused = 0
        with self.start() as exporter:
            for cut in cuts:
                with self.subTest(cut=self.whole[:cut]):
                    web_files.write(self.web, self.whole[:cut])
                    answer = exporter.get("/-/reload", method="POST")
                    self.assertEqual(answer.status, 500, answer.body)
                    refused += b"would weaken the security in force" in answer.body
                    self.assertEqual(exporter.scrape().samples.one(STATUS), 0)
                    self.assert_as_strict_as_before(exporter)
            self.assertGreaterEqual(refused, 4, "cuts that are valid files")
            web_files.write(self.web, self.whole)
            self.assertEqual(exporter.get("/-/reload", method="POST").status, 200)
            self.assertEqual(exporter.scrape().samples.one(STATUS), 1)

    def test_nobody_has_to_ask_for_the_refusal_and_the_log_names_what_would_be_weaker(self):
        with self.start() as exporter:
            web_files.write(self.web, self.whole[:self.whole.index("  client_auth_type")])
            self.assertTrue(self.eventually(lambda: exporter.scrape().samples.one(WEB_STATUS) == 0, 10))
            log = exporter.log()
            for what in ("level=error", "clients would no longer need a certificate", "client_ca_file", "client_allowed_sans",
                         "min_version", "restart the exporter"):
                self.assertIn(what, log)
            self.assert_as_strict_as_before(exporter)

    def test_sighup_weakens_nothing_either(self):
        with self.start() as exporter:
            web_files.write(self.web, "")
            os.kill(exporter.pid, signal.SIGHUP)
            self.assertTrue(self.eventually(lambda: exporter.scrape().samples.one(STATUS) == 0), exporter.log())
            self.assert_as_strict_as_before(exporter)

    def test_a_restart_takes_the_weaker_file(self):
        web_files.write(self.web, tls_section(self.ca.issue("server")))
        with self.start() as exporter:
            self.assertEqual(self.status_of(exporter, None), 200)
