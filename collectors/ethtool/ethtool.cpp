// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector ethtool: driver statistics of the network interfaces behind RDMA ports (ethtool -S).
#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "collectors/attr_text.h"
#include "collectors/collector.h"
#include "collectors/counters/counter_set.h"
#include "collectors/ethtool/ethtool_table.h"
#include "collectors/ethtool/netdev_shared.h"
#include "collectors/netdev_labels.h"
#include "core/job.h"
#include "core/labels.h"
#include "core/metric.h"
#include "core/seconds.h"
#include "host/ethtool/ethtool.h"
#include "host/ethtool/ethtool_stats.h"
#include "host/host.h"
#include "host/topology/netdev.h"
#include "log/log.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kAge{
    "rdma_netdev_statistics_age_seconds",
    MetricType::gauge,
    "device,port,netdev",
    "seconds",
    "Time in seconds since the driver statistics on this page were read. They are refreshed every "
    "collector.ethtool.interval, because one read costs the adapter dozens of firmware accesses",
    "collectors/ethtool/ethtool.cpp",
    core::MetricSet::full};
static_assert(core::valid(kAge));

// A driver without statistics does not gain them later, but one in the middle of a reset has none for a
// while.
constexpr std::chrono::minutes kUnsupportedInterval{10};

CounterRules rules_for(const Context& context, const host::Netdev& netdev) {
  CounterRules rules{.rows = ethtool_rows(netdev.driver), .raw_counter = &kNetdevRaw};
  rules.raw_value = &kNetdevRawValue;
  rules.raw = context.raw;
  rules.is_gauge = is_ethtool_gauge;
  return rules;
}

/// The statistics of one interface: the last values read, until they expire.
class Statistics {
 public:
  Statistics(const Context& context, const host::Netdev& netdev)
      : context_(context),
        netdev_(netdev.name),
        shared_(context.netdevs->of(netdev.id)),
        driver_(netdev.driver),
        rows_(ethtool_rows(netdev.driver)),
        labels_(netdev_labels(netdev)),
        stats_(*context.host.ethtool, netdev.name),
        counters_(rules_for(context, netdev), *labels_) {}

  void add(core::JobRun& run) {
    if (schedule_.take(run.now())) {
      served_.clear();
      read(run);
    }
    if (!read_at_) return shared_->set_twins({});
    if (const auto pfc = shared_->pfc(); served_.empty() || pfc != served_with_) {
      serve(pfc.value_or(0), run);
      served_with_ = pfc;
    } else {
      run.samples().add_stable(served_);
    }
    run.samples().add_stable(kAge, *labels_, core::seconds(run.now() - *read_at_));
  }

 private:
  using Clock = core::JobRun::Clock;

  // A tenth early: otherwise every second scrape at the same interval would find the values just too young to
  // be refreshed.
  static Clock::duration nearly(Clock::duration interval) { return interval - interval / 10; }

  void read(core::JobRun& run) {
    thread_local host::EthtoolScratch scratch;  // per worker, which serves all interfaces one after the other
    // Values that could not be refreshed are not served: stale values would look as if nothing happened.
    read_at_.reset();
    const auto reading = stats_.read(scratch);
    if (!reading) return failed(reading.error(), run);
    if (version_ != stats_.version()) select(run);
    if (take(*reading)) read_at_ = run.now();
  }

  void failed(const core::Error& error, core::JobRun& run) {
    if (core::is_errno(error, ENODEV)) return;  // it has disappeared; the next discovery removes it
    if (!core::is_errno(error, EOPNOTSUPP)) return run.count_read_error(core::reason(error));
    schedule_.postpone(run.now() + nearly(kUnsupportedInterval));
    if (std::exchange(unsupported_logged_, true)) return;
    log::info("the driver has no statistics", {{"netdev", netdev_}, {"driver", driver_}});
  }

