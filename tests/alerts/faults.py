# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Faults, each in a cluster of its own, as series in a Prometheus with one value every 30 s. Something breaks after ten
minutes; `told` is the message that people should get: one, or none."""

import collections
import re

import cases

STEP, BREAKS, END = 30, 20, 100  # seconds; steps
Fault = collections.namedtuple("Fault", "name told series")


def good(value=1):
    return f"{value}x{END}"


def then(before, after):
    """A value that changes when it breaks."""
    later = f"{after}x{END - BREAKS}" if after != "_" else f"stale _x{END - BREAKS}"
    return f"{before}x{BREAKS - 1} {later}"


def rising(per_step):
    """A counter that stands still, and then does not."""
    return f"0x{BREAKS - 1} 0+{per_step}x{END - BREAKS}"


class Cluster:
    """Hosts that are well, with one adapter each; a fault changes what it changes."""

    def __init__(self, name, hosts):
        self.name, self.series = name, {}
        for host in range(1, hosts + 1):
            self.set(host, "up", good())
            self.set(host, "rdma_exporter_build_info", good())
            self.device(host, "rdma_device_info", good(), vendor_id="0x15b3", device_id="0x1021", is_vf="0")
            self.port(host, "rdma_port_info", good(), link_layer="Ethernet", netdev="cx0")
            self.port(host, "rdma_port_up", good())
            self.port(host, "rdma_port_active_mtu_bytes", good(4096))
            self.netdev(host, "rdma_dcb_pfc_enabled", good(), priority="3")
            for direction in ("rx", "tx"):
                self.netdev(host, "rdma_pfc_pause_seconds_total", good(0), priority="3", direction=direction)

    def set(self, host, name, values, **labels):
        labels = {"cluster": self.name, "job": "rdma", "instance": f"host{host}:9400", **labels}
        self.series[name + "{" + ",".join(f'{label}="{value}"' for label, value in labels.items()) + "}"] = values

    def device(self, host, name, values, **labels):
        self.set(host, name, values, device="mlx5_0", **labels)

    def port(self, host, name, values, **labels):
        self.device(host, name, values, port="1", **labels)

    def netdev(self, host, name, values, **labels):
        self.port(host, name, values, netdev="cx0", **labels)

    def pauses(self, host, direction, share):
        self.netdev(host, "rdma_pfc_pause_seconds_total", rising(STEP * share), priority="3", direction=direction)

    def loses_its_port(self, host):
        """And all that comes of it on that host."""
        self.port(host, "rdma_port_up", then(1, 0))
        self.netdev(host, "rdma_netdev_carrier_changes_total", then(1, 2), to="down")
        self.dead_connections(host)
        self.port(host, "rdma_port_transmit_discards_total", rising(6000))

    def dead_connections(self, host):
        self.port(host, "rdma_port_ack_timeouts_total", rising(90))
        self.port(host, "rdma_port_retries_exceeded_total", rising(1), kind="transport")
        self.port(host, "rdma_resource_qps", then(0, 3), qp_type="RC", state="ERR", space="user")

    def is_not_reached(self, target, probers):
        for host in probers:
            labels = {"target": f"host{target}", "flow": "0", "op": "write"}
            self.port(host, "rdma_probe_attempts_total", f"0+30x{END}", **labels)
            self.port(host, "rdma_probe_failures_total", rising(30), stage="op", reason="retry_exc_err", **labels)

    def answers_no_more(self, host):
        for series in [name for name in self.series if f'instance="host{host}:9400"' in name]:
            self.series[series] = then(1, 0) if series.startswith("up{") else then(self.series[series].split("x")[0], "_")


def all_faults():
    """[Fault]"""
    found = []

    def fault(name, hosts, *told):
        cluster = Cluster(name, hosts)
        found.append(Fault(name, list(told), cluster.series))
        return cluster

    cluster = fault("port down", 6, ("tickets", "RdmaPortDown"))
    cluster.loses_its_port(1)
    cluster.is_not_reached(1, (2, 3))

    cluster = fault("leaf down", 12, ("pager", "RdmaPortsDown"))
    for host in range(1, 7):
        cluster.loses_its_port(host)
    cluster.is_not_reached(1, (8, 9))

    cluster = fault("host down", 6, ("tickets", "RdmaExporterDown"))
    cluster.answers_no_more(1)
    cluster.is_not_reached(1, (2, 3))

    cluster = fault("many hosts down", 8, ("pager", "RdmaExportersDown"))
    for host in range(1, 5):
        cluster.answers_no_more(host)

    cluster = fault("targets gone", 4, ("tickets", "RdmaExporterAbsent"))
    cluster.series.update({name: then(values.split("x")[0], "_") for name, values in cluster.series.items()})

    cluster = fault("storm", 6, ("pager", "RdmaPfcStorm"))
    cluster.pauses(1, "tx", 0.6)
    cluster.netdev(1, "rdma_priority_discards_total", rising(10), priority="3", direction="rx", reason="port_buffer")
    for host in range(2, 6):
        cluster.pauses(host, "rx", 0.3)

    cluster = fault("slow receiver", 6, ("tickets", "RdmaPfcStormTransmitted"))
    cluster.pauses(1, "tx", 0.2)

    cluster = fault("watchdog", 6, ("pager", "RdmaNicFatal"))
    cluster.pauses(1, "tx", 0.5)
    for level in ("warning", "error"):
        cluster.netdev(1, "rdma_netdev_pause_storm_events_total", rising(1), level=level)
    cluster.netdev(1, "rdma_priority_discards_total", rising(10), priority="3", direction="rx", reason="port_buffer")

    cluster = fault("firmware fails once", 6, ("pager", "RdmaNicFatal"))
    cluster.set(1, "rdma_device_async_events_total", then(0, 1), device="mlx5_0", port="", event="DEVICE_FATAL")
    cluster.netdev(1, "rdma_priority_discards_total", f"0x{BREAKS - 1} 0+10x40 400x{END - BREAKS - 41}", priority="3",
                   direction="rx", reason="port_buffer")  # for twenty minutes, until it is back

    cluster = fault("device lost", 6, ("tickets", "RdmaDeviceLost"))
    for name in [name for name in cluster.series if 'host1:' in name and "device=" in name]:
        cluster.series[name] = then(cluster.series[name].split("x")[0], "_")
    cluster.set(1, "rdma_device_async_events_total", then(0, 1), device="mlx5_0", port="", event="DEVICE_FATAL")

    cluster = fault("flapping link", 6, ("tickets", "RdmaLinkFlapping"))
    cluster.netdev(1, "rdma_netdev_carrier_changes_total", rising(1), to="down")

    cluster = fault("slow slot", 6, ("tickets", "RdmaPcieBufferOverflow"))
    cluster.netdev(1, "rdma_netdev_pcie_stall_seconds_total", rising(9), operation="write")
    cluster.netdev(1, "rdma_netdev_discards_total", rising(5), direction="rx", reason="pcie_buffer")

    cluster = fault("one MTU", 6, ("tickets", "RdmaMtuMismatch"))
    cluster.port(1, "rdma_port_active_mtu_bytes", then(4096, 1024))

    cluster = fault("black hole", 6, ("tickets", "RdmaProbeFailing"))
    cluster.is_not_reached(1, (2, 3))

    cluster = fault("job ends", 6)
    for host in range(1, 7):
        cluster.port(host, "rdma_port_retries_exceeded_total", then(0, 64), kind="transport")
        cluster.port(host, "rdma_port_cqe_errors_total", then(0, 64), side="requester")
        cluster.port(host, "rdma_port_cqe_flush_errors_total", then(0, 10), side="requester")

    cluster = fault("half a roll-out", 6)
    for host in range(1, 4):
        cluster.port(host, "rdma_port_active_mtu_bytes", then(4096, 1024))
    return found


def as_test(faults, times):
    """For promtool: nothing is expected at any time, so that it says what fires."""
    checks = [{"alertname": alert, "eval_time": f"{time}s", "exp_alerts": []}
              for alert in cases.alert_rules() for time in times]
    series = [{"series": name, "values": values} for fault in faults for name, values in fault.series.items()]
    return {"rule_files": [str(path) for path in cases.RULES], "evaluation_interval": f"{STEP}s",
            "group_eval_order": [group["name"] for path in cases.RULES for group in cases.load(path)["groups"]],
            "tests": [{"interval": f"{STEP}s", "input_series": series, "alert_rule_test": checks}]}


def firing(output):
    """{seconds: [labels]} of what promtool says about such a test."""
    found = collections.defaultdict(list)
    for block in re.split(r"\n\s+alertname: ?", output)[1:]:
        time = re.search(r"time: ?(\w+)", block)[1]
        seconds = sum(int(n) * {"h": 3600, "m": 60, "s": 1}[unit] for n, unit in re.findall(r"(\d+)([hms])", time))
        for labels in re.findall(r"Labels:\{(.*)\}", block.partition("got:")[2]):
            found[seconds].append(dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)))
    return found
