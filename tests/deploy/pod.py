# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Starts the container of a pod's specification as a kubelet would have it, with namespaces made by hand: its user and
groups, capabilities, mounts, network and PID namespace, a root that cannot be written to. What it does not do: the
seccomp profile of a runtime, cgroups, DNS."""

import contextlib
import os
import pathlib
import shlex
import subprocess

from deploytest import run

NO_CAPABILITIES = [f"--{kind}=-all" for kind in ("bounding-set", "inh-caps", "ambient-caps")]


class Host:
    """A node: a network namespace with its loopback interface, and folders in place of its paths."""

    def __init__(self, paths):
        self.paths = paths  # {hostPath: folder}
        self.process = subprocess.Popen(["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec cat"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "up\n":
            raise AssertionError("no network namespace")

    def close(self):
        self.process.communicate()

    def network(self):
        return f"/proc/{self.process.pid}/ns/net"


def files_of(source, items, folder, group):
    """A volume of a ConfigMap or Secret: files of root and of the group of the pod."""
    folder.mkdir()
    if "configMap" in source:
        data = next(item["data"] for item in items
                    if item["kind"] == "ConfigMap" and item["metadata"]["name"] == source["configMap"]["name"])
        mode = source["configMap"].get("defaultMode", 0o644)
    else:
        data = next(item["stringData"] for item in items
                    if item["kind"] == "Secret" and item["metadata"]["name"] == source["secret"]["secretName"])
        mode = source["secret"].get("defaultMode", 0o644)
    for name, text in data.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        os.chown(path, 0, group)
        path.chmod(mode)
    return folder


def mounts(pod, items, host, work, root):
    """Commands that mount the container's volumes below its root."""
    group = pod["securityContext"].get("fsGroup", 0)
    places = {}
    for volume in pod["volumes"]:
        if "hostPath" in volume:
            places[volume["name"]] = host.paths[volume["hostPath"]["path"]]
            # As the kubelet, which waits for what is not there, or makes it.
            if volume["hostPath"]["type"] == "DirectoryOrCreate":
                places[volume["name"]].mkdir(exist_ok=True)
        else:
            places[volume["name"]] = files_of(volume, items, work / volume["name"], group)
    container, = pod["containers"]
    for mount in container["volumeMounts"]:
        target = pathlib.Path(f"{root}{mount['mountPath']}")
        target.mkdir(parents=True, exist_ok=True)  # as a runtime does
        yield f"mount --rbind {shlex.quote(str(places[mount['name']]))} {shlex.quote(str(target))}"
        if mount.get("readOnly"):
            yield f"mount -o remount,bind,ro {shlex.quote(str(target))}"


def identity(pod, context):
    """Options of setpriv."""
    user = pod["securityContext"]
    group = user.get("fsGroup")
    options = [f"--reuid={user['runAsUser']}", f"--regid={user['runAsGroup']}",
               f"--groups={group}" if group else "--clear-groups"]
    if context.get("allowPrivilegeEscalation") is False:
        options.append("--no-new-privs")
    if not context.get("privileged"):
        if context["capabilities"] != {"drop": ["ALL"]}:
            raise AssertionError(f"not known here: {context['capabilities']}")
        options += NO_CAPABILITIES
    return options


@contextlib.contextmanager
def started(items, host, work, root, entrypoint, *more):
    """The container of the DaemonSet among the objects: its process. Its log is work/log."""
    pod = next(item for item in items if item["kind"] == "DaemonSet")["spec"]["template"]["spec"]
    container, = pod["containers"]
    context = container["securityContext"]
    lines = ["set -e", f"mount --bind {root} {root}", f"mount -t proc proc {root}/proc",
             *mounts(pod, items, host, work, root)]
    if context["readOnlyRootFilesystem"]:
        lines.append(f"mount -o remount,bind,ro {root}")
    command = ["setpriv", *identity(pod, context), entrypoint, *container["args"], *more]
    # setpriv is the container's, so that the identity is taken when everything is mounted.
    lines.append(f"exec chroot {root} {shlex.join(command)}")
    namespaces = ["--mount"] if pod["hostPID"] else ["--mount", "--pid", "--fork", "--kill-child"]
    network = [f"--net={host.network()}"] if pod["hostNetwork"] else []
    if not pod["hostNetwork"]:
        namespaces.append("--net")
        lines.insert(1, "ip link set lo up")
    with open(work / "log", "wb") as log:
        process = subprocess.Popen(["nsenter", *network, "--", "unshare", *namespaces, "--", "sh", "-c", "\n".join(lines)],
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def in_network_of(process, *command):
    return run("nsenter", f"--net=/proc/{process.pid}/ns/net", "--", *command, check=False)
