# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Every dashboard is what Grafana's own types allow: the JSON becomes a TypeScript literal, and the compiler checks
it."""

import copy
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / name) for name in ("dashboards", "tools")]

import model  # noqa: E402
import npm  # noqa: E402
from marks import slow  # noqa: E402

SCHEMA = model.REPOSITORY / "tests/dashboards/schema"


def panel_of(dashboard, kind):
    return next(panel for panel in dashboard["panels"] if panel["type"] == kind)


def damages():
    """{name: damage}: what hand-made dashboards get wrong. The compiler has to find each."""
    def legacy_datasource(dashboard):
        dashboard["panels"][1]["datasource"] = "${datasource}"

    def unknown_option(dashboard):
        panel_of(dashboard, "stat")["options"]["colourMode"] = "value"

    def unknown_custom_key(dashboard):
        panel_of(dashboard, "timeseries")["fieldConfig"]["defaults"]["custom"]["linewidth"] = 1

    def wrong_enumeration(dashboard):
        panel_of(dashboard, "timeseries")["options"]["legend"]["displayMode"] = "tabular"

    def null_field(dashboard):
        dashboard["panels"][1]["gridPos"] = None

    def deprecated_panel(dashboard):
        panel_of(dashboard, "timeseries")["type"] = "graph"

    def incomplete_link(dashboard):
        del dashboard["links"][0]["type"]

    def no_schema_version(dashboard):
        del dashboard["schemaVersion"]

    return {name: damage for name, damage in locals().items() if callable(damage)}


@slow(8)
class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        modules = npm.installed(SCHEMA)
        if modules is None:
            raise unittest.SkipTest("npm is not installed")
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "node_modules").symlink_to(modules)
        for name in ("dashboard.ts", "tsconfig.json"):
            shutil.copy(SCHEMA / name, cls.folder)
        for dashboard in model.dashboards():
            cls.write(dashboard.path.stem, dashboard.data)
        for name, damage in damages().items():
            damaged = copy.deepcopy(next(d.data for d in model.dashboards() if d.file == "fleet.json"))
            damage(damaged)
            cls.write("damaged_" + name, damaged)
        command = [modules / ".bin/tsc", "--pretty", "false", "-p", cls.folder]
        done = subprocess.run(command, cwd=cls.folder, capture_output=True, text=True, check=False)
        cls.errors = done.stdout + done.stderr

    @classmethod
    def write(cls, name, data):
        text = "import type { Dashboard } from './dashboard';\n"
        text += f"export const it: Dashboard = {json.dumps(data, indent=1)};\n"
        (cls.folder / f"{name}.ts").write_text(text, encoding="utf-8")

    def errors_of(self, name):
        return [line for line in self.errors.splitlines() if line.startswith(name + ".ts(")]

    def test_the_types_themselves(self):
        self.assertEqual(self.errors_of("dashboard"), [], self.errors[:2000])

    def test_dashboards(self):
        for dashboard in model.dashboards():
            with self.subTest(dashboard=dashboard.file):
                self.assertEqual(self.errors_of(dashboard.path.stem), [], self.errors[:4000])

    def test_damage_is_found(self):
        for name in damages():
            with self.subTest(damage=name):
                self.assertTrue(self.errors_of("damaged_" + name), "the compiler did not mind")
