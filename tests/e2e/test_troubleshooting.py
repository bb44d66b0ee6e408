# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""docs/TROUBLESHOOTING.md: each numbered mistake is made, and the program says what the page says."""

import os
import pathlib
import re
import shutil
import socket
import unittest

from harness import REPOSITORY, Exporter, TestCase, run, temporary_folder
from marks import slow

PAGE = pathlib.Path(REPOSITORY, "docs/TROUBLESHOOTING.md")
INCIDENT = os.path.join(REPOSITORY, "tests/captures/connectx-incident.tar.gz")


def rows():
    """{number: what the page says that the program says}"""
    found = re.findall(r"^\| (\d+) \| [^|]+ \| `([^|]+)` \|", PAGE.read_text(encoding="utf-8"), re.M)
    return {int(number): said for number, said in found}


def pattern(said):
    """`...` stands for anything."""
    return re.compile(".*".join(re.escape(part) for part in said.split("...")), re.S)


@slow(6)
class Mistakes(TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(temporary_folder())
        self.addCleanup(shutil.rmtree, self.folder)

    def written(self, name, text, mode=0o600):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def says(self, *arguments):
        done = run(*arguments)
        return done.stdout + done.stderr

    def config(self, text):
        return self.says("--check-config", f"--config.file={self.written('c.yml', text)}")

    def web(self, text):
        return self.says("--check-config", f"--web.config.file={self.written('w.yml', text)}")

    def answers(self, path, method="GET"):
        return self.exporter.get(path, method=method).body.decode()

    def once(self, sysfs, *flags):
        return self.says("--once", f"--path.sysfs={sysfs}", *flags)

    def port_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            return self.says(f"--web.listen-address=127.0.0.1:{taken.getsockname()[1]}")

    def only_the_class(self):
        devices = self.folder / "part/class/infiniband"
        devices.mkdir(parents=True)
        (devices / "mlx5_0").symlink_to("../../devices/pci0000:00/infiniband/mlx5_0")
        return self.once(self.folder / "part")

    def no_driver(self):
        (self.folder / "none").mkdir()
        return self.once(self.folder / "none")

    def empty_class(self):
        (self.folder / "empty/class/infiniband").mkdir(parents=True)
        return self.once(self.folder / "empty")

    def missing(self, *parts):
        return str(self.folder.joinpath("missing", *parts))

    def made(self):
        """{number: makes the mistake and returns what the program says}"""
        two = self.tree(devices=2).sys
        return {
            1: lambda: self.says(f"--config.file={self.missing()}"),
            2: lambda: self.config("web:\n  listen_adress: [':9400']\n"),
            3: lambda: self.config("web:\n\ttelemetry_path: /m\n"),
            4: lambda: self.config("scrape:\n  timeout: 8\n"),
            5: lambda: self.config("web:\n  listen_address: ':9400'\n"),
            6: lambda: self.says("--listen-address=:9400"),
            7: lambda: self.says("--web.listen-address=9410"),
            8: self.port_taken,
            9: lambda: self.says("--web.listen-address=192.0.2.7:9400"),
            10: lambda: self.config("device:\n  include: 'mlx5_[0'\n"),
            11: lambda: self.says("--collector.hwcounters"),
            12: lambda: self.says("dotcor"),
            13: lambda: self.says("--metrics.set=all"),
            14: lambda: self.web("tls_server_config:\n  cert_file: a.pem\n  key_file: a.key\n"),
            15: lambda: self.web("tls_config:\n  cert_file: a.pem\n"),
            16: lambda: self.web("basic_auth_users:\n  prometheus: secret\n"),
            17: self.no_driver,
            18: self.empty_class,
            19: self.only_the_class,
            20: lambda: self.says(f"--path.sysfs={self.missing()}"),
            21: lambda: self.once(two, "--device.include=mlx5"),
            22: lambda: self.says("--check-config", f"--path.sysfs={two}", "--device.exclude=mlx_.*"),
            23: lambda: self.answers("/metric"),
            24: lambda: self.answers("/metrics?collect[]=rdma"),
            25: lambda: self.answers("/metrics?collect[]=module"),
            26: lambda: self.answers("/metrics?collect[]=port&exclude[]=dcb"),
            27: lambda: self.answers("/metrics?collect=port"),
            28: lambda: self.says("--once", f"--replay={INCIDENT}", "--collector.resource.detail=off"),
            29: lambda: self.says("--once", f"--replay={INCIDENT}"),
            30: lambda: self.answers("/-/reload", "POST"),
            31: lambda: self.says("--once", f"--replay={self.written('host.tar.gz', '<html>')}"),
            32: lambda: self.says("--once", f"--replay={self.missing()}"),
            33: lambda: self.says("capture", self.missing("host.tar.gz")),
            34: lambda: self.says(f"--textfile={self.folder}/rdma.txt"),
            35: lambda: self.says("responder"),
            36: lambda: self.says("responder", f"--probe.secret-file={self.written('psk', 'fleet:' + '0' * 64, 0o644)}"),
            37: lambda: self.says("fleet"),
        }

    def test_each_says_what_and_why(self):
        made, said = self.made(), rows()
        self.assertEqual(set(said), set(made))
        self.assertGreaterEqual(len(said), 30)
        with Exporter(sysfs=self.tree(devices=1).sys) as self.exporter:
            for number, make in made.items():
                with self.subTest(number=number):
                    text = make()
                    self.assertTrue(pattern(said[number]).search(text), text[-1500:])


if __name__ == "__main__":
    unittest.main()
