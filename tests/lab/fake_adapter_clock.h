// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>

namespace rdma_exporter::probe {

/// A clock for devices that have none, as Soft-RoCE: their driver in user space is made to report it, and to
/// stamp completions with it. It is read when a completion is polled and not when it came about, so a stamp
/// may be late. No two stamps are the same.
struct FakeAdapterClock {
  std::uint64_t mask = 0;
  std::uint64_t khz = 0;              ///< of which a nanosecond or more is a tick
  bool wraps = false;                 ///< between the two of each pair
  std::atomic<bool> stopped = false;  ///< all stamps are the same

  /// Of an open device, before its first queue.
  void put_under(ibv_context& context);

  std::uint64_t read();

 private:
  std::uint64_t offset_ = 0;
  std::uint64_t last_ = 0;
  bool second_ = false;
};

/// What the driver's functions, which know of no object, get at.
inline FakeAdapterClock fake_clock;
inline verbs_context fake_clock_original{};

inline void FakeAdapterClock::put_under(ibv_context& context) {
  verbs_context* driver = verbs_get_ctx(&context);
  last_ = 0;
  second_ = false;
  fake_clock_original.query_device_ex = driver->query_device_ex;
  fake_clock_original.create_cq_ex = driver->create_cq_ex;
  driver->query_device_ex = [](ibv_context* of, const ibv_query_device_ex_input* input,
                               ibv_device_attr_ex* to, std::size_t size) {
    const int error = fake_clock_original.query_device_ex(of, input, to, size);
    to->completion_timestamp_mask = fake_clock.mask;
    to->hca_core_clock = fake_clock.khz;
    return error;
  };
  driver->create_cq_ex = [](ibv_context* of, ibv_cq_init_attr_ex* wanted) -> ibv_cq_ex* {
    if (wanted->wc_flags != IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) {
      errno = EOPNOTSUPP;
      return nullptr;
    }
    ibv_cq_init_attr_ex known = *wanted;
    known.wc_flags = 0;
    ibv_cq_ex* cq = fake_clock_original.create_cq_ex(of, &known);
    if (cq != nullptr) cq->read_completion_ts = [](ibv_cq_ex*) { return fake_clock.read(); };
    return cq;
  };
}

inline std::uint64_t FakeAdapterClock::read() {
  if (stopped) return last_ & mask;
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  auto ticks = static_cast<std::uint64_t>(now.count()) / (1'000'000 / khz);
  if (ticks <= last_) ticks = last_ + 1;
  last_ = ticks;
  // The first of a pair is a few ticks before the wrap.
  if (wraps && !second_) offset_ = mask - 3 - ticks;
  second_ = !second_;
  return (ticks + offset_) & mask;
}

}  // namespace rdma_exporter::probe
