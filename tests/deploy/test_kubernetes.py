# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The chart and the kustomizations: rendered by the real tools, checked against the types of Kubernetes and by what must
hold of every pod."""

import copy
import json
import shutil

import yaml

import kubetools
from deploytest import BINARY, REPO, run
from kubetools import CHART, OVERLAYS, KubernetesTest, objects
from marks import slow

# Values of users; the chart's own are the first.
CASES = {
    "default": {},
    "everything": {
        "image": {"repository": "registry.example/rdma-exporter", "digest": "sha256:" + "0" * 64},
        "imagePullSecrets": [{"name": "pull"}], "port": 9500, "webConfigSecret": "web", "extraArgs": ["--log.level=debug"],
        "config": {"collector": {"resource": {"enabled": False}}, "device": {"exclude": "mlx5_[45]"},
                   "limits": {"page_bytes": 1 << 26}},  # a large number, which must not become 6.7e+07
        "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}, "scheme": "https",
                       "tlsConfig": {"insecureSkipVerify": True}},
        "serviceMonitor": {"enabled": True}, "prometheusRule": {"enabled": True}, "dashboards": {"enabled": True},
        "networkPolicy": {"enabled": True, "from": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}]},
        "priorityClassName": "system-node-critical", "nodeSelector": {"rdma": "true"},
        "affinity": {"nodeAffinity": {}}, "podAnnotations": {"a": "b"}, "podLabels": {"c": "d", "app.kubernetes.io/name": "ours"},
        "livenessProbe": {"failureThreshold": 5},
    },
    "probe": {"probe": {"enabled": True, "pskSecret": "psk", "port": 9500}, "networkPolicy": {"enabled": True},
              "config": {"probe": {"interval": "2s", "targets": ["gpu-17:9500,group=pod1"]}}},
    "probe with a device plugin": {
        "probe": {"enabled": True, "certificateSecret": "tls", "deviceResource": "rdma/hca_shared_devices_a"},
        "nodeSelector": {"feature.node.kubernetes.io/rdma.available": "true"}},
    "without the host": {"hostNetwork": False, "hostPID": False},
}
WRONG = (
    {"nonsense": 1}, {"extraArgs": ["config"]}, {"podMonitor": {"interval": "often"}},
    {"port": 443},  # nobody without rights can listen there
    {"image": {"repositry": "x"}}, {"image": {"digest": "latest"}},
    {"image": {"repository": "registry.example:5000/rdma-exporter:1.0"}},  # the tag is a value of its own
    {"probe": {"deviceResource": "no resource"}}, {"probe": {"pskSecret": "No name"}}, {"tolerations": [{"key": "gpu", "operator": "exists"}]},
    {"livenessProbe": {"httpGet": {"path": "/"}}}, {"imagePullSecrets": ["pull"]},
    {"fullnameOverride": "No name"}, {"serviceAccount": {"create": True, "nmae": "x"}}, {"revisionHistoryLimit": -1},
    {"extraEnv": [{"value": "x"}]}, {"extraVolumes": [{"emptyDir": {}}]}, {"extraVolumeMounts": [{"name": "x"}]},
)


# Values that are right each for itself, and what is said of them together.
CONTRADICTIONS = (
    ({"probe": {"enabled": True}}, "peers have to know each other"),
    ({"probe": {"enabled": True, "pskSecret": "a", "certificateSecret": "b"}}, "not both"),
    ({"probe": {"enabled": True, "pskSecret": "a", "port": 9400}}, "probe.port is the port of the metrics"),
    ({"probe": {"enabled": True, "pskSecret": "a", "deviceResource": "rdma/hca"}}, "would stay Pending"),
)
WITH_PROBE = ("helm, probe", "helm, probe with a device plugin", "kustomize, overlays/probe")


def wrong_types(values, path=()):
    """Each value of a chart in turn as something else: (path, values)."""
    for key, value in values.items():
        other = [{"of another": "type"}] if isinstance(value, (str, bool, int)) else "of another type"
        for name in reversed(path + (key,)):
            other = {name: other}
        yield ".".join(path + (key,)), other
        if isinstance(value, dict) and path + (key,) != ("resources",):
            yield from wrong_types(value, path + (key,))


class AllRendered(KubernetesTest):
    rendered = None

    def all_rendered(self):
        """{name: objects} of everything, rendered once: not to be changed."""
        if not AllRendered.rendered:
            rendered = {f"helm, {name}": self.template(values) for name, values in CASES.items()}
            rendered |= {f"kustomize, {overlay}": self.kustomized(overlay) for overlay in OVERLAYS}
            AllRendered.rendered = rendered
        return AllRendered.rendered


@slow(15)
class Rendered(AllRendered):
    def test_helm_finds_nothing_wrong(self):
        for name, values in CASES.items():
            with self.subTest(name):
                done = kubetools.helm("lint", "--strict", CHART, "--values", self.values(values), check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_object_has_the_type_of_its_kind(self):
        self.assertEqual(kubetools.type_errors(self.all_rendered(), self.folder()), "")

    def test_a_wrong_key_and_a_wrong_type_are_found(self):
        wrong = copy.deepcopy(self.kustomized("base")), copy.deepcopy(self.kustomized("base"))
        self.pod(wrong[0]).update(hostnetwork=True)
        self.pod(wrong[1]).update(hostNetwork="yes")
        errors = kubetools.type_errors({"wrong key": wrong[0], "wrong type": wrong[1]}, self.folder()).splitlines()
        self.assertEqual(len([line for line in errors if line.startswith("rendered.ts")]), 2, errors)

    def test_values_that_mean_nothing_are_refused(self):
        for values in WRONG:
            self.assert_refused(values)

    def test_values_that_contradict_each_other_are_refused(self):
        for values, message in CONTRADICTIONS:
            self.assertIn(message, self.refused(values))
        self.template({"probe": {"enabled": True}, "config": {"probe": {"insecure": True}}})

    def assert_refused(self, values):
        self.assertIn("values don't meet the specifications", self.refused(values), values)

    def test_every_value_has_a_type(self):
        defaults = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
        for name, values in wrong_types(defaults):
            with self.subTest(name):
                self.assert_refused(values)

    def test_values_that_are_taken_away_are_refused_or_not_needed(self):
        for name in yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8")):
            done = kubetools.helm("template", "test", CHART, "--values", self.values({name: None}), check=False)
            self.assertTrue(done.returncode == 0 or f"(root): {name} is required" in done.stderr, done.stderr)

    def test_the_package_of_the_chart_is_the_chart(self):
        folder = self.folder()
        kubetools.helm("package", CHART, "--destination", folder)
        packed = next(folder.glob("*.tgz"))
        self.assertEqual(self.template(CASES["everything"], packed), self.template(CASES["everything"]))


class Pods(AllRendered):
    def test_no_pod_has_more_rights_than_it_needs(self):
        for name, items in self.all_rendered().items():
            with self.subTest(name):
                pod = self.pod(items)
                container, = pod["containers"]
                self.assertIs(pod["securityContext"]["runAsNonRoot"], True)
                self.assertEqual(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault")
                self.assertIs(pod["automountServiceAccountToken"], False)
                context = container["securityContext"]
                self.assertIs(context["readOnlyRootFilesystem"], True)
                self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
                privileged = name in ("helm, probe", "kustomize, overlays/probe")
                self.assertEqual(context.get("privileged", False), privileged)
                if not privileged:
                    self.assertIs(context["allowPrivilegeEscalation"], False)
                self.assertIn("memory", container["resources"]["limits"])

    def test_the_kubelet_needs_no_password(self):
        for name, items in self.all_rendered().items():
            container, = self.pod(items)["containers"]
            checks = [set(container[check]) & {"httpGet", "tcpSocket"} for check in ("livenessProbe", "readinessProbe")]
            secured = any(flag.startswith("--web.config.file") for flag in container["args"])
            self.assertEqual(checks, [{"tcpSocket" if secured else "httpGet"}] * 2, name)

    def test_only_the_probe_sees_the_devices(self):
        for name, items in self.all_rendered().items():
            paths = {volume["hostPath"]["path"] for volume in self.pod(items)["volumes"] if "hostPath" in volume}
            container, = self.pod(items)["containers"]
            mounts = {mount["mountPath"]: mount.get("readOnly", False) for mount in container["volumeMounts"]}
            self.assertIs(mounts.pop("/host/sys"), True, name)
            privileged = name in ("helm, probe", "kustomize, overlays/probe")
            self.assertEqual(paths, {"/sys", "/dev/infiniband"} if privileged else {"/sys"}, name)
            mounts.pop("/dev/infiniband", None)
            self.assertTrue(all(mounts.values()), f"{name}: {mounts}")

    def test_the_device_plugin_gives_the_devices(self):
        container, = self.pod(self.template(CASES["probe with a device plugin"]))["containers"]
        self.assertEqual(container["resources"]["limits"], {"rdma/hca_shared_devices_a": 1, "memory": "512Mi"})

    def test_only_the_probe_has_a_second_port_and_a_secret(self):
        for name, items in self.all_rendered().items():
            container, = self.pod(items)["containers"]
            service = self.one(items, "Service")["spec"]
            ports = {"pod": {port["name"]: port["containerPort"] for port in container["ports"]},
                     "service": {port["name"]: port["port"] for port in service["ports"]}}
            wanted = {"metrics", "probe"} if name in WITH_PROBE else {"metrics"}
            self.assertEqual(set(ports["pod"]), wanted, name)
            self.assertEqual(ports["pod"], ports["service"], name)
            self.assertEqual({port["name"] for port in service["ports"]}, {port["targetPort"] for port in service["ports"]})
            self.assertEqual(service.get("publishNotReadyAddresses", False), name in WITH_PROBE, name)
            for policy in (item for item in items if item["kind"] == "NetworkPolicy"):
                self.assertEqual({port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]}, wanted, name)
            mounted = {mount["name"] for mount in container["volumeMounts"]}
            secrets = [volume for volume in self.pod(items)["volumes"] if "secret" in volume]
            for volume in secrets:
                # The exporter refuses a secret that others may read, and the files of a volume are root's.
                self.assertEqual(volume["secret"]["defaultMode"], 0o440, name)
                self.assertEqual(self.pod(items)["securityContext"]["fsGroup"], 65534, name)
                self.assertIn(volume["name"], mounted)
            self.assertEqual("probe" in [volume["name"] for volume in secrets], name in WITH_PROBE, name)

    def test_selectors_find_the_pods(self):
        for name, items in self.all_rendered().items():
            daemons = self.one(items, "DaemonSet")
            labels = daemons["spec"]["template"]["metadata"]["labels"].items()
            selectors = [daemons["spec"]["selector"]["matchLabels"], self.one(items, "Service")["spec"]["selector"]]
            for kind in ("PodMonitor", "NetworkPolicy"):
                selectors += [item["spec"].get("selector", item["spec"].get("podSelector"))["matchLabels"]
                              for item in items if item["kind"] == kind]
            for selector in selectors:
                self.assertTrue(selector, name)
                self.assertLessEqual(selector.items(), labels, name)

    def secrets(self):
        """A folder with what the secrets of the probe have."""
        folder = self.folder()
        (folder / "probe.psk").write_text(f"fleet:{'0' * 64}\n", encoding="ascii")
        (folder / "probe.psk").chmod(0o440)
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=a",
            "-keyout", folder / "tls.key", "-out", folder / "tls.crt")
        shutil.copy(folder / "tls.crt", folder / "ca.crt")
        return folder

    def test_the_exporter_takes_its_flags_and_configuration(self):
        self.assert_the_exporter_takes_what_is_rendered(with_probe=False)

    def test_the_exporter_takes_the_flags_and_the_configuration_of_the_probe(self):
        if "probe.responder" not in run(BINARY, "--help").stdout:
            self.skipTest("this program has no probe")
        self.assert_the_exporter_takes_what_is_rendered(with_probe=True)

    def assert_the_exporter_takes_what_is_rendered(self, with_probe):
        secrets, config = self.secrets(), self.folder()
        places = {"/etc/rdma_exporter_probe/": f"{secrets}/", "/etc/rdma_exporter/": f"{config}/", "/host/sys": "/sys"}

        def here(text):
            for there, place in places.items():
                text = text.replace(there, place)
            return text

        rendered = {name: items for name, items in self.all_rendered().items() if (name in WITH_PROBE) == with_probe}
        self.assertTrue(rendered)
        for name, items in rendered.items():
            with self.subTest(name):
                container, = self.pod(items)["containers"]
                text = next(item["data"]["rdma_exporter.yml"] for item in items if item["kind"] == "ConfigMap"
                            and "rdma_exporter.yml" in item["data"])
                (config / "rdma_exporter.yml").write_text(here(text), encoding="utf-8")
                flags = [here(flag) for flag in container["args"] if not flag.startswith("--web.config.file")]
                done = run(BINARY, "--check-config", *flags, check=False)
                self.assertEqual((done.returncode, done.stdout), (0, "configuration is valid\n"), done.stderr)

    def test_a_change_of_the_configuration_restarts_the_pods(self):
        def annotations(values):
            return self.one(self.template(values), "DaemonSet")["spec"]["template"]["metadata"]["annotations"]
        self.assertNotEqual(annotations({}), annotations({"config": {"log": {"level": "debug"}}}))


class Mixin(KubernetesTest):
    """Alerts and dashboards, with those of the repository and, where it has none, with some of our own."""

    def test_the_copies_are_equal(self):
        done = run(REPO / "scripts/copy-for-kubernetes", "--check", check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def a_checkout(self):
        """A copy of what the script reads and writes."""
        folder = self.folder()
        for name in ("deploy/helm", "deploy/kubernetes", "alerts", "dashboards"):
            if (REPO / name).is_dir():
                shutil.copytree(REPO / name, folder / name)
        (folder / "scripts").mkdir()
        shutil.copy(REPO / "scripts/copy-for-kubernetes", folder / "scripts")
        for name in ("alerts", "dashboards"):
            (folder / name).mkdir(exist_ok=True)
        (folder / "alerts/one.rules.yml").write_text("""groups:
  - name: one
    rules:
      - alert: RdmaPortDown
        expr: rdma_port_up == 0
        for: 5m
        annotations:
          summary: '{{ $labels.device }} of {{ $labels.instance }}'

          description: a blank line above
