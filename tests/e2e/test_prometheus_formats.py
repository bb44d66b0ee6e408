# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A real Prometheus scrapes each of the formats and stores what was sent."""

import gzip
import http.client
import http.server
import os
import shutil
import threading
import time
import unittest

from harness import REPOSITORY, Exporter, TestCase, temporary_folder
from marks import slow
from prometheus_server import PROMETHEUS, Server
import open_metrics
import prom_proto
import prom_text
import prometheus3

RECORDING = os.path.join(REPOSITORY, "tests", "recordings", "soft-roce-host")
DURATION = "rdma_exporter_scrape_duration_seconds"
SCRAPES = 4


class Recorder:
    """A proxy before an exporter that keeps what passes; `accept` replaces what the client accepts."""

    def __init__(self, exporter, accept=None):
        recorder = self
        self.pages = []  # (content type, body without compression)
        self.encodings = set()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                headers = {k: v for k, v in self.headers.items() if k != "Host"}
                if accept:
                    headers["Accept"] = accept
                connection = http.client.HTTPConnection("127.0.0.1", exporter.port, timeout=10)
                connection.request("GET", self.path, headers=headers)
                answer = connection.getresponse()
                body = answer.read()
                connection.close()
                recorder.encodings.add(answer.headers["Content-Encoding"])
                packed = answer.headers["Content-Encoding"] == "gzip"
                recorder.pages.append((answer.headers["Content-Type"], gzip.decompress(body) if packed else body))
                self.send_response(answer.status)
                for name in ("Content-Type", "Content-Encoding", "Content-Length"):
                    if answer.headers[name]:
                        self.send_header(name, answer.headers[name])
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def stored_key(result):
    labels = {k: v for k, v in result["metric"].items() if k not in ("job", "instance", "__name__")}
    return (result["metric"]["__name__"], frozenset(labels.items()))


