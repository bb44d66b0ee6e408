# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Link health on a real kernel: the collector devlink agrees with the tool devlink, with healthy and with faulty reporters; the
code of the error correction; PCIe errors that QEMU and aer_inject make; switches that LLDP frames name.

The suite `link` (tests/lab/run), fabric `scripted`: each card of labnic has a devlink instance below its RDMA device, and so has
one of the kernel's netdevsim; `slot0` is behind a root port.
"""

import json
import unittest

import exporter
import remote
from guest import Path, aer, kernel, knobs, lldp
from guest import time as guest_time
from labtest import wait_for

CARDS = {"cx0": "mlx5_0", "cx1": "mlx5_1", "bcm0": "bnxt_re0", "bcm1": "bnxt_re1"}
KNOB = Path("/sys/kernel/debug/labnic/cx0/devlink")


def setUpModule():
    exporter.install()


def handle(netdev):
    return "pci/" + kernel.run("readlink", "-f", f"/sys/class/net/{netdev}/device").strip().rpartition("/")[2]


def devlink(*arguments):
    return json.loads(kernel.run("devlink", "--json", *arguments))


def once():
    # A single collection waits half as long for what the background finds as for the checks of the configuration.
    times = (f"--collector.{name}.timeout=2m" for name in ("devlink", "ethtool_standard", "config_check"))
    return exporter.once(*exporter.only("devlink", "ethtool_standard"), "--metrics.set=full", "--scrape.timeout=2m", *times)


def told_by_devlink():
    """{(netdev, reporter): (errors, recoveries, in error)} of the card itself, and of its port."""
    shown = devlink("health", "show")["health"]
    of = {handle(netdev): netdev for netdev in CARDS}
    card, port = {}, {}
    for place, reporters in shown.items():
        netdev = of["/".join(place.split("/")[:2])]
        target = port if place.count("/") == 2 else card
        for reporter in reporters:
            target[netdev, reporter["reporter"]] = told(reporter)
    return card, port


def told(reporter):
    return reporter["error"], reporter["recover"], int(reporter["state"] == "error")


def served(scrape, prefix, **labels):
    return tuple(scrape.get(f"rdma_{prefix}_health_{name}", **labels) for name in ("errors_total", "recoveries_total", "error"))


class Health(unittest.TestCase):
    def check_all(self, scrape):
        card, port = told_by_devlink()
        self.assertEqual({netdev for netdev, _ in card}, set(CARDS))
        for (netdev, reporter), values in card.items():
            self.assertEqual(served(scrape, "device", device=CARDS[netdev], reporter=reporter), values)
        for (netdev, reporter), values in port.items():
            self.assertEqual(served(scrape, "netdev", netdev=netdev, reporter=reporter), values)
        return card, port

    def test_reporters_are_what_devlink_shows_before_and_after_something_breaks(self):
        self.check_all(once())
        for reporter in ("fw", "fw", "fw_fatal", "tx"):
            KNOB.write_text(f"break {reporter}\n")
        scrape = once()
        card, port = self.check_all(scrape)
        self.assertEqual(card["cx0", "fw"][2], 1, "fw has no recovery")
        self.assertEqual(card["cx0", "fw_fatal"][2], 0)
        self.assertGreaterEqual(port["cx0", "tx"][0], 1)
        self.assertIsNotNone(scrape.get("rdma_device_health_dump_timestamp_seconds", device="mlx5_0", reporter="fw"))
        self.assertIsNone(scrape.get("rdma_device_health_dump_timestamp_seconds", device="mlx5_1", reporter="fw"))


class HealthOfNetdevsim(unittest.TestCase):
    """The kernel's own simulator of devlink, whose adapter is on no PCI bus. An RDMA device of labib is on it, because the
    collector asks for the adapters of RDMA devices."""

    HANDLE = "netdevsim/netdevsim10"
    DEVICE = "mlx5_3"
    KNOBS = Path("/sys/kernel/debug/netdevsim/netdevsim10/health")

    @classmethod
    def setUpClass(cls):
        bus = Path("/sys/bus/netdevsim")
        (bus / "new_device").write_text("10 1\n")
        cls.addClassCleanup((bus / "del_device").write_text, "10\n")
        cls.netdev = kernel.run("ls", f"{bus}/devices/netdevsim10/net").strip()
        knobs.add(cls.DEVICE, cls.netdev)
        cls.addClassCleanup(knobs.remove, cls.DEVICE)

    def assert_dummy(self, errors, recoveries, in_error):
        """Of the reporter that breaks on demand. The other one, `empty`, never does."""
        expected = {"empty": (0, 0, 0), "dummy": (errors, recoveries, in_error)}
        reporters = devlink("health", "show")["health"][self.HANDLE]
        self.assertEqual({reporter["reporter"]: told(reporter) for reporter in reporters}, expected)
        scrape = once()
        self.assertEqual({reporter: served(scrape, "device", device=self.DEVICE, reporter=reporter) for reporter in expected},
                         expected)
        self.assertEqual(scrape.get("rdma_netdev_devlink_port_info", netdev=self.netdev, handle=self.HANDLE), 1)
        return scrape.get("rdma_device_health_dump_timestamp_seconds", device=self.DEVICE, reporter="dummy")

    def test_an_error_stays_until_somebody_recovers_it(self):
        reporter = (self.HANDLE, "reporter", "dummy")
        self.assertIsNone(self.assert_dummy(0, 0, in_error=0))
        kernel.run("devlink", "health", "set", *reporter, "auto_recover", "false")
        (self.KNOBS / "break_health").write_text("the lab broke it\n")
        (self.KNOBS / "fail_recover").write_text("Y\n")
        with self.assertRaisesRegex(AssertionError, "User setup the recover to fail"):
            kernel.run("devlink", "health", "recover", *reporter)
        self.assertAlmostEqual(self.assert_dummy(1, 0, in_error=1), guest_time.time(), delta=60)
        (self.KNOBS / "fail_recover").write_text("N\n")
        kernel.run("devlink", "health", "recover", *reporter)
        self.assert_dummy(1, 1, in_error=0)
        kernel.run("devlink", "health", "set", *reporter, "auto_recover", "true")
        (self.KNOBS / "break_health").write_text("it recovers by itself\n")
        self.assert_dummy(2, 2, in_error=0)


class ErrorCorrection(unittest.TestCase):
    def test_the_limit_is_that_of_the_code_in_use(self):
        scrape = once()  # 400 Gbit/s with RS(544,514), IEEE 802.3 clause 119
        self.assertEqual(scrape.get("rdma_netdev_fec_bit_error_limit_ratio", netdev="cx0"), 2.4e-4)
        self.assertEqual(scrape.get("rdma_netdev_fec_codeword_bytes", netdev="cx0"), 680)
        self.assertEqual(scrape.get("rdma_netdev_fec_line_bytes_per_second", netdev="cx0") * 8, 425e9)
        kernel.run("ethtool", "--set-fec", "cx0", "encoding", "baser")
        self.addCleanup(kernel.run, "ethtool", "--set-fec", "cx0", "encoding", "rs")
        self.assertIsNone(once().get("rdma_netdev_fec_bit_error_limit_ratio", netdev="cx0"))


class Firmware(unittest.TestCase):
    def test_another_version_in_flash_waits_for_a_reset(self):
        running = devlink("dev", "info", handle("cx0"))["info"][handle("cx0")]["versions"]["running"]["fw.version"]
        KNOB.write_text("store 28.43.1014\n")
        self.addCleanup(KNOB.write_text, f"store {running}\n")
        scrape = once()
        pending = "rdma_device_firmware_update_pending"
        self.assertEqual(scrape.get(pending, device="mlx5_0", component="fw.version"), 1)
        self.assertEqual(scrape.get(pending, device="mlx5_1", component="fw.version"), 0)
        self.assertEqual(scrape.get("rdma_device_firmware_version_info", device="mlx5_0", running=running, stored="28.43.1014"), 1)

    def test_the_port_is_the_one_that_devlink_names(self):
        ports = devlink("port", "show")["port"]
        scrape = once()
        for netdev in CARDS:
            (found, _), = scrape.find("rdma_netdev_devlink_port_info", netdev=netdev).items()
            labels = dict(found[1])
            self.assertEqual(ports[f"{labels['handle']}/{labels['port_index']}"]["netdev"], netdev)
            self.assertEqual(labels["flavour"], "physical")


class Neighbors(unittest.TestCase):
    """Frames that come over a wire: what is sent from ve1 arrives at ve0, behind rxe0."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = exporter.Exporter(9400, "--collector.neighbor", *exporter.only("neighbor"))
        cls.addClassCleanup(cls.daemon.stop)
        cls.daemon.wait_until_ready()
        wait_for(lambda: cls.served("neighbors") == 0, "listening")

    @classmethod
    def served(cls, name, **labels):
        return cls.daemon.scrape().get(f"rdma_netdev_{name}", netdev="ve0", **labels)

    def test_a_switch_is_known_until_its_time_has_passed(self):
        lldp.send("ve1", lldp.leaf("Ethernet1/7", ttl=15))
        wait_for(lambda: self.served("neighbor_info", device="rxe0", port="1", chassis_id="44:38:39:00:00:12", port_id="Ethernet1/7",
                                     system_name="leaf-a12", port_description="to gpu-17") == 1, "the switch")
        wait_for(lambda: self.served("neighbors") == 0, "its end", timeout=40)
        self.assertIsNone(self.served("neighbor_info"))

    def test_a_goodbye_removes_it_at_once(self):
        lldp.send("ve1", lldp.leaf("Ethernet1/8"))
        wait_for(lambda: self.served("neighbors") == 1, "the switch")
        lldp.send("ve1", lldp.leaf("Ethernet1/8", ttl=0))
        wait_for(lambda: self.served("neighbors") == 0, "its end")

    def test_malformed_frames_are_counted_and_nothing_else(self):
        before = self.served("neighbor_frames_total", result="malformed") or 0
        whole = lldp.leaf("Ethernet1/9")
        for frame in (b"", whole[:5], whole[9:], b"\xff" * 300, lldp.tlv(1, b"") + whole):
            lldp.send("ve1", frame)
        wait_for(lambda: (self.served("neighbor_frames_total", result="malformed") or 0) == before + 5, "five frames")
        self.assertEqual(self.served("neighbors"), 0)


