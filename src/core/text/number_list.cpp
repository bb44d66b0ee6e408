// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/number_list.h"

#include <algorithm>

namespace rdma_exporter::core {

bool NumberList::contains(std::uint32_t number) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const auto& range) { return number >= range.first && number <= range.second; });
}

bool NumberList::intersects(const NumberList& other) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const auto& mine) {
    return std::any_of(other.ranges_.begin(), other.ranges_.end(), [&](const auto& theirs) {
      return mine.first <= theirs.second && theirs.first <= mine.second;
    });
  });
}

std::uint64_t NumberList::count() const {
  std::uint64_t numbers = 0;
  for (const auto& [first, last] : ranges_) numbers += std::uint64_t{last} - first + 1;
  return numbers;
}

}  // namespace rdma_exporter::core
