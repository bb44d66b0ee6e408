# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Prometheus 3 and its promtool, of a newer Debian than the one that the tests run on, kept below .cache/prometheus3. They
are Go programs and need nothing else of that release."""

import contextlib
import functools
import pathlib
import shutil
import subprocess
import tempfile

CACHE = pathlib.Path(__file__).resolve().parents[2] / ".cache" / "prometheus3"
SUITE = "forky"


def source():
    """Source of the newer release: where this machine gets its own packages."""
    told = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian"],
                          capture_output=True, text=True, check=True).stdout.split()
    if not told:
        raise OSError("apt-get has no list of Debian's packages; run apt-get update")
    return f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {told[0]} {SUITE} main\n"


def apt_get(folder, *arguments):
    """As this machine is set up, except for the source and for where it keeps things."""
    settings = {"Dir::Etc::SourceList": folder / "sources.list", "Dir::Etc::SourceParts": "/dev/null",
                "Dir::State::Lists": folder / "lists", "Dir::Cache": folder / "cache", "APT::Sandbox::User": "root",
                "Acquire::Languages": "none", "Acquire::Retries": "1"}
    options = [f"-o{name}={value}" for name, value in settings.items()]
    subprocess.run(["apt-get", "-qq", *options, *arguments], cwd=folder, check=True, timeout=240, capture_output=True)


def fetch(place):
    place.parent.mkdir(parents=True, exist_ok=True)
    new = pathlib.Path(tempfile.mkdtemp(dir=place.parent))
    try:
        for name in ("lists/partial", "cache/archives/partial", "root"):
            (new / name).mkdir(parents=True)
        (new / "sources.list").write_text(source())
        apt_get(new, "update")
        apt_get(new, "download", "prometheus", "promtool")
        for package in new.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, new / "root"], check=True)
        with contextlib.suppress(OSError):  # somebody else was faster
            (new / "root/usr/bin").rename(place)
    finally:
        shutil.rmtree(new, ignore_errors=True)


@functools.cache
def installed():
    """(folder of `prometheus` and `promtool`, ""), or (None, why there are none)."""
    try:
        if not (CACHE / "promtool").exists():
            fetch(CACHE)
        version = subprocess.run([CACHE / "promtool", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return None, f"Debian {SUITE} gives no Prometheus: {error}"
    assert version.startswith("promtool, version 3."), version
    return CACHE, ""
