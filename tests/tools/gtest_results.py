#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Sums up the XML reports that GoogleTest wrote, one for each shard of a test binary.

    tests/tools/gtest_results.py FOLDER SHARDS

FOLDER holds the reports; SHARDS is how many there must be: a shard that died left none and counts as one failure.
Prints every skipped test with its reason, the five slowest tests and, last, "N passed, N failed, N skipped".
"""

import pathlib
import sys
import xml.etree.ElementTree

SLOWEST = 5


def reason_of(skipped) -> str:
    """GoogleTest puts the place of GTEST_SKIP in the first line and the reason in those after it."""
    return " ".join(skipped.get("message", "").splitlines()[1:]).strip() or "no reason given"


def main() -> int:
    folder, shards = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    reports = sorted(folder.glob("*.xml"))
    passed = failed = 0
    skips, times = [], []
    for report in reports:
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            name = f"{case.get('classname')}.{case.get('name')}"
            skipped = case.find("skipped")
            if case.get("status") != "run" and skipped is None:
                continue  # disabled, or of another shard
            if skipped is not None:
                skips.append(f"SKIPPED {name}: {reason_of(skipped)}")
            elif case.find("failure") is not None:
                failed += 1
            else:
                passed += 1
            times.append((float(case.get("time", 0)), name))
    failed += max(0, shards - len(reports))
    print(*skips, sep="\n", end="\n" if skips else "")
    for seconds, name in sorted(times, reverse=True)[:SLOWEST]:
        print(f"slowest: {seconds:6.1f} s  {name}")
    print(f"{passed} passed, {failed} failed, {len(skips)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
