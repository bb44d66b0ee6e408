// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>

#include "core/metric.h"

// The families of the collector `module`.
namespace rdma_exporter::collectors {

extern const core::MetricDesc kModuleInfo;
extern const core::MetricDesc kModuleCableLength;
extern const core::MetricDesc kModuleTemperature;
extern const core::MetricDesc kModuleTemperatureThreshold;
extern const core::MetricDesc kModuleSupply;
extern const core::MetricDesc kModuleSupplyThreshold;
extern const core::MetricDesc kModuleTxBias;
extern const core::MetricDesc kModuleTxBiasThreshold;
extern const core::MetricDesc kModuleTxPower;
extern const core::MetricDesc kModuleTxPowerThreshold;
extern const core::MetricDesc kModuleRxPower;
extern const core::MetricDesc kModuleRxPowerThreshold;
extern const core::MetricDesc kModuleAge;

std::span<const core::MetricDesc* const> module_families();

}  // namespace rdma_exporter::collectors
