// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector ethtool_standard: what ethtool's netlink family reports for an interface under standard names,
// which are the same for every driver: counters of MAC, pause, FEC and link, speed, rings, temperatures.
//
// Each scrape sends four requests (statistics, pause, fec, link_state), except those that the driver does not
// support; link_state not while events say that nothing has changed. Three more are sent every kFactsInterval
// and when the link came up or went down; the answers about speed and rings are shared with the checks of the
// configuration. Each request takes the RTNL lock; on mlx5 those of a scrape cost about ten register
// accesses.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/collector.h"
#include "collectors/counters/carry_over.h"
#include "collectors/counters/counter_set.h"
#include "collectors/device/hwmon.h"
#include "collectors/ethtool/ethtool_requests.h"
#include "collectors/ethtool/ethtool_standard_table.h"
#include "collectors/ethtool/ethtool_table.h"
#include "collectors/ethtool/netdev_shared.h"
#include "collectors/netdev_labels.h"
#include "core/labels.h"
#include "core/text/kernel_text.h"
#include "facts/fact_cache.h"
#include "host/ethtool/ethernet_link.h"
#include "host/ethtool/genl_ethtool.h"
#include "host/events/unchanged.h"
#include "host/topology/netdev.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {
namespace {

namespace genl = host::genl_ethtool;
using genl::Query;

constexpr std::chrono::seconds kFactsInterval{60};

// How long the first run waits for the driver statistics of the same interface, which are being read
// meanwhile.
constexpr std::chrono::milliseconds kDriverWait{250};

bool driver_has_twins(const Context& context, const host::Netdev& netdev) {
  if (!context.runs("ethtool") || !context.host.ethtool || netdev.role == host::NetdevRole::bond)
    return false;
  const auto rows = ethtool_rows(netdev.driver);
  return std::any_of(rows.begin(), rows.end(), [](const CounterRow& row) {
    return row.metric != nullptr && has_standard_twin(*row.metric);
  });
}

CounterRules standard_rules(const Context& context) {
  CounterRules rules{standard_rows(), &kNetdevRaw};
  rules.selection = &context.metrics;
  rules.unwrap = true;  // link_down_events is 32 bits wide on its way here
  // Counters with a family share their names with driver statistics (tx_pause_frames), which would appear
  // twice.
  const bool raw = context.metrics.full() && context.raw != RawPolicy::none;
  rules.raw = raw ? RawPolicy::unmapped : RawPolicy::none;
  return rules;
}

// The families that each answer feeds, but for the statistics, which wanted_groups() knows.
constexpr std::array kOfPause{&kNetdevPauseFrames, &kNetdevPauseEnabled};
constexpr std::array kOfFec{&kNetdevFecBlocks,     &kNetdevFecCorrectedBitErrors,
                            &kNetdevFecLaneBlocks, &kNetdevFecLaneCorrectedBitErrors,
                            &kNetdevFecInfo,       &kNetdevFecLineRate,
                            &kNetdevFecCodeword,   &kNetdevFecLimit};
// A link that came up or went down is also the reason to read speed and rings again.
constexpr std::array kOfLinkState{&kNetdevLinkUp,         &kNetdevLinkExtendedState,
                                  &kNetdevLinkDownEvents, &kNetdevSpeed,
                                  &kNetdevFecLineRate,    &kNetdevFecCodeword,
                                  &kNetdevFecLimit,       &kNetdevRxRing,
                                  &kNetdevRxRingMax,      &kNetdevTxRing,
                                  &kNetdevTxRingMax,      &kNetdevModuleHighPower};
constexpr std::array kOfLinkModes{&kNetdevSpeed, &kNetdevFecLineRate, &kNetdevFecCodeword, &kNetdevFecLimit};
constexpr std::array kOfRings{&kNetdevRxRing, &kNetdevRxRingMax, &kNetdevTxRing, &kNetdevTxRingMax};
constexpr std::array kOfModule{&kNetdevModuleHighPower};

// The lanes of one FEC counter; their labels are rendered once.
class Lanes {
 public:
  Lanes(const core::MetricDesc& family, std::string_view result) : family_(family), result_(result) {}

  void add(const std::vector<std::uint64_t>& values, const std::string& owner, core::SampleBatch& out) {
    // The strings move here, before the samples of this run refer to them.
    for (std::size_t lane = labels_.size(); lane < values.size(); ++lane) {
      std::string& labels = labels_.emplace_back();
      core::append_label(labels, "lane", std::to_string(lane));
      if (!result_.empty()) core::append_label(labels, "result", result_);
    }
    for (std::size_t lane = 0; lane < values.size(); ++lane)
      out.add_stable(family_, owner, values[lane], labels_[lane]);
  }

