# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Access to the lab's guest: `from guest import kernel, subprocess, Path` imports modules and files of the guest. The modules
are those of tests/lab/guest and of the guest's Python; this file imports none itself, so that no name is taken."""

from remote import Module as _Module
from remote import Path  # noqa: F401


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return _Module(name)
