# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The role of Ansible: ansible-core from Debian sets up a Debian whose systemd runs (machine.py), reached by a program in
place of ssh."""

import os
import re
import unittest

import yaml

from deploytest import DEPLOY, DeployTest, run
from machine import Machine, need
from marks import slow
from packages import DEB, packages

ANSIBLE = DEPLOY / "ansible"
ROLE = ANSIBLE / "roles/rdma_exporter"
UNIT = "rdma_exporter.service"
SECRET = f"fleet:{'0' * 64}"
HOST = "gpu-17"
# ssh [OPTION]... HOST COMMAND, of which only the command matters here; without one it is asked what it can do.
SSH = """#!/bin/sh
for command; do :; done
[ $# -gt 2 ] || exit 255
exec nsenter --target={init} --mount --pid --net --uts --ipc --cgroup -- \
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 sh -c "$command"
"""


class Text(DeployTest):
    def test_the_playbook_and_the_role_are_ones(self):
        self.need("ansible-playbook")
        run("ansible-playbook", "--syntax-check", "--inventory=localhost,", ANSIBLE / "playbook.yml",
            env={**os.environ, "HOME": str(self.folder())})

    def test_every_variable_is_specified_and_has_a_default(self):
        defaults = yaml.safe_load((ROLE / "defaults/main.yml").read_text(encoding="utf-8"))
        specified = yaml.safe_load((ROLE / "meta/argument_specs.yml").read_text(encoding="utf-8"))
        self.assertEqual(set(specified["argument_specs"]["main"]["options"]), set(defaults))
        used = {name for path in ROLE.rglob("*.*") for name in re.findall(r"\brdma_exporter_[a-z_]+", path.read_text())}
        self.assertLessEqual(used, set(defaults))

    def test_the_drop_in_is_that_of_the_packages(self):
        def settings(path):
            lines = path.read_text(encoding="utf-8").splitlines()
            return {line.removeprefix("#") for line in lines if re.match(r"#?[A-Z]\w+=", line)}
        self.assertEqual(settings(ROLE / "templates/probe.conf.j2"), settings(DEPLOY / "systemd/probe.conf"))


@slow(60)
@unittest.skipIf(os.geteuid() != 0, "namespaces need root here")
class Play(DeployTest):
    def setUp(self):
        self.need("ansible-playbook")
        need()
        packages()
        self.machine = self.enterContext(Machine())
        self.work = self.folder()
        ssh = self.work / "ssh"
        ssh.write_text(SSH.format(init=self.machine.init), encoding="ascii")
        ssh.chmod(0o755)

    def play(self, check=True, **variables):
        """What the host says of it: {ok, changed, failed, ...: count}, and the output."""
        variables = {"ansible_ssh_executable": str(self.work / "ssh"), "ansible_ssh_transfer_method": "piped",
                     "ansible_python_interpreter": "/usr/bin/python3", "ansible_become": False,
                     "rdma_exporter_package": str(packages() / DEB), **variables}
        inventory = self.work / "inventory.yml"
        inventory.write_text(yaml.safe_dump({"rdma": {"hosts": {HOST: variables}}}), encoding="utf-8")
        done = run("ansible-playbook", f"--inventory={inventory}", ANSIBLE / "playbook.yml", check=False,
                   env={**os.environ, "HOME": str(self.work), "ANSIBLE_NOCOLOR": "1"})
        recap = re.search(rf"^{HOST} +: (.*)$", done.stdout, re.M)
        self.assertTrue(recap, done.stdout + done.stderr)
        if check:
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", recap[1])}, done.stdout

    def test_a_host_gets_package_and_configuration(self):
        self.play()
        self.assertIn("rdma_devices 0\n", self.machine.get())
        # Another port; the same again changes nothing.
        wanted = {"rdma_exporter_config": {"web": {"listen_address": [":9410"]}}}
        self.play(**wanted)
        self.machine.wait_for(lambda: self.machine.get(9410), "it listens on the new port")
        self.assertIsNone(self.machine.get(9400))
        self.assertEqual(self.play(**wanted)[0]["changed"], 0)
        # A mistake changes nothing and fails.
        wrong = {"rdma_exporter_config": {"web": {"listen_adress": [":9420"]}}}
        counts, output = self.play(check=False, **wrong)
        self.assertEqual(counts["failed"], 1)
        self.assertIn("listen_adress", output)
        self.assertIn("rdma_devices 0\n", self.machine.get(9410))

    def test_the_key_of_the_mesh_comes_and_goes(self):
        path = "/run/credentials/check.service/key"
        if self.machine.inside("systemd-run", "--unit=check", "--wait", "--property=DynamicUser=yes",
                               "--property=LoadCredential=key:/etc/hostname", "cat", path, check=False).returncode:
            self.skipTest("systemd cannot hand credentials to an account of its own on this kernel")
        output = self.play(rdma_exporter_config={"probe": {"responder": True}}, rdma_exporter_probe_secret=SECRET)[1]
        self.assertNotIn(SECRET, output)
        self.assertIn("rdma_devices 0\n", self.machine.get())
        key = self.machine.root / "etc/rdma_exporter/probe.psk"
        self.assertEqual((key.read_text(), key.stat().st_mode & 0o777), (f"{SECRET}\n", 0o600))
        self.play()
        self.assertFalse(key.exists())
        self.assertEqual(self.machine.show(UNIT, "DropInPaths"), "")
        self.assertIn("rdma_devices 0\n", self.machine.get())