 private:
  const core::MetricDesc& family_;
  std::string_view result_;
  std::vector<std::string> labels_;
};

// What error correction counts by lane.
struct FecLanes {
  Lanes corrected{kNetdevFecLaneBlocks, "corrected"};
  Lanes uncorrectable{kNetdevFecLaneBlocks, "uncorrectable"};
  Lanes corrected_bits{kNetdevFecLaneCorrectedBitErrors, {}};
};

// The groups of statistics that feed an exported family: mlx5 reads each from the adapter.
genl::Groups wanted_groups(const CounterSet& counters) {
  genl::Groups groups = 0;
  for (std::size_t counter = 0; counter < genl::kCounterNames.size(); ++counter)
    if (counters.is_wanted(counter)) groups |= genl::group_of(counter);
  return groups;
}

// What netlink is asked about an interface.
struct Questions {
  /// `groups`: of statistics that are worth asking for.
  Questions(const Context& context, const std::string& netdev, genl::Groups groups)
      : statistics({"STATS_GET", groups != 0}, genl::statistics_request(netdev, groups)),
        pause({context, "PAUSE_GET", kOfPause}, Query::pause, netdev),
        fec({context, "FEC_GET", kOfFec}, Query::fec, netdev),
        link_state({context, "LINKSTATE_GET", kOfLinkState}, Query::link_state, netdev),
        speed(context, "LINKMODES_GET", kOfLinkModes),
        rings(context, "RINGS_GET", kOfRings),
        module({context, "MODULE_GET", kOfModule}, Query::module, netdev) {}

  EthtoolQuestion statistics;
  EthtoolQuestion pause;
  EthtoolQuestion fec;
  EthtoolQuestion link_state;
  EthtoolTopic speed;
  EthtoolTopic rings;
  EthtoolQuestion module;
};

class EthtoolStandardJob : public core::Job {
 public:
  EthtoolStandardJob(const Context& context, const std::shared_ptr<const host::Netdev>& netdev)
      : Job("ethtool_standard", netdev->device, netdev->name),
        sysfs_(*context.host.sysfs),
        netdev_(netdev),
        shared_(context.netdevs->of(netdev->id)),
        facts_(context.facts->of(*netdev)),
        requests_(context.host, netdev),
        labels_(netdev_labels(*netdev)),
        counters_(standard_rules(context), *labels_,
                  context.carry_over->take(netdev->id, "ethtool_standard")),
        temperatures_(sysfs_, netdev->path + "/device", labels_, kNetdevTemperature,
                      kNetdevTemperatureCritical),
        facts_schedule_(kFactsInterval, netdev->name),
        waits_for_driver_(driver_has_twins(context, *netdev)),
        link_unchanged_(*context.host.changes) {
    if (!context.host.speaks(host::NetlinkProtocol::generic)) return;
    counters_.set_names({genl::kCounterNames.begin(), genl::kCounterNames.end()});
    questions_ = std::make_unique<Questions>(context, netdev->name, wanted_groups(counters_));
  }

  void run(core::JobRun& run) override {
    temperatures_.run(run);
    const std::size_t first = run.samples().size();
    if (requests_.begin(run)) ask_all(run);
    if (std::exchange(waits_for_driver_, false)) shared_->wait_for_twins(kDriverWait);
    add_driver_twins(first, run.samples());
  }

 private:
  void ask_all(core::JobRun& run) {
    ask_each_time(run);
    if (facts_schedule_.take(run.now())) refresh_facts(run);
    if (!requests_.gone()) add_facts(run.samples());
    counters_.emit(run);
  }

  // Adds families that no standard group of this interface has ever had. If one had them before, the driver's
  // value may lag behind, and a counter that falls would look like a reset.
  void add_driver_twins(std::size_t first, core::SampleBatch& samples) {
    const auto& all = samples.samples();
    for (std::size_t i = first; i < all.size(); ++i)
      if (has_standard_twin(*all[i].metric) && !has_standard(*all[i].metric, all[i].own()))
        standard_.emplace_back(all[i].metric, all[i].own());
    const auto twins = shared_->twins();
    for (const DriverTwin& twin : *twins) {
      if (has_standard(*twin.family, twin.own)) continue;
      samples.add(*twin.family, twin.own.empty() ? *labels_ : *labels_ + ',' + twin.own, twin.value);
    }
  }

