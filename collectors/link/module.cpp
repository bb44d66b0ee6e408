// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector module: the transceiver or cable in a port's cage, what it measures and its own limits. Off by
// default: it needs CAP_NET_ADMIN, and a reading holds the RTNL lock while firmware talks to the module, so
// it happens in the background, one module at a time (module_watch.h).
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "collectors/collector.h"
#include "collectors/link/module_families.h"
#include "collectors/link/module_watch.h"
#include "core/labels.h"
#include "core/seconds.h"

namespace rdma_exporter::collectors {
namespace {

// The values of a module that hangs expire after this many intervals.
constexpr int kStaleIntervals = 3;

constexpr std::array<std::string_view, 8> kLanes{R"(lane="1")", R"(lane="2")", R"(lane="3")", R"(lane="4")",
                                                 R"(lane="5")", R"(lane="6")", R"(lane="7")", R"(lane="8")"};
// In the order of host::ThresholdLevel.
constexpr std::array<std::string_view, host::kThresholdLevels> kLevels{
    R"(level="high_alarm")", R"(level="low_alarm")", R"(level="high_warning")", R"(level="low_warning")"};

class ModuleJob : public core::Job {
 public:
  ModuleJob(const Context& context, const std::shared_ptr<const host::Netdev>& netdev,
            std::shared_ptr<ModuleQueue> queue)
      : Job("module", netdev->device, netdev->name),
        settings_(context.module),
        sysfs_(*context.host.sysfs),
        carrier_changes_(netdev->path + "/carrier_changes"),
        labels_(core::render_labels(
            {{"device", netdev->device}, {"port", std::to_string(netdev->port)}, {"netdev", netdev->name}})),
        queue_(std::move(queue)),
        watch_(std::make_shared<ModuleWatch>(context.host, netdev, settings_.interval)) {}

  void run(core::JobRun& run) override {
    // Unlike `carrier`, this is read without the RTNL lock (net/core/net-sysfs.c carrier_changes_show).
    if (watch_->claim(run.now(), sysfs_.read(carrier_changes_).value_or(""))) {
      queue_->add(watch_);
    } else if (watch_->is_busy()) {
      queue_->tend();
    }
    if (!std::exchange(waited_, true)) watch_->wait_for_first(settings_.first_wait);
    for (const std::string_view reason : watch_->take_errors()) run.count_read_error(reason);
    served_ = watch_->latest();
    if (served_) add(*served_, run.now(), run.samples());
  }

 private:
  void add(const ModuleReport& report, core::JobRun::Clock::time_point now, core::SampleBatch& out) const {
    const auto age = now - report.read_at;
    out.add_stable(kModuleAge, labels_, core::seconds(age));
    if (age > kStaleIntervals * settings_.interval) return;
    out.add_stable(kModuleInfo, labels_, std::uint64_t{1}, report.info_labels);
    add_value(kModuleCableLength, report.facts.cable_meters, {}, out);
    add_value(kModuleTemperature, report.readings.temperature_celsius, {}, out);
    add_value(kModuleSupply, report.readings.supply_volts, {}, out);
    for (const host::ModuleLane& lane : report.readings.lanes) {
      const std::string_view label = kLanes.at(lane.number - 1);
      add_value(kModuleTxBias, lane.tx_bias_amperes, label, out);
      add_value(kModuleTxPower, lane.tx_power_watts, label, out);
      add_value(kModuleRxPower, lane.rx_power_watts, label, out);
    }
    add_thresholds(report.facts.thresholds, out);
  }

  void add_thresholds(const host::PerQuantity<host::Thresholds>& thresholds, core::SampleBatch& out) const {
    const auto add_levels = [&](const core::MetricDesc& family, const host::Thresholds& levels) {
      for (std::size_t i = 0; i < levels.size(); ++i) add_value(family, levels[i], kLevels[i], out);
    };
    add_levels(kModuleTemperatureThreshold, thresholds.temperature);
    add_levels(kModuleSupplyThreshold, thresholds.supply);
    add_levels(kModuleTxBiasThreshold, thresholds.tx_bias);
    add_levels(kModuleTxPowerThreshold, thresholds.tx_power);
    add_levels(kModuleRxPowerThreshold, thresholds.rx_power);
  }

  void add_value(const core::MetricDesc& family, std::optional<double> value, std::string_view own,
                 core::SampleBatch& out) const {
    if (value) out.add_stable(family, labels_, *value, own);
  }

  const ModuleSettings settings_;
  host::HostFs& sysfs_;
  const std::string carrier_changes_;
  const std::string labels_;
  const std::shared_ptr<ModuleQueue> queue_;
  const std::shared_ptr<ModuleWatch> watch_;
  std::shared_ptr<const ModuleReport> served_;  ///< owns the labels of this run's samples
  bool waited_ = false;
};

class ModuleCollector : public Collector {
 public:
  explicit ModuleCollector(const Context& context) : context_(context) {
    if (context.background != nullptr) queue_ = std::make_shared<ModuleQueue>(*context.background);
  }

  std::shared_ptr<core::Job> netdev_job(const std::shared_ptr<const host::Netdev>& netdev) override {
    // An interface without a driver is software; a tree of files has no netlink.
    if (!queue_ || netdev->driver.empty() || !speaks_netlink()) return nullptr;
    return std::make_shared<ModuleJob>(context_, netdev, queue_);
  }

 private:
  bool speaks_netlink() const {
    return context_.host.make_netlink(host::NetlinkProtocol::generic) != nullptr;
  }

  const Context& context_;
  std::shared_ptr<ModuleQueue> queue_;
};

}  // namespace

extern const CollectorSpec module_spec;
const CollectorSpec module_spec{"module",
                                "Transceiver or cable of each RDMA port: identity, temperature, light, and "
                                "its own limits (CAP_NET_ADMIN)",
                                false, module_families,
                                [](const Context& context) -> std::unique_ptr<Collector> {
                                  return std::make_unique<ModuleCollector>(context);
                                }};

}  // namespace rdma_exporter::collectors
