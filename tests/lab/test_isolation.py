# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The suite `isolation`: reads that are really slow, stuck or failing inside the kernel (module labib), and devices that
go while they are read. What else there is to see stays complete and on time."""

import contextlib
import errno
import os
import threading
import time
import unittest

import exporter
import footprint
import test_vendor_counters
from guest import kernel, knobs
from labtest import LabTest, daemons, quiet, stop_daemons, wait_for
from soak import Soak
from test_vendor_counters import of, raw

BAD, NETDEV = "mlx5_0", "cx0"
OTHERS = ("mlx5_1", "bnxt_re0", "bnxt_re1", "rxe0", "rxe1")
TIMEOUT = 5  # of a scrape, seconds; the emulated processor may be shared with another guest
SPARE = 3    # for HTTP
IN_THE_KERNEL = "lab_read_begin"
READERS = ("hw_counters", "port_counters")  # the collectors that reach labib's code


def setUpModule():
    exporter.install()
    flags = (f"--scrape.timeout={TIMEOUT}s", "--raw=all")
    daemons["default"] = exporter.Exporter(9400, *flags)
    daemons["files"] = exporter.Exporter(9401, "--netlink=off", *flags)
    unittest.addModuleCleanup(stop_daemons)
    for daemon in daemons.values():
        daemon.wait_until_ready()
        daemon.scrape()  # not one that joins the collection of the start


class Isolation(LabTest):
    def setUp(self):
        super().setUp()
        self.bad = knobs.Knobs("labib", BAD)
        for daemon in daemons.values():
            self.wait_until_whole(daemon)

    def wait_until_whole(self, daemon, timeout=90):
        """A job that failed, and a file that did, rests for a while before it is tried again."""
        end = time.monotonic() + timeout
        while (served := raw(daemon.scrape(), BAD)) != (expected := of(BAD, kernel.hw_counters(BAD))):
            if time.monotonic() > end:
                self.assertEqual(served, expected)
            time.sleep(0.1)

    def assert_others_complete(self, daemon):
        """All counters of all other devices have the kernel's values; returns the page."""
        expected, page = quiet(lambda: self.assert_on_time(daemon), lambda: kernel.hw_counters(*OTHERS))
        for device in OTHERS:
            self.assertEqual(raw(page, device), of(device, expected), device)
            self.assertEqual(page.get("rdma_device_up", device=device), 1)
        return page

    def assert_stuck(self, daemon):
        """One thread for each reader, if not in every moment: the driver looks 50 times a second whether it may go on."""
        wait_for(lambda: daemon.uninterruptible_in(IN_THE_KERNEL) == len(READERS), "one stuck read for each collector")

    def assert_on_time(self, daemon):
        start = time.monotonic()
        page = daemon.get("/metrics")
        self.assertLess(time.monotonic() - start, TIMEOUT + SPARE)
        return exporter.Scrape(page)


def failing(page, collector):
    """Why the collector has not read the bad device."""
    return {dict(labels)["reason"] for _, labels in
            page.find("rdma_exporter_collector_failing", device=BAD, collector=collector)}


class Slow(Isolation):
    def test_slow_firmware_is_waited_for(self):
        """Over netlink one message has all counters, so a device that takes its time for an answer is still whole."""
        with self.bad.during("delay_ms", 400):
            expected = of(BAD, kernel.rdma_statistic("link", f"{BAD}/1"))
            page = exporter.once("--raw=all", *exporter.only("hw_counters"), patient=False)
        self.assertEqual(raw(page, BAD), expected)
        self.assertEqual(failing(page, "hw_counters"), set())

    def test_a_device_that_is_too_slow_by_files_costs_its_own_share(self):
        """With optional counters in the driver the kernel queries the firmware again for each of 31 files."""
        with self.bad.during("delay_ms", 400):
            page = self.assert_on_time(daemons["files"])
            self.assertEqual(raw(page, BAD), {})
            self.assertTrue(failing(page, "hw_counters"))
            self.assert_others_complete(daemons["files"])

    def test_so_do_the_port_counters(self):
        """Each of 21 files queries the management agent again (core/sysfs.c, get_perf_mad)."""
        with self.bad.during("delay_ms", 400):
            page = self.assert_on_time(self.daemon)
            self.assertEqual(page.find("rdma_port_raw_total", device=BAD, source="counters"), {})
            self.assertTrue(failing(page, "port_counters"))
            self.assert_others_complete(self.daemon)


