# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Queue pairs, memory regions and the rest, against what `rdma resource` says of them at the same time. Run in the
lab's guest (tests/lab/run resources)."""

import collections
import json
import time
import unittest

import exporter
from guest import actors, kernel, subprocess
from labtest import daemons, readable, stop_daemons, wait_for

TABLES = ("qp", "mr", "cq", "cm_id", "srq", "ctx")
POD = "40934a46_d409_4f4a_bb8b_1ec0b0436320"
CONTAINER = "afc114c69e71f18166abd63715398d7daa763c69a6454f71157272ab0bdca783"
POD_CGROUP = actors.CGROUP2 / (f"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{POD}.slice/"
                               f"cri-containerd-{CONTAINER}.scope")
JOB_CGROUP = actors.CGROUP2 / "system.slice/slurmstepd.scope/job_123/step_0/user/task_0"
OLD_JOB_CGROUP = actors.CGROUP1 / "slurm/uid_1000/job_77/step_0"


def setUpModule():
    exporter.install()
    actors.mount_cgroups()
    interval = "--collector.resource.detail-interval=1s"
    daemons["default"] = exporter.Exporter(9400, interval)
    daemons["nobody"] = exporter.Exporter(9402, interval, user=exporter.NOBODY)
    unittest.addModuleCleanup(stop_daemons)
    for daemon in daemons.values():
        daemon.wait_until_ready()


