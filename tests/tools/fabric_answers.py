# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""What a Prometheus would answer to the queries of `rdma_exporter fleet` about a fabric of fabric.py, by the name of the
table that each query has in a comment. A test with a real Prometheus holds both against each other."""

import collections
import http.server
import json
import re
import threading
import urllib.parse

from fabric import RAILS, WINDOW

EMPTY = ("any_down port_down link_flaps carrier_flaps ack_timeouts sequence_naks discards slowed_down resources_low busy_probers rules owners "
         "unbalanced").split()
USUAL = {"mtu": 4096, "firmware": "28.39.1002", "pcie": 16, "pfc": 1}
MODEL = {"board_id": "MT_0000000838", "driver": "mlx5_core"}
SHOWN = {"mtu": str, "firmware": str, "pcie": lambda lanes: str(lanes * 32_000_000_000), "pfc": lambda on: str(8 * on)}


class Answers:
    def __init__(self, fabric):
        self.fabric, self.present = fabric, fabric.nics()

    def rows(self, table):
        """[(labels, value)]"""
        word, _, rest = table.partition(" ")
        if word in ("values", "models", "members"):
            return getattr(self, word)(*rest.split(" "))
        return [] if table in EMPTY else getattr(self, table)()

    def nic(self, nic, **more):
        return {"instance": self.fabric.instance(nic.host), "device": f"mlx5_{nic.rail}", "port": "1", **more}

    def path(self, path):
        return self.nic(path[0], target=f"gpu-{path[1]}")

    def host(self, host):
        return self.fabric.target(host)

    def hosts(self):
        gone = collections.Counter(nic.host for nic in self.fabric.missing)
        return [(self.host(host), RAILS - gone[host]) for host in range(self.fabric.size) if host not in self.fabric.down]

    def down(self):
        return [(self.host(host), 0) for host in sorted(self.fabric.down)]

    def by_rail(self, rails):
        return [({"device": f"mlx5_{rail}"}, count) for rail, count in sorted(collections.Counter(rails).items())]

    def rails(self):
        return self.by_rail(nic.rail for nic in self.present)

    def path_count(self):
        return self.by_rail(path[0].rail for path in self.fabric.paths)

    def failing_paths(self):
        return [(self.path(path), share * WINDOW) for path, share in self.fabric.failing.items() if share > 0 and self.alive(path)]

    def lossy_paths(self):
        return [(self.path(path), count) for path, count in self.fabric.lossy.items() if count >= 3 and self.alive(path)]

    def blocked_paths(self):
        return [({**self.path(path), "reason": reason}, WINDOW) for path, reason in self.fabric.blocked.items() if self.alive(path)]

    def leaf_count(self):
        return self.path_count() if self.fabric.leaves == "discovery" else []

    def target_leaves(self):
        nics = {(path[1], path[0].rail) for path in self.fabric.paths}
        return [({"target": f"gpu-{host}", "device": f"mlx5_{rail}", "target_leaf": self.fabric.unit(host)}, 1)
                for host, rail in sorted(nics)]

    def alive(self, path):
        return path[0].host not in self.fabric.down and path[0] not in self.fabric.missing

    def paths(self):
        return [(self.path(path), 0 if path in self.fabric.blocked else WINDOW) for path in self.fabric.paths]

    def sent_to_blocked(self):
        blocked = {path[1] for path in self.fabric.blocked}
        return [row for row, path in zip(self.paths(), self.fabric.paths, strict=True) if path[1] in blocked]

    def above(self, rate, limit, factor=1, **labels):
        return [(self.nic(nic, **labels), value * factor) for nic, value in self.fabric.rates[rate].items()
                if value * factor > limit and nic in set(self.present)]

    def pausing(self):
        return [({**labels, "netdev": f"rail{labels['device'][-1]}"}, value) for labels, value in self.above("sends_pause", 0.02, priority="3")]

    def waiting(self):
        senders = {labels["instance"] + labels["device"] for labels, _ in self.pausing()}
        return [row for row in self.above("paused", -1, priority="3") if row[0]["instance"] + row[0]["device"] in senders]

    def paused_by_place(self):
        places = collections.defaultdict(list)
        for nic, value in self.fabric.rates["paused"].items():
            if value > 0.05:
                places[(self.fabric.target(nic.host).get("su"), nic.rail)].append(value)
        return [({**({"su": unit} if unit else {}), "device": f"mlx5_{rail}", "priority": "3"}, values)
                for (unit, rail), values in sorted(places.items())]

    def paused(self):
        return [(labels, len(values)) for labels, values in self.paused_by_place()]

    def paused_share(self):
        return [(labels, sum(values) / len(values)) for labels, values in self.paused_by_place()]

    def pcie_stalled(self):
        return self.above("stalled", 0.05)

    def link_errors(self):
        return self.above("uncorrectable", 10, WINDOW)

    def retransmits(self):
        return self.above("retransmitted", 10)

    # --- settings

    def counted(self, kind, by):
        name = kind.split("_")[0]
        label = "fw_version" if name == "firmware" else "value"
        if name in self.fabric.values:
            counts = collections.Counter((tuple(by(nic).items()), SHOWN[name](self.fabric.values[name].get(nic, USUAL[name])))
                                         for nic in self.present)
        elif name == "exporter":
            label, counts = "version", {((), "1.0.0"): self.fabric.size}
        else:
            value = {"rate": "50000000000", "gids": "2", "trust": "dscp"}.get(name)
            label = "trust" if name == "trust" else label
            counts = collections.Counter((tuple(by(nic).items()), value) for nic in self.present if value)
        return [({**dict(group), label: value}, count) for (group, value), count in sorted(counts.items())]

    def values(self, kind):
        if kind == "pfc_differs":
            on = collections.Counter(nic.rail for nic in self.present if self.fabric.values["pfc"].get(nic, USUAL["pfc"]))
            return [({"device": f"mlx5_{rail}", "priority": "3"}, count) for rail, count in sorted(on.items())]
        return self.counted(kind, lambda nic: {"device": f"mlx5_{nic.rail}"})

    def models(self, kind):
        return self.counted(kind, lambda nic: MODEL)

    def members(self, kind, *group):
        name = kind.split("_")[0]
        return [(self.nic(nic), 1) for nic in self.present
                if SHOWN[name](self.fabric.values[name].get(nic, USUAL[name])) == group[-1]]


class Api:
    """An HTTP server on loopback with what answer(table) gives: [(labels, value)], or (status, content type, bytes)."""

    def __init__(self):
        self.answer, self.forms, self.headers = None, [], []
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802
                form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                api.forms.append(form)
                api.headers.append(dict(self.headers))
                query, _, table = form["query"][0].partition(" # rdma_exporter fleet: ")
                answer = api.answer(table)
                if isinstance(answer, list):
                    rail = re.search(r'device="(\w+)"', query)
                    answer = [row for row in answer if not rail or row[0].get("device") == rail[1]]
                    result = [{"metric": labels, "value": [0, repr(float(value))]} for labels, value in answer]
                    answer = 200, "application/json", json.dumps(
                        {"status": "success", "data": {"resultType": "vector", "result": result}}).encode()
                status, kind, body = answer
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # the client has had enough

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
