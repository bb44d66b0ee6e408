# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The three formats, compression, filters and the limit of a page, over HTTP."""

import gzip
import os
import shutil
import subprocess
import urllib.parse

from harness import REPOSITORY, Exporter, Samples, TestCase, key
from marks import timing
import open_metrics
import prom_proto
import prom_text

RECORDING = os.path.join(REPOSITORY, "tests", "recordings", "soft-roce-host")
TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PROTOBUF = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
DURATION = "rdma_exporter_scrape_duration_seconds"
# Where Debian's golang-github-prometheus-client-model-dev and libprotobuf-dev put the schema.
SCHEMA = "/usr/share/gocode/src/github.com/prometheus/client_model/io/prometheus/client/metrics.proto"
TIMESTAMP = "/usr/include/google/protobuf/timestamp.proto"


def replay(*flags):
    return Exporter(f"--replay={RECORDING}", *flags)


class Formats(TestCase):
    def get(self, exporter, content_type, path="/metrics", **headers):
        page = exporter.get(path, {"Accept": content_type, **headers})
        self.assertEqual((page.status, page.headers["Content-Type"]), (200, content_type))
        self.assertEqual(page.headers["Vary"], "Accept, Accept-Encoding")
        return page

    def test_all_three_are_strictly_right_and_say_the_same(self):
        with replay() as exporter:
            exporter.wait_for_checks()
            text = Samples(prom_text.parse(self.get(exporter, TEXT).body))
            open_page = open_metrics.read(self.get(exporter, OPENMETRICS).body)
            self.assertEqual(open_page.problems, [])
            protobuf = prom_proto.read(self.get(exporter, PROTOBUF).body)
        self.assertGreater(len(text.kernel()), 50)
        self.assertEqual(Samples(open_page.samples).kernel(), text.kernel())
        self.assertEqual(Samples(protobuf.samples).kernel(), text.kernel())
        self.assertEqual(set(open_page.samples), set(text))
        self.assertEqual(set(protobuf.samples), set(text))

    def test_types_and_units_of_openmetrics(self):
        with replay() as exporter:
            page = open_metrics.read(self.get(exporter, OPENMETRICS).body)
        self.assertEqual(page.types["rdma_port"], "info")
        self.assertEqual(page.types["rdma_port_packets"], "counter")
        self.assertEqual(page.units["rdma_port_packets"], "packets")
        self.assertEqual(page.units["process_cpu_seconds"], "seconds")
        self.assertEqual(page.types[DURATION], "histogram")
        self.assertEqual(page.units[DURATION], "seconds")
        self.assertNotIn("stateset", page.types.values())

    def test_exemplars_name_the_slowest_job(self):
        with replay() as exporter:
            page = open_metrics.read(self.get(exporter, OPENMETRICS).body)
            protobuf = prom_proto.read(self.get(exporter, PROTOBUF).body)
            collectors = {dict(k[1])["collector"] for k in exporter.scrape().samples.select(
                "rdma_exporter_collector_success")}
        for exemplars in (page.exemplars, protobuf.exemplars):
            self.assertTrue(exemplars)
            for labels, value, _ in exemplars.values():
                self.assertEqual({name for name, _ in labels}, {"collector", "device"})
                self.assertIn(dict(labels)["collector"], collectors)
                self.assertGreater(value, 0)

    def test_created_series_only_on_request_and_where_the_start_is_known(self):
        with replay() as exporter:
            self.assertNotIn(b"_created", self.get(exporter, OPENMETRICS).body)
        with replay("--web.openmetrics-created") as exporter:
            samples = open_metrics.parse(self.get(exporter, OPENMETRICS).body)
            self.assertNotIn(b"_created", self.get(exporter, TEXT).body)
        created = {name for name, _ in samples if name.endswith("_created")}
        self.assertIn("rdma_exporter_scrapes_created", created)
        self.assertIn(DURATION + "_created", created)
        self.assertEqual([n for n in created if not n.startswith(("rdma_exporter_", "process_"))], [])
        start = samples[key("process_start_time_seconds")]
        self.assertLess(abs(samples[key("rdma_exporter_scrapes_created")] - start), 5)

    def test_the_text_page_satisfies_promtool(self):
        with replay() as exporter:
            self.assert_promtool(self.get(exporter, TEXT).body)

    def test_the_published_schema_knows_every_field(self):
        protoc = shutil.which("protoc")
        if not (protoc and os.path.exists(SCHEMA) and os.path.exists(TIMESTAMP)):
            self.skipTest("protobuf-compiler, libprotobuf-dev or golang-github-prometheus-client-model-dev is missing")
        with replay() as exporter:
            page = self.get(exporter, PROTOBUF).body
        decoded = []
        for message in prom_proto.messages(page):
            done = subprocess.run(
                [protoc, f"--proto_path={os.path.dirname(SCHEMA)}", f"--proto_path={TIMESTAMP.split('/google')[0]}",
                 "--decode=io.prometheus.client.MetricFamily", SCHEMA], input=message, capture_output=True, check=True)
            decoded.append(done.stdout.decode())
        self.assertEqual(len(decoded), len(prom_proto.read(page).types))
        for family in decoded:
            self.assertNotRegex(family, r"(?m)^\s*[0-9]+[:{ ]", "a field that the schema does not have")
        histogram = next(family for family in decoded if f'name: "{DURATION}"' in family)
        for field in ("sample_count", "sample_sum", "upper_bound: inf", "exemplar", "schema: 3", "zero_threshold",
                      "zero_count", "positive_span", "positive_delta"):
            self.assertIn(field, histogram)

    def test_gzip_is_for_those_who_take_it_in_every_format(self):
        with replay() as exporter:
            for content_type, parse in ((TEXT, prom_text.parse), (OPENMETRICS, open_metrics.parse),
                                        (PROTOBUF, lambda body: prom_proto.read(body).samples)):
                plain = self.get(exporter, content_type)
                self.assertIsNone(plain.headers["Content-Encoding"])
                packed = self.get(exporter, content_type, **{"Accept-Encoding": "br, gzip"})
                self.assertEqual(packed.headers["Content-Encoding"], "gzip")
                self.assertLess(len(packed.body), len(plain.body) / 3)
                self.assertEqual(Samples(parse(gzip.decompress(packed.body))).kernel(),
                                 Samples(parse(plain.body)).kernel())

    def test_a_head_request_tells_the_same_without_the_body(self):
        """Also while another form of the page is being written, that of the collection of the start."""
        with replay() as exporter:
            page = exporter.get("/metrics", {"Accept": OPENMETRICS, "Accept-Encoding": "gzip"}, method="HEAD")
            self.assertEqual(page.body, b"")
            self.assertEqual(page.headers["Content-Type"], OPENMETRICS)
            self.assertEqual(page.headers["Content-Encoding"], "gzip")
            self.assertGreater(int(page.headers["Content-Length"]), 1000)

    def test_a_page_that_is_too_long_loses_families_and_says_so(self):
        tree = self.tree(driver="mlx5", devices=40)
        with Exporter("--limits.page-bytes=65536", "--raw=all", "--metrics.set=full", sysfs=tree.sys) as exporter:
            exporter.scrape()
            page = exporter.scrape()
            whole_self = len(b"\n".join(line for line in page.body.split(b"\n") if b"rdma_exporter" in line))
        self.assertLess(len(page.body), 65536 + whole_self + 4096)
        self.assertGreater(page.samples.one("rdma_exporter_page_series_dropped_total"), 1000)
        self.assertTrue(page.samples.select("rdma_device_up"), "families that fit are there")
        self.assertFalse(page.samples.select("rdma_port_raw_total"), "the longest is not")


