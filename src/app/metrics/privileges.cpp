// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/metrics/privileges.h"

#include <utility>

#include "core/labels.h"
#include "log/log.h"

namespace rdma_exporter::app {
namespace {

constexpr core::MetricDesc kMissing{
    "rdma_exporter_missing_privilege",
    core::MetricType::gauge,
    "privilege,feature",
    "",
    "Always 1, and only there when the exporter lacks this privilege, and with it this feature; see "
    "docs/PRIVILEGES.md",
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

bool wants_owners(const config::Config& config) {
  const auto collector = config.collectors.find("resource");
  return collector != config.collectors.end() && collector->second.enabled &&
         config.resource.owners != config::ResourceOwners::none;
}

}  // namespace

void Privileges::check(const config::Config& config) {
  const auto sysfs = host::make_host_fs(config.path.sysfs);
  const auto procfs = host::make_host_fs(config.path.procfs);
  set(host::missing_privileges(
      {*sysfs, *procfs, host::can_open_verbs, host::can_open_netlink, wants_owners(config)}));
}

void Privileges::set(const std::vector<host::MissingPrivilege>& missing) {
  {
    const std::lock_guard lock(mutex_);
    if (missing == missing_) return;
    missing_ = missing;
  }
  if (missing.empty()) return log::info("no privilege is missing any more");
  log::warn("privileges are missing, not everything can be served: see docs/PRIVILEGES.md",
            {{"privileges", names(missing)}});
}

void Privileges::add(core::SampleBatch& out) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [privilege, feature] : missing_)
    out.add(kMissing, core::render_labels({{"privilege", privilege}, {"feature", feature}}),
            std::uint64_t{1});
}

std::vector<const core::MetricDesc*> Privileges::families() { return {&kMissing}; }

}  // namespace rdma_exporter::app
