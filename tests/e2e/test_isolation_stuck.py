# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""A read that does not return costs its device's share of its collector, and nobody waits for it twice."""

import os
import shutil
import time

from harness import Exporter, Samples, TestCase, fake_tree, prom_text, run, temporary_folder
from marks import PATIENCE, slow, timing

STUCK = "mlx5_4"
# One file of every place that is read, each of which may hang in a driver. The device directory is below `dir`.
PLACES = (
    "ports/1/counters/port_xmit_data", "ports/1/hw_counters/np_cnp_sent", "ports/1/state", "ports/1/phys_state",
    "ports/1/rate", "ports/1/lid", "ports/1/link_layer", "ports/1/gids/0", "ports/1/gid_attrs/types/0",
    "ports/1/gid_attrs/ndevs/0", "fw_ver", "node_guid", "node_type", "hca_type", "device/numa_node",
    "device/vendor", "device/current_link_speed", "device/net/{netdev}/mtu",
)


def deadline(seconds):
    """The flag; beside other tests a healthy device takes longer, too."""
    return f"--scrape.timeout={seconds * PATIENCE * 1000:.0f}ms"


def missing(samples):
    """Collector, device and reason of all that is missing."""
    return {tuple(dict(labels)[name] for name in ("collector", "device", "reason"))
            for _, labels in samples.select("rdma_exporter_collector_failing")}


