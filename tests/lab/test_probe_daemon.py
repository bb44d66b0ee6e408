# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The probe as a part of the daemon on a real kernel: what Prometheus sees while paths work, fail and change. The suite
`probe-daemon` (tests/lab/run)."""

import time

import exporter
import probe_pair
from guest import kernel, socket, subprocess, traffic
from labtest import daemons, stop_daemons
from probe_pair import ATTEMPTS, Netem, ProbeTest, start_responder, wait_for


def setUpModule():
    probe_pair.set_up()


def tearDownModule():
    stop_daemons()


class Probing(ProbeTest):
    def test_both_operations_are_measured_and_the_histograms_agree(self):
        wait_for(lambda: (self.get("rdma_probe_rtt_seconds_count", op="echo") or 0) >= 3, "echoes")
        page = self.page()
        for op in ("write", "echo"):
            count = page.get("rdma_probe_rtt_seconds_count", op=op, target="far", target_group="pod1")
            attempts = page.get(ATTEMPTS, op=op, target="far")
            self.assertGreater(count, 0)
            self.assertLessEqual(count + self.failures(page, op=op), attempts)
        self.assertGreater(page.get("rdma_probe_last_rtt_seconds", op="write"), 1e-6)
        for step in ("tcp", "tls", "exchange", "modify"):
            connects = page.get("rdma_probe_connect_seconds_count", target_group="pod1", step=step)
            self.assertTrue(1 <= connects <= page.get("rdma_probe_connects_total", device="rxe0"), (step, connects))
            self.assertGreater(page.get("rdma_probe_connect_seconds_sum", target_group="pod1", step=step), 0)
        info = [dict(labels) for (_, labels) in page.find("rdma_probe_session_info")]
        self.assertEqual(len(info), 1)
        self.assertEqual((info[0]["op"], info[0]["peer_device"], info[0]["peer_address"], info[0]["local_address"]),
                         ("write", "rxe1", "10.9.0.2", "10.9.0.1"))
        far = daemons["responder"].scrape()
        self.assertEqual(far.get("rdma_probe_inbound_sessions", device="rxe1"), 1)
        self.assertEqual(far.get("rdma_probe_qps", device="rxe1", role="responder"), 2)
        self.assertEqual(page.get("rdma_probe_qps", device="rxe0", role="requester"), 2)

    def test_no_secret_is_served_or_logged(self):
        for daemon in (self.prober, daemons["responder"]):
            text = daemon.get("/metrics").decode() + daemon.log.read_text()
            self.assertNotIn(exporter.PART_OF_KEY, text)
            self.assertNotIn("qpn", text.lower().replace("udp", ""))

    def test_a_jump_of_the_delay_is_seen(self):
        below = {"op": "write", "target": "far", "le": "0.008192"}
        with Netem("ve0", "delay 10ms"):
            wait_for(lambda: self.get("rdma_probe_last_rtt_seconds", op="write") >= 0.01, "the delay")
            before = self.page()
            wait_for(lambda: self.count_of_writes() >= before.get("rdma_probe_rtt_seconds_count", op="write") + 3,
                     "three more")
            self.assertEqual(self.get("rdma_probe_rtt_seconds_bucket", **below),
                             before.get("rdma_probe_rtt_seconds_bucket", **below), "none of them is quicker")
        self.assertLess(self.get("rdma_probe_min_rtt_seconds", op="write"), 0.01, "the least of five minutes")

    def test_requests_and_acks_carry_the_class_and_the_port_of_the_path(self):
        info = next(dict(labels) for (_, labels) in self.page().find("rdma_probe_session_info"))
        seen = traffic.roce_senders("ve0", 2, timeout=20)
        port = int(info["udp_source_port"])
        self.assertEqual(seen, {("10.9.0.1", 106, port), ("10.9.0.2", 106, port)})


class Failing(ProbeTest):
    def test_a_black_hole_fails_every_tick_and_comes_back(self):
        with Netem("ve0", "loss 100%"):
            self.wait_for_failure(op="write", reason="retry_exc_err")  # an echo's may come first, and leaves it up
            page = self.page()
            self.assertEqual(page.get("rdma_probe_up", target="far"), 0)
            attempts, failed = page.get(ATTEMPTS, op="write"), self.failures(page, op="write")
            wait_for(lambda: self.failures(op="write") >= failed + 5, "failures that go on")
            self.assertGreaterEqual(self.get(ATTEMPTS, op="write"), attempts + 5)
        self.wait_for_up()

    def test_a_killed_responder_is_missed_at_once_and_a_new_one_is_found(self):
        daemons["responder"].process.kill()
        daemons["responder"].process.wait()
        self.wait_for_failure(stage="tcp")
        start_responder()
        self.wait_for_up()

    def test_a_stopped_process_fails_echoes_and_no_writes(self):
        # Longer than the control connection lasts: the adapter goes on answering writes.
        before = self.page()
        written = self.count_of_writes()
        daemons["responder"].pause()
        try:
            late = {"op": "echo", "stage": "echo", "reason": "deadline"}
            wait_for(lambda: self.failures(**late) >= self.failures(before, **late) + 3, "echoes that nobody answers")
            wait_for(lambda: self.failures(stage="tcp") > self.failures(before, stage="tcp"), "a ping without an answer")
            wait_for(lambda: self.count_of_writes() >= written + 20, "writes that go on")
            after = self.page()
        finally:
            daemons["responder"].resume()
        self.assertEqual(self.failures(after, op="write"), self.failures(before, op="write"))
        self.assertEqual(after.get("rdma_probe_up", target="far"), 1)
        self.wait_for_up()

    def test_a_removed_address_is_named_and_found_again(self):
        kernel.run("ip", "address", "del", "10.9.0.1/32", "dev", "ve0")
        try:
            self.wait_for_failure(op="write")
        finally:
            self.repair("ve0", own="10.9.0.1", peer="10.9.0.2", peer_mac="02:00:00:00:00:02", tables=("100", "101"))
        self.wait_for_up()

    def test_the_peers_address_and_link_go_and_come_back(self):
        down = self.port_errors()
        for command in (("ip", "address", "del", "10.9.0.2/32", "dev", "ve1"), ("ip", "link", "set", "ve1", "down")):
            with self.subTest(command=" ".join(command)):
                kernel.run(*command)
                try:
                    self.wait_for_failure(op="write")
                finally:
                    self.repair("ve1", own="10.9.0.2", peer="10.9.0.1", peer_mac="02:00:00:00:00:01",
                                tables=("100", "102"))
                self.wait_for_up()
        self.assertGreater(self.port_errors(), down, "the link is down at both ends of it")

    def port_errors(self):
        return self.get("rdma_probe_async_events_total", device="rxe0", event="PORT_ERR")

    def repair(self, netdev, own, peer, peer_mac, tables):
        """As tests/lab/guest/fabric.sh makes it. With its last address an interface loses its neighbours too."""
        kernel.run("ip", "link", "set", netdev, "up")
        kernel.run("ip", "address", "replace", f"{own}/32", "dev", netdev)
        kernel.run("ip", "neighbour", "replace", peer, "lladdr", peer_mac, "dev", netdev, "nud", "permanent")
        for table in tables:
            kernel.run("ip", "route", "replace", f"{peer}/32", "dev", netdev, "src", own, "table", table)

    def test_a_starved_process_slows_echoes_and_no_writes(self):
        def slow(op):
            page = self.page()
            return (page.get("rdma_probe_rtt_seconds_count", op=op, target="far")
                    - page.get("rdma_probe_rtt_seconds_bucket", op=op, target="far", le="0.065536"))

        before = slow("echo")
        for _ in range(5):  # a guest that stands still for four seconds sees a deadline instead
            responder, count, start = daemons["responder"], self.count_of_writes(), time.monotonic()
            responder.pause()
            try:
                wait_for(lambda: self.count_of_writes() >= count + 3 and time.monotonic() > start + 0.8,
                         "writes while the process stands still")
            finally:
                responder.resume()
            self.wait_for_up()
            if slow("echo") > before:
                return
        self.fail("no echo was slow")

    def test_a_scrape_does_not_wait_for_a_neighbour_that_does_not_answer(self):
        kernel.run("ip", "neighbour", "del", "10.9.0.2", "dev", "ve0")
        try:
            daemons["responder"].process.kill()
            daemons["responder"].process.wait()
            start_responder()
            times = {daemon: [] for daemon in (self.prober, daemons["responder"])}
            for _ in range(10):
                for daemon, taken in times.items():
                    start = time.monotonic()
                    daemon.scrape()
                    taken.append(time.monotonic() - start)
            # The kernel keeps who asks for the neighbour for two seconds and more; the responder does not ask.
            medians = [sorted(taken)[5] for taken in times.values()]
            self.assertLess(medians[0], 1.5 + 3 * medians[1])
        finally:
            kernel.run("ip", "neighbour", "replace", "10.9.0.2", "lladdr", "02:00:00:00:00:02", "dev", "ve0", "nud",
                       "permanent")
        self.wait_for_up()


class Strangers(ProbeTest):
    def test_garbage_and_wrong_secrets_are_counted_and_reach_nothing(self):
        rejected = lambda: sum(daemons["responder"].scrape().find("rdma_probe_inbound_rejected_total").values())
        before = rejected()
        for _ in range(20):
            with socket.create_connection(("10.9.0.2", 9401), timeout=5) as stranger:
                stranger.sendall(b"GET / HTTP/1.1\r\n\r\n" * 40)
        wait_for(lambda: rejected() >= before + 20, "twenty refusals")
        # A lease whose connection broke in an earlier test may be kept for a while.
        self.assertIn(daemons["responder"].scrape().get("rdma_probe_inbound_sessions", device="rxe1"), (1, 2))


class Devices(ProbeTest):
    def test_a_device_can_be_removed_under_it_and_is_used_again(self):
        start = time.monotonic()
        subprocess.run(["rdma", "link", "delete", "rxe0"], check=True, timeout=60)
        self.assertLess(time.monotonic() - start, 30, "it lets go")
        wait_for(lambda: self.page().find(ATTEMPTS) == {}, "no series of a device that is not there")
        kernel.run("rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "ve0")
        self.wait_for_up()

    def test_nothing_is_left_when_it_ends(self):
        self.assertEqual(self.prober.stop(), 0)
        self.assertEqual(daemons["responder"].stop(), 0)
        for kind in ("qp", "cm_id"):
            shown = subprocess.run(["rdma", "res", "show", kind], capture_output=True, text=True, check=True).stdout
            self.assertNotIn("rdma_exporter", shown)


IN_ORDER = (Probing, Failing, Strangers, Devices)
