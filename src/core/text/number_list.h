// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace rdma_exporter::core {

/// A set of numbers stored as inclusive ranges: processors, memory nodes, ports. Made by parse_number_list()
/// (core/text/kernel_text.h).
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

}  // namespace rdma_exporter::core