@timing
class OneStuckCounter(TestCase):
    @classmethod
    def setUpClass(cls):
        """What a host without a fault serves; all trees of nine devices have the same values."""
        folder = temporary_folder()
        cls.addClassCleanup(shutil.rmtree, folder)
        host = fake_tree.build(folder, devices=9)
        with Exporter(sysfs=host.sys) as exporter:
            cls.whole = exporter.scrape().samples.kernel()
        with Exporter("--no-collector.hw_counters", sysfs=host.sys) as exporter:
            cls.others = exporter.scrape().samples.kernel()
        if len(cls.whole) <= len(cls.others):
            raise AssertionError("the collector that hangs makes no difference")

    def setUp(self):
        super().setUp()
        self.host = self.tree(devices=9)

    def stick(self, hold=False):
        return self.fifo(self.host.devices[STUCK].hw_counter("out_of_sequence"), hold)

    def assert_only_its_share_is_missing(self, samples):
        self.assert_has_all(samples, self.whole.without_device(STUCK), "the other devices")
        self.assert_has_all(samples, self.others, "the other collectors")

    def self_metric(self, samples, name):
        return samples.one(f"rdma_exporter_collector_{name}", collector="hw_counters")

    @slow(3)
    def test_scrapes_answer_on_time_with_everything_else_and_without_more_threads(self):
        self.stick()
        with Exporter("--scrape.timeout=1s", sysfs=self.host.sys) as exporter:
            first = exporter.scrape()
            self.assert_on_time(first, 1)
            self.assert_only_its_share_is_missing(first.samples)
            threads = exporter.status("Threads")
            for _ in range(50):
                page = exporter.scrape()
                self.assert_on_time(page, 1)
                self.assert_only_its_share_is_missing(page.samples)
            self.assert_no_new_threads(exporter, threads)

    def test_later_scrapes_do_not_wait_for_it_again(self):
        self.stick()
        with Exporter("--scrape.timeout=1s", sysfs=self.host.sys) as exporter:
            exporter.scrape()
            self.assert_within(exporter.scrape().seconds, 0.5)

    def test_it_is_reported(self):
        self.stick()
        with Exporter(deadline(0.3), sysfs=self.host.sys) as exporter:
            first = exporter.scrape().samples
            self.assertEqual(self.self_metric(first, "success"), 0)
            self.assertEqual(self.self_metric(first, "timeouts_total"), len(missing(first)))
            second = exporter.scrape().samples
            self.assertEqual(self.self_metric(second, "success"), 0)
            self.assertEqual(missing(first), {("hw_counters", STUCK, "late")})
            self.assertEqual(missing(second), {("hw_counters", STUCK, "busy")})

    def test_the_scraper_s_own_timeout_is_honoured(self):
        self.stick()
        with Exporter("--scrape.timeout=8s", sysfs=self.host.sys) as exporter:
            page = exporter.scrape(prometheus_timeout=1)
            self.assert_on_time(page, 0.5)
            self.assertGreater(page.seconds, 0.3)
            self.assert_only_its_share_is_missing(page.samples)

    def test_the_own_timeout_holds_when_the_scraper_has_more_patience(self):
        self.stick()
        with Exporter(deadline(0.3), sysfs=self.host.sys) as exporter:
            self.assert_on_time(exporter.scrape(prometheus_timeout=60), 0.3)

    def test_a_useless_timeout_header_is_ignored(self):
        self.stick()
        headers = ("abc", "-1", "nan", "inf", "1e99", "", "0")

        def work(i):
            with Exporter(f"--scrape.timeout={PATIENCE}s", sysfs=self.host.sys) as exporter:
                return exporter.scrape(prometheus_timeout=headers[i]), exporter.scrape()

        for header, pages in zip(headers, self.in_threads(len(headers), work)):
            with self.subTest(header=header):
                self.assert_within(pages[0].seconds, 5)  # 7 daemons run at once
                # An answer at once, before the collectors had a chance, would lose the host's data.
                self.assert_has_all(pages[0].samples, self.whole.without_device(STUCK))

    def test_a_collector_s_own_timeout_ends_the_wait(self):
        self.stick()
        with Exporter("--scrape.timeout=5s", "--collector.hw_counters.timeout=300ms", sysfs=self.host.sys) as exporter:
            page = exporter.scrape()
            self.assert_on_time(page, 0.3)
            self.assert_only_its_share_is_missing(page.samples)

    def test_it_comes_back_by_itself_and_a_late_result_is_never_served(self):
        fifo = self.stick()
        with Exporter(deadline(0.3), sysfs=self.host.sys) as exporter:
            exporter.scrape()
            exporter.scrape()
            threads = exporter.status("Threads")
            fifo.replace("4711")
            self.assertTrue(self.eventually(lambda: fifo.release("99\n")), "nothing hangs on the FIFO")
            seen = []

            def back():
                samples = exporter.scrape().samples.kernel()
                seen.extend(v for k, v in samples.items()
                            if ("device", STUCK) in k[1] and "out_of_sequence" in str(k))
                return set(samples) == set(self.whole)

            self.assertTrue(self.eventually(back, seconds=10), "the device did not come back")
            self.assertEqual(set(seen), {4711})
            self.assertEqual(self.self_metric(exporter.scrape().samples, "success"), 1)
            self.assertEqual(missing(exporter.scrape().samples), set())
            self.assert_no_new_threads(exporter, threads)

    def test_a_slow_read_that_makes_it_in_time_is_served(self):
        fifo = self.stick()
        with Exporter("--scrape.timeout=5s", sysfs=self.host.sys) as exporter:
            def work(i):
                if i == 0:
                    return exporter.scrape()
                time.sleep(0.3)
                return self.eventually(lambda: fifo.release("4711\n"))

            page, released = self.in_threads(2, work)
            self.assertTrue(released)
            self.assert_within(page.seconds, 2)
            self.assertEqual(set(page.samples.kernel()), set(self.whole))
            self.assertIn(4711, page.samples.select(device=STUCK).values())

    def test_a_read_that_hangs_behind_a_good_open(self):
        fifo = self.stick(hold=True)
        with Exporter(deadline(0.3), sysfs=self.host.sys) as exporter:
            for _ in range(5):
                page = exporter.scrape()
                self.assert_on_time(page, 0.3)
                self.assert_only_its_share_is_missing(page.samples)
            fifo.replace("4711")
            fifo.release("99\n")
            self.assertTrue(self.eventually(
                lambda: set(exporter.scrape().samples.kernel()) == set(self.whole), seconds=10))