class Filters(TestCase):
    def names(self, exporter, query):
        page = exporter.get(f"/metrics?{query}")
        self.assertEqual(page.status, 200, page.body)
        return page.samples, {dict(k[1])["collector"] for k in page.samples.select("rdma_exporter_collector_success")}

    def test_collect_and_exclude(self):
        with replay() as exporter:
            everything = exporter.scrape().samples
            port, collectors = self.names(exporter, "collect[]=port")
            self.assertEqual(collectors, {"discovery", "port"})
            self.assertTrue(port.select("rdma_port_up"))
            self.assertFalse(port.select("rdma_device_info"))
            self.assertTrue(port.select("rdma_exporter_build_info"))
            two, collectors = self.names(exporter, "collect%5B%5D=p%6Frt&collect[]=device")
            self.assertEqual(collectors, {"discovery", "port", "device"})
            rest, collectors = self.names(exporter, "exclude[]=port&exclude[]=device")
            self.assertFalse(rest.select("rdma_port_up"))
            self.assertEqual({**two.kernel(), **rest.kernel()}, everything.kernel(), "the parts make the whole")

    def test_a_filter_that_cannot_be_is_refused_with_the_reason(self):
        with Exporter(f"--replay={RECORDING}", "--no-collector.hw_counters") as exporter:
            for query, message in (
                    ("collect[]=nic", b'collect[]: unknown collector "nic"\n'),
                    ("exclude[]=", b'exclude[]: unknown collector ""\n'),
                    ("collect[]=hw_counters", b'collect[]: the collector "hw_counters" is switched off\n'),
                    ("collect[]=port&exclude[]=device", b"collect[] and exclude[] cannot be combined\n"),
                    ("collect[]=%zz", b"broken percent escape in the query\n"),
                    ("collect[]=" + urllib.parse.quote('<b>"\n\r\xff'), None)):
                page = exporter.get("/metrics?" + query)
                self.assertEqual(page.status, 400, query)
                self.assertEqual(page.headers["Content-Type"], "text/plain; charset=utf-8")
                if message:
                    self.assertEqual(page.body, message)
            self.assertEqual(exporter.get("/metrics?exclude[]=hw_counters").status, 200)

    @timing
    def test_what_is_left_out_is_not_read(self):
        tree = self.tree(driver="mlx5", devices=2)
        with Exporter("--limits.kept-files=0", sysfs=tree.sys) as exporter:
            exporter.scrape()
            fifo = self.fifo(tree.devices["mlx5_0"].hw_counter("np_cnp_sent"))
            page = exporter.get("/metrics?exclude[]=hw_counters")
            self.assert_within(page.seconds, 0.5)
            self.assertFalse(fifo.has_reader())
            self.assertTrue(page.samples.select("rdma_port_up", device="mlx5_0"))
            exporter.get("/metrics?collect[]=hw_counters", {"X-Prometheus-Scrape-Timeout-Seconds": "1"})
            self.assertTrue(fifo.has_reader(), "it is read when it is asked for")

    def test_scrapes_with_different_filters_and_formats_at_once(self):
        tree = self.tree(driver="mlx5", devices=9)
        with Exporter(sysfs=tree.sys) as exporter:
            whole = exporter.scrape().samples.kernel()
            before = exporter.scrape().samples.one("rdma_exporter_scrapes_total")
            requests = [("/metrics", TEXT), ("/metrics?collect[]=port", OPENMETRICS), ("/metrics", PROTOBUF),
                        ("/metrics?exclude[]=port", TEXT)] * 5

            def scrape(i):
                path, accept = requests[i]
                page = exporter.get(path, {"Accept": accept, "Accept-Encoding": "gzip"})
                body = gzip.decompress(page.body) if page.headers["Content-Encoding"] else page.body
                parse = {TEXT: prom_text.parse, OPENMETRICS: open_metrics.parse,
                         PROTOBUF: lambda b: prom_proto.read(b).samples}[accept]
                return Samples(parse(body)).kernel()

            results = self.in_threads(len(requests), scrape)
            after = exporter.scrape().samples.one("rdma_exporter_scrapes_total")
        for (path, _), samples in zip(requests, results):
            if path == "/metrics":
                self.assertEqual(samples, whole)
            wanted = {k: v for k, v in whole.items() if k in samples}
            self.assertEqual(samples, wanted)
            self.assertEqual(bool(samples.select("rdma_port_up")), "exclude" not in path)
        self.assertLess(after - before, len(requests), "they share collections")
