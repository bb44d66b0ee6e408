// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/duration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "core/text/number.h"

namespace rdma_exporter::config {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};

constexpr std::array kUnits{
    Unit{"y", 31'536'000'000}, Unit{"w", 604'800'000}, Unit{"d", 86'400'000}, Unit{"h", 3'600'000},
    Unit{"m", 60'000},         Unit{"s", 1'000},       Unit{"ms", 1}};
constexpr std::size_t kHours = 3;  // larger units are read, never written: "24h" says more than "1d"

}  // namespace

core::Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto wrong = core::config_error("is not a duration");
  if (text.empty()) return wrong;
  std::int64_t total = 0;
  auto unit = kUnits.begin();
  while (!text.empty()) {
    if (!core::is_digit(text.front())) return wrong;
    std::int64_t count = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (status == std::errc::result_out_of_range) return core::config_error("is out of range");
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const std::string_view name = text.substr(0, std::min(text.size(), text.find_first_of("0123456789")));
    unit = std::find_if(unit, kUnits.end(), [name](const Unit& known) { return known.name == name; });
    if (unit == kUnits.end()) return wrong;
    if (__builtin_mul_overflow(count, unit->milliseconds, &count) ||
        __builtin_add_overflow(total, count, &total)) {
      return core::config_error("is out of range");
    }
    text.remove_prefix(name.size());
    ++unit;
  }
  return std::chrono::milliseconds(total);
}

std::string format_duration(std::chrono::milliseconds value) {
  std::int64_t rest = value.count();
  std::string text;
  for (std::size_t i = kHours; i < kUnits.size(); ++i) {
    const std::int64_t count = rest / kUnits[i].milliseconds;
    if (count == 0) continue;
    text += std::to_string(count);
    text += kUnits[i].name;
    rest -= count * kUnits[i].milliseconds;
  }
  return text.empty() ? "0s" : text;
}

}  // namespace rdma_exporter::config
