// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fleet/findings/vote.h"
#include "fleet/hosts.h"
#include "fleet/table.h"

namespace rdma_exporter::fleet {

/// Numbers NICs, hosts and leaves for the vote.
class PathMap {
 public:
  PathMap(const Hosts& hosts, const Tables& tables);

  /// The number of a NIC; assigned by the first call.
  std::size_t nic(const std::string& instance, const std::string& device);
  /// The NIC at which a target is probed: on the same rail, unless a session reports another.
  std::size_t target(const std::string& target, const std::string& device);
  /// The unit with which the NIC shares its leaf; empty: unknown.
  std::string unit_of(std::size_t nic) const;

  std::vector<VoteNic> nics;
  std::vector<std::pair<std::string, std::string>> nic_names;  ///< instance, device
  std::vector<std::string> host_names;
  std::vector<std::pair<std::string, std::string>> leaves;  ///< unit, device

 private:
  std::string instance_of(const std::string& target) const;

  const Hosts& hosts_;
  std::map<std::pair<std::string, std::string>, std::string> told_;  ///< leaf of a NIC, by discovery
  std::map<std::pair<std::string, std::string>, std::size_t> nic_numbers_;
  std::map<std::string, std::size_t> host_numbers_;
  std::map<std::pair<std::string, std::string>, std::size_t> leaf_numbers_;
};

}  // namespace rdma_exporter::fleet
