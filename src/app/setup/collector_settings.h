// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/setup/make_host.h"
#include "collectors/collector.h"
#include "config/config.h"
#include "core/result.h"
#include "host/host.h"
#include "scrape/selection.h"
#include "task/background.h"
#include "web/metrics_source.h"

// What the configuration means to the collectors.
namespace rdma_exporter::app {

/// Which families of the collectors the configuration wants.
core::FamilySelection family_selection(const config::MetricsConfig& metrics);

/// Both expressions match the whole name, exclude wins.
std::function<bool(const std::string&)> device_filter(const config::DeviceConfig& settings);

/// A message for each expression that matches none of `names`, the devices of the host. None where there is
/// no device.
std::vector<std::string> unmatched_filters(const config::DeviceConfig& settings,
                                           const std::vector<std::string>& names);

/// Why a collection found no device, for a person: `listed` is what the directory of devices of `sysfs_root`
/// holds.
std::string why_no_devices(const std::string& sysfs_root,
                           const core::Result<std::vector<std::string>>& listed,
                           const config::DeviceConfig& settings);

std::vector<const collectors::CollectorSpec*> enabled_collectors(const config::Config& config);

/// `host` and `background` outlive the collectors. `carry_over`: what those of the configuration before left.
collectors::Context collector_context(
    host::Host& host, const config::Config& config, Purpose purpose, task::Background& background,
    std::shared_ptr<collectors::CarryOver> carry_over = collectors::make_carry_over());

/// What a filter selects of the collectors there are. Errors, each a message for the client: a name that no
/// collector has, or to collect only one that is switched off. To exclude one that is off is fine: one
/// configuration of Prometheus serves hosts that differ.
core::Result<scrape::Selection> select_collectors(
    const web::CollectorFilter& filter,
    const std::map<std::string, config::CollectorConfig, std::less<>>& collectors);

}  // namespace rdma_exporter::app
