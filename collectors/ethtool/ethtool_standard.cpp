// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector ethtool_standard: what ethtool's netlink family gives of an interface under standard names, the
// same for every driver: counters of the MAC, pause, FEC and link, speed, rings, temperatures.
//
// Four requests per scrape (statistics, pause, fec, link_state), less those that the driver does not support,
// three more every kFactsInterval and when the link came or went. Each takes the RTNL lock; on mlx5 those of
// a scrape are about ten register accesses.
#include <cerrno>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/collector.h"
#include "collectors/counters/counter_set.h"
#include "collectors/device/hwmon.h"
#include "collectors/ethtool/ethtool_standard_table.h"
#include "collectors/ethtool/netdev_operation.h"
#include "collectors/refresh_timer.h"
#include "core/labels.h"
#include "host/ethtool/genl_ethtool.h"
#include "host/netlink/kept_netlink.h"

namespace rdma_exporter::collectors {
namespace {

namespace genl = host::genl_ethtool;
using genl::Query;

constexpr std::chrono::seconds kFactsInterval{60};

CounterRules standard_rules(RawPolicy raw) {
  CounterRules rules{standard_rows(), &kNetdevStandardCounter};
  rules.unwrap = true;  // link_down_events has 32 bits on the way to us
  rules.raw = raw;
  return rules;
}

// What an interface is asked, and what became of it.
struct Question {
  Question(Query query, std::string_view name, const std::string& netdev)
      : operation(name), whole(genl::request(query, netdev)), plain(genl::request(query, netdev, false)) {}

  bool has_counters() const { return whole != plain; }

  NetdevOperation operation;
  // A kernel that does not know the flag for the counters of this query refuses all of it with EINVAL. So may
  // a driver, once: they are asked for again.
  NetdevOperation counters{"counters beside an answer"};
  const std::vector<std::byte> whole;
  const std::vector<std::byte> plain;  // without the counters
};

// The lanes of one FEC counter; their labels are made once.
class Lanes {
 public:
  Lanes(const core::MetricDesc& family, std::string_view result) : family_(family), result_(result) {}

  void add(const std::vector<std::uint64_t>& values, const std::string& owner, core::SampleBatch& out) {
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
  std::deque<std::string> labels_;  // a deque: its strings do not move
};

class EthtoolStandardJob : public core::Job {
 public:
  EthtoolStandardJob(const Context& context, const std::shared_ptr<const host::Netdev>& netdev)
      : Job("ethtool_standard", netdev->name),
        sysfs_(*context.host.sysfs),
        netdev_(netdev),
        netlink_(host::kept_netlink(context.host, host::NetlinkProtocol::generic)),
        labels_(core::render_labels({{"netdev", netdev->name}})),
        counters_(standard_rules(context.raw), labels_,
                  context.carry_over->take(netdev->id, "ethtool_standard")),
        temperatures_(sysfs_, netdev->path + "/device", labels_, kNetdevTemperature,
                      kNetdevTemperatureCritical),
        facts_timer_(kFactsInterval, netdev->name) {
    counters_.set_names({genl::kCounterNames.begin(), genl::kCounterNames.end()});
  }

  void run(core::JobRun& run) override {
    temperatures_.run(run);
    if (!netlink_ || !find_family(run)) return;
    gone_ = false;
    ask_each_time(run);
    if (facts_timer_.due(run.now())) refresh_facts(run);
    if (!gone_) add_facts(run.samples());
    counters_.emit(run);
  }

 private:
  bool find_family(core::JobRun& run) {
    if (family_) return true;
    if (!family_operation_.worth_asking(run.now())) return false;
    core::Result<std::uint16_t> family = core::parse_error();
    const auto sent = netlink_->request(genl::kControl, 0, genl::family_request(),
                                        [&](host::Bytes answer) { family = genl::parse_family(answer); });
    if (sent && family) {
      family_ = *family;
      return true;
    }
    // ENOENT: a kernel without ethtool netlink.
    const core::Error& error = sent ? family.error() : sent.error();
    const bool none = core::is_errno(error, ENOENT);
    family_operation_.failed(none ? core::Error{core::Errc::os, EOPNOTSUPP, {}} : error, *netdev_, sysfs_,
                             run);
    return false;
  }