class Stuck(Isolation):
    """A read that the kernel holds in uninterruptible sleep: no signal, no timeout and no close() ends it."""

    def test_fifty_scrapes_are_on_time_whole_otherwise_and_need_no_more_threads(self):
        for name, daemon in daemons.items():
            with self.subTest(daemon=name), self.bad.during("stuck", 1):
                self.assert_on_time(daemon)
                self.assert_stuck(daemon)
                threads, files = daemon.threads(), len(daemon.open_files())
                for _ in range(50):
                    page = self.assert_on_time(daemon)
                    self.assertEqual(raw(page, BAD), {}, "what is not read is absent")
                    self.assertEqual(page.get("rdma_port_state", device=BAD), 4, "other collectors read the device")
                self.assertLess(daemon.threads(), threads + 5, "a thread for each scrape")
                self.assertLess(len(daemon.open_files()), files + 20, "a descriptor for each scrape")
                self.assert_stuck(daemon)
                for collector in READERS:
                    self.assertEqual(failing(page, collector), {"busy"})
                self.assert_others_complete(daemon)
                self.assertEqual(self.bad_read_errors(daemon), 0, "late is no error")
            self.wait_until_whole(daemon)

    def test_nobody_waits_for_it_twice(self):
        """Of three scrapes one may wait: once a minute the collector `resource` asks which counters are switched on, and
        for that the kernel takes the lock that the stuck read holds (core/nldev.c, rdma_hw_stats.lock)."""
        with self.bad.during("stuck", 1):
            before = self.timeouts(self.daemon.scrape())
            took = []
            for _ in range(3):
                start = time.monotonic()
                page = self.daemon.get("/metrics")
                took.append(time.monotonic() - start)
            self.assertLess(sorted(took)[1], TIMEOUT, f"later scrapes waited for the stuck read too: {took}")
            self.assertEqual(self.timeouts(exporter.Scrape(page)), before)

    def timeouts(self, page):
        return {reader: page.get("rdma_exporter_collector_timeouts_total", collector=reader)
                for reader in READERS}

    def test_it_recovers_by_itself_and_a_late_result_is_not_served(self):
        self.bad.set("np_cnp_sent=4711")
        self.addCleanup(self.bad.set, "*=1000")
        with self.bad.during("stuck", 1):
            self.daemon.scrape()
            self.daemon.scrape()
        self.bad.set("np_cnp_sent=4712")
        seen = set()

        def back():
            page = self.daemon.scrape()
            seen.add(raw(page, BAD).get("np_cnp_sent"))
            return raw(page, BAD) == of(BAD, kernel.hw_counters(BAD))

        wait_for(back, f"{BAD} back", timeout=90)
        self.assertLessEqual(seen, {None, 4712})
        wait_for(lambda: self.daemon.uninterruptible_in(IN_THE_KERNEL) == 0, "no thread stuck")
        page = self.daemon.scrape()
        for collector in READERS:
            self.assertEqual(failing(page, collector), set())

    def bad_read_errors(self, daemon):
        return sum(daemon.scrape().find("rdma_exporter_read_errors_total", device=BAD).values())


