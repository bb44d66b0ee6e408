// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What the adapter and its module report about themselves, from the exporter's own gauges.
#include <fmt/core.h>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "doctor/checks/checks.h"
#include "doctor/judge.h"
#include "doctor/words/counter_words.h"

namespace rdma_exporter::doctor {
namespace {

// The findings of one check about one subject.
struct GaugeGroup {
  std::vector<std::string> bad;
  std::size_t series = 0;
};

class GaugeGroups {
 public:
  GaugeGroup& of(const GaugeFacts& gauge) { return groups_[{gauge.device, gauge.port, gauge.netdev}]; }

  void judge(const Check& check, Verdict when_bad, std::string_view what, Findings& out) const {
    for (const auto& [key, group] : groups_) {
      const Judge judge(out, {std::get<0>(key), std::get<1>(key), std::get<2>(key)});
      if (group.bad.empty()) judge.ok(check, fmt::format("{} {}", group.series, what));
      if (!group.bad.empty()) judge.add_finding(check, when_bad, listed(group.bad));
    }
  }

 private:
  std::map<std::tuple<std::string, std::string, std::string>, GaugeGroup> groups_;
};

void check_reporters(const std::vector<GaugeFacts>& gauges, Findings& out) {
  GaugeGroups groups;
  for (const GaugeFacts& gauge : gauges) {
    if (gauge.metric != "rdma_device_health_error" && gauge.metric != "rdma_netdev_health_error") continue;
    GaugeGroup& group = groups.of(gauge);
    ++group.series;
    if (gauge.value > 0)
      group.bad.push_back("the health reporter " + label_of(gauge.labels, "reporter") + " is in error");
  }
  groups.judge(check::health, Verdict::critical, "health reporters, none in error", out);
}

void check_firmware(const std::vector<GaugeFacts>& gauges, Findings& out) {
  GaugeGroups groups;
  for (const GaugeFacts& gauge : gauges) {
    if (gauge.metric != "rdma_device_firmware_update_pending") continue;
    GaugeGroup& group = groups.of(gauge);
    ++group.series;
    if (gauge.value > 0)
      group.bad.push_back("an update of " + label_of(gauge.labels, "component") + " is waiting for a reset");
  }
  groups.judge(check::firmware_update, Verdict::warning, "components, all as stored", out);
}

// A measurement of a module, and which of the module's own levels it is compared with, as in the alerts.
struct Limit {
  std::string_view measured;
  std::string_view threshold;
  std::string_view level;
  bool at_most;  ///< false: at least
  std::string_view text;
  double scale;  ///< factor for the unit of `text`
};
constexpr std::array kLimits{
    Limit{"rdma_netdev_module_temperature_celsius", "rdma_netdev_module_temperature_threshold_celsius",
          "high_warning", true, "the module is at {value:.1f} degrees Celsius, warning above {limit:.1f}", 1},
    Limit{"rdma_netdev_module_rx_power_watts", "rdma_netdev_module_rx_power_threshold_watts", "low_warning",
          false, "lane {lane} receives {value:.3g} mW, warning below {limit:.3g}", 1e3},
    Limit{"rdma_netdev_module_tx_power_watts", "rdma_netdev_module_tx_power_threshold_watts", "low_warning",
          false, "lane {lane} sends {value:.3g} mW, warning below {limit:.3g}", 1e3}};

const GaugeFacts* threshold_of(const Limit& limit, const GaugeFacts& measured,
                               const std::vector<GaugeFacts>& gauges) {
  for (const GaugeFacts& gauge : gauges)
    if (gauge.metric == limit.threshold && gauge.netdev == measured.netdev &&
        label_of(gauge.labels, "level") == limit.level)
      return &gauge;
  return nullptr;
}

void check_module(const std::vector<GaugeFacts>& gauges, Findings& out) {
  GaugeGroups groups;
  for (const Limit& limit : kLimits)
    for (const GaugeFacts& gauge : gauges) {
      if (gauge.metric != limit.measured) continue;
      const GaugeFacts* threshold = threshold_of(limit, gauge, gauges);
      if (threshold == nullptr) continue;
      GaugeGroup& group = groups.of(gauge);
      ++group.series;
      if (limit.at_most ? gauge.value <= threshold->value : gauge.value >= threshold->value) continue;
      group.bad.push_back(fmt::format(fmt::runtime(limit.text), fmt::arg("value", gauge.value * limit.scale),
                                      fmt::arg("limit", threshold->value * limit.scale),
                                      fmt::arg("lane", label_of(gauge.labels, "lane"))));
    }
  groups.judge(check::module, Verdict::warning, "values, all within the module's own limits", out);
}

}  // namespace

void check_health(const std::vector<GaugeFacts>& gauges, Findings& out) {
  check_reporters(gauges, out);
  check_firmware(gauges, out);
  check_module(gauges, out);
}

}  // namespace rdma_exporter::doctor
