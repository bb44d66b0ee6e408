// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/collector_settings.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "config/message.h"

namespace rdma_exporter::app {
namespace {

// Of a single collection nobody comes back for what the background finds: its first pass is waited for, but
// not for so long that the collector is late with what it has by itself.
std::chrono::milliseconds first_wait(const config::Config& config, const char* collector, Purpose purpose) {
  if (purpose != Purpose::once) return {};
  const auto known = config.collectors.find(collector);
  return std::min(config.scrape.timeout,
                  known == config.collectors.end() ? config.scrape.timeout : known->second.timeout) /
         2;
}

collectors::ResourceSettings resource_settings(const config::ResourceConfig& config,
                                               std::chrono::milliseconds first_wait) {
  using Settings = collectors::ResourceSettings;
  return Settings{.detail = static_cast<Settings::Detail>(config.detail),
                  .interval = config.detail_interval,
                  .timeout = config.detail_timeout,
                  .max_qps = config.max_qps,
                  .max_entries = config.max_entries,
                  .owners = static_cast<Settings::Owners>(config.owners),
                  .owners_top = config.owners_top,
                  .first_wait = first_wait};
}

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text.append(i > 0 ? ", " : "").append(names[i]);
  return names.size() > kMost ? text + ", ..." : text;
}

}  // namespace

std::function<bool(const std::string&)> device_filter(const config::DeviceConfig& settings) {
  return [include = settings.include, exclude = settings.exclude](const std::string& name) {
    return (!include.is_set() || include.matches(name)) && !exclude.matches(name);
  };
}

std::vector<std::string> unmatched_filters(const config::DeviceConfig& settings,
                                           const std::vector<std::string>& names) {
  std::vector<std::string> unmatched;
  if (names.empty()) return unmatched;
  const auto look = [&](const char* key, const core::Pattern& pattern) {
    const auto matches = [&](const std::string& name) { return pattern.matches(name); };
    if (pattern.is_set() && std::none_of(names.begin(), names.end(), matches))
      unmatched.push_back(std::string(key) + ": " + config::in_quotes(pattern.text()) +
                          " matches none of the devices here: " + joined(names));
  };
  look("device.include", settings.include);
  look("device.exclude", settings.exclude);
  return unmatched;
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
                                      core::Background& background,
                                      std::shared_ptr<collectors::CarryOver> carry_over) {
  return {
      host,
      static_cast<collectors::RawPolicy>(config.raw),
      config.device.forget_after,
      {.interval = config.ethtool.interval,
       .raw_include = config.ethtool.raw_include,
       .raw_exclude = config.ethtool.raw_exclude},
      static_cast<collectors::AsyncEventsPolicy>(config.async_events),
      resource_settings(config.resource, first_wait(config, "resource", purpose)),
      {.interval = config.config_check.interval, .first_wait = first_wait(config, "config_check", purpose)},
      &background,
      std::move(carry_over)};
}

}  // namespace rdma_exporter::app
