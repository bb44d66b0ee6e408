// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/metrics/privileges.h"

#include <utility>

#include "core/labels.h"
#include "log/log.h"

namespace rdma_exporter::app {
namespace {

constexpr core::MetricDesc kMissing{"rdma_exporter_missing_privilege",
                                    core::MetricType::gauge,
                                    "privilege,feature",
                                    "",
                                    "Privilege that the exporter lacks and the feature that is off because "
                                    "of it; always 1. Absent if nothing is missing; see docs/PRIVILEGES.md",
                                    "/proc, /dev/infiniband"};
static_assert(core::valid(kMissing));

// "verbs_device, netlink": each once.
std::string names(const std::vector<host::MissingPrivilege>& missing) {
  std::string text;
  std::string_view last;
  for (const auto& [privilege, feature] : missing) {
    if (privilege != std::exchange(last, privilege)) text.append(text.empty() ? "" : ", ").append(privilege);
  }
  return text;
}

bool is_enabled(const config::Config& config, std::string_view name) {
  const auto collector = config.collectors.find(name);
  return collector != config.collectors.end() && collector->second.enabled;
}

bool wants_owners(const config::Config& config) {
  return is_enabled(config, "resource") && config.resource.owners != config::ResourceOwners::none;
}

}  // namespace

void Privileges::check(const config::Config& config) {
  const auto sysfs = host::make_host_fs(config.path.sysfs);
  const auto procfs = host::make_host_fs(config.path.procfs);
  host::PrivilegeSources sources{*sysfs, *procfs, host::can_open_verbs, host::can_open_netlink,
                                 wants_owners(config)};
  if (is_enabled(config, "module")) sources.has_net_admin = host::has_net_admin;
  if (is_enabled(config, "neighbor")) sources.can_open_packet = host::can_open_packet;
  set(host::missing_privileges(sources));
}

void Privileges::set(const std::vector<host::MissingPrivilege>& missing) {
  {
    const std::lock_guard lock(mutex_);
    if (missing == missing_) return;
    missing_ = missing;
  }
  if (missing.empty()) return log::info("no privileges are missing any longer");
  log::warn("privileges are missing, so some data cannot be exported; see docs/PRIVILEGES.md",
            {{"privileges", names(missing)}});
}

void Privileges::add(core::SampleBatch& out) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [privilege, feature] : missing_)
    out.add(kMissing, core::render_labels({{"privilege", privilege}, {"feature", feature}}),
            std::uint64_t{1});
}

std::vector<host::MissingPrivilege> Privileges::missing() const {
  const std::lock_guard lock(mutex_);
  return missing_;
}

std::vector<const core::MetricDesc*> Privileges::families() { return {&kMissing}; }

}  // namespace rdma_exporter::app
