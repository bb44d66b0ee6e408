// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/problem.h"
#include "fleet/table.h"

namespace rdma_exporter::fleet {

struct Options {
  std::string selector{};          ///< label matchers that each series has to meet: cluster="a"
  std::string unit_label{"su"};    ///< label of the scrape target: hosts that share their leaves
  std::chrono::seconds window{0};  ///< of rates; 0: 10 minutes, and recording rules where they are loaded
};

struct Host {
  std::string instance;
  std::string unit;
  std::string job;
  std::size_t devices = 0;
  bool up = true;
};

/// The hosts of the fleet.
class Hosts {
 public:
  /// From the tables "hosts", "down" and "rails".
  explicit Hosts(const Tables& tables);

  const std::vector<Host>& all() const { return all_; }
  /// nullptr: unknown.
  const Host* by_instance(std::string_view instance) const;
  /// The host that a probe's target names, with or without a port.
  const Host* by_target(std::string_view target) const;
  std::string unit_of(std::string_view instance) const;

  std::size_t seen() const { return seen_; }
  std::size_t nics() const { return nics_; }
  bool units_known() const { return units_known_; }
  /// Whether every host has a unit.
  bool all_units_known() const { return all_units_known_; }
  const std::map<std::string, std::size_t>& rails() const { return rails_; }  ///< device -> how many

 private:
  std::vector<Host> all_;
  std::map<std::string, std::size_t, std::less<>> by_instance_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::map<std::string, std::size_t> rails_;
  std::size_t seen_ = 0;
  std::size_t nics_ = 0;
  bool units_known_ = false;
  bool all_units_known_ = true;
};

}  // namespace rdma_exporter::fleet
