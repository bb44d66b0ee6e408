// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rdma_exporter::core {

/// What started a process, as far as its control group tells.
struct CgroupOwner {
  enum class Kind : std::uint8_t {
    pod,           ///< Kubernetes; `name` is the pod's UID with dashes, `container` the container's id
    slurm_job,     ///< `name` is the job id
    container,     ///< of Docker, Podman, containerd or CRI-O without Kubernetes; `name` is its id
    systemd_unit,  ///< `name` is the unit: "nfs-server.service", "session-3.scope"
  };
  Kind kind;
  std::string name;
  std::string container;
  bool operator==(const CgroupOwner&) const = default;
};

/// Finds the owner in the text of /proc/PID/cgroup, cgroup v1 ("4:memory:/slurm/uid_0/job_1") or v2
/// ("0::/..."). The most specific line wins: a pod before a job, a job before a container, a container before
/// a unit. Returns nullopt if no line tells anything (the root group). Paths that begin with ".." (seen from
/// another cgroup namespace, such as that of a container) are understood as far as the kernel shows them.
/// Pure; accepts any text.
std::optional<CgroupOwner> parse_cgroup_owner(std::string_view text);

}  // namespace rdma_exporter::core
