# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Flags, configuration files and one-shot commands."""

import json
import os
import re
import stat
import subprocess
import time

import yaml

from harness import BINARY, Exporter, Samples, TestCase, prom_text, run
from marks import timing


class OneShot(TestCase):
    def test_version(self):
        done = run("--version")
        self.assertEqual(done.returncode, 0)
        first, *lines = done.stdout.splitlines()
        self.assertRegex(first, r"^rdma_exporter \d+\.\d+\.\d+ \(revision \w+")
        built = dict(line.strip().split(":", 1) for line in lines)
        self.assertEqual(set(built), {"build", "linking", "libraries"})
        self.assertRegex(built["build"], r" (GNU|Clang) \d+\.\d+\.\d+, Linux \w+$")
        self.assertRegex(built["linking"], r"libibverbs")
        for library in ("Boost", "OpenSSL", "libnl", "yaml-cpp", "zlib"):
            self.assertRegex(built["libraries"], rf" {library} \d+\.\d+(\.\d+)?(,|$)")

    def test_help_lists_every_flag_of_the_family(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for flag in ("--web.listen-address", "--web.telemetry-path", "--path.sysfs", "--path.procfs", "--config.file",
                     "--collector.hw_counters", "--log.level", "--log.format", "--raw", "--replay", "--once",
                     "--scrape.timeout", "--device.include", "--device.exclude", "--check-config", "--print-config"):
            self.assertIn(flag, done.stdout)

    def test_once_prints_the_page_and_ends(self):
        tree = self.tree(devices=9)
        done = run("--once", f"--path.sysfs={tree.sys}")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = Samples(prom_text.parse(done.stdout.encode()))
        self.assertEqual(page.one("rdma_devices"), 9)
        with Exporter(sysfs=tree.sys) as exporter:
            self.assertEqual(page.kernel(), exporter.scrape().samples.kernel())

    @timing
    def test_once_keeps_its_deadline(self):
        tree = self.tree(devices=9)
        self.fifo(tree.devices["mlx5_4"].hw_counter("np_cnp_sent"))
        begin = time.monotonic()
        done = run("--once", "--scrape.timeout=300ms", f"--path.sysfs={tree.sys}")
        self.assert_within(time.monotonic() - begin, 1.0)
        self.assertEqual(Samples(prom_text.parse(done.stdout.encode())).one("rdma_devices"), 9)

    def test_once_into_a_full_disk_fails(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([BINARY, "--once", f"--path.sysfs={self.tree(devices=9).sys}"], stdout=full,
                                  stderr=subprocess.PIPE, timeout=10, check=False)
        self.assertNotEqual(done.returncode, 0)

    def test_describe(self):
        table = json.loads(run("--describe=json").stdout)
        self.assertIn("rdma_device_up", json.dumps(table))
        markdown = run("--describe=markdown")
        self.assertEqual(markdown.returncode, 0)
        self.assertIn("rdma_device_up", markdown.stdout)
        self.assertEqual(run("--describe=nonsense").returncode, 2)

    def test_every_served_family_is_described(self):
        described = run("--describe=markdown").stdout
        tree = self.tree(driver="all")
        with Exporter("--raw=all", "--metrics.set=full", sysfs=tree.sys) as exporter:
            served = prom_text.types(exporter.scrape().body)
        self.assertGreater(len(served), 80)
        for name in served:
            self.assertIn(name, described)


class Commands(TestCase):
    def test_help_lists_them_and_each_has_its_own(self):
        listed = re.search(r"^Commands \(.*?\n\n", run("--help").stdout, re.M | re.S).group()
        names = re.findall(r"^  (\w+)", listed, re.M)
        self.assertIn("capture", names)
        for name in names:
            with self.subTest(command=name):
                done = run(name, "--help")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout.startswith(f"Usage: rdma_exporter {name} [FLAG]..."), done.stdout)

    def test_mistakes_are_named(self):
        for words, message in ((("captur", "x"), 'did you mean capture?'), (("x.yml",), "neither a flag nor a command"),
                               (("capture",), "an argument is missing"), (("--once", "capture"), "is not a flag"),
                               (("capture", "x", "--once"), "cannot be combined")):
            with self.subTest(words=words):
                done = run(*words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class ConfigFile(TestCase):
    def file(self, text):
        path = os.path.join(self.folder, "rdma_exporter.yml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def check(self, text, *flags):
        return run("--check-config", f"--config.file={self.file(text)}", *flags)

    def test_good_file(self):
        done = self.check("web:\n  telemetry_path: /rdma\ncollector:\n  hw_counters:\n    timeout: 2s\n")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_empty_file_is_the_default(self):
        self.assertEqual(self.check("").returncode, 0)

    def test_faults_name_file_line_and_key(self):
        faults = (
            ("web:\n  telemetry_path: /m\n  nonsense: 1\n", 3, "nonsense"),
            ("nonsense:\n  a: 1\n", 1, "nonsense"),
            ("collector:\n  nonsense:\n    enabled: true\n", 2, "nonsense"),
            ("device:\n  include: '['\n", 2, "device.include"),
            ("device:\n  exclude: '(a'\n", 2, "device.exclude"),
            ("\nweb:\n  max_connections: many\n", 3, "web.max_connections"),
            ("web:\n  max_connections: -1\n", 2, "web.max_connections"),
            ("web:\n  max_connections: [1]\n", 2, "web.max_connections"),
            ("web:\n  listen_address: 9400\n", 2, "web.listen_address"),
            ("web:\n  listen_address: ['127.0.0.1:99999']\n", 2, "web.listen_address"),
            ("web:\n  telemetry_path: metrics\n", 2, "web.telemetry_path"),
            ("scrape:\n  timeout: 5\n", 2, "scrape.timeout"),
            ("scrape:\n  timeout: fast\n", 2, "scrape.timeout"),
            ("log:\n  level: loud\n", 2, "log.level"),
            ("raw: some\n", 1, "raw"),
            ("raw: all\nraw: none\n", 2, "raw"),
            ("collector:\n  port:\n    enabled: perhaps\n", 3, "collector.port.enabled"),
            ("web: 5\n", 1, "web"),
        )
        for text, line, key in faults:
            with self.subTest(text=text):
                done = self.check(text)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(f"rdma_exporter.yml:{line}:", done.stderr)
                self.assertIn(key, done.stderr)

    def test_broken_yaml_names_the_line(self):
        for text in ("web:\n  - a\n b: c\n", "web: {\n", "\tweb: 1\n", "a: 'b\n"):
            with self.subTest(text=text):
                done = self.check(text)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, r"rdma_exporter\.yml:\d+:")

    def test_the_daemon_does_not_start_on_a_bad_file(self):
        done = run(f"--config.file={self.file('nonsense: 1')}", "--web.listen-address=127.0.0.1:0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("rdma_exporter.yml:1:", done.stderr)

    def test_missing_file(self):
        done = run("--check-config", "--config.file=/nonexistent.yml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--config.file", done.stderr)

    def test_bad_flags(self):
        for flag in ("--nonsense", "--web.max-connections=many", "--device.include=[", "--raw=some",
                     "--scrape.timeout=5", "--log.level=loud", "--web.listen-address=nonsense",
                     "--collector.nonsense", "--web.telemetry-path=x", "stray"):
            with self.subTest(flag=flag):
                done = run("--check-config", flag)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(flag.split("=")[0], done.stderr)

    def test_values_that_are_good_alone_and_make_no_sense(self):
        for flags, status, message in (
                (["--textfile=/tmp/rdma.txt"], 2, "does not end in .prom"),
                (["--textfile=/does/not/exist/rdma.prom"], 1, "/does/not/exist is not a directory"),
                (["--web.listen-address=[::1]:9400"] * 2, 2, '"[::1]:9400" is listed twice')):
            with self.subTest(flags=flags):
                done = run("--check-config", *flags)
                self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                self.assertIn(message, done.stderr)
                self.assertIn(flags[0].split("=")[0], done.stderr)

    def test_what_may_be_right_elsewhere_is_a_warning(self):
        flags = (f"--path.sysfs={self.tree(devices=2).sys}", "--device.include=mlx_.*", "--device.exclude=nothing",
                 "--web.listen-address=no.such.host.invalid:9400", "--probe.targets=no.such.host.invalid:9401",
                 "--probe.insecure")
        done = run("--check-config", *flags)
        self.assertEqual((done.returncode, done.stdout), (0, "configuration is valid\n"), done.stderr)
        for warning in ('device.include: "mlx_.*" matches none of the devices found: mlx5_0, mlx5_1',
                        'device.exclude: "nothing" matches none',
                        '--web.listen-address: "no.such.host.invalid:9400" does not resolve on this host',
                        '--probe.targets: "no.such.host.invalid" does not resolve on this host'):
            self.assertIn(f"rdma_exporter: warning: {warning}", done.stderr)
        self.assertEqual(run("--check-config", f"--path.sysfs={self.folder}", "--device.include=mlx_.*").stderr, "",
                         "where there is no device a filter is not judged")

    def test_a_filter_that_matches_nothing_is_logged_once(self):
        with Exporter("--device.include=mlx_.*", sysfs=self.tree(devices=1).sys) as exporter:
            for _ in range(3):
                exporter.scrape()
            self.assertEqual(exporter.log().count("device filter matches no device"), 1)

    def test_printed_configuration_is_a_configuration(self):
        first = run("--print-config", "--web.telemetry-path=/rdma", "--no-collector.port", "--scrape.timeout=3s",
                    "--device.exclude=mlx5_[0-3]|\"'#: x", "--web.listen-address=[::1]:1",
                    "--web.listen-address=127.0.0.1:2")
        self.assertEqual(first.returncode, 0, first.stderr)
        loaded = yaml.safe_load(first.stdout)
        self.assertEqual(loaded["web"]["telemetry_path"], "/rdma")
        self.assertEqual(loaded["web"]["listen_address"], ["[::1]:1", "127.0.0.1:2"])
        self.assertIs(loaded["collector"]["port"]["enabled"], False)
        second = run("--print-config", f"--config.file={self.file(first.stdout)}")
        self.assertEqual(second.stdout, first.stdout)

    def test_defaults_fit_an_existing_prometheus_configuration(self):
        """`targets: ['localhost:9400']` and nothing else has to work."""
        loaded = yaml.safe_load(run("--print-config").stdout)
        self.assertEqual(loaded["web"]["listen_address"], [":9400"])
        self.assertEqual(loaded["web"]["telemetry_path"], "/metrics")

    def test_a_flag_wins_over_the_file(self):
        path = self.file("web:\n  telemetry_path: /file\nscrape:\n  timeout: 3s\n")
        loaded = yaml.safe_load(run("--print-config", f"--config.file={path}", "--web.telemetry-path=/flag").stdout)
        self.assertEqual(loaded["web"]["telemetry_path"], "/flag")
        self.assertEqual(loaded["scrape"]["timeout"], "3s")

    def test_the_file_drives_the_daemon(self):
        tree = self.tree(devices=3)
        path = self.file(f"path:\n  sysfs: {tree.sys}\ndevice:\n  exclude: mlx5_1\ncollector:\n"
                         "  hw_counters:\n    enabled: false\n")
        with Exporter(f"--config.file={path}") as exporter:
            samples = exporter.scrape().samples
            self.assertEqual(set(d for k in samples.select("rdma_device_up") for n, d in k[1] if n == "device"),
                             {"mlx5_0", "mlx5_2"})
            self.assertFalse(samples.select(collector="hw_counters"))


class Selection(TestCase):
    def devices(self, *flags):
        tree = self.tree(devices=9)
        with Exporter(*flags, sysfs=tree.sys) as exporter:
            samples = exporter.scrape().samples.kernel()
        return {dict(k[1])["device"] for k in samples if "device" in dict(k[1])}

    def test_include_and_exclude_match_the_whole_name(self):
        self.assertEqual(self.devices("--device.include=mlx5_[12]"), {"mlx5_1", "mlx5_2"})
        self.assertEqual(self.devices("--device.include=mlx5"), set())
        self.assertEqual(self.devices("--device.exclude=mlx5"), {f"mlx5_{n}" for n in range(9)})
        self.assertEqual(self.devices("--device.include=mlx5_[0-4]", "--device.exclude=mlx5_[1-3]"),
                         {"mlx5_0", "mlx5_4"})
        self.assertEqual(self.devices("--device.exclude=.*"), set())

    @timing
    def test_an_excluded_device_is_never_opened(self):
        """All files of the excluded device are FIFOs: touching one would hang, and a reader would be seen."""
        tree = self.tree(devices=9)
        with Exporter("--device.exclude=mlx5_4", sysfs=tree.sys) as exporter:
            whole = exporter.scrape().samples.kernel()
        fifos = []
        for root, _, files in os.walk(tree.devices["mlx5_4"].pci):
            for name in files:
                path = f"{root}/{name}"
                if stat.S_ISREG(os.lstat(path).st_mode):
                    fifos.append(self.fifo(path))
        self.assertGreater(len(fifos), 60)
        with Exporter("--device.exclude=mlx5_4", sysfs=tree.sys) as exporter:
            for _ in range(2):
                page = exporter.scrape()
                self.assert_within(page.seconds, 1)
                self.assertEqual(page.samples.kernel(), whole)
                self.assertFalse(page.samples.select(device="mlx5_4"))
            self.assertEqual([f.path for f in fifos if f.has_reader()], [])

    def test_a_collector_that_is_off_opens_none_of_its_files(self):
        tree = self.tree(devices=9)
        fifos = [self.fifo(f"{d.port()}/hw_counters/{n}") for d in tree.devices.values()
                 for n in os.listdir(f"{d.port()}/hw_counters")]
        with Exporter("--no-collector.hw_counters", sysfs=tree.sys) as exporter:
            samples = exporter.scrape().samples
            self.assertEqual(samples.one("rdma_devices"), 9)
            self.assertEqual([f.path for f in fifos if f.has_reader()], [])

    def test_every_collector_can_be_turned_off(self):
        tree = self.tree(devices=2)
        collectors = set(re.findall(r"--\[no-\]collector\.(\w+)", run("--help").stdout))
        self.assertLess({"device", "port", "port_counters", "hw_counters"}, collectors)
        off = [f"--no-collector.{c}" for c in collectors]
        with Exporter(*off, sysfs=tree.sys) as exporter:
            self.assertFalse(exporter.scrape().samples.kernel().select(device="mlx5_0"))


class Names(TestCase):
    def test_promtool_takes_every_family(self):
        """Also those that no host here has."""
        page = []
        for family in json.loads(run("--describe=json").stdout)["metrics"]:
            name, kind = family["name"], family["type"]
            samples = (f'{name}_bucket{{le="+Inf"}} 0', f"{name}_sum 0", f"{name}_count 0")
            page += [f"# HELP {name} {family['help']}", f"# TYPE {name} {kind}",
                     *(samples if kind == "histogram" else [f"{name} 0"]), ""]
        self.assertGreater(len(page), 400)
        self.assert_promtool("\n".join(page).encode())


class NoRdma(TestCase):
    def test_a_host_without_rdma_is_up_and_quiet(self):
        empty = os.path.join(self.folder, "empty")
        os.mkdir(empty)  # no module loaded: there is no class/infiniband
        for sysfs in (empty, self.tree(devices=0).sys):
            with Exporter(sysfs=sysfs) as exporter:
                page = exporter.scrape()
                self.assertEqual(page.samples.one("rdma_devices"), 0)
                self.assertFalse(page.samples.kernel().without_device(None))
                self.assertEqual(exporter.get("/").status, 200)
                self.assert_promtool(page.body)
                log = exporter.log()
                self.assertNotRegex(log, r"level=(error|warn)")

    def test_a_sysfs_that_is_not_there_is_a_mistake_of_the_configuration(self):
        done = run(f"--path.sysfs={self.folder}/nothing", "--web.listen-address=127.0.0.1:0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--path.sysfs", done.stderr)

    def test_this_machine(self):
        """The real /sys, with netlink where there is any; whatever it has, the page is right."""
        with Exporter() as exporter:
            page = exporter.scrape()
            count = len(os.listdir("/sys/class/infiniband")) if os.path.isdir("/sys/class/infiniband") else 0
            self.assertEqual(page.samples.one("rdma_devices"), count)
            self.assert_promtool(page.body)


class Log(TestCase):
    def test_logfmt(self):
        with Exporter(sysfs=self.tree(devices=1).sys) as exporter:
            exporter.scrape()
            lines = exporter.log().splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertRegex(line, r"^ts=\S+ level=(debug|info|warn|error) ")

    def test_json_with_hostile_texts(self):
        tree = self.tree(devices=0)
        tree.add("mlx5", 'quo"te\nnew\\line')
        with Exporter("--log.format=json", "--log.level=debug", sysfs=tree.sys) as exporter:
            exporter.scrape()
            lines = exporter.log().splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertIn("msg", json.loads(line))

    def test_a_broken_file_is_not_logged_at_every_scrape(self):
        tree = self.tree(devices=9)
        for device in tree.devices.values():
            path = device.hw_counter("np_cnp_sent")
            os.unlink(path)
            os.symlink("/proc/self/mem", path)
        with Exporter(sysfs=tree.sys) as exporter:
            exporter.scrape()
            exporter.scrape()
            before = len(exporter.log().splitlines())
            for _ in range(20):
                exporter.scrape()
            self.assertLess(len(exporter.log().splitlines()) - before, 5)