  // Adds the samples of the last reading, and keeps them for the scrapes until the next one.
  void serve(unsigned lossless, core::JobRun& run) {
    for (std::size_t i = 0; i < values_.size(); ++i) counters_.put(i, values_[i]);
    const std::size_t first = run.samples().size();
    counters_.emit(run);
    if (context_.runs("ethtool_standard")) hand_over_twins(first, run.samples());
    if (!context_.metrics.full()) leave_out_idle_priorities(first, lossless, run.samples());
    run.samples().remove_if(first, [this](const core::Sample& sample) {
      return std::find(left_out_.begin(), left_out_.end(), sample.metric) != left_out_.end();
    });
    const auto& all = run.samples().samples();
    served_.assign(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
  }

  // Decides by name what to export: curated statistics, and others that the configuration selects.
  void select(core::JobRun& run) {
    std::vector<std::string> names;
    std::unordered_set<std::string> seen;
    std::uint64_t repeated = 0;
    selected_.clear();
    for (std::size_t i = 0; i < stats_.size(); ++i) {
      std::string name(stats_.name(i));
      if (name.empty() || !wanted(name)) continue;
      if (!seen.insert(name).second) {
        ++repeated;
        continue;
      }
      selected_.push_back(i);
      names.push_back(std::move(name));
    }
    if (repeated > 0) run.count_dropped("duplicate", repeated);
    counters_.set_names(std::move(names));
    left_out_.clear();
    for (const CounterRow& row : rows_)
      if (row.metric != nullptr && !context_.metrics.has(*row.metric)) left_out_.push_back(row.metric);
    version_ = stats_.version();
    values_.clear();
  }

  // The collector ethtool_standard serves them for interfaces without the standard group.
  void hand_over_twins(std::size_t first, core::SampleBatch& samples) {
    std::vector<DriverTwin> twins;
    samples.remove_if(first, [&](const core::Sample& sample) {
      if (!has_standard_twin(*sample.metric)) return false;
      twins.push_back({sample.metric, std::string(sample.own()), sample.integer});
      return true;
    });
    shared_->set_twins(std::move(twins));
  }

  // Most hosts use two or three of the eight priorities. A priority that has counted anything stays.
  void leave_out_idle_priorities(std::size_t first, unsigned lossless, core::SampleBatch& samples) {
    const auto& all = samples.samples();
    for (std::size_t i = first; i < all.size(); ++i)
      if (const auto priority = priority_of(all[i].own()); priority && all[i].integer != 0)
        active_ |= 1U << *priority;
    const unsigned shown = active_ | lossless;
    samples.remove_if(first, [shown](const core::Sample& sample) {
      const auto priority = priority_of(sample.own());
      return priority && ((shown >> *priority) & 1U) == 0;
    });
  }

  // The priority in `priority="3",...`; none if the series covers all priorities.
  static std::optional<unsigned> priority_of(std::string_view own) {
    constexpr std::string_view kLabel = "priority=\"";
    if (!own.starts_with(kLabel) || own.size() < kLabel.size() + 2 || own[kLabel.size() + 1] != '"')
      return {};
    return static_cast<unsigned>(own[kLabel.size()] - '0');
  }

  bool wanted(const std::string& name) const {
    const bool curated = std::any_of(rows_.begin(), rows_.end(), [&](const CounterRow& row) {
      return row.metric != nullptr && row.raw == name;
    });
    if (curated || context_.raw == RawPolicy::none) return curated;
    const bool asked_for = context_.metrics.full() || context_.ethtool.raw_include.matches(name);
    return asked_for && !context_.ethtool.raw_exclude.matches(name);
  }

  // False if the driver returned nothing but zeros although there were other values before. mana does so
  // while its interface is down. Served, this would look like a counter reset, and rate() would count
  // everything again afterwards.
  bool take(const host::EthtoolStats::Reading& reading) {
    const auto is_zero = [](std::uint64_t value) { return value == 0; };
    std::vector<std::uint64_t>& values = fresh_;
    values.clear();
    for (const std::size_t index : selected_) values.push_back(reading.value(index));
    const bool blank = std::all_of(values.begin(), values.end(), is_zero);
    if (blank && !std::all_of(values_.begin(), values_.end(), is_zero)) return false;
    std::swap(values_, fresh_);
    return true;
  }

  const Context& context_;
  const std::string netdev_;
  const std::shared_ptr<NetdevShared> shared_;
  const std::string driver_;
  const std::span<const CounterRow> rows_;
  const core::SharedText labels_;
  host::EthtoolStats stats_;
  CounterSet counters_;
  std::uint64_t version_ = 0;                ///< version of the names that selected_ belongs to
  std::vector<std::size_t> selected_;        ///< each counter's index among the driver's statistics
  std::vector<std::uint64_t> values_;        ///< of each counter; the last useful ones
  std::vector<std::uint64_t> fresh_;         ///< those of the current reading
  std::vector<const MetricDesc*> left_out_;  ///< families of rows_ that are not exported
  std::vector<core::Sample> served_;         ///< what values_ became; empty: not yet
  std::optional<std::uint8_t> served_with_;  ///< lossless priorities at that time
  task::Schedule schedule_{nearly(context_.ethtool.interval)};
  std::optional<Clock::time_point> read_at_;  ///< absent: the last reading failed
  bool unsupported_logged_ = false;
  unsigned active_ = 0;  ///< bit N: priority N has counted something
};

constexpr MetricDesc kNetdevInfo{
    "rdma_netdev_info",
    MetricType::gauge,
    "device,port,netdev,role,driver,firmware_version,bus_address,phys_switch_id,phys_port_name",
    "",
    "Network interface of an RDMA port (role port) or one that shares its wire; always 1. Other roles: lower "
    "(below a VLAN), physical (of the physical function), bond, and member (further bond member). Interfaces "
    "with the same phys_switch_id and phys_port_name share a wire",
    "ETHTOOL_GDRVINFO; sysfs class/net/X/phys_switch_id, phys_port_name"};
static_assert(core::valid(kNetdevInfo));

// For facts that can change while an interface is registered: firmware, switchdev mode.
constexpr std::chrono::seconds kInfoInterval{60};

/// rdma_netdev_info of one network interface: its identity, and what shows which others share its wire. One
/// thread at a time.
class NetdevInfo {
 public:
  /// `host.ethtool` must not be null.
  NetdevInfo(host::Host& host, std::shared_ptr<const host::Netdev> netdev);
  void add(core::JobRun& run);

