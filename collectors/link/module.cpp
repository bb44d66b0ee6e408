// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector module: the transceiver or cable in a port's cage, what it measures and its own limits. Off by
// default: it needs CAP_NET_ADMIN, and a reading holds the RTNL lock while firmware talks to the module, so
// it happens in the background, one module at a time (module_watch.h).
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "collectors/collector.h"
#include "collectors/link/module_watch.h"
#include "core/labels.h"
#include "core/metric.h"
#include "core/seconds.h"
#include "host/topology/netdev.h"

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr std::string_view kSource = "ETHTOOL_MSG_MODULE_EEPROM_GET; SFF-8472, SFF-8636, CMIS";
constexpr std::string_view kNetdev = "device,port,netdev";
constexpr std::string_view kLane = "device,port,netdev,lane";
constexpr std::string_view kLevel = "device,port,netdev,level";

constexpr MetricDesc kModuleInfo{
    "rdma_netdev_module_info",
    MetricType::gauge,
    "device,port,netdev,type,connector,media,vendor,part_number,revision,serial_number,rx_power_kind",
    "",
    "Identity of the module or cable in the port's cage as stored in its own memory; always 1. rx_power_kind "
    "says whether received power is an average or the modulation amplitude (oma)",
    kSource};
constexpr MetricDesc kModuleCableLength{
    "rdma_netdev_module_cable_length_meters",
    MetricType::gauge,
    kNetdev,
    "meters",
    "Length in metres of a cable with both ends attached. Absent for a transceiver",
    kSource};
constexpr MetricDesc kModuleTemperature{"rdma_netdev_module_temperature_celsius",
                                        MetricType::gauge,
                                        kNetdev,
                                        "celsius",
                                        "Temperature inside the module, in degrees Celsius",
                                        kSource};
constexpr MetricDesc kModuleTemperatureThreshold{
    "rdma_netdev_module_temperature_threshold_celsius",
    MetricType::gauge,
    kLevel,
    "celsius",
    "Temperature limit set by the module itself, in degrees Celsius. level is high_alarm, low_alarm, "
    "high_warning or low_warning",
    kSource};
constexpr MetricDesc kModuleSupply{"rdma_netdev_module_supply_volts",
                                   MetricType::gauge,
                                   kNetdev,
                                   "volts",
                                   "Supply voltage inside the module, in volts",
                                   kSource};
constexpr MetricDesc kModuleSupplyThreshold{
    "rdma_netdev_module_supply_threshold_volts",
    MetricType::gauge,
    kLevel,
    "volts",
    "Supply voltage limit set by the module itself, in volts. level is high_alarm, low_alarm, high_warning "
    "or low_warning",
    kSource};
constexpr MetricDesc kModuleTxBias{
    "rdma_netdev_module_tx_bias_amperes",
    MetricType::gauge,
    kLane,
    "amperes",
    "Laser bias current of a lane, in amperes. It rises as the laser ages. Lanes are numbered from 1",
    kSource};
constexpr MetricDesc kModuleTxBiasThreshold{
    "rdma_netdev_module_tx_bias_threshold_amperes",
    MetricType::gauge,
    kLevel,
    "amperes",
    "Laser bias current limit set by the module itself for each lane, in amperes. level is high_alarm, "
    "low_alarm, high_warning or low_warning",
    kSource};
constexpr MetricDesc kModuleTxPower{"rdma_netdev_module_tx_power_watts",
                                    MetricType::gauge,
                                    kLane,
                                    "watts",
                                    "Optical power that a lane sends, in watts; 0 while the laser is "
                                    "off. 1 mW is 0 dBm. Lanes are numbered from 1",
                                    kSource};
constexpr MetricDesc kModuleTxPowerThreshold{
    "rdma_netdev_module_tx_power_threshold_watts",
    MetricType::gauge,
    kLevel,
    "watts",
    "Transmit power limit set by the module itself for each lane, in watts. level is high_alarm, low_alarm, "
    "high_warning or low_warning",
    kSource};
constexpr MetricDesc kModuleRxPower{"rdma_netdev_module_rx_power_watts",
                                    MetricType::gauge,
                                    kLane,
                                    "watts",
                                    "Optical power that a lane receives, in watts; 0 while no light "
                                    "arrives. 1 mW is 0 dBm. Lanes are numbered from 1",
                                    kSource};
constexpr MetricDesc kModuleRxPowerThreshold{
    "rdma_netdev_module_rx_power_threshold_watts",
    MetricType::gauge,
    kLevel,
    "watts",
    "Receive power limit set by the module itself for each lane, in watts. level is high_alarm, low_alarm, "
    "high_warning or low_warning",
    kSource};
constexpr MetricDesc kModuleAge{
    "rdma_netdev_module_age_seconds",
    MetricType::gauge,
    kNetdev,
    "seconds",
    "Time in seconds since the module was read. Values older than three intervals are not exported",
    kSource};

constexpr std::array kFamilies{
    &kModuleInfo,    &kModuleCableLength,      &kModuleTemperature, &kModuleTemperatureThreshold,
    &kModuleSupply,  &kModuleSupplyThreshold,  &kModuleTxBias,      &kModuleTxBiasThreshold,
    &kModuleTxPower, &kModuleTxPowerThreshold, &kModuleRxPower,     &kModuleRxPowerThreshold,
    &kModuleAge};
static_assert(std::all_of(kFamilies.begin(), kFamilies.end(),
                          [](const MetricDesc* family) { return core::valid(*family); }));

std::span<const MetricDesc* const> module_families() { return kFamilies; }

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
        labels_(core::shared_labels(
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
    out.add_stable(kModuleAge, *labels_, core::seconds(age));
    if (age > kStaleIntervals * settings_.interval) return;
    out.add_stable(kModuleInfo, *labels_, std::uint64_t{1}, report.info_labels);
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
    if (value) out.add_stable(family, *labels_, *value, own);
  }

  const ModuleSettings settings_;
  host::HostFs& sysfs_;
  const std::string carrier_changes_;
  const core::SharedText labels_;
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
    if (!queue_ || netdev->driver.empty() || !context_.host.speaks(host::NetlinkProtocol::generic))
      return nullptr;
    return std::make_shared<ModuleJob>(context_, netdev, queue_);
  }

 private:
  const Context& context_;
  std::shared_ptr<ModuleQueue> queue_;
};

}  // namespace

extern const CollectorSpec module_spec;
const CollectorSpec module_spec{"module",
                                "Transceiver or cable of each RDMA port: identity, temperature, light, and "
                                "its own limits (CAP_NET_ADMIN)",
                                "the transceiver's memory ([LINK.md](LINK.md))",
                                false,
                                module_families,
                                [](const Context& context) -> std::unique_ptr<Collector> {
                                  return std::make_unique<ModuleCollector>(context);
                                }};

}  // namespace rdma_exporter::collectors
