// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace rdma_exporter::core {

/// A set of numbers stored as inclusive ranges: processors, memory nodes, ports.
class NumberList {
 public:
  bool contains(std::uint32_t number) const;
  bool intersects(const NumberList& other) const;
  std::uint64_t count() const;
  bool empty() const { return ranges_.empty(); }

 private:
  friend Result<NumberList> parse_number_list(std::string_view text);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges_;  ///< ascending and disjoint, as printed
};

/// "0-3,8", as the kernel prints a bitmap (lib/vsprintf.c bitmap_list_string: local_cpulist,
/// smp_affinity_list, node/online, ip_local_reserved_ports). An empty text is an empty set.
Result<NumberList> parse_number_list(std::string_view text);

}  // namespace rdma_exporter::core
