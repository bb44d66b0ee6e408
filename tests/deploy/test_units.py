# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The systemd units, without a running systemd. The lab's suite `systemd` tests them with one."""

import re
import shutil

from deploytest import BINARY, DEPLOY, DeployTest, run

UNIT, SOCKET = "rdma_exporter.service", "rdma_exporter.socket"
MOST_EXPOSURE = 20  # of 100: what systemd-analyze prints as 2.0


class Units(DeployTest):
    def setUp(self):
        self.need("systemd-analyze")
        self.units = self.folder()
        for name in (UNIT, SOCKET):
            shutil.copy(DEPLOY / "systemd" / name, self.units)

    def add_probe(self):
        (self.units / f"{UNIT}.d").mkdir()
        shutil.copy(DEPLOY / "systemd/probe.conf", self.units / f"{UNIT}.d")

    def add_link(self):
        (self.units / f"{UNIT}.d").mkdir(exist_ok=True)
        shutil.copy(DEPLOY / "systemd/link.conf", self.units / f"{UNIT}.d")

    def verify(self):
        """With what is not on this machine: the program and its manual page."""
        unit = self.units / UNIT
        unit.write_text(unit.read_text().replace("/usr/bin/rdma_exporter", str(BINARY)))
        done = run("systemd-analyze", "verify", "--recursive-errors=no", "--man=no", unit, self.units / SOCKET,
                   check=False)
        return done.returncode, done.stderr

    def exposure(self):
        done = run("systemd-analyze", "security", "--no-pager", "--offline=true", f"--threshold={MOST_EXPOSURE}",
                   self.units / UNIT, check=False)
        return done.returncode, re.findall(r"exposure level .*", done.stdout)

    def test_they_are_well_formed(self):
        self.assertEqual(self.verify(), (0, ""))
        self.add_probe()
        self.assertEqual(self.verify(), (0, ""))
        self.add_link()
        self.assertEqual(self.verify(), (0, ""))

    def test_a_key_that_is_not_known_is_found(self):
        with open(self.units / UNIT, "a", encoding="ascii") as unit:
            unit.write("[Service]\nProtectSysten=strict\n")
        self.assertIn("ProtectSysten", self.verify()[1])

    def test_the_exposure_is_at_most_2(self):
        for step in (lambda: None, self.add_probe):
            step()
            status, level = self.exposure()
            self.assertEqual((status, len(level)), (0, 1), level)
