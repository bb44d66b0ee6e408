// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/setup/select_collectors.h"

#include <algorithm>
#include <set>
#include <utility>

#include "config/message.h"

namespace rdma_exporter::app {

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
  return scrape::Selection(std::move(names));
}

}  // namespace rdma_exporter::app