  // Sends the question unless it is not worth it. `parse` takes the answer and says whether it holds
  // something.
  template <typename Parse>
  void ask(Question& question, core::JobRun& run, const Parse& parse) {
    if (gone_ || !question.operation.worth_asking(run.now())) return;
    core::Result<bool> holds = core::parse_error();
    const auto on_answer = [&](host::Bytes answer) { holds = parse(answer); };
    const bool whole = question.has_counters() && question.counters.worth_asking(run.now());
    auto sent = netlink_->request(*family_, 0, whole ? question.whole : question.plain, on_answer);
    if (sent && whole) question.counters.answered(true, *netdev_, run.now());
    if (!sent && whole && core::is_errno(sent.error(), EINVAL)) {
      question.counters.unsupported(*netdev_, run.now());
      sent = netlink_->request(*family_, 0, question.plain, on_answer);
    }
    if (sent && holds) return question.operation.answered(*holds, *netdev_, run.now());
    gone_ = !question.operation.failed(sent ? holds.error() : sent.error(), *netdev_, sysfs_, run);
  }

  void ask_each_time(core::JobRun& run) {
    std::size_t seen = 0;
    const auto on_counter = [&](std::size_t counter, std::uint64_t value) {
      counters_.put(counter, value);
      ++seen;
    };
    ask(statistics_, run, [&](host::Bytes answer) -> core::Result<bool> {
      return genl::parse_statistics(answer, on_counter).map([&] { return seen > 0; });
    });
    ask(pause_, run, [&](host::Bytes answer) -> core::Result<bool> {
      return genl::parse_pause(answer, on_counter).map([&](const genl::Pause& pause) {
        add_flag(kNetdevPauseEnabled, pause.rx, R"(direction="rx")", run.samples());
        add_flag(kNetdevPauseEnabled, pause.tx, R"(direction="tx")", run.samples());
        return true;
      });
    });
    ask(fec_, run, [&](host::Bytes answer) -> core::Result<bool> {
      return genl::parse_fec(answer, on_counter).map([&](const genl::Fec& fec) {
        add_fec(fec, run.samples());
        return true;
      });
    });
    ask(link_state_, run, [&](host::Bytes answer) -> core::Result<bool> {
      return genl::parse_link_state(answer, on_counter).map([&](const genl::LinkState& link) {
        add_link(link, run.samples());
        return link.up.has_value();
      });
    });
  }

  void add_flag(const core::MetricDesc& family, std::optional<bool> value, std::string_view own,
                core::SampleBatch& out) const {
    if (value) out.add_stable(family, labels_, std::uint64_t{*value}, own);
  }

  void add_fec(const genl::Fec& fec, core::SampleBatch& out) {
    corrected_lanes_.add(fec.corrected_blocks, labels_, out);
    uncorrectable_lanes_.add(fec.uncorrectable_blocks, labels_, out);
    corrected_bits_lanes_.add(fec.corrected_bits, labels_, out);
    if (fec.active.empty()) return;
    if (fec.active != fec_mode_) {
      fec_mode_ = fec.active;
      fec_labels_ = core::render_labels({{"mode", fec_mode_}});
    }
    out.add_stable(kNetdevFecInfo, labels_, std::uint64_t{1}, fec_labels_);
  }

  void add_link(const genl::LinkState& link, core::SampleBatch& out) {
    if (link.up != link_up_) facts_timer_.reset();
    link_up_ = link.up;
    add_flag(kNetdevLinkUp, link.up, {}, out);
    if (link.extended_state.empty()) return;
    std::string labels = labels_;
    core::append_label(labels, "state", link.extended_state);
    core::append_label(labels, "substate", link.extended_substate);
    out.add(kNetdevLinkExtendedState, labels, std::uint64_t{1});
  }

