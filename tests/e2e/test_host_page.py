# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The pages for people, "/" and "/report": what they show of the last collection, who may have them, and that a browser
draws them, narrow and wide, light and dark."""

import html.parser
import json
import os
import re
import shutil
import subprocess
import unittest

from harness import REPOSITORY, Exporter, TestCase, run
from marks import slow

INCIDENT = os.path.join(REPOSITORY, "tests/captures/connectx-incident.tar.gz")
# What a browser found, written where --dump-dom shows it: the exporter's own pages run no script.
PROBE = """<pre id=probe></pre><script>
const style = getComputedStyle(document.querySelector('section')), all = document.querySelectorAll('section');
document.getElementById('probe').textContent = JSON.stringify({
  width: innerWidth, content: document.documentElement.scrollWidth, dark: matchMedia('(prefers-color-scheme:dark)').matches,
  text: style.color, background: style.backgroundColor,
  columns: new Set([...all].map(s => s.getBoundingClientRect().left)).size,
  bars: [...document.querySelectorAll('.f b')].map(b => b.getBoundingClientRect().width)});</script>"""


class Page(html.parser.HTMLParser):
    """Text, and the tags and links."""

    def __init__(self, body):
        super().__init__()
        self.tags, self.links, self.words = set(), [], ""
        self.feed(body.decode())

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data):
        self.words += data


class Pages(TestCase):
    def test_the_page_shows_ports_and_where_everything_is(self):
        with Exporter(sysfs=self.tree(devices=2).sys) as exporter:
            exporter.scrape()
            answer = exporter.get("/")
            page = Page(answer.body)
            self.assertEqual(set(page.links), {"/metrics", "/report", "/-/healthy", "/-/ready"})
            for link in page.links:
                self.assertEqual(exporter.get(link).status, 200, link)
        for words in ("mlx5_0/1", "mlx5_1/1", "ACTIVE", "rdma_exporter"):
            self.assertIn(words, page.words)
        self.assertIn("http-equiv=refresh", answer.body.decode())
        self.assertFalse({"script", "link", "img", "iframe"} & page.tags)
        self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])

    def test_it_is_of_the_last_collection_and_reads_nothing_itself(self):
        tree = self.tree(devices=1)
        state = os.path.join(tree.devices["mlx5_0"].dir, "ports/1/state")
        with Exporter(sysfs=tree.sys) as exporter:
            exporter.scrape()
            with open(state, "w", encoding="ascii") as file:
                file.write("1: DOWN\n")
            self.assertNotIn("DOWN", Page(exporter.get("/").body).words)
            exporter.scrape()
            self.assertIn("The port is DOWN", Page(exporter.get("/").body).words)

    def test_the_sessions_of_the_probe_are_json_also_without_a_probe(self):
        with Exporter(sysfs=self.tree(devices=1).sys) as exporter:
            answer = exporter.get("/probe")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["Content-Type"], "application/json")
        document = json.loads(answer.body)
        self.assertEqual((document["schema"], document["active"], document["sessions"]), (1, False, []))

    def test_the_report_is_a_file_to_keep(self):
        with Exporter(sysfs=self.tree(devices=1).sys) as exporter:
            exporter.scrape()
            answer = exporter.get("/report")
        self.assertEqual(answer.headers["Content-Disposition"], 'attachment; filename="rdma-report.html"')
        self.assertNotIn("http-equiv=refresh", answer.body.decode())
        self.assertEqual(Page(answer.body).links, [])
        self.assertIn("mlx5_0/1", Page(answer.body).words)

    def test_a_host_without_devices_has_a_page(self):
        with Exporter(sysfs=self.tree(devices=0).sys) as exporter:
            exporter.scrape()
            self.assertIn("No RDMA device", Page(exporter.get("/").body).words)

    def test_136_devices_fit_in_100_kB(self):
        with Exporter(sysfs=self.tree(devices=136).sys) as exporter:
            exporter.scrape()
            for path in ("/", "/report"):
                body = exporter.get(path).body
                self.assertLess(len(body), 100_000, path)
                words = Page(body).words
                self.assertIn("mlx5_135/1", words)
                self.assertLess(words.index("mlx5_2/1"), words.index("mlx5_10/1"))

    def test_a_flood_of_pages_ends_and_metrics_are_served_meanwhile(self):
        with Exporter(sysfs=self.tree(devices=8).sys) as exporter:
            exporter.scrape()
            statuses = self.in_threads(24, lambda _: exporter.get("/").status)
            self.assertLessEqual(set(statuses), {200, 503})
            self.assertIn(200, statuses)
            self.assertEqual(exporter.scrape().status, 200)
            self.assertEqual(exporter.get("/").status, 200)


@unittest.skipUnless(shutil.which("chromium"), "no chromium")
class Browser(TestCase):
    def look(self, path, width, dark):
        done = subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={self.folder}/chromium", f"--window-size={width},900",
             f"--blink-settings=preferredColorScheme={0 if dark else 1}", "--dump-dom", f"file://{path}"],
            capture_output=True, text=True, timeout=120, check=True)
        return json.loads(re.search(r'<pre id="probe">(.*?)</pre>', done.stdout)[1])

    @slow(20)
    def test_it_is_drawn_narrow_and_wide_light_and_dark(self):
        done = run("report", "--format=html", f"--replay={INCIDENT}")
        path = os.path.join(self.folder, "report.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(done.stdout.replace("</body>", PROBE + "</body>"))
        columns = {}
        for width in (500, 1300):
            for dark in (True, False):
                seen = self.look(path, width, dark)
                self.assertEqual(seen["dark"], dark)
                self.assertLessEqual(seen["content"], seen["width"], f"a page wider than {width} pixels")
                self.assertGreater(contrast(seen["text"], seen["background"]), 4.5, seen)
                self.assertTrue(any(bar > 10 for bar in seen["bars"]), seen)
                columns[width] = seen["columns"]
        self.assertEqual(columns[500], 1)
        self.assertGreater(columns[1300], 2)


def contrast(one, other):
    """The ratio of WCAG 2.1, 1.4.3, of two colours "rgb(r, g, b)"."""
    def light(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)
