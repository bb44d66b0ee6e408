# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Two daemons of the guest, a prober and a responder, over two Soft-RoCE devices on a veth pair: what the suites of the probe
share."""

import exporter
import labtest
from guest import Path, kernel
from guest import time as guest_time  # the clock of what is served
from labtest import LabTest, daemons

CONFIG = Path("/tmp/prober.yml")
QUIET = ("--netlink=off",)
TARGET = "10.9.0.2:9401,name=far,group=pod1,from=rxe0,device=rxe1"
ATTEMPTS, FAILURES = "rdma_probe_attempts_total", "rdma_probe_failures_total"
CONTROL_FAILURES = "rdma_probe_control_failures_total"
CONTROL_STAGES = ("resolve", "tcp", "tls", "exchange")


def wait_for(condition, what, timeout=60):
    """As labtest's, with the patience that a guest on a busy machine needs."""
    labtest.wait_for(condition, what, timeout)


def start_responder():
    daemons["responder"] = exporter.Exporter(
        9410, *QUIET, "--probe.responder", "--probe.listen-address=10.9.0.2:9401", "--probe.listen-address=127.0.0.1:9401",
        f"--probe.secret-file={exporter.SECRET}", "--probe.device-include=rxe1")
    daemons["responder"].wait_until_ready()


def configure(*targets, **settings):
    lines = ["probe:", "  targets:", *(f"    - {target}" for target in targets)] if targets else ["probe:", "  targets: []"]
    defaults = {"secret_file": exporter.SECRET, "device_include": "rxe0", "interval": "200ms", "echo_interval": "400ms",
                "traffic_class": 106, "timeout": 16, "max_cpu_percent": 100}
    lines += [f"  {key}: {value}" for key, value in {**defaults, **settings}.items()]
    CONFIG.write_text("\n".join(lines) + "\n")


def set_up():
    exporter.install()
    exporter.write_keys(exporter.KEY)
    configure(TARGET)
    start_responder()
    daemons["prober"] = exporter.Exporter(9411, *QUIET, f"--config.file={CONFIG}", "--web.enable-lifecycle")
    daemons["prober"].wait_until_ready()


class Netem:
    def __init__(self, netdev, what):
        self.netdev, self.what = netdev, what

    def __enter__(self):
        kernel.run("tc", "qdisc", "add", "dev", self.netdev, "root", "netem", *self.what.split())

    def __exit__(self, *_):
        kernel.run("tc", "qdisc", "del", "dev", self.netdev, "root")


class ProbeTest(LabTest):
    one_sided = "write"

    def setUp(self):
        self.prober = daemons["prober"]
        self.wait_for_up()

    def page(self):
        return self.prober.scrape()

    def get(self, name, **labels):
        return self.page().get(name, **labels)

    def wait_for_up(self, timeout=90):
        def works():
            page = self.page()
            before = page.get(ATTEMPTS, op=self.one_sided, target="far")
            if page.get("rdma_probe_up", target="far") != 1 or before is None:
                return False
            last = page.get("rdma_probe_last_success_timestamp_seconds", op=self.one_sided, target="far")
            return last is not None and last > guest_time.time() - 2
        wait_for(works, "a probe that works", timeout)

    def failures(self, page=None, **labels):
        metric = CONTROL_FAILURES if labels.get("stage") in CONTROL_STAGES else FAILURES
        return sum((page or self.page()).find(metric, target="far", **labels).values())

    def count_of_writes(self):
        return self.get("rdma_probe_rtt_seconds_count", op="write", target="far")

    def wait_for_failure(self, timeout=60, **labels):
        before = self.failures(**labels)
        wait_for(lambda: self.failures(**labels) > before, f"a failure {labels}", timeout)

    def reload(self):
        self.prober.process.send_signal(1)