  // What changes when somebody configures it, or with the link.
  void refresh_facts(core::JobRun& run) {
    speed_.reset();
    rings_ = {};
    module_high_power_.reset();
    ask(link_modes_, run, [&](host::Bytes answer) -> core::Result<bool> {
      return genl::parse_speed(answer).map([&](std::optional<double> speed) {
        speed_ = speed;
        return true;
      });
    });
    ask(rings_query_, run, [&](host::Bytes answer) -> core::Result<bool> {
      return genl::parse_rings(answer).map([&](const genl::Rings& rings) {
        rings_ = rings;
        return true;
      });
    });
    ask(module_, run, [&](host::Bytes answer) -> core::Result<bool> {
      return genl::parse_module_high_power(answer).map([&](std::optional<bool> high) {
        module_high_power_ = high;
        return high.has_value();
      });
    });
  }

  void add_facts(core::SampleBatch& out) const {
    if (speed_) out.add_stable(kNetdevSpeed, labels_, *speed_);
    const auto add_entries = [&](const core::MetricDesc& family, std::optional<std::uint32_t> entries) {
      if (entries) out.add_stable(family, labels_, std::uint64_t{*entries});
    };
    add_entries(kNetdevRxRing, rings_.rx);
    add_entries(kNetdevRxRingMax, rings_.rx_max);
    add_entries(kNetdevTxRing, rings_.tx);
    add_entries(kNetdevTxRingMax, rings_.tx_max);
    add_flag(kNetdevModuleHighPower, module_high_power_, {}, out);
  }

  host::HostFs& sysfs_;
  const std::shared_ptr<const host::Netdev> netdev_;
  const std::unique_ptr<host::Netlink> netlink_;
  const std::string labels_;
  CounterSet counters_;
  Temperatures temperatures_;
  RefreshTimer facts_timer_;

  NetdevOperation family_operation_{"ethtool netlink"};
  std::optional<std::uint16_t> family_;
  Question statistics_{Query::statistics, "STATS_GET", netdev_->name};
  Question pause_{Query::pause, "PAUSE_GET", netdev_->name};
  Question fec_{Query::fec, "FEC_GET", netdev_->name};
  Question link_state_{Query::link_state, "LINKSTATE_GET", netdev_->name};
  Question link_modes_{Query::link_modes, "LINKMODES_GET", netdev_->name};
  Question rings_query_{Query::rings, "RINGS_GET", netdev_->name};
  Question module_{Query::module, "MODULE_GET", netdev_->name};
  bool gone_ = false;

  Lanes corrected_lanes_{kNetdevFecLaneBlocks, "corrected"};
  Lanes uncorrectable_lanes_{kNetdevFecLaneBlocks, "uncorrectable"};
  Lanes corrected_bits_lanes_{kNetdevFecLaneCorrectedBitErrors, {}};
  std::string fec_mode_;
  std::string fec_labels_;
  std::optional<bool> link_up_;
  std::optional<double> speed_;
  genl::Rings rings_;
  std::optional<bool> module_high_power_;
};

class EthtoolStandardCollector : public Collector {
 public:
  explicit EthtoolStandardCollector(const Context& context) : context_(context) {}
  std::shared_ptr<core::Job> netdev_job(const std::shared_ptr<const host::Netdev>& netdev) override {
    return std::make_shared<EthtoolStandardJob>(context_, netdev);
  }

 private:
  const Context& context_;
};

}  // namespace

extern const CollectorSpec ethtool_standard_spec;
const CollectorSpec ethtool_standard_spec{
    "ethtool_standard",
    "Network interface of each RDMA port: standard MAC, pause, FEC and link counters, speed, rings, "
    "temperatures",
    true,
    standard_families,
    [](const Context& context) -> std::unique_ptr<Collector> {
      return std::make_unique<EthtoolStandardCollector>(context);
    },
    [] {
      return std::vector<CounterTable>{{"ethtool netlink", "any", standard_rows()}};
    }};

}  // namespace rdma_exporter::collectors
