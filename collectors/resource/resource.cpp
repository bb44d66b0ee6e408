// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector resource: how many objects (queue pairs, memory regions, ...) each device has, their limits,
// states and owners. Counts come with every scrape, in one netlink message per device. The tables of objects
// are dumped in the background (resource_pass.h), where that is safe.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/collector.h"
#include "collectors/resource/resource_families.h"
#include "collectors/resource/resource_pass.h"
#include "core/job.h"
#include "core/labels.h"
#include "facts/fact_cache.h"
#include "host/netlink/kept_netlink.h"
#include "host/netlink/netlink.h"
#include "host/netlink/nldev/nldev.h"
#include "host/netlink/nldev/resource.h"
#include "host/netlink/nldev/statistic.h"
#include "host/topology/device.h"
#include "log/log.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {
namespace {

// Interval between attempts to read the limits through the verbs device, until one succeeds.
constexpr std::chrono::seconds kLimitsRetry{300};

// Whether tables of objects are dumped on this host. Decided when the first job first runs.
class DetailPolicy {
 public:
  explicit DetailPolicy(const Context& context) : context_(context) {}

  struct Decision {
    bool enabled;
    std::string_view reason;
  };
  Decision decide() {
    std::call_once(once_, [this] { decision_ = make(); });
    return decision_;
  }

 private:
  Decision make() {
    using Detail = ResourceSettings::Detail;
    if (context_.resource.detail == Detail::on) return {true, "on"};
    if (context_.resource.detail == Detail::off) return {false, "off"};
    // An ib_core that was built separately from the kernel (OFED) is marked O; the kernel release says
    // nothing about it.
    const auto taint = context_.host.sysfs->read("module/ib_core/taint");
    const bool foreign = taint && taint->find('O') != std::string::npos;
    if (context_.host.resource_dumps_safe && !foreign) return {true, "auto"};
    log::info(
        "owners and queue pair states are off: reading them can crash a kernel without the fixes for three "
        "races, and this kernel is not known to have them (docs/RESOURCES.md); "
        "--collector.resource.detail=on turns them on",
        {{"reason", foreign ? "ib_core is not the kernel's own" : "kernel release"}});
    return {false, foreign ? "ib_core" : "kernel"};
  }

  const Context& context_;
  std::once_flag once_;
  Decision decision_{};
};

constexpr std::chrono::seconds kOptionalCountersInterval{60};

// EINVAL: a kernel before 5.16, or a device without hw_counters; EMSGSIZE: more names than fit into a page.
bool is_absence(const core::Error& error) {
  return core::is_errno(error, EINVAL) || core::is_errno(error, EMSGSIZE);
}

/// Which optional counters a port has, and which of them are enabled. Queried about once a minute: the query
/// needs no firmware command, and the set rarely changes. One thread at a time.
class OptionalCounters {
 public:
  OptionalCounters(const host::Device& device, std::uint32_t port);

  void run(host::Netlink& netlink, core::JobRun& run);

 private:
  void refresh(host::Netlink& netlink, core::JobRun& run);

