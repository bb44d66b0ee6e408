// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/burst/window.h"

#include <algorithm>
#include <limits>

namespace rdma_exporter::collectors {
namespace {

std::int64_t second_of(BurstClock::time_point time) {
  return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

bool is_late(const ReadTime& before, const ReadTime& after, std::chrono::nanoseconds expected) {
  const auto length = after.middle() - before.middle();
  return 2 * length < expected || length > 2 * expected || 10 * before.spent() > expected ||
         10 * after.spent() > expected;
}

std::optional<std::uint64_t> increase(std::uint64_t before, std::uint64_t after, unsigned bits) {
  if (bits < 64) {
    const std::uint64_t range = std::uint64_t{1} << bits;
    const std::uint64_t difference = (after - before) & (range - 1);
    // No counter gets half-way round between two readings: it fell.
    return difference < range / 2 ? std::optional(difference) : std::nullopt;
  }
  constexpr std::uint64_t kStuck = std::numeric_limits<std::uint32_t>::max();
  if (after < before || (before == kStuck && after == kStuck)) return {};
  return after - before;
}

void RecentMaximum::observe(double value, BurstClock::time_point now) {
  const std::int64_t second = second_of(now);
  Slot& slot = slots_.at(static_cast<std::size_t>(second) % kSeconds);
  if (slot.second != second) slot = {second, value};
  slot.maximum = std::max(slot.maximum, value);
}

std::optional<double> RecentMaximum::get(BurstClock::time_point now) const {
  const std::int64_t second = second_of(now);
  std::optional<double> maximum;
  for (const Slot& slot : slots_)
    if (slot.second >= 0 && second - slot.second < static_cast<std::int64_t>(kSeconds))
      maximum = std::max(maximum.value_or(slot.maximum), slot.maximum);
  return maximum;
}

}  // namespace rdma_exporter::collectors