 private:
  void refresh(core::JobRun& run);

  host::Host& host_;
  const std::shared_ptr<const host::Netdev> netdev_;
  task::Schedule schedule_;
  std::string labels_;
};

NetdevInfo::NetdevInfo(host::Host& host, std::shared_ptr<const host::Netdev> netdev)
    : host_(host), netdev_(std::move(netdev)), schedule_(kInfoInterval, netdev_->path) {}

void NetdevInfo::add(core::JobRun& run) {
  if (schedule_.take(run.now())) refresh(run);
  run.samples().add_stable(kNetdevInfo, labels_, std::uint64_t{1});
}

void NetdevInfo::refresh(core::JobRun& run) {
  auto driver = host::driver_info(*host_.ethtool, netdev_->name);
  if (!driver) {
    count_unless_absent(driver.error(), run);
    driver = host::DriverInfo{netdev_->driver, "", ""};
  }
  labels_ = core::render_labels(
      {{"device", netdev_->device},
       {"port", std::to_string(netdev_->port)},
       {"netdev", netdev_->name},
       {"role", to_string(netdev_->role)},
       {"driver", driver->driver},
       {"firmware_version", driver->firmware_version},
       {"bus_address", driver->bus_address},
       {"phys_switch_id", attr_text(*host_.sysfs, netdev_->path + "/phys_switch_id", run)},
       {"phys_port_name", attr_text(*host_.sysfs, netdev_->path + "/phys_port_name", run)}});
}

class EthtoolJob : public core::Job {
 public:
  EthtoolJob(const Context& context, const std::shared_ptr<const host::Netdev>& netdev)
      : Job("ethtool", netdev->device, netdev->name), info_(context.host, netdev) {
    // The bonding driver has none; its members do.
    if (netdev->role != host::NetdevRole::bond) statistics_.emplace(context, *netdev);
  }
  void run(core::JobRun& run) override {
    info_.add(run);
    if (statistics_) statistics_->add(run);
  }

 private:
  NetdevInfo info_;
  std::optional<Statistics> statistics_;
};

class EthtoolCollector : public Collector {
 public:
  explicit EthtoolCollector(const Context& context) : context_(context) {}
  std::shared_ptr<core::Job> netdev_job(const std::shared_ptr<const host::Netdev>& netdev) override {
    if (!context_.host.ethtool) return nullptr;
    return std::make_shared<EthtoolJob>(context_, netdev);
  }

 private:
  const Context& context_;
};

std::span<const MetricDesc* const> families() {
  static const std::vector<const MetricDesc*> families = [] {
    std::vector<const MetricDesc*> all{&kNetdevInfo};
    const auto statistics = ethtool_families();
    all.insert(all.end(), statistics.begin(), statistics.end());
    all.push_back(&kAge);
    return all;
  }();
  return families;
}

}  // namespace

extern const CollectorSpec ethtool_spec;
const CollectorSpec ethtool_spec{
    "ethtool",
    "Driver statistics of network interfaces (ethtool -S): pause, priorities, discards, PCIe stalls, FEC",
    "driver statistics of the network interfaces behind RDMA ports, by ioctl ([ETHERNET.md](ETHERNET.md))",
    true,
    families,
    [](const Context& context) -> std::unique_ptr<Collector> {
      return std::make_unique<EthtoolCollector>(context);
    },
    ethtool_tables};

}  // namespace rdma_exporter::collectors
