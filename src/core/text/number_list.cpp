// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/number_list.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "core/text/kernel_text.h"

namespace rdma_exporter::core {
namespace {

std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

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

Result<NumberList> parse_number_list(std::string_view text) {
  text = trim(text);
  NumberList list;
  while (!text.empty()) {
    const auto first = take_number(text);
    const auto last = first && take(text, '-') ? take_number(text) : first;
    const bool ascending =
        last && *first <= *last && (list.ranges_.empty() || *first > list.ranges_.back().second);
    if (!ascending) return parse_error();
    list.ranges_.emplace_back(*first, *last);
    if (!text.empty() && (!take(text, ',') || text.empty())) return parse_error();
  }
  return list;
}

}  // namespace rdma_exporter::core
