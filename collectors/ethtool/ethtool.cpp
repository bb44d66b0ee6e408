// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector ethtool: driver statistics of the network interfaces behind RDMA ports (ethtool -S).
#include <algorithm>
#include <cerrno>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "collectors/collector.h"
#include "collectors/counters/counter_set.h"
#include "collectors/ethtool/ethtool_families.h"
#include "collectors/ethtool/ethtool_table.h"
#include "collectors/ethtool/netdev_info.h"
#include "core/labels.h"
#include "host/ethtool/ethtool_stats.h"
#include "log/log.h"

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kAge{
    "rdma_ethtool_age_seconds",
    MetricType::gauge,
    "netdev",
    "seconds",
    "Time since the driver statistics on this page were read; they are read again after "
    "collector.ethtool.interval, because one reading costs an adapter dozens of firmware accesses",
    "collectors/ethtool/ethtool.cpp"};
static_assert(core::valid(kAge));

// A driver without statistics does not get them later, but one in the middle of a reset has none for a while.
constexpr std::chrono::minutes kUnsupportedInterval{10};

CounterRules rules_for(const Context& context, const host::Netdev& netdev) {
  CounterRules rules{.rows = ethtool_rows(netdev.driver), .raw_counter = &kEthtoolStatistic};
  rules.raw_value = &kEthtoolValue;
  rules.raw = context.raw;
  rules.is_gauge = is_ethtool_gauge;
  return rules;
}

/// The statistics of one interface: the last values read, until they are too old.
class Statistics {
 public:
  Statistics(const Context& context, const host::Netdev& netdev)
      : context_(context),
        netdev_(netdev.name),
        driver_(netdev.driver),
        rows_(ethtool_rows(netdev.driver)),
        labels_(core::render_labels({{"netdev", netdev.name}})),
        stats_(*context.host.ethtool, netdev.name),
        counters_(rules_for(context, netdev), labels_) {}

  void add(core::JobRun& run) {
    if (due(run.now())) read(run);
    if (!read_at_) return;
    for (std::size_t i = 0; i < values_.size(); ++i) counters_.put(i, values_[i]);
    counters_.emit(run);
    run.samples().add_stable(kAge, labels_, std::chrono::duration<double>(run.now() - *read_at_).count());
  }

 private:
  using Clock = core::JobRun::Clock;

  // A tenth early: a scrape in step with the interval must not find the values a moment too young each
  // second time.
  bool due(Clock::time_point now) const {
    return !tried_at_ || now - *tried_at_ >= interval_ - interval_ / 10;
  }

  void read(core::JobRun& run) {
    thread_local host::EthtoolScratch scratch;  // of a worker: it serves all interfaces, one after the other
    tried_at_ = run.now();
    interval_ = context_.ethtool.interval;
    // What is not read anew is not served: values without a reading behind them would look like silence.
    read_at_.reset();
    const auto reading = stats_.read(scratch);
    if (!reading) return failed(reading.error(), run);
    if (version_ != stats_.version()) select(run);
    if (take(*reading)) read_at_ = run.now();
  }

  void failed(const core::Error& error, core::JobRun& run) {
    if (core::is_errno(error, ENODEV)) return;  // it has gone; the next discovery will tell
    if (!core::is_errno(error, EOPNOTSUPP)) return run.count_read_error(core::reason(error));
    interval_ = kUnsupportedInterval;
    if (std::exchange(unsupported_logged_, true)) return;
    log::info("the driver has no statistics", {{"netdev", netdev_}, {"driver", driver_}});
  }

  // Decides by name what is exported: curated statistics, and others that the configuration asks for.
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
    version_ = stats_.version();
    values_.clear();
  }

  bool wanted(const std::string& name) const {
    const bool curated = std::any_of(rows_.begin(), rows_.end(), [&](const CounterRow& row) {
      return row.metric != nullptr && row.raw == name;
    });
    if (curated || context_.raw == RawPolicy::none) return curated;
    return context_.ethtool.raw_include.matches(name) && !context_.ethtool.raw_exclude.matches(name);
  }

  // False when the driver has answered with nothing but zeros where there was more: mana does so while the
  // interface is down, and as a counter reset it would double everything when it is up again.
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
  const std::string driver_;
  const std::span<const CounterRow> rows_;
  const std::string labels_;
  host::EthtoolStats stats_;
  CounterSet counters_;
  std::uint64_t version_ = 0;          ///< of the names that selected_ belongs to
  std::vector<std::size_t> selected_;  ///< index among the driver's statistics of each counter
  std::vector<std::uint64_t> values_;  ///< of each counter; the last that are worth something
  std::vector<std::uint64_t> fresh_;   ///< those of the reading at hand
  std::optional<Clock::time_point> tried_at_;
  std::optional<Clock::time_point> read_at_;  ///< absent: the last try failed
  Clock::duration interval_{};
  bool unsupported_logged_ = false;
};

class EthtoolJob : public core::Job {
 public:
  EthtoolJob(const Context& context, const std::shared_ptr<const host::Netdev>& netdev)
      : Job("ethtool", netdev->name), info_(context.host, netdev) {
    // The bonding driver has none, its members do.
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
const CollectorSpec ethtool_spec{"ethtool",
                                 "Driver statistics of network interfaces (ethtool -S)",
                                 true,
                                 families,
                                 [](const Context& context) -> std::unique_ptr<Collector> {
                                   return std::make_unique<EthtoolCollector>(context);
                                 },
                                 ethtool_tables};

}  // namespace rdma_exporter::collectors