class ManyStuck(Isolation, Soak):
    """Four of six devices and all interfaces of cards hang at once, for LAB_SCRAPES scrapes (long: 10,000)."""

    STUCK, WELL, CARDS = ("mlx5_0", "mlx5_1", "bnxt_re0", "bnxt_re1"), ("rxe0", "rxe1"), ("cx0", "cx1", "bcm0", "bcm1")
    FLAGS = ("--raw=all", f"--scrape.timeout={TIMEOUT}s")

    def test_nothing_grows_and_healthy_devices_are_in_every_page(self):
        daemon = exporter.Exporter(9403, *self.FLAGS)
        self.addCleanup(lambda: daemon.alive() and daemon.process.kill())
        daemon.wait_until_ready()
        scrapes = int(os.environ.get("LAB_SCRAPES", "300"))
        with contextlib.ExitStack() as stack:
            for device in self.STUCK:
                stack.enter_context(knobs.Knobs("labib", device).during("stuck", 1))
            for card in self.CARDS:
                stack.enter_context(knobs.Knobs("labnic", card).during("stuck", 1))
            daemon.scrape()
            # Some jobs come due once a minute, and each of them can be stuck once.
            self.scrape(daemon, scrapes // 4)
            before = daemon.footprint()
            self.scrape(daemon, scrapes - scrapes // 4)
            after = daemon.footprint()
            print(f"{scrapes} scrapes: {before} -> {after}")
            self.assertEqual(footprint.grown(before, after), {})
        for device in self.STUCK:
            wait_for(lambda: raw(daemon.scrape(), device) == of(device, kernel.hw_counters(device)), f"{device} back",
                     timeout=90)
        self.assert_as_fresh(daemon, *self.FLAGS)
        self.assertEqual(daemon.stop(), 0)

    def scrape(self, daemon, count):
        """Each is on time and has all of the healthy devices."""
        expected = kernel.hw_counters(*self.WELL)
        for _ in range(count):
            page = self.assert_on_time(daemon)
            for device in self.WELL:
                self.assertEqual(raw(page, device), of(device, expected), device)
            for device in self.STUCK:
                self.assertEqual(raw(page, device), {}, "what is not read is absent")


class Errors(Isolation):
    def test_the_kernel_s_errors_cost_the_samples_they_hit(self):
        for number in (errno.EIO, errno.ETIMEDOUT, errno.ENOMEM):
            for name, daemon in daemons.items():
                with self.subTest(daemon=name, errno=errno.errorcode[number]):
                    with self.bad.during("errno", number):
                        page = self.assert_others_complete(daemon)
                        self.assertEqual(raw(page, BAD), {})
                        self.assertEqual(page.get("rdma_port_state", device=BAD), 4)
                        errors = page.find("rdma_exporter_read_errors_total", device=BAD, collector="hw_counters")
                        self.assertGreater(sum(errors.values()), 0, "the failed reads are not counted")
                    self.wait_until_whole(daemon)


class Unregistered(Isolation):
    def add_again(self):
        if BAD not in kernel.links():
            knobs.add(BAD, NETDEV)
            self.bad.set("*=1000")

    def test_a_device_goes_while_its_counters_are_read(self):
        """The removal waits for the read; meanwhile netlink denies the device, while sysfs still has it."""
        self.addCleanup(self.add_again)
        removal = threading.Thread(target=knobs.remove, args=(BAD,))
        with self.bad.during("stuck", 1):
            for name, daemon in daemons.items():
                self.assert_on_time(daemon)
                wait_for(lambda: daemon.uninterruptible_in(IN_THE_KERNEL), f"a stuck read of {name}")
            removal.start()
            wait_for(lambda: BAD not in kernel.links(), f"{BAD} gone from netlink")
            for name, daemon in daemons.items():
                with self.subTest(daemon=name, while_="the removal waits"):
                    page = self.assert_others_complete(daemon)
                    self.assertEqual(raw(page, BAD), {})
            self.assertTrue(removal.is_alive(), "the removal was to wait for the read")
        removal.join(timeout=20)
        self.assertFalse(removal.is_alive(), "the removal never ended")
        self.assertNotIn(BAD, kernel.devices())
        for name, daemon in daemons.items():
            with self.subTest(daemon=name, device="gone"):
                page = self.assert_others_complete(daemon)
                self.assertEqual(page.get("rdma_device_up", device=BAD), 0)
                self.assertEqual(raw(page, BAD), {})
                self.assertTrue(daemon.alive(), daemon.log.read_text()[-3000:])

        self.add_again()
        for name, daemon in daemons.items():
            with self.subTest(daemon=name, device="registered again"):
                self.wait_until_whole(daemon)
                self.assertEqual(daemon.scrape().get("rdma_device_up", device=BAD), 1)

    def test_devices_come_and_go_under_scrapes(self):
        """Registrations and removals, LAB_REPLUGS times, while both daemons are scraped as fast as they answer."""
        stop, failures = threading.Event(), []

        def scrape(daemon):
            while not stop.is_set():
                try:
                    daemon.scrape()
                except Exception as error:  # noqa: BLE001  any of them is the test's result
                    failures.append(error)
                    return

        threads = [threading.Thread(target=scrape, args=(daemon,)) for daemon in daemons.values()]
        for thread in threads:
            thread.start()
        try:
            for _ in range(int(os.environ.get("LAB_REPLUGS", "50"))):
                knobs.add("mlx5_9", NETDEV)
                knobs.remove("mlx5_9")
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(failures, [])
        for daemon in daemons.values():
            self.assert_others_complete(daemon)


class TheEnd(Isolation):
    def test_stopped_while_a_read_is_stuck(self):
        """SIGTERM ends the service at once. The process itself is the kernel's until the read returns, and keeps nothing
        that another daemon on the same port needs."""
        client = self.daemon.guest.http(self.daemon.port, timeout=20)
        self.addCleanup(client.close)
        client.request("GET", "/-/healthy")
        client.getresponse().read()
        with self.bad.during("stuck", 1):
            self.daemon.scrape()
            self.daemon.process.terminate()
            wait_for(lambda: self.refused(), "the port closed")
            self.assertEqual(client.sock.recv(1), b"", "the connection is not closed")
            self.assertTrue(self.daemon.alive(), "a stuck thread was to keep the process")
            second = exporter.Exporter(self.daemon.port, f"--device.exclude={BAD}", f"--scrape.timeout={TIMEOUT}s")
            self.addCleanup(second.stop)
            second.wait_until_ready()
            second.scrape()
            self.assertTrue(self.daemon.alive(), "the second daemon was to run beside the first one")
        self.assertEqual(self.daemon.process.wait(timeout=10), 0)

    def refused(self):
        try:
            self.daemon.get("/-/healthy", timeout=1)
            return False
        except OSError:
            return True


IN_ORDER = (test_vendor_counters.VendorCounters, Slow, Stuck, ManyStuck, Errors, Unregistered, TheEnd)