  bool has_standard(const core::MetricDesc& family, std::string_view own) const {
    return std::any_of(standard_.begin(), standard_.end(),
                       [&](const auto& served) { return served.first == &family && served.second == own; });
  }

  void ask_each_time(core::JobRun& run) {
    std::size_t seen = 0;
    const auto on_counter = [&](std::size_t counter, std::uint64_t value) {
      counters_.put(counter, value);
      ++seen;
    };
    requests_.ask(questions_->statistics, run, [&](host::Bytes answer) -> core::Result<bool> {
      return genl::parse_statistics(answer, on_counter).map([&] { return seen > 0; });
    });
    requests_.ask(questions_->pause, run, [&](host::Bytes answer) -> core::Result<bool> {
      return genl::parse_pause(answer, on_counter).map([&](const genl::Pause& pause) {
        facts_->put_pause(pause, run.now());
        add_flag(kNetdevPauseEnabled, pause.rx, R"(direction="rx")", run.samples());
        add_flag(kNetdevPauseEnabled, pause.tx, R"(direction="tx")", run.samples());
        return true;
      });
    });
    requests_.ask(questions_->fec, run, [&](host::Bytes answer) -> core::Result<bool> {
      return genl::parse_fec(answer, on_counter).map([&](const genl::Fec& fec) {
        add_fec(fec, run.samples());
        return true;
      });
    });
    ask_link_state(run);
  }

  // A link that is up stays so until an event says otherwise.
  void ask_link_state(core::JobRun& run) {
    if (link_unchanged_.still({netdev_->name}, run.now())) {
      if (!requests_.gone()) add_known_link(run.samples());
      return;
    }
    bool steady = false;
    link_losses_.reset();
    const auto on_counter = [&](std::size_t counter, std::uint64_t value) {
      counters_.put(counter, value);
      link_losses_ = {counter, value};
    };
    requests_.ask(questions_->link_state, run, [&](host::Bytes answer) -> core::Result<bool> {
      return genl::parse_link_state(answer, on_counter).map([&](const genl::LinkState& link) {
        add_link(link, run.samples());
        steady = link.up.value_or(false) && link.extended_state.empty();
        return link.up.has_value();
      });
    });
    if (!steady) link_unchanged_.forget();
  }

  void add_known_link(core::SampleBatch& out) {
    add_flag(kNetdevLinkUp, true, {}, out);
    if (link_losses_) counters_.put(link_losses_->first, link_losses_->second);
  }

  void add_flag(const core::MetricDesc& family, std::optional<bool> value, std::string_view own,
                core::SampleBatch& out) const {
    if (value) out.add_stable(family, *labels_, std::uint64_t{*value}, own);
  }

  void add_fec(const genl::Fec& fec, core::SampleBatch& out) {
    if (!fec_lanes_) fec_lanes_ = std::make_unique<FecLanes>();
    fec_lanes_->corrected.add(fec.corrected_blocks, *labels_, out);
    fec_lanes_->uncorrectable.add(fec.uncorrectable_blocks, *labels_, out);
    fec_lanes_->corrected_bits.add(fec.corrected_bits, *labels_, out);
    if (fec.active.empty()) return;
    if (fec.active != fec_mode_) {
      fec_mode_ = fec.active;
      fec_labels_ = core::render_labels({{"mode", fec_mode_}});
    }
    out.add_stable(kNetdevFecInfo, *labels_, std::uint64_t{1}, fec_labels_);
  }

  void add_link(const genl::LinkState& link, core::SampleBatch& out) {
    if (link_up_ && link.up != link_up_) {
      facts_schedule_.reset();
      link_changed_ = true;
    }
    link_up_ = link.up;
    add_flag(kNetdevLinkUp, link.up, {}, out);
    if (link.extended_state.empty()) return;
    std::string labels = *labels_;
    core::append_label(labels, "state", link.extended_state);
    core::append_label(labels, "substate", link.extended_substate);
    out.add(kNetdevLinkExtendedState, labels, std::uint64_t{1});
  }

