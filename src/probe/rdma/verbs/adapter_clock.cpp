// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/verbs/adapter_clock.h"

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr nanoseconds kMinWrap = 60s;

// In two steps: a product of 63 bits of ticks and a million does not fit into 64 bits.
nanoseconds duration(std::uint64_t ticks, std::uint64_t khz) {
  constexpr std::uint64_t kPerMillisecond = 1'000'000;
  const std::uint64_t milliseconds = ticks / khz;
  if (milliseconds >= static_cast<std::uint64_t>(nanoseconds::max().count()) / kPerMillisecond)
    return nanoseconds::max();
  const std::uint64_t rest = ticks % khz * kPerMillisecond / khz;
  return nanoseconds(static_cast<std::int64_t>(milliseconds * kPerMillisecond + rest));
}

}  // namespace

std::optional<AdapterClock> usable_clock(std::uint64_t mask, std::uint64_t khz) {
  if (khz == 0 || (mask & (mask + 1)) != 0) return std::nullopt;
  const AdapterClock clock{mask, khz};
  return wrap(clock) < kMinWrap ? std::nullopt : std::optional(clock);
}

nanoseconds wrap(const AdapterClock& clock) { return duration(clock.mask, clock.khz); }

nanoseconds elapsed(const AdapterClock& clock, std::uint64_t from, std::uint64_t to) {
  return duration((to - from) & clock.mask, clock.khz);
}

std::optional<nanoseconds> second_round_trip(const AdapterClock& clock, std::uint64_t first_end,
                                             std::uint64_t second_end, nanoseconds span) {
  const nanoseconds between = elapsed(clock, first_end, second_end);
  if (between <= 0ns || between > span || span >= wrap(clock)) return std::nullopt;
  return between;
}

}  // namespace rdma_exporter::probe
