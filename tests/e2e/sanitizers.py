# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Sanitizer reports about the binary. The address sanitizer writes to files, however the process was started; the undefined
behaviour sanitizer always writes to standard error, and ends the process."""

import atexit
import os
import pathlib
import re
import shutil
import tempfile

REPORT = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|: runtime error: ")
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="rdma_exporter_sanitizers."))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    os.environ[variable] = f"{os.environ.get(variable, '')}:log_path={FOLDER}/report:print_stacktrace=1"
# The daemon does not let OpenSSL clean up at its end, because other threads may still use it (docs/TRAPS.md): what
# libcrypto keeps for itself is left. What leaks with each connection or reload, the tests of memory see.
SUPPRESSIONS = pathlib.Path(f"{FOLDER}_suppressions")
SUPPRESSIONS.write_text("leak:libcrypto.so\n", encoding="utf-8")
atexit.register(SUPPRESSIONS.unlink, missing_ok=True)
os.environ["LSAN_OPTIONS"] = f"{os.environ.get('LSAN_OPTIONS', '')}:suppressions={SUPPRESSIONS}:print_suppressions=0"


def take_reports():
    """What sanitizers have reported since the last call; "" is nothing."""
    texts = []
    for path in sorted(FOLDER.iterdir()):
        texts.append(path.read_text(encoding="utf-8", errors="replace"))
        path.unlink()
    return "".join(texts)


def check(output):
    """Fails when there is a report, or one in this output of a process that has ended."""
    reports = take_reports() + (output if REPORT.search(output) else "")
    if reports:
        raise AssertionError(reports)
