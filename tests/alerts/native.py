# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Converts cases to those of a Prometheus that stores only native histograms: series with `_bucket` are replaced by one with the
exporter's resolution (src/core/histogram.h), in the notation of promtool 3."""

import math
import re

SCHEMA = 3  # eight buckets for each doubling
RISING = re.compile(r"(?:(\d+)\+)?(\d+)x(\d+)")


def per_step(values):
    """(what is added with each step, steps) of 0+100x80 or 0x80."""
    start, step, steps = RISING.fullmatch(values).groups()
    assert (start or step) == "0", f"{values}: a histogram that starts at 0"
    return int(step) if start else 0, int(steps)


def index(bound):
    """Index of the lowest bucket whose upper bound is not below that of a classic one."""
    return math.ceil(math.log2(bound) * 2 ** SCHEMA)


def histogram(classic):
    """{le: values} of classic buckets as one series."""
    bounds = sorted(classic, key=float)
    counts, below = {}, 0
    for bound in bounds[:-1]:
        rises, steps = per_step(classic[bound])
        counts[index(float(bound))] = rises - below
        below = rises
    assert per_step(classic[bounds[-1]])[0] == below, "nothing above the last bound"
    first, last = min(counts), max(counts)
    buckets = " ".join(str(counts.get(at, 0)) for at in range(first, last + 1))
    total = sum(counts[at] * 2 ** (at / 2 ** SCHEMA) for at in counts)
    empty = f"{{{{schema:{SCHEMA} sum:0 count:0 offset:{first} buckets:[0]}}}}"
    more = f"{{{{schema:{SCHEMA} sum:{total:.9g} count:{below} offset:{first} buckets:[{buckets}]}}}}"
    return f"{empty}+{more}x{steps}"


def only(series):
    """The series of a case, or None if it has no histogram."""
    found, classic = {}, {}
    for selector, values in series.items():
        if "_bucket{" not in selector:
            found[selector] = values
            continue
        bound = re.search(r',le="([^"]+)"', selector)
        classic.setdefault(selector.replace(bound[0], "").replace("_bucket{", "{"), {})[bound[1]] = values
    found.update({selector: histogram(buckets) for selector, buckets in classic.items()})
    return found if classic else None


def cases(all_cases):
    """{alert: [case]} of those that have histograms."""
    found = {alert: [{**case, "series": own} for case in group if (own := only(case["series"]))]
             for alert, group in all_cases.items()}
    return {alert: group for alert, group in found.items() if group}
