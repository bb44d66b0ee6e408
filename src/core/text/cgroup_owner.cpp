// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/cgroup_owner.h"

#include <algorithm>
#include <vector>

#include "core/text/number.h"

namespace rdma_exporter::core {
namespace {

using Kind = CgroupOwner::Kind;

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

template <typename Predicate>
bool all(std::string_view text, Predicate&& predicate) {
  return !text.empty() && std::all_of(text.begin(), text.end(), predicate);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, start), text.size());
    if (end > start) parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::string_view without_suffix(std::string_view text, std::string_view suffix) {
  return text.ends_with(suffix) ? text.substr(0, text.size() - suffix.size()) : text;
}

// Ids of containers have 64 hexadecimal digits with every runtime; shorter ones are names of something else.
bool is_container_id(std::string_view text) { return text.size() == 64 && all(text, is_hex); }

// "ID", "cri-containerd-ID.scope", "crio-ID.scope", "docker-ID.scope", "libpod-ID.scope"; also
// "crio-conmon-ID.scope", the process that watches a container.
std::string_view container_id(std::string_view component) {
  std::string_view id = without_suffix(component, ".scope");
  const std::size_t dash = id.rfind('-');
  if (dash != std::string_view::npos) id.remove_prefix(dash + 1);
  return is_container_id(id) ? id : std::string_view();
}

// A UID with dashes, with underscores (systemd's driver), or, of a static pod, 32 digits without either.
std::string pod_uid(std::string_view text) {
  std::string uid(text);
  std::replace(uid.begin(), uid.end(), '_', '-');
  if (uid.size() == 32 && all(uid, is_hex)) return uid;
  if (uid.size() != 36) return {};
  for (std::size_t i = 0; i < uid.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? uid[i] != '-' : !is_hex(uid[i])) return {};
  }
  return uid;
}

// "podUID" (cgroupfs driver), "kubepods-podUID.slice", "kubepods-burstable-podUID.slice" (systemd driver),
// also below a prefix of the cluster's ("kubelet-kubepods-burstable-podUID.slice" of kind).
std::string pod_of(std::string_view component) {
  const std::string_view name = without_suffix(component, ".slice");
  if (name.starts_with("pod")) return pod_uid(name.substr(3));
  const std::size_t at = name.rfind("-pod");
  return at == std::string_view::npos ? std::string() : pod_uid(name.substr(at + 4));
}

// Below "slurm", "slurm_NODE" (v1), "slurmstepd.scope", "NODE_slurmstepd.scope" (v2).
bool is_slurm(std::string_view component) {
  return component == "slurm" || component.starts_with("slurm_") || component.ends_with("slurmstepd.scope");
}

std::string_view slurm_job(std::string_view component) {
  if (!component.starts_with("job_")) return {};
  component.remove_prefix(4);
  return all(component, is_digit) ? component : std::string_view();
}

bool is_unit(std::string_view component) {
  return component.ends_with(".service") || component.ends_with(".scope");
}

// What one path says, from the outside in: what is further in says more, but for a pod and its container.
struct Found {
  std::string pod;
  std::string_view job;
  std::string_view container;
  std::string_view unit;
};

Found look(std::string_view path) {
  Found found;
  bool in_slurm = false;
  // containerd without systemd's driver joins slice and id by colons: "/NAME.slice:cri-containerd:ID".
  for (const std::string_view component : split(path, "/:")) {
    if (std::string uid = pod_of(component); !uid.empty()) {
      found.pod = std::move(uid);
      found.container = {};
      continue;
    }
    in_slurm = in_slurm || is_slurm(component);
    if (const std::string_view job = slurm_job(component); in_slurm && !job.empty()) found.job = job;
    // The innermost container, except inside a pod: what a pod's container starts belongs to it.
    const std::string_view id = container_id(component);
    if (!id.empty() && (found.pod.empty() || found.container.empty())) found.container = id;
    // The unit below a user's manager is more specific than the manager.
    if (is_unit(component)) found.unit = component;
  }
  return found;
}

std::optional<CgroupOwner> owner_of(const Found& found) {
  if (!found.pod.empty()) return CgroupOwner{Kind::pod, found.pod, std::string(found.container)};
  if (!found.job.empty()) return CgroupOwner{Kind::slurm_job, std::string(found.job), {}};
  if (!found.container.empty()) return CgroupOwner{Kind::container, std::string(found.container), {}};
  if (!found.unit.empty()) return CgroupOwner{Kind::systemd_unit, std::string(found.unit), {}};
  return std::nullopt;
}

}  // namespace

std::optional<CgroupOwner> parse_cgroup_owner(std::string_view text) {
  std::optional<CgroupOwner> best;
  for (const std::string_view line : split(text, "\n")) {
    // "hierarchy:controllers:path"; controllers may be "name=systemd". The path may hold colons.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    auto owner = owner_of(look(line.substr(second + 1)));
    const bool better =
        owner && (!best || owner->kind < best->kind ||
                  (owner->kind == best->kind && best->container.empty() && !owner->container.empty()));
    if (better) best = std::move(owner);
  }
  return best;
}

}  // namespace rdma_exporter::core
