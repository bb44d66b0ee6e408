// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/collector_settings.h"

#include <chrono>
#include <optional>
#include <regex>

namespace rdma_exporter::app {
namespace {

// With --once nobody comes back for what the background finds: its first pass is waited for, within reason.
std::chrono::milliseconds first_wait(Purpose purpose) {
  return std::chrono::milliseconds(purpose == Purpose::once ? 2000 : 0);
}

collectors::ResourceSettings resource_settings(const config::ResourceConfig& config, Purpose purpose) {
  using Settings = collectors::ResourceSettings;
  return Settings{.detail = static_cast<Settings::Detail>(config.detail),
                  .interval = config.detail_interval,
                  .timeout = config.detail_timeout,
                  .max_qps = config.max_qps,
                  .max_entries = config.max_entries,
                  .owners = static_cast<Settings::Owners>(config.owners),
                  .owners_top = config.owners_top,
                  .first_wait = first_wait(purpose)};
}

collectors::EthtoolOptions ethtool_options(const config::EthtoolConfig& settings) {
  collectors::EthtoolOptions options{.interval = settings.interval, .raw_wanted = {}};
  if (!settings.raw_include.empty()) {
    options.raw_wanted = [wanted = std::regex(settings.raw_include)](const std::string& name) {
      return std::regex_match(name, wanted);
    };
  }
  return options;
}

}  // namespace

// The expressions are compiled from std::string: libstdc++ 12 reads a byte beyond a range that ends in "(".
std::function<bool(const std::string&)> device_filter(const config::DeviceConfig& settings) {
  std::optional<std::regex> include;
  std::optional<std::regex> exclude;
  if (!settings.include.empty()) include.emplace(settings.include);
  if (!settings.exclude.empty()) exclude.emplace(settings.exclude);
  return [include, exclude](const std::string& name) {
    return (!include || std::regex_match(name, *include)) && !(exclude && std::regex_match(name, *exclude));
  };
}

std::vector<const collectors::CollectorSpec*> enabled_collectors(const config::Config& config) {
  std::vector<const collectors::CollectorSpec*> enabled;
  for (const collectors::CollectorSpec* spec : collectors::all_collectors()) {
    const auto it = config.collectors.find(spec->name);
    if (it != config.collectors.end() && it->second.enabled) enabled.push_back(spec);
  }
  return enabled;
}

collectors::Context collector_context(host::Host& host, const config::Config& config, Purpose purpose,
                                      core::Background& background) {
  return {host,
          static_cast<collectors::RawPolicy>(config.raw),
          config.device.forget_after,
          ethtool_options(config.ethtool),
          static_cast<collectors::AsyncEventsPolicy>(config.async_events),
          resource_settings(config.resource, purpose),
          {.interval = config.config_check.interval, .first_wait = first_wait(purpose)},
          &background};
}

}  // namespace rdma_exporter::app
