// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/findings/path_map.h"

#include <algorithm>

namespace rdma_exporter::fleet {
namespace {

template <typename T>
std::size_t number(std::map<T, std::size_t>& numbers, std::vector<T>& names, const T& name) {
  const auto [found, added] = numbers.try_emplace(name, names.size());
  if (added) names.push_back(name);
  return found->second;
}

}  // namespace

PathMap::PathMap(const Hosts& hosts, const Tables& tables) : hosts_(hosts) {
  for (const Row& row : tables.rows("target_leaves")) {
    const auto [known, added] = told_.try_emplace({instance_of(row.cells[0]), row.cells[1]}, row.cells[2]);
    if (!added)
      known->second = std::min(known->second, row.cells[2]);  // lists may differ: choose a stable one
  }
}

std::size_t PathMap::nic(const std::string& instance, const std::string& device) {
  const auto [found, added] = nic_numbers_.try_emplace({instance, device}, nics.size());
  if (!added) return found->second;
  const auto host = number(host_numbers_, host_names, instance);
  std::string unit = hosts_.unit_of(instance);
  if (const auto told = told_.find({instance, device}); unit.empty() && told != told_.end())
    unit = told->second;
  const auto leaf = unit.empty() ? kNoLeaf : number(leaf_numbers_, leaves, std::pair(unit, device));
  nics.push_back({host, leaf});
  nic_names.emplace_back(instance, device);
  return found->second;
}

std::size_t PathMap::target(const std::string& target, const std::string& device) {
  return nic(instance_of(target), device);
}

std::string PathMap::unit_of(std::size_t nic) const {
  return nics[nic].leaf == kNoLeaf ? "" : leaves[nics[nic].leaf].first;
}

std::string PathMap::instance_of(const std::string& target) const {
  const Host* host = hosts_.by_target(target);
  return host == nullptr ? target : host->instance;
}

}  // namespace rdma_exporter::fleet
