# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Manual pages and help texts of the tools that runbooks use, from this machine."""

import functools
import gzip
import pathlib
import re
import shutil
import subprocess

import harness

# The Debian package of each tool that a runbook may name.
PACKAGES = {
    "amtool": "prometheus-alertmanager", "cat": "coreutils", "curl": "curl", "cut": "coreutils", "dcb": "iproute2",
    "devlink": "iproute2", "diff": "diffutils", "ethtool": "ethtool", "grep": "grep", "head": "coreutils",
    "iblinkinfo": "infiniband-diags", "ibqueryerrors": "infiniband-diags", "ibstat": "infiniband-diags",
    "ibv_devinfo": "ibverbs-utils", "ip": "iproute2", "ipmitool": "ipmitool", "journalctl": "systemd",
    "kubectl": "kubernetes-client", "lspci": "pciutils", "lsmod": "kmod", "modprobe": "kmod", "mstconfig": "mstflint",
    "mstflint": "mstflint", "networkctl": "systemd", "numactl": "numactl", "perfquery": "infiniband-diags",
    "pidof": "sysvinit-utils", "ping": "iputils-ping", "promtool": "prometheus", "ps": "procps", "rdma": "iproute2",
    "sleep": "coreutils", "sminfo": "infiniband-diags", "sort": "coreutils", "ssh": "openssh-client",
    "systemctl": "systemd", "uniq": "coreutils",
}
EXEMPT = {
    "scontrol": "Slurm's: a site has it or has not, and one command of it is all that is named",
    "rdma_exporter": "asked below: it is not installed but built",
}
# Tools that are several: the word behind them has a page, or a help, of its own.
PAGE_OF_OBJECT = {"rdma", "ip", "dcb", "devlink"}
HELP_OF_OBJECT = {"promtool": 2, "amtool": 2, "kubectl": 1, "rdma_exporter": 1}
MANUALS = pathlib.Path("/usr/share/man")
ESCAPE = re.compile(r"\\f(?:\(..|\[[^]]*\]|.)|\\[&|^/,%]|^\.[A-Z]{1,2} ", re.MULTILINE)


@functools.cache
def output(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=20, check=False,
                              stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


@functools.cache
def page(name):
    """The source of the manual page without its marks; "" where there is none. Typesetting takes seconds."""
    paths = sorted(MANUALS.glob(f"man[18]/{name}.[18]*"))
    if not paths:
        return ""
    opened = gzip.open if paths[0].suffix == ".gz" else open
    with opened(paths[0], "rt", encoding="utf-8", errors="replace") as file:
        text = file.read()
    other = re.match(r"\.so (?:man\d/)?(\S+?)(?:\.\d\w*)?\s*$", text)
    return page(other[1]) if other else ESCAPE.sub("", text.replace("\\-", "-"))


def is_installed(tool):
    return tool == "rdma_exporter" or bool(shutil.which(tool))


@functools.cache
def text_of(tool, objects):
    """All that the tool says of itself and of `objects`, the words behind it."""
    binary = harness.BINARY if tool == "rdma_exporter" else tool
    found = [page(tool), output(binary, "--help")]
    if tool in PAGE_OF_OBJECT and objects:
        found.append(page(f"{tool}-{objects[0]}"))
    for count in range(1, HELP_OF_OBJECT.get(tool, 0) + 1):
        if len(objects) >= count:
            found.append(output(binary, *objects[:count], "--help"))
    return "\n".join(found)


def knows(text, word):
    """Whether a word, an option (also with a value), or short options in one (-iE) are in the text."""
    word = word.partition("=")[0]
    if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text):
        return True
    if re.fullmatch(r"-[A-Za-z]{2,}", word):
        return all(knows(text, "-" + letter) for letter in word[1:])
    return word.startswith("--no-") and knows(text, "--[no-]" + word[5:])