  const core::SharedText labels_;
  const std::vector<std::byte> request_;
  task::Schedule schedule_;
  std::vector<std::pair<std::string, bool>> counters_;  ///< labels, enabled
};

OptionalCounters::OptionalCounters(const host::Device& device, std::uint32_t port)
    : labels_(core::shared_labels({{"device", device.name}, {"port", std::to_string(port)}})),
      request_(host::nldev::device_request(*device.netlink_index, port)),
      schedule_(kOptionalCountersInterval, device.port_path(port)) {}

void OptionalCounters::run(host::Netlink& netlink, core::JobRun& run) {
  if (schedule_.take(run.now())) refresh(netlink, run);
  for (const auto& [labels, enabled] : counters_)
    run.samples().add_stable(kOptionalCounters, labels, std::uint64_t{enabled});
}

void OptionalCounters::refresh(host::Netlink& netlink, core::JobRun& run) {
  counters_.clear();
  const auto take = [&](const host::nldev::CounterStatus& status) {
    if (!status.enabled) return;
    std::string labels = *labels_;
    core::append_label(labels, "counter", status.name);
    counters_.emplace_back(std::move(labels), *status.enabled);
  };
  const auto answered =
      host::ask<void>(netlink, host::nldev::kStatGetStatus, request_,
                      [&](host::Bytes answer) { return host::nldev::parse_counter_status(answer, take); });
  if (!answered && !is_absence(answered.error())) run.count_read_error(core::reason(answered.error()));
}

class ResourceJob : public core::Job {
 public:
  ResourceJob(const Context& context, std::shared_ptr<const host::Device> device, DetailPolicy& policy)
      : Job("resource", device->name),
        context_(context),
        policy_(policy),
        device_(std::move(device)),
        facts_(context.facts->of(context.host, device_)),
        labels_(core::shared_labels({{"device", device_->name}})),
        request_(host::nldev::device_request(*device_->netlink_index)),
        netlink_(host::kept_netlink(context.host, host::NetlinkProtocol::rdma)) {
    if (!context.metrics.has(kOptionalCounters)) return;
    for (const std::uint32_t port : device_->ports) optional_.emplace_back(*device_, port);
  }

  void run(core::JobRun& run) override {
    if (!read_summary(run)) return;
    add_limits(run);
    for (OptionalCounters& counters : optional_) counters.run(*netlink_, run);
    add_detail(run);
  }

 private:
  // A type of objects: how many there are, and how many there may be.
  struct Type {
    std::string name;
    std::string label;
    std::uint64_t current = 0;
    std::uint64_t limit = 0;  // 0: not said
  };

  static Type make_type(std::string_view name) {
    return {std::string(name), core::render_labels({{"type", name}})};
  }

  bool read_summary(core::JobRun& run) {
    std::size_t read = 0;
    const auto take = [&](const host::nldev::ResourceCount& count) {
      // The kernel reports the same types in the same order each time.
      if (read == types_.size() || types_[read].name != count.type) {
        types_.resize(read);
        types_.push_back(make_type(count.type));
      }
      Type& type = types_[read++];
      type.current = count.current;
      type.limit = count.max.value_or(0);
    };
    const auto answered =
        host::ask<void>(*netlink_, host::nldev::kResourceSummary, request_, [&](host::Bytes answer) {
          read = 0;
          return host::nldev::parse_resource_summary(answer, take);
        });
    types_.resize(read);  // without those that the kernel no longer reports
    if (answered) {
      for (const Type& type : types_)
        run.samples().add_stable(kResourceObjects, *labels_, type.current, type.label);
      return true;
    }
    // EINVAL: a kernel before 4.17, or the device has just been deleted.
    if (!core::is_errno(answered.error(), EINVAL)) run.count_read_error(core::reason(answered.error()));
    return false;
  }

  void add_limits(core::JobRun& run) {
    if (!limits_ && context_.host.verbs && limits_schedule_.take(run.now())) ask_limits(run);
    for (const Type& type : types_)
      if (type.limit > 0) run.samples().add_stable(kResourceLimit, *labels_, type.limit, type.label);
    if (!limits_) return;
    for (const Type& type : *limits_)
      if (!kernel_limits(type)) run.samples().add_stable(kResourceLimit, *labels_, type.limit, type.label);
  }

  bool kernel_limits(const Type& type) const {
    return std::any_of(types_.begin(), types_.end(),
                       [&](const Type& said) { return said.limit > 0 && said.name == type.name; });
  }

  void ask_limits(core::JobRun& run) {
    const auto asked = facts_->limits({run.now(), kLimitsRetry / 2});
    const auto& limits = *asked;
    if (limits) {
      limits_.emplace();
      for (const auto& [name, limit] :
           {std::pair{"qp", limits->qps}, std::pair{"cq", limits->cqs}, std::pair{"mr", limits->mrs},
            std::pair{"pd", limits->pds}, std::pair{"srq", limits->srqs}}) {
        if (limit == 0) continue;
        limits_->push_back(make_type(name));
        limits_->back().limit = limit;
      }
    } else if (!host::means_no_verbs(limits.error())) {
      run.count_read_error(core::reason(limits.error()));
    }
  }

