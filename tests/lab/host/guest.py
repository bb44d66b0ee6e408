# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""What is in the lab's guest: `from guest import kernel, subprocess, Path` are modules and files there. The modules are those
of tests/lab/guest and of the guest's Python; this file needs none of its own, so that no name is taken."""

from remote import Module as _Module
from remote import Path  # noqa: F401


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return _Module(name)
