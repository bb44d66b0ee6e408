# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Whatever files contain and whatever things are called, the process survives and the page stays well-formed."""

import os
import random
import shutil
import socket

from harness import Exporter, TestCase, prom_text
from marks import timing

HUGE = 10 * 1024 * 1024
# name: content. What is not a plain unsigned decimal of 64 bits is no counter value.
GARBAGE = {
    "empty": b"",
    "newline": b"\n",
    "zero_bytes": b"\0" * 64 + b"\n",
    "binary": random.Random(1).randbytes(4096),
    "huge_digits": b"7" * HUGE,
    "huge_zero_bytes": b"\0" * HUGE,
    "huge_lines": b"5\n" * (HUGE // 2),
    "negative": b"-5\n",
    "two_to_64": b"18446744073709551616\n",
    "no_pma": b"N/A (no PMA)\n",
    "comma": b"1,5\n",
    "words": b"1 2\n",
    "hexadecimal": b"0x10\n",
    "exponent": b"1e5\n",
    "fraction": b"1.5\n",
    "plus": b"+5\n",
    "quotes": b'a"b\\c\\\n',
    "label_injection": b'x"} 1\nevil_total 1\n',
    "invalid_utf8": b"\xff\xfe\xc3\n",
    "unicode": "\u0665\u2028\u00fc\n".encode(),
    "carriage_return": b"a\rb\r\n",
    "nan": b"NaN\n",
    "infinity": b"inf\n",
    "percent": b"%s%n%d\n",
    "dots": b"../../../etc/passwd\n",
}
# Families of the exporter, and of the slot of the first device, which has had an error.
OTHER = ("rdma_exporter_", "rdma_device_pcie_errors_")
COUNTER_FAMILIES = ("rdma_port_raw_total", "rdma_port_raw_value")


def fill(folder, content_file):
    """Every regular file below folder becomes a hard link to content_file."""
    for root, _, files in os.walk(folder):
        for name in files:
            path = f"{root}/{name}"
            if not os.path.islink(path):
                os.unlink(path)
                os.link(content_file, path)


class Contents(TestCase):
    def garbage_tree(self):
        """One well device, then one device for each kind of garbage with that in every file of it."""
        tree = self.tree(devices=1)
        for kind, content in GARBAGE.items():
            device = tree.add("mlx5", f"g_{kind}")
            source = f"{self.folder}/content_{kind}"
            with open(source, "wb") as file:
                file.write(content)
            fill(device.pci, source)
        return tree

    @timing
    def test_every_kind_of_garbage_in_every_file(self):
        clean = self.tree(devices=1)
        with Exporter("--raw=all", "--metrics.set=full", sysfs=clean.sys) as exporter:
            healthy = exporter.scrape().samples.kernel().select(device="mlx5_0")
        tree = self.garbage_tree()
        with Exporter("--raw=all", "--metrics.set=full", sysfs=tree.sys) as exporter:
            for _ in range(3):
                page = exporter.scrape()
                self.assert_within(page.seconds, 3)
            self.assert_promtool(page.body)
            self.assert_has_all(page.samples, healthy, "the well device")
            self.assertEqual(page.samples.one("rdma_devices"), 1 + len(GARBAGE))
            self.assert_within(exporter.status("VmHWM"), 64 * 1024, "memory follows the size of a file")
            self.check_counters(page.samples)
            self.check_state(page.samples)
            self.assertNotIn("evil_total", page.samples.families())

    def check_counters(self, samples):
        for family in COUNTER_FAMILIES:
            found = samples.select(family).without_device("mlx5_0")
            self.assertEqual(dict(found), {}, "no garbage is a number")
        for kind in ("binary", "negative", "two_to_64", "comma", "empty"):
            with self.subTest(kind=kind):
                errors = samples.select("rdma_exporter_read_errors_total", device=f"g_{kind}",
                                        collector="port_counters")
                reasons = {dict(k[1])["reason"] for k, v in errors.items() if v > 0}
                self.assertTrue(reasons and reasons <= {"parse", "too_long"}, reasons)
        # That text of old kernels means "not supported": absent, and not an error of the counter files.
        self.assertFalse(samples.select(
            "rdma_exporter_read_errors_total", device="g_no_pma", collector="port_counters"))

    def check_state(self, samples):
        for kind in GARBAGE:
            with self.subTest(kind=kind):
                self.assertFalse(samples.select("rdma_port_rate_bytes_per_second", device=f"g_{kind}"))
                self.assertNotIn(1, samples.select("rdma_port_up", device=f"g_{kind}").values())
                self.assertNotIn(1, samples.select("rdma_device_up", device=f"g_{kind}").values())

    def test_garbage_in_one_attribute_costs_no_counter(self):
        tree = self.tree(devices=1)
        with Exporter(sysfs=tree.sys) as exporter:
            device = tree.devices["mlx5_0"]
            counters = len([k for k in exporter.scrape().samples.select(device="mlx5_0") if k[0].endswith("_total")
                            and not k[0].startswith(OTHER)])
        broken = []
        for place in ("fw_ver", "node_type", "node_guid", "sys_image_guid", "hca_type", "board_id", "hw_rev",
                      "ports/1/state", "ports/1/phys_state", "ports/1/rate", "ports/1/lid", "ports/1/sm_lid",
                      "ports/1/link_layer", "ports/1/gids/0", "ports/1/gid_attrs/types/0",
                      "ports/1/gid_attrs/ndevs/0", "device/vendor", "device/numa_node",
                      "device/current_link_speed", "device/max_link_width"):
            for content in (b"", GARBAGE["binary"], b'x"\\\n' * 1000):
                device = tree.add("mlx5")
                with open(f"{device.dir}/{place}", "wb") as file:
                    file.write(content)
                broken.append((device.name, place, content[:8]))
        with Exporter(sysfs=tree.sys) as exporter:
            page = exporter.scrape()
        self.assert_promtool(page.body)
        for name, place, content in broken:
            found = [k for k in page.samples.select(device=name)
                     if k[0].endswith("_total") and not k[0].startswith(OTHER)]
            self.assertEqual(len(found), counters, (name, place, content))


class NotAFile(TestCase):
    """A directory, a loop, an endless file where an attribute is expected."""

    def breakers(self):
        def directory(path):
            os.mkdir(path)

        def listener(path):
            server = socket.socket(socket.AF_UNIX)
            self.addCleanup(server.close)
            os.chdir(os.path.dirname(path))  # the path is too long for a socket address
            self.addCleanup(os.chdir, "/")
            server.bind(os.path.basename(path))

        return {"directory": directory, "socket": listener,
                "loop": lambda path: os.symlink(os.path.basename(path), path),
                "dangling": lambda path: os.symlink("nowhere", path),
                "endless": lambda path: os.symlink("/dev/zero", path),
                "terminal": lambda path: os.symlink("/dev/tty", path),
                "missing": lambda path: None}

    @timing
    def test_in_place_of_files(self):
        clean = self.tree(devices=1)
        with Exporter(sysfs=clean.sys) as exporter:
            healthy = exporter.scrape().samples.kernel().select(device="mlx5_0")
        tree = self.tree(devices=1)
        for kind, breaker in self.breakers().items():
            device = tree.add("mlx5", f"b_{kind}")
            for path in (device.counter("port_rcv_data"), device.hw_counter("np_cnp_sent"), f"{device.dir}/fw_ver",
                         f"{device.port()}/state", f"{device.port()}/rate", f"{device.pci}/numa_node",
                         f"{device.port()}/gids/0"):
                os.unlink(path)
                breaker(path)
        with Exporter(sysfs=tree.sys) as exporter:
            for _ in range(2):
                page = exporter.scrape()
                self.assert_within(page.seconds, 2)
        self.assert_promtool(page.body)
        self.assert_has_all(page.samples, healthy)
        self.assertEqual(page.samples.one("rdma_devices"), 1 + len(self.breakers()))

    def test_in_place_of_directories(self):
        tree = self.tree(devices=9)
        devices = list(tree.devices.values())
        for device, place in zip(devices, ("ports", "ports/1", "ports/1/counters", "ports/1/hw_counters",
                                           "ports/1/gids", "ports/1/gid_attrs")):
            shutil.rmtree(f"{device.dir}/{place}")
            with open(f"{device.dir}/{place}", "w", encoding="ascii") as file:
                file.write("1\n")
        os.unlink(f"{devices[6].dir}/device")
        shutil.rmtree(f"{devices[7].dir}/ports/1/hw_counters")
        with Exporter(sysfs=tree.sys) as exporter:
            page = exporter.scrape()
            self.assert_promtool(page.body)
            self.assertEqual(page.samples.one("rdma_devices"), 9)
            self.assertTrue(page.samples.select("rdma_port_data_bytes_total", device="mlx5_3", direction="rx"))
            self.assertTrue(page.samples.select("rdma_port_data_bytes_total", device="mlx5_6", direction="rx"))
            self.assertTrue(page.samples.select("rdma_port_data_bytes_total", device="mlx5_7", direction="rx"))

    def test_no_class_directory_or_an_empty_one_means_no_devices(self):
        for make in (os.rmdir, lambda place: None):
            tree = self.tree(devices=0)
            make(f"{tree.sys}/class/infiniband")
            with Exporter(sysfs=tree.sys) as exporter:
                self.assertEqual(exporter.scrape().samples.one("rdma_devices"), 0)

    def test_a_class_directory_that_cannot_be_listed_is_an_error_and_not_zero_devices(self):
        tree = self.tree(devices=0)
        os.rmdir(f"{tree.sys}/class/infiniband")
        with open(f"{tree.sys}/class/infiniband", "w", encoding="ascii"):
            pass
        with Exporter(sysfs=tree.sys) as exporter:
            samples = exporter.scrape().samples
            self.assertFalse(samples.select("rdma_devices"))
            self.assertIn(0, samples.select("rdma_exporter_collector_success").values())
            self.assertTrue(samples.select("rdma_exporter_read_errors_total", reason="ENOTDIR"))

    def test_a_plain_file_among_the_devices_is_no_device(self):
        tree = self.tree(devices=2)
        with open(f"{tree.sys}/class/infiniband/abi_version", "w", encoding="ascii") as file:
            file.write("1\n")
        with Exporter(sysfs=tree.sys) as exporter:
            samples = exporter.scrape().samples
            self.assertEqual(samples.one("rdma_devices"), 2)
            self.assertFalse(samples.select(device="abi_version"))


class Names(TestCase):
    ODD = (b"with space", b"with,comma,32", b'quo"te', b"back\\slash", b"new\nline", b"tab\there", b"{brace}", b"a=b",
           b"#hash", b"-1", b"\xc3\xbcml\xc3\xa4ut", b"\xe2\x80\xa8", b"x" * 255, b"%s%n", b"NaN",
           b"\x01\x7f", b"cr\rcr")
    INVALID = (b"\xff", b"\xfe", b"\xff\xfe", b"a\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\xaf")

    def write_counters(self, folder):
        for number, name in enumerate(self.ODD + self.INVALID):
            with open(os.fsencode(folder) + b"/" + name, "wb") as file:
                file.write(b"%d\n" % (1000 + number))

    def test_counter_names_come_through_and_stay_apart(self):
        tree = self.tree(devices=9)
        device = tree.devices["mlx5_3"]
        self.write_counters(f"{device.port()}/counters")
        self.write_counters(f"{device.port()}/hw_counters")
        with Exporter(sysfs=tree.sys) as exporter:
            for _ in range(2):
                page = exporter.scrape()
        self.assert_promtool(page.body)
        for source in ("counters", "hw_counters"):
            for number, name in enumerate(self.ODD + self.INVALID):
                with self.subTest(source=source, name=name):
                    text = name.decode("utf-8", "backslashreplace")
                    self.assertEqual(page.samples.one("rdma_port_raw_total", device="mlx5_3", source=source, counter=text),
                                     1000 + number)

    def test_device_names(self):
        tree = self.tree(devices=2)
        for name in (b"with space", b'quo"te\\', b"new\nline", b"\xff\xfe", b"\xfe\xff", b"x" * 255, b"{}", b"-v"):
            os.symlink(os.fsencode(os.readlink(tree.devices["mlx5_1"].class_link)),
                       os.fsencode(f"{tree.sys}/class/infiniband/") + name)
        with Exporter(sysfs=tree.sys) as exporter:
            page = exporter.scrape()
            self.assert_promtool(page.body)
            self.assertEqual(page.samples.one("rdma_device_up", device="with space"), 1)
            self.assertEqual(page.samples.one("rdma_device_up", device="new\nline"), 1)
            landing = exporter.get("/")
            self.assertEqual(landing.status, 200)
            landing.body.decode("utf-8")
            self.assertNotIn(b'quo"te\\', landing.body)  # escaped for HTML

    def test_port_names(self):
        tree = self.tree(devices=1)
        ports = f"{tree.devices['mlx5_0'].dir}/ports"
        for name in ("01", "001", "0", "-1", "abc", "4294967296", "99999999999999999999", "1 ", "2"):
            shutil.copytree(f"{ports}/1", f"{ports}/{name}")
        with Exporter(sysfs=tree.sys) as exporter:
            page = exporter.scrape()
        self.assert_promtool(page.body)
        for port in ("1", "2"):
            self.assertEqual(page.samples.one("rdma_port_state", device="mlx5_0", port=port), 4)

    def test_html_in_texts_is_escaped_on_the_landing_page(self):
        tree = self.tree(devices=0)
        tree.add("mlx5", "<script>alert(1)<")
        with Exporter(sysfs=tree.sys) as exporter:
            exporter.scrape()
            landing = exporter.get("/")
            self.assertNotIn(b"<script>alert", landing.body)


class Limits(TestCase):
    def test_series_of_one_device_are_bounded_and_counted(self):
        tree = self.tree(devices=9)
        folder = f"{tree.devices['mlx5_3'].port()}/hw_counters"
        for number in range(3000):
            with open(f"{folder}/many_{number}", "w", encoding="ascii") as file:
                file.write("1\n")
        with Exporter("--limits.series-per-device=1000", sysfs=tree.sys) as exporter:
            page = exporter.scrape()
        self.assert_promtool(page.body)
        self.assertLessEqual(len(page.samples.kernel().select(device="mlx5_3")), 1000)
        dropped = page.samples.select("rdma_exporter_series_dropped_total", device="mlx5_3")
        self.assertGreaterEqual(sum(dropped.values()), 2000)
        self.assertFalse({v for v in page.samples.select("rdma_exporter_series_dropped_total").without_device(
            "mlx5_3").values() if v})
        self.assertEqual(len(page.samples.kernel().select(device="mlx5_4")),
                         len(page.samples.kernel().select(device="mlx5_5")))

    def test_few_descriptors_are_enough(self):
        """More files than descriptors: everything is served all the same."""
        tree = self.tree(devices=9)
        with Exporter(sysfs=tree.sys) as exporter:
            whole = exporter.scrape().samples.kernel()
        for kept in (0, 10):
            with self.subTest(kept=kept), Exporter(f"--limits.kept-files={kept}", sysfs=tree.sys) as exporter:
                for _ in range(3):
                    self.assertEqual(exporter.scrape().samples.kernel(), whole)
                self.assertLess(exporter.open_files(), kept + 100)

    def test_a_low_limit_of_open_files_costs_no_sample(self):
        tree = self.tree(devices=9)
        with Exporter(sysfs=tree.sys) as exporter:
            whole = exporter.scrape().samples.kernel()
        with Exporter(sysfs=tree.sys, open_files=64) as exporter:
            for _ in range(3):
                self.assertEqual(exporter.scrape().samples.kernel(), whole)

    @timing
    def test_nothing_leaks(self):
        tree = self.tree(devices=9)
        with Exporter(sysfs=tree.sys) as exporter:
            for _ in range(5):
                exporter.scrape()
            files, threads = exporter.open_files(), exporter.status("Threads")
            memory = exporter.status("VmRSS")
            for i in range(40):
                if i % 4 == 0:
                    tree.remove("mlx5_3")
                    tree.add("mlx5", "mlx5_3")
                exporter.scrape()
            self.assertLessEqual(exporter.open_files(), files + 2)
            self.assert_no_new_threads(exporter, threads)
            self.assert_within(exporter.status("VmRSS"), memory + 1024)


class StrictParserSeesFaults(TestCase):
    def test_the_checks_of_this_suite_can_fail(self):
        with self.assertRaises(prom_text.PageError):
            prom_text.parse(b"# HELP a x\n# TYPE a gauge\na 1\na 1\n")
        with self.assertRaises(AssertionError):
            self.assert_promtool(b"a_total{x=\"\xff\"} 1\n")