@slow(12)
@unittest.skipUnless(PROMETHEUS, "prometheus is not installed")
class Stored(TestCase):
    """One exporter; a server as it is by default, and one with native histograms, which asks for protobuf."""

    PROGRAM = PROMETHEUS

    @classmethod
    def setUpClass(cls):
        cls.place = temporary_folder()
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        exporter = Exporter(f"--replay={RECORDING}")
        cls.addClassCleanup(exporter.__exit__, None, None, None)
        exporter.wait_for_checks()
        cls.recorders = {"text": Recorder(exporter, "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
                         "openmetrics": Recorder(exporter), "protobuf": Recorder(exporter)}
        for recorder in cls.recorders.values():
            cls.addClassCleanup(recorder.stop)
        cls.servers = {}
        for name, jobs, features in (("plain", ("text", "openmetrics"), "exemplar-storage"),
                                     ("native", ("protobuf",), "exemplar-storage,native-histograms")):
            folder = os.path.join(cls.place, name)
            os.mkdir(folder)
            server = Server(folder, {job: cls.recorders[job] for job in jobs}, f"--enable-feature={features}", program=cls.PROGRAM)
            cls.addClassCleanup(server.stop)
            cls.servers.update({job: server for job in jobs})
        end = time.monotonic() + 60
        while min(len(r.pages) for r in cls.recorders.values()) < SCRAPES and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(0.5)  # for the append

    def assert_stored(self, job, content_type, parse):
        """Every series of the pages is there, with all of its values, and no other series."""
        recorder, server = self.recorders[job], self.servers[job]
        self.assertEqual(server.targets()[job], ("up", ""))
        self.assertEqual({t for t, _ in recorder.pages}, {content_type})
        self.assertEqual(recorder.encodings, {"gzip"})
        # First what is stored: scrapes go on meanwhile.
        stored = {stored_key(r): [float(v) for _, v in r["values"]] for r in server.query(
            f'{{job="{job}",__name__=~"rdma_.+|process_.+"}}[5m]') if "values" in r}
        sent = {}
        for _, body in recorder.pages:
            for k, value in parse(body).items():
                sent.setdefault(k, []).append(float(value))
        self.assertEqual(set(stored), set(sent))
        for k, values in stored.items():
            self.assertGreaterEqual(len(values), SCRAPES - 1, k)
            self.assertEqual(values, sent[k][:len(values)], k)

    def test_text(self):
        self.assert_stored("text", "text/plain; version=0.0.4; charset=utf-8", prom_text.parse)

    def test_openmetrics(self):
        self.assert_stored("openmetrics", "application/openmetrics-text; version=1.0.0; charset=utf-8",
                           open_metrics.parse)

    # With native histograms switched on, Prometheus takes the native form in place of the classic one.
    def test_protobuf(self):
        def parse(body):
            return {k: v for k, v in prom_proto.read(body).samples.items() if not k[0].startswith(DURATION)}

        self.assert_stored("protobuf", "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
                           "encoding=delimited", parse)

    def test_native_histograms(self):
        sent = [prom_proto.read(body).native[(DURATION, frozenset())] for _, body in self.recorders["protobuf"].pages]
        result, = self.servers["protobuf"].query(f"{DURATION}[5m]")
        stored = [histogram for _, histogram in result["histograms"]]
        self.assertGreaterEqual(len(stored), SCRAPES - 1)
        for ours, theirs in zip(sent, stored):
            self.assertEqual((float(theirs["count"]), float(theirs["sum"])), (ours.count, ours.sum))
            buckets = {float(upper): float(count) for _, _, upper, count in theirs["buckets"]}
            self.assertEqual(len(buckets), len(ours.buckets))
            for (upper, count), (index, expected) in zip(sorted(buckets.items()), sorted(ours.buckets.items())):
                self.assertAlmostEqual(upper, 2 ** (index / 8), delta=upper * 1e-9)
                self.assertEqual(count, expected)
        quantile, = self.servers["protobuf"].query(f"histogram_quantile(0.5, {DURATION})")
        self.assertGreater(float(quantile["value"][1]), 0)

    def test_metadata(self):
        for job, name, kind, unit in (
                ("text", "rdma_port_packets_total", "counter", ""), ("text", "rdma_port_info", "gauge", ""),
                ("openmetrics", "rdma_port_packets", "counter", "packets"), ("openmetrics", "rdma_port", "info", ""),
                ("openmetrics", DURATION, "histogram", "seconds"), ("protobuf", DURATION, "histogram", "")):
            metadata = {entry["metric"]: entry for entry in self.servers[job].api(
                "targets/metadata", match_target=f'{{job="{job}"}}')}
            self.assertEqual((metadata[name]["type"], metadata[name]["unit"]), (kind, unit), (job, name))
            self.assertTrue(metadata[name]["help"])

    def test_exemplars(self):
        now = time.time()
        for job, read in (("openmetrics", open_metrics.read), ("protobuf", prom_proto.read)):
            data = self.servers[job].api("query_exemplars", query=f'{{__name__=~"{DURATION}.*",job="{job}"}}',
                                         start=now - 300, end=now + 60)
            sent = {round(value, 9) for _, body in self.recorders[job].pages
                    for _, value, _ in read(body).exemplars.values()}
            stored = [exemplar for series in data for exemplar in series["exemplars"]]
            self.assertTrue(stored, job)
            for exemplar in stored:
                self.assertEqual(set(exemplar["labels"]) | {"device"}, {"collector", "device"})
                self.assertIn(round(float(exemplar["value"]), 9), sent)


class StoredByPrometheus3(Stored):
    """It asks for other formats, and refuses an answer whose Content-Type it does not know."""

    @classmethod
    def setUpClass(cls):
        folder, why = prometheus3.installed()
        if not folder:
            raise unittest.SkipTest(why)
        cls.PROGRAM = folder / "prometheus"
        super().setUpClass()
