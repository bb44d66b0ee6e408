# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""The packages of this checkout, and the Debian into which they are installed; created once for all tests."""

import functools
import hashlib
import os
import pathlib
import re

from deploytest import BINARY, REPO, cached, locked, run, timed

VERSION = re.search(r"project\(\S+ VERSION ([\d.]+)", (REPO / "CMakeLists.txt").read_text())[1]
DEB = f"rdma-exporter_{VERSION}-1_amd64.deb"
RPM = f"rdma-exporter-{VERSION}-1.x86_64.rpm"
TGZ = f"rdma_exporter-{VERSION}.linux-amd64.tar.gz"


@functools.cache
def revision():
    """Revision of the existing program, so that nothing has to be compiled again."""
    return re.search(r"revision (\S+)\)", run(BINARY, "--version").stdout)[1]


def moment():
    """The environment that decides what is in a package; and the compiler's cache of this checkout, also for a copy."""
    return {"CCACHE_DIR": str(REPO / ".cache/ccache"), **os.environ, "SOURCE_DATE_EPOCH": "1700000000",
            "REVISION": revision()}


def build(*targets):
    """Builds targets of the preset release, while nobody else builds there."""
    with locked(pathlib.Path(os.environ["DEPLOY_TEST_FOLDER"]) / "lock"):
        run("scripts/build", "release", *targets, env=moment())


@functools.cache
def packages():
    """The folder that they are in: one for all processes of tests/deploy/run."""
    folder = pathlib.Path(os.environ["DEPLOY_TEST_FOLDER"])
    with locked(folder / "lock"):
        if not (folder / "packages").exists():
            with timed("packages"):
                run("scripts/package", folder / "new", env=moment())
            (folder / "new").rename(folder / "packages")
    return folder / "packages"


def dependencies():
    """Names of the packages that the package needs."""
    fields = run("dpkg-deb", "-f", packages() / DEB, "Depends").stdout
    return sorted(re.sub(r" *\(.*?\)", "", name).strip() for name in fields.split(","))


def debian(*more):
    """An archive of Debian as images have it, without documents and with a /usr that is merged from the start, and with
    what the package says it needs and nothing else but these packages."""
    needed = dependencies() + list(more)
    options = [f"--dpkgopt=path-exclude=/usr/share/{what}/*" for what in ("doc", "man", "locale")]
    options += ["--dpkgopt=force-unsafe-io", "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr"]
    kind = "machine" if more else "debian"
    name = f"{kind}-{hashlib.sha256(' '.join(options + needed).encode()).hexdigest()[:12]}.tar"
    return cached(name, lambda path: run(
        "mmdebstrap", "--variant=minbase", "--format=tar", *options, f"--include={','.join(needed)}", "bookworm", path))