  void add_detail(core::JobRun& run) {
    const DetailPolicy::Decision decision = policy_.decide();
    if (enabled_labels_.empty()) enabled_labels_ = core::render_labels({{"reason", decision.reason}});
    run.samples().add_stable(kDetailEnabled, *labels_, std::uint64_t{decision.enabled}, enabled_labels_);
    if (!decision.enabled || context_.background == nullptr) return;
    const bool first = !passes_;
    if (first) passes_ = std::make_shared<ResourcePasses>(context_, *device_);
    if (passes_->wants(run.now())) passes_->start_if_due(counts(), run.now());
    if (first) passes_->wait_for_first(context_.resource.first_wait);
    served_ = passes_->latest();
    if (served_) add_report(*served_, run);
  }

  void add_report(const DetailReport& report, core::JobRun& run) const {
    for (const TableReport& table : report.tables) {
      add_rows(table.rows, run);
      add_dump_report(table, run);
    }
    add_rows(report.owners, run);
  }

  void add_rows(const std::vector<ResourceRow>& rows, core::JobRun& run) const {
    for (const ResourceRow& row : rows)
      run.samples().add_stable(*row.metric, *labels_, row.value, row.labels);
  }

  void add_dump_report(const TableReport& table, core::JobRun& run) const {
    if (table.finished) {
      const std::chrono::duration<double> age = ResourcePasses::Clock::now() - *table.finished;
      run.samples().add_stable(kDetailAge, *labels_, age.count(), table.labels);
    }
    run.samples().add_stable(kDumpDuration, *labels_, table.duration.count(), table.labels);
    const bool truncated = !table.truncated.empty();
    if (truncated || context_.metrics.full())
      run.samples().add_stable(kDumpTruncated, *labels_, std::uint64_t{truncated}, table.truncated_labels);
    for (const auto& [reason, errors] : table.errors) {
      std::string labels = *labels_ + "," + table.labels;
      core::append_label(labels, "reason", reason);
      run.samples().add(kDumpErrors, labels, errors);
    }
  }

  ResourceCounts counts() const {
    ResourceCounts counts;
    for (const Type& type : types_) counts.emplace(type.name, type.current);
    return counts;
  }

  const Context& context_;
  DetailPolicy& policy_;
  const std::shared_ptr<const host::Device> device_;
  const std::shared_ptr<facts::DeviceCache> facts_;
  const core::SharedText labels_;
  const std::vector<std::byte> request_;
  const std::unique_ptr<host::Netlink> netlink_;
  std::list<OptionalCounters> optional_;
  std::string enabled_labels_;
  std::vector<Type> types_;                  ///< of the last summary
  std::optional<std::vector<Type>> limits_;  ///< of the verbs device, once it has said them
  task::Schedule limits_schedule_{kLimitsRetry};
  std::shared_ptr<ResourcePasses> passes_;
  std::shared_ptr<const DetailReport> served_;  ///< owns the labels of this run's samples
};

class ResourceCollector : public Collector {
 public:
  explicit ResourceCollector(const Context& context) : context_(context), policy_(context) {}

  std::shared_ptr<core::Job> device_job(const DeviceHandle& handle) override {
    // A recorded tree of files has no netlink, which is the only source.
    if (!handle.device->netlink_index) return nullptr;
    return std::make_shared<ResourceJob>(context_, handle.device, policy_);
  }

 private:
  const Context& context_;
  DetailPolicy policy_;
};

}  // namespace

extern const CollectorSpec resource_spec;
const CollectorSpec resource_spec{
    "resource",
    "Queue pairs, memory regions and other objects: number and limit; state and owner where that is safe",
    "RDMA netlink, `/proc/PID/cgroup` and `comm` of owners, verbs for the limits "
    "([RESOURCES.md](RESOURCES.md))",
    true,
    resource_families,
    [](const Context& context) -> std::unique_ptr<Collector> {
      return std::make_unique<ResourceCollector>(context);
    }};

}  // namespace rdma_exporter::collectors
