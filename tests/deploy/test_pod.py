# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The pods of the chart and the kustomizations run: the package in Debian, started as their specification says (pod.py),
on a node with a synthetic /sys, and scraped."""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import kubetools
import pod
from deploytest import REPO, run
from kubetools import KubernetesTest
from marks import slow
from packages import DEB, debian, packages

sys.path.append(str(REPO / "tests/e2e"))
import listening  # noqa: E402

NOBODY = 65534
PSK = {"kind": "Secret", "metadata": {"name": "rdma-exporter-probe"},
       "stringData": {"probe.psk": f"fleet:{'0' * 64}\n"}}


@slow(20)
@unittest.skipIf(os.geteuid() != 0, "namespaces and chroot need root here")
class Runs(KubernetesTest):
    @classmethod
    def setUpClass(cls):
        for program in ("mmdebstrap", "ip", "nsenter", "curl"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"{program} is not installed")
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="rdma_exporter_pod."))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        run("tar", "-x", "-f", debian(), "-C", cls.root)
        run("dpkg-deb", "-x", packages() / DEB, cls.root)

    def node(self):
        tree = self.folder()
        run("tests/tools/fake_tree.py", tree, "--devices", "2")
        host = pod.Host({"/sys": tree / "sys", "/dev/infiniband": tree / "infiniband"})
        self.addCleanup(host.close)
        return host

    def get(self, process, port, path):
        done = pod.in_network_of(process, "curl", "--silent", "--show-error", "--fail", f"http://localhost:{port}{path}")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_serves(self, items, host, work, process):
        """On the port and under the paths that the kubelet and Prometheus ask for; with the devices of the node."""
        listening.Announced(process, work / "log", listening.EXPORTER).ports()
        container, = self.pod(items)["containers"]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        for check in ("livenessProbe", "readinessProbe"):
            target = container[check]["httpGet"]
            self.get(process, ports[target["port"]], target["path"])
        page = self.get(process, ports["metrics"], "/metrics")
        for device in ("mlx5_0", "mlx5_1"):
            self.assertIn(f'rdma_port_up{{device="{device}",port="1"}} ', page)
        limit = container["resources"]["limits"]["memory"]
        self.assertEqual(limit, "512Mi")
        resident = next(float(line.split()[1]) for line in page.splitlines() if line.startswith("process_resident_memory"))
        self.assertLess(resident, 512 << 20)

    def status(self, pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            return dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)

    def read_only_mounts(self, pid):
        """{mount point in the container: whether it cannot be written to}."""
        with open(f"/proc/{pid}/mountinfo", encoding="ascii") as table:
            return {fields[4]: "ro" in fields[5].split(",") for fields in map(str.split, table)}

    def run_of(self, items, *more):
        """Starts it, asserts that it serves, and gives the node and the process."""
        host, work = self.node(), self.folder()
        process = self.enterContext(pod.started(items, host, work, self.root, "/usr/bin/rdma_exporter", *more))
        self.assert_serves(items, host, work, process)
        return host, process

    def test_without_a_right_in_the_network_of_the_node(self):
        for items in (self.template({}), self.kustomized("base"), self.kustomized("overlays/port")):
            host, process = self.run_of(items)
            status = self.status(process.pid)
            self.assertEqual((status["Uid"].split(), status["Gid"].split()), ([str(NOBODY)] * 4, [str(NOBODY)] * 4))
            self.assertEqual({int(status[f"Cap{kind}"], 16) for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")}, {0})
            self.assertEqual((status["NoNewPrivs"], status["Groups"].strip()), ("1", ""))
            read_only = self.read_only_mounts(process.pid)
            self.assertEqual([read_only[path] for path in ("/", "/host/sys", "/etc/rdma_exporter")], [True] * 3)
            self.assertTrue(os.path.samefile(f"/proc/{process.pid}/ns/net", host.network()))
            self.assertTrue(os.path.samefile(f"/proc/{process.pid}/ns/pid", "/proc/self/ns/pid"))
            process.terminate()
            self.assertEqual(process.wait(self.pod(items)["terminationGracePeriodSeconds"]), 0)

    def test_without_the_namespaces_of_the_node(self):
        host, process = self.run_of(self.template({"hostNetwork": False, "hostPID": False}))
        for kind in ("net", "pid"):
            namespace = f"/proc/{process.pid}/ns/{kind}{'_for_children' if kind == 'pid' else ''}"
            self.assertFalse(os.path.samefile(namespace, f"/proc/{host.process.pid}/ns/{kind}"), kind)

    def test_with_the_probe_on_a_node_without_rdma(self):
        """No /dev/infiniband, and a secret that only its group may read."""
        values = {"probe": {"enabled": True, "pskSecret": "rdma-exporter-probe"}}
        for items in (self.template(values), self.kustomized("overlays/probe")):
            host, process = self.run_of([*items, PSK])
            self.assertEqual(list(host.paths["/dev/infiniband"].iterdir()), [])
            self.assertEqual(self.status(process.pid)["Groups"].split(), [str(NOBODY)])
