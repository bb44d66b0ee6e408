# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Effects of single values of the chart, and the kustomization for another port."""

import base64
import json
import shutil

import yaml

import kubetools
from kubetools import CHART, KUSTOMIZE, KubernetesTest, objects
from marks import slow

EXPECTED_BY_USERS = {
    "fullnameOverride": "rdma", "revisionHistoryLimit": 3, "port": 9410,
    "serviceAccount": {"create": True, "name": "of-rdma", "annotations": {"account": "1"}},
    "service": {"annotations": {"prometheus.io/scrape": "true"}}, "podAnnotations": {"pod": "1"},
    "extraEnv": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
    "extraVolumes": [{"name": "peers", "configMap": {"name": "peers"}}],
    "extraVolumeMounts": [{"name": "peers", "mountPath": "/etc/peers", "readOnly": True}],
    "podSecurityContext": {"runAsUser": 1000680000, "runAsGroup": None, "seLinuxOptions": {"type": "spc_t"}},
    "securityContext": {"readOnlyRootFilesystem": False, "capabilities": {"drop": ["ALL"], "add": ["IPC_LOCK"]}},
    "networkPolicy": {"enabled": True},
}
MONITOR = {"enabled": True, "relabelings": [{"targetLabel": "rack", "sourceLabels": ["__meta_kubernetes_pod_label_rack"]}],
           "metricRelabelings": [{"action": "drop", "sourceLabels": ["__name__"], "regex": "rdma_port_raw_total"}]}
EXPECTED_BY_USERS |= {"podMonitor": MONITOR, "serviceMonitor": MONITOR}
LIMITS = (  # of the configuration, and the memory limit that follows
    ({}, "512Mi"),
    ({"limits": {"page_bytes": 1 << 28}}, "1408Mi"),
    ({"limits": {"pages_in_flight_bytes": 1 << 20, "page_bytes": 4 << 20}, "web": {"max_connections": 16}}, "128Mi"),
    ({"web": {"max_connections": 4096}}, "1280Mi"),
)