class PcieErrors(unittest.TestCase):
    """Of an RDMA device of labib whose function is a virtio card behind a root port of QEMU. Soft-RoCE has no `device` link, and
    so no PCIe function."""

    DEVICE = "mlx5_2"

    @classmethod
    def setUpClass(cls):
        kernel.run("ip", "link", "set", "slot0", "up")
        knobs.add(cls.DEVICE, "slot0")
        cls.addClassCleanup(knobs.remove, cls.DEVICE)
        cls.ends = aer.ends("slot0")

    def setUp(self):
        self.before = self.page()

    def page(self):
        """What is served, which is what the kernel's files say."""
        scrape = exporter.once(*exporter.only("pcie_errors"))
        self.assertEqual(self.messages(scrape), aer.messages(self.ends))
        return scrape

    def messages(self, scrape):
        family, root = "rdma_device_pcie_error_messages_total", "rdma_device_pcie_root_error_messages_total"
        return {(labels.get("end", "root"), labels["level"]): value for name in (family, root)
                for labels, value in ((dict(key[1]), value) for key, value in scrape.find(name, device=self.DEVICE).items())}

    def kinds(self, scrape):
        return {(labels["end"], labels["level"], labels["error"]): value for labels, value in (
            (dict(key[1]), value) for key, value in scrape.find("rdma_device_pcie_errors_total", device=self.DEVICE).items())}

    def assert_grew(self, messages, kinds):
        """By exactly this, and nothing else did."""
        def grown(of, before, after):
            return {key: value - of(before).get(key, 0) for key, value in of(after).items() if value != of(before).get(key, 0)}
        wait_for(lambda: sum(aer.messages(self.ends).values()) >= sum(self.messages(self.before).values()) + sum(messages.values()),
                 "the kernel has counted", timeout=20)
        after = self.page()
        self.assertEqual(grown(self.messages, self.before, after), messages)
        self.assertEqual(grown(self.kinds, self.before, after), kinds)

    def inject(self, device, error):
        """By QEMU's monitor, into `aer_card` or `aer_port`."""
        self.assertIn("OK id:", remote.the.monitor(f"pcie_aer_inject_error {device} {error}"))

    def test_aer_is_native(self):
        self.assertEqual(self.before.get("rdma_device_pcie_aer_native", device=self.DEVICE), 1)
        labels = [dict(key[1]) for key in self.before.find("rdma_device_pcie_error_messages_total", device=self.DEVICE)]
        self.assertEqual({label["end"]: label["pci_address"] for label in labels},
                         {end: path.rpartition("/")[2] for end, path in self.ends.items()})

    def inject_correctable(self, end, *errors):
        """QEMU 7.2 loses correctable errors, so the kernel's own injector makes them. What it has injected hides the real
        errors of that function, until it goes."""
        kernel.run("modprobe", "aer_inject")
        self.addCleanup(kernel.run, "rmmod", "aer_inject")
        aer.inject(self.ends[end], errors)

    def test_correctable_errors_of_the_function(self):
        self.inject_correctable("function", "RxErr", "BadTLP")
        self.assert_grew({("function", "correctable"): 1, ("root", "correctable"): 1},
                         {("function", "correctable", "RxErr"): 1, ("function", "correctable", "BadTLP"): 1})

    def test_correctable_errors_of_the_port(self):
        self.inject_correctable("port", "BadDLLP")
        self.assert_grew({("port", "correctable"): 1, ("root", "correctable"): 1}, {("port", "correctable", "BadDLLP"): 1})

    def test_nonfatal_errors_of_the_function(self):
        self.inject("aer_card", "COMP_TIME")
        self.assert_grew({("function", "nonfatal"): 1, ("root", "nonfatal"): 1}, {("function", "nonfatal", "CmpltTO"): 1})

    def test_nonfatal_errors_of_the_port(self):
        self.inject("aer_port", "UNSUP")
        self.assert_grew({("port", "nonfatal"): 1, ("root", "nonfatal"): 1}, {("port", "nonfatal", "UnsupReq"): 1})

    def test_zz_fatal_errors_of_the_function_are_counted_at_the_root_port_only(self):
        """The last: it resets the card."""
        self.inject("aer_card", "MALF_TLP")
        self.assert_grew({("root", "fatal"): 1}, {})
