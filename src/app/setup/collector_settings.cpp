// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/setup/collector_settings.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>
#include <utility>

#include "config/message.h"
#include "host/topology/inventory.h"

namespace rdma_exporter::app {
namespace {

// After a single collection nobody comes back for the results of a background pass, so it waits for the first
// pass, but not so long that the collector is late with its other results.
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
  return Settings{.detail = config.detail,
                  .interval = config.detail_interval,
                  .timeout = config.detail_timeout,
                  .max_qps = config.max_qps,
                  .max_entries = config.max_entries,
                  .owners = config.owners,
                  .owners_top = config.owners_top,
                  .first_wait = first_wait};
}

// A single collection has no windows.
collectors::BurstSettings burst_settings(const config::BurstConfig& config, Purpose purpose) {
  return {.window = config.window,
          .devices = config.devices,
          .pause = static_cast<collectors::BurstPause>(config.pause),
          .max_cpu_percent = config.max_cpu_percent,
          .live = purpose == Purpose::serve};
}

std::set<std::string, std::less<>> names_of(const std::vector<const collectors::CollectorSpec*>& specs) {
  std::set<std::string, std::less<>> names;
  for (const auto* spec : specs) names.emplace(spec->name);
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxNames = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxNames); ++i)
    text.append(i > 0 ? ", " : "").append(names[i]);
  return names.size() > kMaxNames ? text + ", ..." : text;
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
                          " matches none of the devices found: " + joined(names));
  };
  look("device.include", settings.include);
  look("device.exclude", settings.exclude);
  return unmatched;
}

std::string why_no_devices(const std::string& sysfs_root,
                           const core::Result<std::vector<std::string>>& listed,
                           const config::DeviceConfig& settings) {
  const std::string folder = sysfs_root + "/" + host::kDevices;
  if (!listed && core::is_errno(listed.error(), ENOENT))
    return folder + " does not exist: no RDMA driver is loaded, or this is not the host's /sys";
  if (!listed) return folder + " cannot be listed: " + core::to_string(listed.error());
  if (listed->empty())
    return folder +
           " is empty: no adapter has an RDMA driver, or its devices are in another network namespace";
  const auto wanted = device_filter(settings);
  if (std::none_of(listed->begin(), listed->end(), wanted))
    return "device.include and device.exclude exclude every device: " + joined(*listed);
  return folder + " lists " + joined(*listed) +
         ", but its links are broken: mount all of /sys, not just a part of it";
}

core::FamilySelection family_selection(const config::MetricsConfig& metrics) {
  return {.set = metrics.set, .include = metrics.include, .exclude = metrics.exclude};
}

namespace {
bool serves_any(const collectors::CollectorSpec& spec, const config::MetricsConfig& metrics) {
  const core::FamilySelection selection = family_selection(metrics);
  const auto families = spec.families();
  return std::any_of(families.begin(), families.end(),
                     [&](const core::MetricDesc* family) { return selection.has(*family); });
}
}  // namespace

std::vector<const collectors::CollectorSpec*> enabled_collectors(const config::Config& config) {
  std::vector<const collectors::CollectorSpec*> enabled;
  for (const collectors::CollectorSpec* spec : collectors::all_collectors()) {
    const auto it = config.collectors.find(spec->name);
    const bool on = it != config.collectors.end() && it->second.enabled;
    // What nothing is served of is not read.
    if (on && serves_any(*spec, config.metrics)) enabled.push_back(spec);
  }
  return enabled;
}

collectors::Context collector_context(host::Host& host, const config::Config& config, Purpose purpose,
                                      task::Background& background,
                                      std::shared_ptr<collectors::CarryOver> carry_over) {
  return {
      host,
      config.raw,
      config.device.forget_after,
      {.interval = config.ethtool.interval,
       .raw_include = config.ethtool.raw_include,
       .raw_exclude = config.ethtool.raw_exclude},
      config.async_events,
      resource_settings(config.resource, first_wait(config, "resource", purpose)),
      {.interval = config.config_check.interval, .first_wait = first_wait(config, "config_check", purpose)},
      &background,
      std::move(carry_over),
      family_selection(config.metrics),
      names_of(enabled_collectors(config)),
      collectors::make_netdev_sharing(),
      {.interval = config.module.interval, .first_wait = first_wait(config, "module", purpose)},
      burst_settings(config.burst, purpose)};
}

core::Result<scrape::Selection> select_collectors(
    const web::CollectorFilter& filter,
    const std::map<std::string, config::CollectorConfig, std::less<>>& collectors) {
  if (filter.collect.empty() && filter.exclude.empty()) return scrape::Selection();
  std::set<std::string, std::less<>> names;
  for (const auto& [name, settings] : collectors)
    if (filter.collect.empty() && settings.enabled) names.insert(name);
  for (const std::string& name : filter.collect) {
    const auto collector = collectors.find(name);
    if (collector == collectors.end())
      return core::config_error("collect[]: unknown collector " + config::in_quotes(name));
    if (!collector->second.enabled)
      return core::config_error("collect[]: the collector " + config::in_quotes(name) + " is switched off");
    names.insert(name);
  }
  for (const std::string& name : filter.exclude) {
    if (!collectors.contains(name))
      return core::config_error("exclude[]: unknown collector " + config::in_quotes(name));
    names.erase(name);
  }
  return scrape::Selection(names);
}

}  // namespace rdma_exporter::app