def tables():
    """{table: rows} of `rdma resource show`, and its summary as "summary". One process: starting one is what is slow."""
    kinds = ("summary", *TABLES)
    commands = "\n".join(f"resource show {'' if kind == 'summary' else kind}" for kind in kinds)
    done = subprocess.run(["rdma", "-j", "-d", "-b", "-"], input=commands, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    decoder, text, found = json.JSONDecoder(), done.stdout.strip(), {}
    for kind in kinds:
        found[kind], end = decoder.raw_decode(text)
        text = text[end:].strip()
    return found


def table(kind):
    return json.loads(kernel.run("rdma", "-j", "-d", "resource", "show", kind))


def space(row):
    return "kernel" if "pid" not in row else "user"


def expected():
    """({series: value}, {(device, type): number}) as they follow from `rdma`; empty labels are no labels."""
    series = collections.Counter()
    shown = tables()

    def add(name, value=1, **labels):
        series[name, frozenset((label, text) for label, text in labels.items() if text)] += value

    for row in shown["qp"]:
        add("rdma_resource_qps", device=row["ifname"], port=str(row.get("port", "")), qp_type=row["type"],
            state=row["state"], space=space(row))
    for row in shown["mr"]:
        add("rdma_resource_mrs", device=row["ifname"], space=space(row))
        add("rdma_resource_mr_bytes", row["mrlen"], device=row["ifname"], space=space(row))
    for row in shown["cq"]:
        labels = {"device": row["ifname"], "space": space(row)}
        add("rdma_resource_cqs", **labels)
        add("rdma_resource_cq_entries", row["cqe"], **labels)
        add("rdma_resource_cq_users", row["users"], **labels)
    for row in shown["cm_id"]:
        add("rdma_resource_cm_ids", device=row["ifname"], port_space=row["ps"], state=row["state"])
    counts = {(row["ifname"], kind): number for row in shown["summary"] for kind, number in row.items()
              if kind not in ("ifindex", "ifname")}
    return dict(series), counts


FAMILIES = {"rdma_resource_qps", "rdma_resource_mrs", "rdma_resource_mr_bytes", "rdma_resource_cqs",
            "rdma_resource_cq_entries", "rdma_resource_cq_users", "rdma_resource_cm_ids", "rdma_resource_srqs"}


def fresh(daemon, timeout=30):
    """A page whose tables are all there, of every device, and younger than this call."""
    start = time.monotonic()
    while True:
        page = daemon.scrape()
        ages = page.find("rdma_resource_detail_age_seconds")
        devices = {dict(labels)["device"] for _, labels in page.find("rdma_device_info")}
        dumped = {dict(labels)["device"] for _, labels in ages}
        if ages and devices <= dumped and max(ages.values()) < time.monotonic() - start - 0.5:
            return page
        if time.monotonic() > start + timeout:
            raise AssertionError(f"no new dump within {timeout} s: {ages}")
        time.sleep(0.3)


def quiet(daemon):
    """(series by `rdma`, summary by `rdma`, page) of a moment in which the kernel said the same before and after."""
    for _ in range(5):
        before = expected()
        page = fresh(daemon)
        if expected() == before:
            return *before, page
    raise AssertionError("the resources never stood still")


class ResourceTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.daemon = daemons["default"]

    def hold(self, *arguments, cgroup=None):
        actor = actors.hold(*arguments, cgroup=cgroup)
        self.addCleanup(actor.kill)
        return actor

    def assert_same(self, daemon):
        series, counts, page = quiet(daemon)
        served = {key: value for key, value in page.series.items() if key[0] in FAMILIES and value}
        self.assertEqual(readable(served), readable({key: value for key, value in series.items() if value}))
        objects = {(dict(labels)["device"], dict(labels)["type"]): value
                   for (_, labels), value in page.find("rdma_resource_objects").items()}
        self.assertEqual(objects, counts)
        self.assertEqual(page.find("rdma_resource_dump_errors_total"), {})
        self.assertEqual(set(page.find("rdma_resource_dump_truncated").values()), {0})
        return page


class Everything(ResourceTest):
    def test_an_idle_host_has_the_kernels_own(self):
        page = self.assert_same(self.daemon)
        self.assertEqual(page.get("rdma_resource_qps", device="rxe0", qp_type="GSI", state="RTS", space="kernel"), 1)
        self.assertEqual(page.get("rdma_resource_owner_qps", device="rxe0", owner_kind="kernel", owner="ib_core"), 1)
        self.assertEqual(page.get("rdma_resource_detail_enabled", device="rxe0"), 1)

    def test_limits_are_those_of_the_device(self):
        limits = {}
        for line in kernel.run("ibv_devinfo", "-v", "-d", "rxe0").splitlines():
            field, _, value = line.strip().partition(":")
            limits[field] = value.strip()
        page = self.daemon.scrape()
        for kind in ("qp", "cq", "mr", "pd", "srq"):
            self.assertEqual(page.get("rdma_resource_objects_limit", device="rxe0", type=kind),
                             int(limits[f"max_{kind}"]), kind)

    def test_every_state_type_and_owner_while_traffic_runs(self):
        for arguments in (["-n", "2", "rxe0", "reset"], ["-n", "3", "rxe0", "init"], ["rxe0", "rtr"],
                          ["-n", "4", "rxe0", "rts"], ["rxe0", "sqd"], ["-n", "2", "-m", "1000000", "rxe0", "err"],
                          ["-t", "ud", "-n", "3", "rxe1", "rts"], ["-t", "uc", "rxe1", "rts"]):
            self.hold(*arguments)
        listener = actors.Actor("rping", "-s", "-a", "10.9.0.2", "-C", "1000000", wait=False)
        self.addCleanup(listener.kill)
        wait_for(lambda: any(row["state"] == "LISTEN" for row in table("cm_id")), "rping listens")
        client = actors.Actor("rping", "-c", "-a", "10.9.0.2", "-C", "1000000", wait=False)
        self.addCleanup(client.kill)
        wait_for(lambda: sum(row["state"] == "CONNECT" for row in table("cm_id")) == 2, "rping is connected")
        for name, daemon in daemons.items():
            with self.subTest(daemon=name):
                page = self.assert_same(daemon)
                self.assertEqual(page.get("rdma_resource_qps", device="rxe0", state="RESET"), 2)
                self.assertEqual(page.get("rdma_resource_qps", device="rxe0", state="SQD"), 1)
                self.assertEqual(page.get("rdma_resource_qps", device="rxe1", qp_type="UD"), 3)
                self.assertEqual(page.get("rdma_resource_cm_ids", device="rxe1", state="LISTEN", port_space="TCP"), 1)
                self.assertEqual(page.get("rdma_resource_cm_ids", device="rxe0", state="CONNECT"), 1)
                self.assertEqual(page.get("rdma_resource_owner_qps", device="rxe0", owner="rping"), 1)

    def test_perftest_that_uses_the_connection_manager(self):
        line = ["ib_write_bw", "-R", "-D", "600", "-s", "65536"]  # it ends with the test, not before
        server = actors.Actor(*line, "-d", "rxe1", wait=False)
        self.addCleanup(server.kill)
        wait_for(lambda: any(row["state"] == "LISTEN" for row in table("cm_id")), "perftest listens")
        client = actors.Actor(*line, "-d", "rxe0", "10.9.0.2", wait=False)
        self.addCleanup(client.kill)

        def clients(kind):
            return [row for row in table(kind) if row.get("comm") == "ib_write_bw" and row["ifname"] == "rxe0"]

        def own():
            return sum(row["mrlen"] for row in clients("mr"))

        wait_for(lambda: any(row["state"] == "RTS" for row in clients("qp")), "perftest is connected")
        # It is connected before it registers them: its one region may be a page until then.
        wait_for(lambda: own() >= 2 * 65536, "perftest has registered what it writes from")
        page = self.assert_same(self.daemon)
        self.assertEqual(page.get("rdma_resource_owner_mr_bytes", device="rxe0", owner_kind="process",
                                  owner="ib_write_bw"), own())


class Owners(ResourceTest):
    def test_a_pod_a_job_and_a_job_of_the_old_kind(self):
        self.hold("-n", "2", "-m", "300000", "rxe0", "rts", cgroup=POD_CGROUP)
        self.hold("-n", "3", "-m", "200000", "rxe0", "rts", cgroup=POD_CGROUP)
        self.hold("-n", "4", "-m", "100000", "rxe0", "init", cgroup=JOB_CGROUP)
        self.hold("-m", "50000", "rxe0", "rts", cgroup=OLD_JOB_CGROUP)
        for name, daemon in daemons.items():
            with self.subTest(daemon=name):
                page = fresh(daemon)
                pod = {"owner_kind": "pod", "owner": POD.replace("_", "-"), "container": CONTAINER, "device": "rxe0"}
                self.assertEqual(page.get("rdma_resource_owner_mr_bytes", **pod), 500000)
                self.assertEqual(page.get("rdma_resource_owner_mrs", **pod), 2)
                self.assertEqual(page.get("rdma_resource_owner_qps", **pod), 5)
                self.assertEqual(page.get("rdma_resource_owner_cqs", **pod), 2)
                self.assertEqual(page.get("rdma_resource_owner_contexts", **pod), 2)
                job = {"owner_kind": "slurm_job", "device": "rxe0"}
                self.assertEqual(page.get("rdma_resource_owner_qps", owner="123", **job), 4)
                self.assertEqual(page.get("rdma_resource_owner_mr_bytes", owner="123", **job), 100000)
                self.assertEqual(page.get("rdma_resource_owner_mr_bytes", owner="77", **job), 50000)
                self.assertEqual(sum(page.find("rdma_resource_objects_unattributed").values()), 0)

    def test_only_the_largest_are_named(self):
        for index in range(4):
            self.hold("-m", str(10000 * (index + 1)), "rxe0", "init",
                      cgroup=actors.CGROUP2 / f"system.slice/unit{index}.service")
        page = exporter.once("--collector.resource.owners-top=2")
        shown = {dict(labels).get("owner", dict(labels)["owner_kind"]): value for (_, labels), value in
                 page.find("rdma_resource_owner_mr_bytes", device="rxe0").items()}
        self.assertEqual(shown, {"unit3.service": 40000, "unit2.service": 30000, "other": 30000})

    def test_of_another_pid_namespace_nobody_is_named(self):
        self.hold("-n", "2", "rxe0", "rts")
        page = exporter.once(prefix=("unshare", "--pid", "--fork", "--mount-proc"))
        self.assertEqual(page.get("rdma_resource_owner_qps", device="rxe0", owner_kind="unknown"), 2)
        # 2 queue pairs, a region, a completion queue, a context
        self.assertEqual(page.get("rdma_resource_objects_unattributed", device="rxe0", reason="no_pid"), 5)
        self.assertEqual(page.get("rdma_resource_qps", device="rxe0", state="RTS", space="user"), 2)

    def test_processes_on_request(self):
        self.hold("rxe0", "rts", cgroup=POD_CGROUP)
        page = exporter.once("--collector.resource.owners=process")
        self.assertEqual(page.get("rdma_resource_owner_qps", device="rxe0", owner_kind="process", owner="qpactor"), 1)
        self.assertEqual(page.find("rdma_resource_owner_qps", owner_kind="pod"), {})


class Errors(ResourceTest):
    def test_a_peer_that_is_killed(self):
        passive, active = actors.connect("rxe1", "rxe0", "write")
        self.addCleanup(active.kill)
        self.addCleanup(lambda: passive.process.poll() is None and passive.kill())
        self.assertIsNone(fresh(self.daemon).get("rdma_resource_qps", device="rxe0", state="ERR"))
        passive.kill()
        self.assertEqual(active.read_line(), "failed 12", "IBV_WC_RETRY_EXC_ERR was expected")
        page = self.assert_same(self.daemon)
        self.assertEqual(page.get("rdma_resource_qps", device="rxe0", qp_type="RC", state="ERR", space="user"), 1)
        self.assertGreater(page.get("rdma_port_retries_exceeded_total", device="rxe0", kind="transport"), 0)

    def test_retries_no_receive_and_a_wrong_key(self):
        self.hold("rxe0", "retry")
        for kind, status in (("rnr", "13"), ("badkey", "10")):
            passive, active = actors.connect("rxe1", "rxe0", kind)
            self.addCleanup(passive.kill)
            self.addCleanup(active.kill)
            self.assertEqual(active.read_line(), f"failed {status}")
        page = self.assert_same(self.daemon)
        self.assertEqual(page.get("rdma_resource_qps", device="rxe0", state="ERR"), 3)


class Many(ResourceTest):
    QPS = 2000

    def test_two_thousand_queue_pairs(self):
        self.hold("-n", str(self.QPS), "rxe0", "init")
        page = self.assert_same(self.daemon)
        self.assertEqual(page.get("rdma_resource_qps", device="rxe0", state="INIT"), self.QPS)
        self.assertLess(page.get("rdma_resource_dump_duration_seconds", device="rxe0", table="qp"), 10)
        # The dump is no part of the scrape.
        times = []
        for _ in range(5):
            start = time.monotonic()
            self.daemon.scrape()
            times.append(time.monotonic() - start)
        print(f"2000 queue pairs: dump {page.get('rdma_resource_dump_duration_seconds', device='rxe0', table='qp'):.3f} s,"
              f" scrape {min(times):.3f} to {max(times):.3f} s")

        page = exporter.once(f"--collector.resource.max-qps={self.QPS}")
        self.assertEqual(page.get("rdma_resource_dump_truncated", device="rxe0", table="qp", reason="max_qps"), 1)
        self.assertEqual(page.find("rdma_resource_qps", device="rxe0"), {})
        self.assertEqual(page.get("rdma_resource_objects", device="rxe0", type="qp"), self.QPS + 1)
        self.assertEqual(page.get("rdma_resource_qps", device="rxe1", qp_type="GSI"), 1)

        page = exporter.once("--collector.resource.max-entries=1999")
        self.assertEqual(page.get("rdma_resource_dump_truncated", device="rxe0", table="qp", reason="max_entries"), 1)

    def test_queue_pairs_that_come_and_go_meanwhile(self):
        """Dumps repeat and skip under churn; no error, and never more than there ever were."""
        self.hold("-n", "500", "rxe0", "init")
        stop = time.monotonic() + 5
        while time.monotonic() < stop:
            churn = actors.hold("-n", "50", "rxe0", "init")
            page = self.daemon.scrape()
            churn.kill()
            user = page.get("rdma_resource_qps", device="rxe0", state="INIT", space="user")
            if user is not None:
                self.assertLessEqual(user, 550)
                self.assertEqual(page.find("rdma_resource_dump_errors_total", device="rxe0", reason="parse"), {})
        self.assert_same(self.daemon)


class Devices(ResourceTest):
    def test_detail_that_is_off(self):
        page = exporter.once("--collector.resource.detail=off")
        self.assertEqual(page.get("rdma_resource_detail_enabled", device="rxe0", reason="off"), 0)
        self.assertEqual(page.find("rdma_resource_qps"), {})
        self.assertEqual(page.get("rdma_resource_objects", device="rxe0", type="qp"), 1)

    def test_deleted_while_it_is_dumped(self):
        add = ("rdma", "link", "add", "rxe_dummy", "type", "rxe", "netdev", "dum0")
        self.addCleanup(lambda: "rxe_dummy" in kernel.devices() or kernel.run(*add))
        for _ in range(4):
            kernel.run("rdma", "link", "delete", "rxe_dummy")
            self.daemon.scrape()
            kernel.run(*add)
            self.daemon.scrape()
        page = self.assert_same_devices()
        self.assertEqual(page.get("rdma_resource_qps", device="rxe_dummy", qp_type="GSI"), 1)
        self.assertTrue(self.daemon.alive())

    def assert_same_devices(self):
        for _ in range(10):
            page = fresh(self.daemon)
            if page.get("rdma_resource_qps", device="rxe_dummy", qp_type="GSI"):
                return page
        raise AssertionError("the device that came back has no table")

    def test_exclusive_namespaces(self):
        """Another network namespace sees no device, and so no resource."""
        wait_for(lambda: self.switch_mode("exclusive"), "exclusive mode")
        self.addCleanup(wait_for, lambda: self.switch_mode("shared"), "shared mode")
        kernel.run("ip", "netns", "add", "other")
        self.addCleanup(kernel.run, "ip", "netns", "delete", "other")
        page = exporter.once(prefix=("ip", "netns", "exec", "other"))
        self.assertEqual(page.find("rdma_resource_objects"), {})
        self.assert_same(self.daemon)

    @staticmethod
    def switch_mode(mode):
        return subprocess.run(["rdma", "system", "set", "netns", mode], stderr=subprocess.DEVNULL).returncode == 0

    def test_another_namespace_in_shared_mode_sees_all(self):
        kernel.run("ip", "netns", "add", "other")
        self.addCleanup(kernel.run, "ip", "netns", "delete", "other")
        self.hold("-n", "2", "rxe0", "rts")
        page = exporter.once(prefix=("ip", "netns", "exec", "other"))
        self.assertEqual(page.get("rdma_resource_qps", device="rxe0", state="RTS", space="user"), 2)
