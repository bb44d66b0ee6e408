# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Debians with little more than the C library, in which the portable program is tried: here, and in the lab."""

from deploytest import cached, run

SUITES = ("bookworm", "trixie")
MERGED_USR = "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr"
VERBS = ["libibverbs1", "ibverbs-providers"]


def root_of(suite, *more):
    """An archive of Debian's files, no package configured: glibc and libgcc_s, and those packages."""
    name = f"portable{suite}{len(more)}-1.tar"
    return cached(name, lambda path: run("mmdebstrap", "--variant=extract", "--format=tar", MERGED_USR,
                                         f"--include={','.join(['libc6', 'libgcc-s1', *more])}", suite, path))
