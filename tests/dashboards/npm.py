# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""npm packages that a lock file pins, kept below .cache/npm."""

import contextlib
import hashlib
import pathlib
import shutil
import subprocess
import tempfile

CACHE = pathlib.Path(__file__).resolve().parents[2] / ".cache" / "npm"


def installed(folder):
    """The node_modules that folder/package-lock.json asks for; None where there is no npm."""
    if not shutil.which("npm"):
        return None
    lock = (folder / "package-lock.json").read_bytes()
    place = CACHE / f"{folder.name}-{hashlib.sha256(lock).hexdigest()[:16]}"
    if not place.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        new = pathlib.Path(tempfile.mkdtemp(dir=CACHE))
        try:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(folder / name, new)
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
            subprocess.run(command, cwd=new, check=True, stdout=subprocess.DEVNULL)
            with contextlib.suppress(OSError):  # somebody else was faster
                new.rename(place)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return place / "node_modules"