""")
        (folder / "dashboards/one.json").write_text(json.dumps({"title": "{{ $not_a_template }}", "panels": []}))
        run(folder / "scripts/copy-for-kubernetes")
        return folder

    def test_both_tools_deliver_what_is_written(self):
        checkout = self.a_checkout()
        rules = {path.name.removesuffix(".rules.yml"): yaml.safe_load(path.read_text(encoding="utf-8"))
                 for path in checkout.glob("alerts/*.rules.yml")}
        dashboards = {f"rdma-{path.name}": path.read_text(encoding="utf-8") for path in checkout.glob("dashboards/*.json")}
        chart = self.template(CASES["everything"], checkout / "deploy/helm/rdma-exporter")
        overlay = checkout / "deploy/kubernetes/overlays/prometheus-operator"
        for items in (chart, objects(kubetools.kubectl("kustomize", overlay).stdout)):
            found = [item for item in items if item["kind"] == "PrometheusRule"]
            self.assertEqual({item["metadata"]["name"].rpartition("rdma-exporter-")[2]: item["spec"] for item in found},
                             rules)
            maps = [item for item in items if item["kind"] == "ConfigMap"
                    and item["metadata"].get("labels", {}).get("grafana_dashboard") == "1"]
            data = {name: json.loads(text) for item in maps for name, text in item["data"].items()}
            self.assertEqual(data, {name: json.loads(text) for name, text in dashboards.items()})
            for item in maps:
                self.assertLess(len(json.dumps(item)), 1 << 20, "a ConfigMap holds 1 MiB")

    def test_the_rules_that_arrive_are_rules(self):
        self.need("promtool")
        checkout = self.a_checkout()
        chart = self.template(CASES["everything"], checkout / "deploy/helm/rdma-exporter")
        arrived = [item for item in chart if item["kind"] == "PrometheusRule"]
        self.assertEqual(len(arrived), len(list(checkout.glob("alerts/*.rules.yml"))))
        for item in arrived:
            path = self.folder() / "rules.yml"
            path.write_text(yaml.safe_dump(item["spec"]), encoding="utf-8")
            done = run("promtool", "check", "rules", path, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_without_values_the_chart_has_what_the_repository_has(self):
        arrived = self.template(CASES["everything"])
        rules = [item["spec"] for item in arrived if item["kind"] == "PrometheusRule"]
        for path in sorted(REPO.glob("alerts/*.rules.yml")):
            self.assertIn(yaml.safe_load(path.read_text(encoding="utf-8")), rules, path.name)
        data = {name: text for item in arrived if item["kind"] == "ConfigMap" for name, text in item["data"].items()}
        for path in REPO.glob("dashboards/*.json"):
            self.assertEqual(json.loads(data[f"rdma-{path.name}"]), json.loads(path.read_text(encoding="utf-8")))

    def test_values_of_the_chart_reach_rules_and_dashboards(self):
        self.need("promtool")
        url = "https://git.test/runbooks/%s.md"
        mixin = {"runbookUrl": url, "selector": 'site="prod"', "labels": {"cluster": "site", "instance": "node"},
                 "alerts": {"RdmaPfcPausedHigh": {"threshold": 0.125, "for": "7m", "severity": "info"}}}
        values = {**CASES["everything"], "mixin": mixin}
        arrived = self.template(values)
        texts = [yaml.safe_dump(item) for item in arrived if item["kind"] == "PrometheusRule"]
        maps = [text for item in arrived if item["kind"] == "ConfigMap" for text in item["data"].values()]
        for text in [*texts, *maps]:
            self.assertNotRegex(text, r"@(labels|alerts|selector|runbookUrl|exporterSelector)\b")
        rules = {rule["alert"]: rule for item in arrived if item["kind"] == "PrometheusRule"
                 for group in item["spec"]["groups"] for rule in group["rules"] if "alert" in rule}
        changed = rules["RdmaPfcPausedHigh"]
        self.assertTrue(changed["expr"].endswith("> 0.125"), changed["expr"])
        self.assertEqual((changed["for"], changed["labels"]["severity"]), ("7m", "info"))
        self.assertEqual(changed["annotations"]["runbook_url"], url % "RdmaPfcPausedHigh")
        self.assertIn("$labels.node", changed["annotations"]["description"])
        self.assertIn('rdma_exporter_build_info{site="prod"}', rules["RdmaExporterAbsent"]["expr"])
        self.assertIn("by (site, job)", rules["RdmaExportersDown"]["expr"])
        self.assertTrue(any('site=~\\"$cluster\\",job=~' in text for text in maps))
        for item in [item for item in arrived if item["kind"] == "PrometheusRule"]:
            path = self.folder() / "rules.yml"
            path.write_text(yaml.safe_dump(item["spec"]), encoding="utf-8")
            done = run("promtool", "check", "rules", path, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_alerts_that_are_not_there_are_refused(self):
        for alerts, said in (({"RdmaNothing": {"for": "1m"}}, "there is no alert RdmaNothing"),
                             ({"RdmaPortDown": {"threshold": 1}}, "RdmaPortDown has no threshold")):
            self.assertIn(said, self.refused({**CASES["everything"], "mixin": {"alerts": alerts}}))

    def test_a_copy_that_is_not_equal_is_found(self):
        checkout = self.a_checkout()
        check = [checkout / "scripts/copy-for-kubernetes", "--check"]
        self.assertEqual(run(*check, check=False).returncode, 0)
        with open(checkout / "alerts/one.rules.yml", "a", encoding="utf-8") as rules:
            rules.write("# changed\n")
        self.assertIn("alerts/one.rules.yml", run(*check, check=False).stdout)
