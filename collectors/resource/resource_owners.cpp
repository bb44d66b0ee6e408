// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/resource/resource_owners.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <compare>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "collectors/resource/resource_families.h"
#include "core/labels.h"
#include "core/text/cgroup_owner.h"

namespace rdma_exporter::collectors {
namespace {

using Mode = ResourceSettings::Owners;

struct Name {
  std::string_view kind;
  std::string name;
  std::string container;
  auto operator<=>(const Name&) const = default;
};

constexpr std::string_view kUnknown = "unknown";

struct Totals {
  std::uint64_t qps = 0;
  std::uint64_t mrs = 0;
  std::uint64_t bytes = 0;
  std::uint64_t cqs = 0;
  std::uint64_t contexts = 0;

  std::uint64_t objects() const { return qps + mrs + cqs + contexts; }
  void add(const Totals& other) {
    qps += other.qps;
    mrs += other.mrs;
    bytes += other.bytes;
    cqs += other.cqs;
    contexts += other.contexts;
  }
};

std::string_view kind_name(core::CgroupOwner::Kind kind) {
  using Kind = core::CgroupOwner::Kind;
  switch (kind) {
    case Kind::pod:
      return "pod";
    case Kind::slurm_job:
      return "slurm_job";
    case Kind::container:
      return "container";
    case Kind::systemd_unit:
      return "systemd_unit";
  }
  return kUnknown;
}

// Names owners, and counts objects without a named owner by reason.
class Names {
 public:
  Names(host::HostFs& procfs, Mode mode) : procfs_(procfs), mode_(mode) {}

  Name of(const ResourceOwner& owner, std::uint64_t objects) {
    if (!owner.module.empty()) return {"kernel", owner.module, {}};
    std::string_view reason = "no_pid";
    if (owner.pid != 0) {
      if (is_ourselves(std::to_string(owner.pid))) return {"self", "rdma_exporter", {}};
      auto name = of_process(std::to_string(owner.pid));
      if (name) return std::move(*name);
      // ENOENT: the process does not exist any more; ESRCH: it ended during the read.
      const bool gone = core::is_errno(name.error(), ENOENT) || core::is_errno(name.error(), ESRCH);
      reason = gone ? "gone" : core::reason(name.error());
    }
    unattributed_[reason] += objects;
    return {kUnknown, {}, {}};
  }

  /// Number of objects by the reason why their owner has no name.
  const std::map<std::string_view, std::uint64_t>& unattributed() const { return unattributed_; }

 private:
  // The kernel reports the thread that created the object (rdma_restrack_attach_task), not its process.
  bool is_ourselves(const std::string& thread) {
    return procfs_.exists(std::to_string(::getpid()) + "/task/" + thread);
  }

  // /proc/TID exists for every thread, although it is not listed.
  core::Result<Name> of_process(const std::string& pid) {
    if (mode_ == Mode::cgroup) {
      const auto text = procfs_.read(pid + "/cgroup");
      if (!text) return tl::unexpected(text.error());
      if (auto owner = core::parse_cgroup_owner(*text))
        return Name{kind_name(owner->kind), std::move(owner->name), std::move(owner->container)};
    }
    auto name = procfs_.read(pid + "/comm");
    if (!name) return tl::unexpected(name.error());
    return Name{"process", std::move(*name), {}};
  }

  host::HostFs& procfs_;
  const Mode mode_;
  std::map<std::string_view, std::uint64_t> unattributed_{{"gone", 0}, {"no_pid", 0}};
};

std::map<ResourceOwner, Totals> by_owner(const SharesByTable& shares) {
  std::map<ResourceOwner, Totals> owners;
  const auto take = [&](const OwnerShares* table, std::uint64_t Totals::*member) {
    if (table == nullptr) return;
    for (const auto& [owner, share] : *table) {
      owners[owner].*member += share.objects;
      owners[owner].bytes += share.bytes;
    }
  };
  take(shares.qps, &Totals::qps);
  take(shares.mrs, &Totals::mrs);
  take(shares.cqs, &Totals::cqs);
  take(shares.contexts, &Totals::contexts);
  return owners;
}

using Named = std::pair<Name, Totals>;

// The owners to show: the largest ones, then all others combined.
std::vector<Named> largest(const std::map<Name, Totals>& all, std::size_t top) {
  std::vector<Named> shown(all.begin(), all.end());
  std::sort(shown.begin(), shown.end(), [](const Named& a, const Named& b) {
    const auto rank = [](const Named& named) {
      const Totals& totals = named.second;
      return std::make_tuple(named.first.kind == kUnknown, totals.bytes, totals.mrs, totals.qps, totals.cqs);
    };
    return rank(a) != rank(b) ? rank(a) > rank(b) : a.first < b.first;
  });
  if (shown.size() <= top) return shown;
  Named other{{"other", {}, {}}, {}};
  for (std::size_t i = top; i < shown.size(); ++i) other.second.add(shown[i].second);
  shown.resize(top);
  shown.push_back(std::move(other));
  return shown;
}

}  // namespace

std::vector<ResourceRow> owner_rows(const SharesByTable& shares, host::HostFs& procfs, Mode mode,
                                    std::size_t top) {
  if (mode == Mode::none) return {};
  Names names(procfs, mode);
  std::map<Name, Totals> named;
  for (const auto& [owner, totals] : by_owner(shares)) named[names.of(owner, totals.objects())].add(totals);

  std::vector<ResourceRow> rows;
  for (const auto& [name, totals] : largest(named, top)) {
    const std::string labels =
        core::render_labels({{"owner_kind", name.kind}, {"owner", name.name}, {"container", name.container}});
    const auto add = [&](const OwnerShares* table, const core::MetricDesc& metric, std::uint64_t value) {
      if (table != nullptr && value > 0) rows.push_back({&metric, labels, value});
    };
    add(shares.qps, kOwnerQps, totals.qps);
    add(shares.mrs, kOwnerMrs, totals.mrs);
    add(shares.mrs, kOwnerMrBytes, totals.bytes);
    add(shares.cqs, kOwnerCqs, totals.cqs);
    add(shares.contexts, kOwnerContexts, totals.contexts);
  }
  for (const auto& [reason, objects] : names.unattributed())
    rows.push_back({&kUnattributed, core::render_labels({{"reason", reason}}), objects});
  return rows;
}

}  // namespace rdma_exporter::collectors
