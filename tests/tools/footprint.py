# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""What a process holds after a soak, compared with what it held at the start. In a footprint, {what: number}, are memory in kB,
threads, descriptors and temporary files."""

# Workers are added while reads are slow, and descriptors of attributes are kept; a leak adds one for each of thousands.
ROOM = {"memory in kB": 3000, "threads": 8, "descriptors": 16, "temporary files": 0}


def grown(before, after, without=(), room=ROOM):
    """{what: (before, after)} of what has grown by more than its room."""
    return {what: (before[what], after[what]) for what, more in room.items()
            if what not in without and after[what] > before[what] + more}