@timing
class StuckPlaces(TestCase):
    def test_any_file_may_hang(self):
        """Each of the first devices hangs at another file; the last 2 are well and must be served on time."""
        tree = self.tree(devices=len(PLACES) + 2)
        with Exporter(sysfs=tree.sys) as exporter:
            whole = exporter.scrape().samples.kernel()
        devices = list(tree.devices.values())
        for device, place in zip(devices, PLACES):
            self.fifo(f"{device.dir}/{place.format(netdev=device.netdev())}")
        names = [d.name for d in devices[:len(PLACES)]]
        with Exporter(deadline(0.5), "--limits.workers=64", sysfs=tree.sys) as exporter:
            for _ in range(3):
                page = exporter.scrape()
                self.assert_on_time(page, 0.5)
                self.assert_has_all(page.samples, whole.without_device(None, *names), "healthy devices")
                self.assertEqual(page.samples.one("rdma_devices"), len(devices))
            for device, place in zip(devices, PLACES):
                with self.subTest(place=place):
                    # At most the collectors that read this file are without a result.
                    of_device = {of for of in missing(page.samples) if of[1] == device.name}
                    served = page.samples.select("rdma_exporter_collector_success")
                    self.assertLessEqual(len(of_device), len(served) - 2, of_device)

    def test_every_device_hangs_and_workers_are_few(self):
        tree = self.tree(devices=9)
        with Exporter(sysfs=tree.sys) as exporter:
            whole = exporter.scrape().samples.kernel()
        fifos = [self.fifo(d.hw_counter("out_of_sequence")) for d in tree.devices.values()]
        with Exporter(deadline(0.3), "--limits.workers=3", sysfs=tree.sys) as exporter:
            base = exporter.status("Threads")
            for _ in range(5):
                page = exporter.scrape()
                self.assert_on_time(page, 0.3)
                self.assertLessEqual(exporter.status("Threads"), base + 3)
            for fifo in fifos:
                fifo.replace("5")

            def back():
                for fifo in fifos:
                    fifo.release("5\n")
                return set(exporter.scrape().samples.kernel()) == set(whole)

            self.assertTrue(self.eventually(back, seconds=15), "the devices did not come back")

    def test_a_device_that_hangs_and_vanishes_is_given_up(self):
        tree = self.tree(devices=9)
        self.fifo(tree.devices[STUCK].hw_counter("out_of_sequence"))
        with Exporter(deadline(0.3), sysfs=tree.sys) as exporter:
            exporter.scrape()
            fifo_path = tree.devices[STUCK].hw_counter("out_of_sequence")
            kept = f"{self.folder}/kept_fifo"
            os.link(fifo_path, kept)
            tree.remove(STUCK)
            page = exporter.scrape()
            self.assert_on_time(page, 0.3)
            self.assertEqual(page.samples.one("rdma_devices"), 8)
            self.assertEqual(page.samples.one("rdma_device_up", device=STUCK), 0)
            tree.add("mlx5", STUCK)
            self.assertTrue(self.eventually(
                lambda: exporter.scrape().samples.select("rdma_port_raw_total", device=STUCK)
                or exporter.scrape().samples.select("rdma_port_cnp_packets_total", device=STUCK), seconds=10),
                "the new device of the same name waits for the old one's read")


class ASingleCollection(TestCase):
    @slow(7)
    def test_it_waits_for_the_list_of_devices(self):
        """No earlier collection knows them. A daemon would go on after 5 s, with the devices that it knows."""
        tree = self.tree(devices=2)
        device = tree.devices["mlx5_0"]
        os.unlink(f"{device.dir}/device")  # as of soft-iWARP, whose driver the files must tell
        fifo = self.fifo(f"{device.dir}/hca_type")

        def work(i):
            if i == 0:
                return run("--once", "--scrape.timeout=60s", f"--path.sysfs={tree.sys}")
            time.sleep(6)
            fifo.replace("MT4129\n")
            return self.eventually(lambda: fifo.release("MT4129\n"))

        done, released = self.in_threads(2, work)
        self.assertTrue(released, "nothing hung on the FIFO")
        page = Samples(prom_text.parse(done.stdout.encode()))
        self.assertEqual(page.one("rdma_devices"), 2)
        self.assertTrue(page.select(device="mlx5_1", port="1"))
