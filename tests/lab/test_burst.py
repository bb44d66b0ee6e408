# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The collector `burst` on a real kernel, whose counters follow square waves in step with the clock: the distributions
have the shape of the wave. The suite `burst` (tests/lab/run), fabric `scripted`.

The guest's clock counts its instructions, so time is the guest's throughout, also where a test waits; between two windows it
has as many instructions as a real processor.
"""

import unittest

import exporter
from guest import kernel, knobs, time
from labtest import LabTest, daemons, stop_daemons
from waiting import wait_for

DEVICE, OTHER = "mlx5_0", "mlx5_1"
LINE = 400_000_000_000 // 8 // 4  # words of 4 octets a second
USED = {"source": "counters", "result": "used"}


def setUpModule():
    exporter.install()
    daemons["default"] = exporter.Exporter(9400, *exporter.only("burst", "dcb", "ethtool"), "--scrape.timeout=10s",
                                           "--collector.burst", "--collector.burst.pause=always",
                                           "--collector.burst.max-cpu-percent=100", "--collector.ethtool.interval=0ms")
    # As the default: the emulated processor takes ten times what a real one does.
    daemons["fast"] = exporter.Exporter(9401, *exporter.only("burst"), "--scrape.timeout=10s", "--collector.burst",
                                        "--collector.burst.window=20ms", "--collector.burst.pause=off",
                                        f"--collector.burst.devices={DEVICE}", "--collector.burst.max-cpu-percent=100")
    unittest.addModuleCleanup(stop_daemons)
    for daemon in daemons.values():
        daemon.wait_until_ready()


class Distribution:
    """What a histogram has gained between two pages."""

    def __init__(self, before, after, family, **labels):
        def gained(name, **more):
            return after.get(name, **labels, **more) - (before.get(name, **labels, **more) or 0)

        self.before, self.gained = before, gained
        bounds = {dict(key)["le"] for _, key in after.find(f"{family}_bucket", **labels)}
        self.upto = {float(le): gained(f"{family}_bucket", le=le) for le in bounds}
        self.count, self.mean = self.upto[float("inf")], gained(f"{family}_sum") / gained(f"{family}_count")

    def share(self, above, upto):
        return (self.upto[upto] - (self.upto[above] if above else 0)) / self.count


def sample(daemon, seconds, family, **labels):
    """What was seen in that time. When reads cost too much the exporter makes its windows longer, or shorter a minute after,
    and begins anew; then so does this."""
    for _ in range(3):
        before = daemon.scrape()
        time.sleep(seconds)
        after = daemon.scrape()
        if before.find("rdma_burst_window_seconds") == after.find("rdma_burst_window_seconds"):
            return Distribution(before, after, family, **labels), after
    raise AssertionError("the windows change all the time")


def windows(page, **labels):
    return sum(page.find("rdma_burst_windows_total", **labels).values())


def dropped(page):
    of = {"netdev": "cx0", "source": "ethtool"}
    return windows(page, **of) - windows(page, **of, result="used")


class SquareWave(LabTest):
    def setUp(self):
        super().setUp()
        self.device = knobs.Knobs("labib", DEVICE)
        self.addCleanup(self.device.set, "port_xmit_data=0", "np_cnp_sent=0")
        for daemon in daemons.values():
            daemon.scrape()  # it samples from here on

    def test_half_of_each_second_at_three_quarters_of_the_line(self):
        self.device.set(f"port_xmit_data~{LINE * 3 // 4}:500:1000")
        time.sleep(2)
        sent, page = sample(self.daemon, 30, "rdma_burst_utilization_ratio", device=DEVICE, direction="tx")
        self.assertGreater(sent.count, 240, "windows of 30 s")
        self.assertAlmostEqual(sent.mean, 0.375, delta=0.05 * 0.375)
        self.assertGreater(sent.share(0, 0.05) + sent.share(0.7, 0.8), 0.8)
        self.assertAlmostEqual(sent.share(0.3, 1.0), 0.5, delta=0.05)
        self.assertAlmostEqual(page.get("rdma_burst_max_utilization_ratio", device=DEVICE, direction="tx"), 0.75,
                               delta=0.05 * 0.75)
        received = page.get("rdma_burst_max_utilization_ratio", device=DEVICE, direction="rx")
        self.assertEqual(received, 0, "nothing was received")

    def test_20_ms_of_each_200_ms_at_line_rate(self):
        # Its threads wake up at the same moment as the burst begins, and there is one processor.
        self.daemon.pause()
        self.addCleanup(self.daemon.resume)
        self.device.set(f"port_xmit_data~{LINE}:20:200")
        time.sleep(2)
        daemon = daemons["fast"]
        sent, page = sample(daemon, 30, "rdma_burst_utilization_ratio", device=DEVICE, direction="tx")
        self.assertEqual(page.get("rdma_burst_window_seconds", device=DEVICE, source="counters"), 0.02)
        self.assertGreater(sent.count, 1400, "windows of 30 s")
        self.assertAlmostEqual(sent.mean, 0.1, delta=0.05 * 0.1)
        self.assertAlmostEqual(sent.share(0, 0.05), 0.9, delta=0.05 * 0.9)
        self.assertAlmostEqual(sent.share(0.9, float("inf")), 0.1, delta=0.05 * 0.1)
        self.assertGreater(page.get("rdma_burst_max_utilization_ratio", device=DEVICE, direction="tx"), 0.95)

    def test_notifications_of_congestion_come_in_trains(self):
        """10,000 a second for 100 ms of each second: 1000 in one window of ten, or in two that share it."""
        self.device.set("np_cnp_sent~10000:100:1000")
        time.sleep(2)
        trains, _ = sample(self.daemon, 20, "rdma_burst_cnp_packets", device=DEVICE, direction="tx")
        one_train = 1000 / trains.count  # more or less, as the time is cut
        self.assertAlmostEqual(trains.mean, 100, delta=5 + one_train)
        self.assertGreater(trains.share(0, 10), 0.7)
        self.assertLess(trains.share(10, 10_000), 0.25)

    def test_pause_of_1_s_in_each_10_s(self):
        """So long that a window is whole within the pause also where the processor makes the sampler double it twice."""
        kernel.run("dcb", "pfc", "set", "dev", "cx0", "prio-pfc", "3:on")
        self.addCleanup(kernel.run, "dcb", "pfc", "set", "dev", "cx0", "prio-pfc", "3:off")
        card = knobs.Knobs("labnic", "cx0")
        self.addCleanup(card.set, "rx_prio3_pause_duration=0")
        card.set("rx_prio3_pause_duration~1000000:1000:10000")
        labels = {"netdev": "cx0", "priority": "3", "direction": "rx"}
        # A read that the daemon was stopped in (above) delays the next ones by up to a minute, of a clock slower than this.
        wait_for(lambda: self.daemon.scrape().get("rdma_burst_max_pfc_paused_ratio", **labels), "a pause", timeout=180)
        paused, page = sample(self.daemon, 30, "rdma_burst_pfc_paused_ratio", **labels)
        # The time that is cut out has three pauses or a part of a fourth, which the card's counter knows.
        counted = paused.gained("rdma_pfc_pause_seconds_total")
        self.assertAlmostEqual(counted, 3.5, delta=0.7)
        window = page.get("rdma_burst_window_seconds", netdev="cx0", source="ethtool")
        # At each end a window is open, and the two are read at different moments of a collection.
        took = "rdma_exporter_scrape_duration_seconds_sum"
        cut = window + 2 * (page.get(took) - paused.before.get(took))
        lost = dropped(page) - dropped(paused.before)
        # The product takes all windows to be equally long; one that ends late where a pause begins or ends is off by that.
        self.assertAlmostEqual(paused.mean * paused.count * window, counted, delta=cut + lost * window + 0.05 * counted)
        self.assertAlmostEqual(paused.share(0.5, float("inf")), paused.mean, delta=0.02)
        self.assertGreater(page.get("rdma_burst_max_pfc_paused_ratio", **labels), 0.95)

    def test_the_mean_is_the_rate_of_the_counter(self):
        """A free check of every host: sum / count is what a scrape computes of the counter."""
        self.device.set(f"port_xmit_data~{LINE // 2}:300:1000")
        time.sleep(2)
        sent, _ = sample(self.daemon, 20, "rdma_burst_utilization_ratio", device=DEVICE, direction="tx")
        self.assertAlmostEqual(sent.mean, 0.15, delta=0.05 * 0.15 + 0.005)


class Stuck(LabTest):
    def test_a_read_that_hangs_stops_its_device_alone(self):
        device = knobs.Knobs("labib", DEVICE)
        wait_for(lambda: windows(self.daemon.scrape(), device=DEVICE, **USED), "windows")
        with device.during("stuck", 1):
            wait_for(lambda: self.daemon.scrape().get("rdma_burst_up", device=DEVICE, source="counters") == 0,
                     "it is said")
            before = self.daemon.scrape()
            reads = device.reads()
            time.sleep(5)
            after = self.daemon.scrape()
            self.assertEqual(after.get("rdma_burst_up", device=OTHER, source="counters"), 1)
            self.assertGreater(windows(after, device=OTHER, **USED), windows(before, device=OTHER, **USED) + 30)
            self.assertEqual(windows(after, device=DEVICE, source="counters"), windows(before, device=DEVICE, source="counters"))
            self.assertEqual(device.reads(), reads, "no second read behind it")
        wait_for(lambda: self.daemon.scrape().get("rdma_burst_up", device=DEVICE, source="counters") == 1, "it is back")
        used = windows(self.daemon.scrape(), device=DEVICE, **USED)
        wait_for(lambda: windows(self.daemon.scrape(), device=DEVICE, **USED) > used, "windows again")

    def test_a_device_that_goes_takes_its_thread_along(self):
        threads = self.daemon.threads()
        knobs.remove(OTHER)
        self.addCleanup(knobs.add, OTHER, "cx1")
        wait_for(lambda: not self.daemon.scrape().find("rdma_burst_up", device=OTHER), "it is gone")
        wait_for(lambda: self.daemon.threads() < threads, "its thread has ended")
