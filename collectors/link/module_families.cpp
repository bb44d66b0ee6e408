// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/link/module_families.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr std::string_view kSource = "ETHTOOL_MSG_MODULE_EEPROM_GET; SFF-8472, SFF-8636, CMIS";
constexpr std::string_view kNetdev = "device,port,netdev";
constexpr std::string_view kLane = "device,port,netdev,lane";
constexpr std::string_view kLevel = "device,port,netdev,level";

}  // namespace

extern constexpr MetricDesc kModuleInfo{
    "rdma_netdev_module_info",
    MetricType::gauge,
    "device,port,netdev,type,connector,media,vendor,part_number,revision,serial_number,rx_power_kind",
    "",
    "Identity of the module or cable in the port's cage as stored in its own memory; always 1. rx_power_kind "
    "says whether received power is an average or the modulation amplitude (oma)",
    kSource};
extern constexpr MetricDesc kModuleCableLength{
    "rdma_netdev_module_cable_length_meters",
    MetricType::gauge,
    kNetdev,
    "meters",
    "Length in metres of a cable with both ends attached. Absent for a transceiver",
    kSource};
extern constexpr MetricDesc kModuleTemperature{"rdma_netdev_module_temperature_celsius",
                                               MetricType::gauge,
                                               kNetdev,
                                               "celsius",
                                               "Temperature inside the module, in degrees Celsius",
                                               kSource};
extern constexpr MetricDesc kModuleTemperatureThreshold{
    "rdma_netdev_module_temperature_threshold_celsius",
    MetricType::gauge,
    kLevel,
    "celsius",
    "Temperature limit set by the module itself, in degrees Celsius. level is high_alarm, low_alarm, "
    "high_warning or low_warning",
    kSource};
extern constexpr MetricDesc kModuleSupply{"rdma_netdev_module_supply_volts",
                                          MetricType::gauge,
                                          kNetdev,
                                          "volts",
                                          "Supply voltage inside the module, in volts",
                                          kSource};
extern constexpr MetricDesc kModuleSupplyThreshold{
    "rdma_netdev_module_supply_threshold_volts",
    MetricType::gauge,
    kLevel,
    "volts",
    "Supply voltage limit set by the module itself, in volts. level is high_alarm, low_alarm, high_warning "
    "or low_warning",
    kSource};
extern constexpr MetricDesc kModuleTxBias{
    "rdma_netdev_module_tx_bias_amperes",
    MetricType::gauge,
    kLane,
    "amperes",
    "Laser bias current of a lane, in amperes. It rises as the laser ages. Lanes are numbered from 1",
    kSource};
extern constexpr MetricDesc kModuleTxBiasThreshold{
    "rdma_netdev_module_tx_bias_threshold_amperes",
    MetricType::gauge,
    kLevel,
    "amperes",
    "Laser bias current limit set by the module itself for each lane, in amperes. level is high_alarm, "
    "low_alarm, high_warning or low_warning",
    kSource};
extern constexpr MetricDesc kModuleTxPower{"rdma_netdev_module_tx_power_watts",
                                           MetricType::gauge,
                                           kLane,
                                           "watts",
                                           "Optical power that a lane sends, in watts; 0 while the laser is "
                                           "off. 1 mW is 0 dBm. Lanes are numbered from 1",
                                           kSource};
extern constexpr MetricDesc kModuleTxPowerThreshold{
    "rdma_netdev_module_tx_power_threshold_watts",
    MetricType::gauge,
    kLevel,
    "watts",
    "Transmit power limit set by the module itself for each lane, in watts. level is high_alarm, low_alarm, "
    "high_warning or low_warning",
    kSource};
extern constexpr MetricDesc kModuleRxPower{"rdma_netdev_module_rx_power_watts",
                                           MetricType::gauge,
                                           kLane,
                                           "watts",
                                           "Optical power that a lane receives, in watts; 0 while no light "
                                           "arrives. 1 mW is 0 dBm. Lanes are numbered from 1",
                                           kSource};
extern constexpr MetricDesc kModuleRxPowerThreshold{
    "rdma_netdev_module_rx_power_threshold_watts",
    MetricType::gauge,
    kLevel,
    "watts",
    "Receive power limit set by the module itself for each lane, in watts. level is high_alarm, low_alarm, "
    "high_warning or low_warning",
    kSource};
extern constexpr MetricDesc kModuleAge{
    "rdma_netdev_module_age_seconds",
    MetricType::gauge,
    kNetdev,
    "seconds",
    "Time in seconds since the module was read. Values older than three intervals are not exported",
    kSource};

namespace {

constexpr std::array kFamilies{
    &kModuleInfo,    &kModuleCableLength,      &kModuleTemperature, &kModuleTemperatureThreshold,
    &kModuleSupply,  &kModuleSupplyThreshold,  &kModuleTxBias,      &kModuleTxBiasThreshold,
    &kModuleTxPower, &kModuleTxPowerThreshold, &kModuleRxPower,     &kModuleRxPowerThreshold,
    &kModuleAge};
static_assert(std::all_of(kFamilies.begin(), kFamilies.end(),
                          [](const MetricDesc* family) { return core::valid(*family); }));

}  // namespace

std::span<const MetricDesc* const> module_families() { return kFamilies; }

}  // namespace rdma_exporter::collectors