  // Facts that change only when somebody configures them, or with the link.
  void refresh_facts(core::JobRun& run) {
    speed_.reset();
    lanes_.reset();
    rings_ = {};
    module_high_power_.reset();
    const facts::Wanted wanted{
        run.now(), std::exchange(link_changed_, false) ? std::chrono::seconds(0) : kFactsInterval / 2};
    const facts::EthtoolNetlink ethtool = requests_.netlink();
    const auto speed = requests_.look_up(questions_->speed, wanted, run,
                                         [&](const auto& recent) { return facts_->speed(recent, ethtool); });
    if (speed) {
      speed_ = (*speed)->bytes_per_second;
      lanes_ = (*speed)->lanes;
    }
    if (speed_ && !lanes_) lanes_ = rdma_lanes(*speed_);
    const auto rings = requests_.look_up(questions_->rings, wanted, run,
                                         [&](const auto& recent) { return facts_->rings(recent, ethtool); });
    if (rings) rings_ = **rings;
    requests_.ask(questions_->module, run, [&](host::Bytes answer) -> core::Result<bool> {
      return genl::parse_module_high_power(answer).map([&](std::optional<bool> high) {
        module_high_power_ = high;
        return high.has_value();
      });
    });
  }

  // Few drivers report their lanes to ethtool (mlx5 does not). The lanes of the RDMA port apply if it has the
  // same speed.
  std::optional<std::uint32_t> rdma_lanes(double speed) const {
    constexpr double kAlike = 0.01;
    const auto text = sysfs_.read("class/infiniband/" + netdev_->device + "/ports/" +
                                  std::to_string(netdev_->port) + "/rate");
    const auto rate = text ? core::parse_rate(*text) : tl::unexpected(text.error());
    if (!rate || std::abs(rate->bytes_per_second / speed - 1) > kAlike) return std::nullopt;
    return rate->lanes;
  }

  void add_fec_code(core::SampleBatch& out) const {
    const auto code = speed_ ? host::fec_code(fec_mode_, *speed_, lanes_) : std::nullopt;
    if (!code) return;
    out.add_stable(kNetdevFecLineRate, *labels_, *speed_ * code->line_rate_over_speed);
    out.add_stable(kNetdevFecCodeword, *labels_, code->codeword_bytes);
    out.add_stable(kNetdevFecLimit, *labels_, code->bit_error_limit);
  }

  void add_facts(core::SampleBatch& out) const {
    if (speed_) out.add_stable(kNetdevSpeed, *labels_, *speed_);
    add_fec_code(out);
    const auto add_entries = [&](const core::MetricDesc& family, std::optional<std::uint32_t> entries) {
      if (entries) out.add_stable(family, *labels_, std::uint64_t{*entries});
    };
    add_entries(kNetdevRxRing, rings_.rx);
    add_entries(kNetdevRxRingMax, rings_.rx_max);
    add_entries(kNetdevTxRing, rings_.tx);
    add_entries(kNetdevTxRingMax, rings_.tx_max);
    add_flag(kNetdevModuleHighPower, module_high_power_, {}, out);
  }

  host::HostFs& sysfs_;
  const std::shared_ptr<const host::Netdev> netdev_;
  const std::shared_ptr<NetdevShared> shared_;
  const std::shared_ptr<facts::NetdevCache> facts_;
  EthtoolRequests requests_;
  const core::SharedText labels_;
  CounterSet counters_;
  Temperatures temperatures_;
  task::Schedule facts_schedule_;

  std::unique_ptr<Questions> questions_;  ///< null without netlink
  bool waits_for_driver_;
  std::vector<std::pair<const core::MetricDesc*, std::string>> standard_;  ///< families and labels served

  std::unique_ptr<FecLanes> fec_lanes_;  ///< null before the first answer about FEC
  std::string fec_mode_;
  std::string fec_labels_;
  host::Unchanged link_unchanged_;                                    ///< since it was up
  std::optional<std::pair<std::size_t, std::uint64_t>> link_losses_;  ///< counter and its value
  std::optional<bool> link_up_;
  bool link_changed_ = false;  ///< since the facts were read
  std::optional<double> speed_;
  std::optional<std::uint32_t> lanes_;
  genl::Rings rings_;
  std::optional<bool> module_high_power_;
};

}  // namespace

extern const CollectorSpec ethtool_standard_spec;
const CollectorSpec ethtool_standard_spec{
    "ethtool_standard",
    "Network interface of each RDMA port: standard MAC, pause, FEC and link counters, speed, rings, "
    "temperatures",
    "ethtool netlink and hwmon for the same interfaces ([DCB.md](DCB.md))",
    true,
    standard_families,
    make_per_netdev<EthtoolStandardJob>,
    [] {
      return std::vector<CounterTable>{{"ethtool netlink", "any", standard_rows()}};
    }};

}  // namespace rdma_exporter::collectors