@slow(10)
class Values(KubernetesTest):
    def setUp(self):
        super().setUp()
        self.items = self.template(EXPECTED_BY_USERS)

    def test_the_objects_have_the_types_of_their_kinds(self):
        self.assertEqual(kubetools.type_errors({"expected by users": self.items}, self.folder()), "")

    def test_the_name_of_every_object(self):
        names = {item["kind"]: item["metadata"]["name"] for item in self.items}
        self.assertEqual(names.pop("ServiceAccount"), "of-rdma")
        self.assertEqual(set(names.values()), {"rdma"})
        self.assertEqual(self.pod(self.items)["serviceAccountName"], "of-rdma")
        volumes = {volume["name"]: volume for volume in self.pod(self.items)["volumes"]}
        self.assertEqual(volumes["config"]["configMap"]["name"], "rdma")

    def test_annotations(self):
        annotations = {item["kind"]: item["metadata"].get("annotations") for item in self.items}
        self.assertEqual(annotations["Service"], {"prometheus.io/scrape": "true"})
        self.assertEqual(annotations["ServiceAccount"], {"account": "1"})
        template = self.one(self.items, "DaemonSet")["spec"]["template"]["metadata"]["annotations"]
        self.assertEqual(template["pod"], "1")

    def test_an_account_of_somebody_else(self):
        for account, name in (({"create": False}, "default"), ({"create": False, "name": "theirs"}, "theirs")):
            items = self.template({"serviceAccount": account})
            self.assertEqual([item for item in items if item["kind"] == "ServiceAccount"], [])
            self.assertEqual(self.pod(items)["serviceAccountName"], name)

    def test_environment_and_volumes(self):
        container, = self.pod(self.items)["containers"]
        self.assertEqual(container["env"], EXPECTED_BY_USERS["extraEnv"])
        self.assertIn(*EXPECTED_BY_USERS["extraVolumes"], self.pod(self.items)["volumes"])
        self.assertIn(*EXPECTED_BY_USERS["extraVolumeMounts"], container["volumeMounts"])
        self.assertIn("/host/sys", [mount["mountPath"] for mount in container["volumeMounts"]])

    def test_keys_of_the_security_contexts_are_replaced_and_the_others_stay(self):
        pod, (container,) = self.pod(self.items), self.pod(self.items)["containers"]
        self.assertEqual(pod["securityContext"], {"runAsNonRoot": True, "runAsUser": 1000680000, "seLinuxOptions":
                                                  {"type": "spc_t"}, "seccompProfile": {"type": "RuntimeDefault"}})
        self.assertEqual(container["securityContext"], {"allowPrivilegeEscalation": False, **EXPECTED_BY_USERS["securityContext"]})

    def test_relabelings_come_after_the_instance(self):
        for kind, endpoints in (("PodMonitor", "podMetricsEndpoints"), ("ServiceMonitor", "endpoints")):
            endpoint, = self.one(self.items, kind)["spec"][endpoints]
            self.assertEqual([rule["targetLabel"] for rule in endpoint["relabelings"]], ["instance", "rack"])
            self.assertEqual(endpoint["metricRelabelings"], MONITOR["metricRelabelings"])

    def test_revisions_that_are_kept(self):
        self.assertEqual(self.one(self.items, "DaemonSet")["spec"]["revisionHistoryLimit"], 3)

    def test_one_value_moves_the_port_everywhere(self):
        text = json.dumps(self.items)
        self.assertNotIn("9400", text)
        self.assertEqual(text.count("9410"), 3, "the flag, the container, the Service")

    def test_the_memory_limit_follows_from_the_configuration(self):
        for config, limit in LIMITS:
            container, = self.pod(self.template({"config": config}))["containers"]
            self.assertEqual(container["resources"]["limits"], {"memory": limit}, config)
        resources = {"requests": {}, "limits": {"memory": "96Mi", "cpu": 1}}
        container, = self.pod(self.template({"resources": resources}))["containers"]
        self.assertEqual(container["resources"]["limits"], {"memory": "96Mi", "cpu": 1})

    def test_pods_start_on_nodes_without_rdma(self):
        """The kubelet waits for a hostPath of a type that is not there, and the pod with it."""
        chart = self.template({"probe": {"enabled": True, "pskSecret": "psk"}})
        for items in (chart, self.kustomized("overlays/probe")):
            types = {volume["hostPath"]["path"]: volume["hostPath"]["type"]
                     for volume in self.pod(items)["volumes"] if "hostPath" in volume}
            self.assertEqual(types, {"/sys": "Directory", "/dev/infiniband": "DirectoryOrCreate"})

    def test_one_value_makes_a_mesh_with_a_key_of_its_own(self):
        items = self.template({"probe": {"mesh": {"enabled": True}}})
        container, = self.pod(items)["containers"]
        name = self.one(items, "Service")["metadata"]["name"]
        namespace = self.one(items, "Service")["metadata"]["namespace"]
        self.assertIn(f"--probe.mesh={name}.{namespace}.svc:9401", container["args"])
        self.assertIn("--probe.secret-file=/etc/rdma_exporter_probe/probe.psk", container["args"])
        self.assertTrue(self.one(items, "Service")["spec"]["publishNotReadyAddresses"])
        secret = self.one(items, "Secret")
        volumes = {volume["name"]: volume for volume in self.pod(items)["volumes"]}
        self.assertEqual(volumes["probe"]["secret"]["secretName"], secret["metadata"]["name"])
        self.assertEqual(secret["metadata"]["annotations"], {"helm.sh/resource-policy": "keep"})
        self.assertRegex(base64.b64decode(secret["data"]["probe.psk"]).decode(), r"\Amesh:[0-9a-f]{64}\n\Z")
        theirs = self.template({"probe": {"mesh": {"enabled": True}, "pskSecret": "psk"}})
        self.assertEqual([item for item in theirs if item["kind"] == "Secret"], [])

    def test_the_examples_are_values(self):
        examples = list((CHART / "examples").glob("*.yaml"))
        self.assertTrue(examples)
        for path in examples:
            values = yaml.safe_load(path.read_text(encoding="utf-8"))
            items = self.template(values)
            self.assertEqual(kubetools.type_errors({path.name: items}, self.folder()), "")
            self.assertEqual(self.pod(items)["affinity"], values["affinity"])


class Port(KubernetesTest):
    """The kustomization for another port: one number, over any of the others."""

    def moved(self, overlay):
        folder = self.folder() / "kubernetes"
        shutil.copytree(KUSTOMIZE, folder)
        path = folder / "overlays/port/kustomization.yaml"
        text = path.read_text(encoding="utf-8")
        self.assertEqual(text.count("9410"), 1)
        path.write_text(text.replace("9410", "9555").replace("../../base", overlay), encoding="utf-8")
        return objects(kubetools.kubectl("kustomize", path.parent).stdout)

    def test_one_number_moves_it_everywhere(self):
        for overlay, others in (("../../base", {}), ("../probe", {"probe": 9401})):
            items = self.moved(overlay)
            container, = self.pod(items)["containers"]
            ports = {port["name"]: port["port"] for port in self.one(items, "Service")["spec"]["ports"]}
            self.assertEqual(ports, {"metrics": 9555, **others})
            self.assertEqual({port["name"]: port["containerPort"] for port in container["ports"]}, ports)
            self.assertIn("--web.listen-address=:9555", container["args"])
            self.assertEqual([item for item in items if "rdma-exporter-port" in item["metadata"]["name"]], [])
