# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""What the tests of deploy/ share."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(REPO / "tests/tools"))  # for the marks
DEPLOY = REPO / "deploy"
CACHE = REPO / ".cache/deploy"
BINARY = pathlib.Path(os.environ.get("RDMA_EXPORTER", REPO / "build/release/rdma_exporter"))


def run(*command, cwd=REPO, check=True, **options):
    """Runs a command to its end; its output is in the error when it fails."""
    command = [str(part) for part in command]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, **options)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done


@contextlib.contextmanager
def locked(path):
    """Others that ask for the same, in other processes too, wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def timed(what):
    """Prints how long something took that no test's time contains."""
    start = time.monotonic()
    yield
    print(f"made    {time.monotonic() - start:6.1f} s  {what}", flush=True)


def cached(name, make):
    """The path CACHE/name, made by make(path) when it is not there: whole or not at all, once for all who ask. The name
    is KIND-VERSION; other versions are removed."""
    path, kind = CACHE / name, name.partition("-")[0]
    with locked(CACHE / f"lock.{kind}"):
        if not path.exists():
            new = CACHE / f"{name}.new"
            if new.is_dir():
                shutil.rmtree(new)
            with timed(name):
                make(new)
            new.rename(path)
            for other in set(CACHE.glob(f"{kind}-*")) - {path}:
                shutil.rmtree(other) if other.is_dir() else other.unlink()
    return path


class DeployTest(unittest.TestCase):
    maxDiff = None

    def folder(self):
        path = tempfile.mkdtemp(prefix="rdma_exporter_deploy.")
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        return pathlib.Path(path)

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")
