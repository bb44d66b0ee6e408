# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The packages where systemd runs (machine.py): they start, upgrade, stop and remove the service and its socket. What the
service does once it runs is the lab's suite `systemd`."""

import os
import shutil
import unittest

from deploytest import REPO, DeployTest, run
from machine import Machine, need
from marks import slow
from packages import DEB, RPM, VERSION, moment, packages

UNIT, SOCKET = "rdma_exporter.service", "rdma_exporter.socket"
CONFIG = "etc/rdma_exporter/rdma_exporter.yml"
LINKS = {UNIT: "etc/systemd/system/multi-user.target.wants", SOCKET: "etc/systemd/system/sockets.target.wants"}


@slow(30)
@unittest.skipIf(os.geteuid() != 0, "namespaces need root here")
class OfAPackage:
    """Tests of one kind of package, in a machine."""

    @classmethod
    def setUpClass(cls):
        need()
        packages()
        cls.machine = cls.enterClassContext(Machine())

    def setUp(self):
        self.install(packages() / self.package)
        self.addCleanup(self.purge)

    def put(self, package, name):
        shutil.copy(package, self.machine.root / name)
        return f"/{name}"

    def is_enabled(self, unit):
        return os.path.islink(self.machine.root / LINKS[unit] / unit)

    def state(self, unit):
        return self.machine.show(unit, "ActiveState")

    def pid(self):
        return int(self.machine.show(UNIT, "MainPID"))

    def start(self):
        self.machine.inside("systemctl", "enable", "--now", UNIT)
        self.assertIn("rdma_devices 0\n", self.machine.get())

    def test_an_upgrade_runs_the_new_program_and_keeps_the_configuration(self):
        self.start()
        changed = self.machine.root / CONFIG
        changed.write_text("log:\n  level: debug\n", encoding="ascii")
        before = self.pid()
        self.upgrade()
        self.assertEqual((self.state(UNIT), self.is_enabled(UNIT)), ("active", True))
        self.assertNotEqual(self.pid(), before)
        self.assertEqual(changed.read_text(encoding="ascii"), "log:\n  level: debug\n")
        self.assertIn("rdma_devices 0\n", self.machine.get())

    def test_an_upgrade_starts_nothing_that_was_stopped(self):
        self.start()
        self.machine.inside("systemctl", "disable", "--now", UNIT)
        self.upgrade()
        self.assertEqual((self.state(UNIT), self.is_enabled(UNIT)), ("inactive", False))

    def test_a_reload_needs_no_package_but_those_that_are_needed(self):
        self.start()
        config = "web: {listen_address: [':9410']}\n"
        (self.machine.root / CONFIG).write_text(config, encoding="ascii")
        self.machine.inside("systemctl", "reload", UNIT)
        self.machine.wait_for(lambda: self.machine.get(9410), "it listens on the new port")

    def test_removing_stops_the_service_and_its_socket(self):
        self.start()
        self.machine.inside("systemctl", "stop", UNIT)
        (self.machine.root / "etc/default/rdma_exporter").write_text("ARGS=--web.systemd-socket\n", encoding="ascii")
        self.machine.inside("systemctl", "enable", "--now", SOCKET)
        self.assertIn("rdma_devices 0\n", self.machine.get(), "started by the first scrape")
        self.assertEqual(self.state(UNIT), "active")
        self.remove()
        self.assertIsNone(self.machine.get())
        for unit in (UNIT, SOCKET):
            self.assertIn(self.state(unit), ("inactive", "failed"))
            self.assertIn(self.machine.show(unit, "LoadState"), ("not-found", "masked"))
        self.assertFalse((self.machine.root / "usr/bin/rdma_exporter").exists())
        self.purge()
        left = [str(path) for path in (self.machine.root / "etc/systemd").rglob("*rdma_exporter*")]
        self.assertEqual(left, [])


class Deb(OfAPackage, DeployTest):
    package = DEB

    def install(self, package):
        self.machine.inside("dpkg", "-i", self.put(package, "one.deb"))

    def upgrade(self):
        folder = self.folder()
        run("dpkg-deb", "-R", packages() / DEB, folder / "deb")
        control = folder / "deb/DEBIAN/control"
        control.write_text(control.read_text().replace(f"Version: {VERSION}-1", f"Version: {VERSION}-2"))
        run("dpkg-deb", "--root-owner-group", "-Znone", "-b", folder / "deb", folder / "two.deb")
        self.machine.inside("dpkg", "-i", "--force-confdef", "--force-confold", self.put(folder / "two.deb", "two.deb"))

    def remove(self):
        self.machine.inside("dpkg", "-r", "rdma-exporter")

    def purge(self):
        self.machine.inside("dpkg", "-P", "rdma-exporter", check=False)  # perhaps for the second time

    def test_installing_starts_it_now_and_at_boot(self):
        self.assertEqual((self.state(UNIT), self.is_enabled(UNIT)), ("active", True))
        self.assertEqual((self.state(SOCKET), self.is_enabled(SOCKET)), ("inactive", False))
        self.assertIn("rdma_devices 0\n", self.machine.get())


class Rpm(OfAPackage, DeployTest):
    """In Debian, whose libraries rpm's database does not know; the database is rpm's own."""
    package = RPM
    rpm = ("rpm", "--force-debian", "--dbpath=/var/lib/rpm")

    def install(self, package):
        self.machine.inside(*self.rpm, "--nodeps", "-i", self.put(package, "one.rpm"))

    def upgrade(self):
        folder = self.folder()
        run("cpack", "-G", "RPM", "-D", "CPACK_RPM_PACKAGE_RELEASE=2", "-B", folder, cwd=REPO / "build/release", env=moment())
        self.machine.inside(*self.rpm, "--nodeps", "-U", self.put(next(folder.glob("*.rpm")), "two.rpm"))
        self.assertEqual(self.machine.inside(*self.rpm, "-q", "--qf", "%{RELEASE}", "rdma-exporter").stdout, "2")

    def remove(self):
        self.machine.inside(*self.rpm, "-e", "rdma-exporter")

    def purge(self):
        if self.machine.inside(*self.rpm, "-q", "-a").stdout:
            self.remove()
        shutil.rmtree(self.machine.root / "etc/rdma_exporter", ignore_errors=True)  # what had been changed stays as .rpmsave
        for path in (self.machine.root / "etc/default").glob("rdma_exporter*"):
            path.unlink()

    def test_installing_leaves_it_to_the_presets(self):
        """Debian has none, which enables it; nothing of an rpm is started."""
        self.assertEqual((self.state(UNIT), self.is_enabled(UNIT)), ("inactive", True))

    def test_a_preset_that_disables_it_is_obeyed(self):
        self.remove()
        presets = self.machine.root / "etc/systemd/system-preset"
        presets.mkdir(parents=True)
        (presets / "00-none.preset").write_text("disable *\n", encoding="ascii")
        self.addCleanup(shutil.rmtree, presets)
        self.install(packages() / RPM)
        self.assertFalse(self.is_enabled(UNIT))

    def test_the_files_are_those_of_the_package(self):
        self.machine.inside(*self.rpm, "--nodeps", "-V", "rdma-exporter")
