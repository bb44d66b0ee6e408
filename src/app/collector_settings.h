// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/make_host.h"
#include "collectors/collector.h"
#include "config/config.h"
#include "core/background.h"
#include "host/host.h"

// What the configuration means to the collectors.
namespace rdma_exporter::app {

/// Both expressions match the whole name, exclude wins.
std::function<bool(const std::string&)> device_filter(const config::DeviceConfig& settings);

/// A message for each expression that matches none of `names`, the devices of the host. None where there is
/// no device.
std::vector<std::string> unmatched_filters(const config::DeviceConfig& settings,
                                           const std::vector<std::string>& names);

std::vector<const collectors::CollectorSpec*> enabled_collectors(const config::Config& config);

/// `host` and `background` outlive the collectors. `carry_over`: what those of the configuration before left.
collectors::Context collector_context(
    host::Host& host, const config::Config& config, Purpose purpose, core::Background& background,
    std::shared_ptr<collectors::CarryOver> carry_over = std::make_shared<collectors::CarryOver>());

}  // namespace rdma_exporter::app
