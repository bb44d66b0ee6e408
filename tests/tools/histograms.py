# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Checks that apply to every classic histogram of a page, in any text format."""


def histogram_problems(histograms):
    """{(family, labels): {"buckets": [(bound, count)], "_sum": .., "_count": ..}} -> what is wrong, in words."""
    problems = []
    for (family, _), group in histograms.items():
        bounds = [b for b, _ in group["buckets"]]
        counts = [c for _, c in group["buckets"]]
        if not bounds or bounds[-1] != float("inf"):
            problems.append(f"histogram {family} has no last bucket +Inf")
        elif group.get("_count") != counts[-1]:
            problems.append(f"histogram {family}: _count differs from bucket +Inf")
        if sorted(set(bounds)) != bounds or sorted(counts) != counts:
            problems.append(f"histogram {family}: buckets are not cumulative and ascending")
        if "_sum" not in group:
            problems.append(f"histogram {family} has no _sum")
    return problems
