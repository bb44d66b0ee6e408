// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/hosts.h"

namespace rdma_exporter::fleet {

Hosts::Hosts(const Tables& tables) {
  const auto add = [this](const Row& row, bool up) {
    const std::string& instance = row.cells[0];
    if (by_instance_.contains(instance)) return;
    by_instance_[instance] = all_.size();
    by_name_[host_part(instance)] = all_.size();
    const auto devices = up ? static_cast<std::size_t>(row.value) : 0;
    all_.push_back({instance, row.cells[1], row.cells[2], devices, up});
    units_known_ = units_known_ || !row.cells[1].empty();
    all_units_known_ = all_units_known_ && !row.cells[1].empty();
    if (up) ++seen_;
  };
  for (const Row& row : tables.rows("hosts")) add(row, true);
  for (const Row& row : tables.rows("down")) add(row, false);
  for (const Row& row : tables.rows("rails")) {
    rails_[row.cells[0]] = static_cast<std::size_t>(row.value);
    nics_ += static_cast<std::size_t>(row.value);
  }
}

const Host* Hosts::by_instance(std::string_view instance) const {
  const auto found = by_instance_.find(instance);
  return found == by_instance_.end() ? nullptr : &all_[found->second];
}

const Host* Hosts::by_target(std::string_view target) const {
  const auto found = by_name_.find(host_part(target));
  return found == by_name_.end() ? nullptr : &all_[found->second];
}

std::string Hosts::unit_of(std::string_view instance) const {
  const Host* host = by_instance(instance);
  return host == nullptr ? "" : host->unit;
}

}  // namespace rdma_exporter::fleet
