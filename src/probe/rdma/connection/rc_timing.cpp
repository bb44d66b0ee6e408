// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/connection/rc_timing.h"

#include <algorithm>

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;
using core::config_error;
using std::chrono::nanoseconds;

// Soft-RoCE's timer counts jiffies of up to 10 ms, and may fire early: below 16.8 ms, an answer that is
// merely slow would be reported as lost.
constexpr unsigned kMinTimeout = 12;
constexpr unsigned kForEver = 7;
constexpr nanoseconds kMaxDeadline = 60s;

}  // namespace

core::Result<void> check(const RcTiming& timing) {
  if (timing.timeout == 0) return config_error("timeout 0 never expires; use 12 to 20");
  if (timing.timeout < kMinTimeout || timing.timeout > 20)
    return config_error("timeout " + std::to_string(timing.timeout) + " is not one of 12 to 20");
  if (timing.retry >= kForEver) return config_error("retry 7 never fails on Soft-RoCE; use 0 to 6");
  if (timing.rnr_retry >= kForEver) return config_error("rnr_retry 7 never fails; use 0 to 6");
  if (timing.min_rnr_timer > 31) return config_error("min_rnr_timer is a code from 0 to 31");
  if (operation_deadline(timing) > kMaxDeadline)
    return config_error("timeout " + std::to_string(timing.timeout) + " and retry " +
                        std::to_string(timing.retry) + " take more than a minute to fail");
  return {};
}

nanoseconds ack_timeout(unsigned exponent) { return nanoseconds(4096LL << exponent); }

DetectionWindow detection_window(const RcTiming& timing) {
  const nanoseconds timeout = ack_timeout(timing.timeout);
  return {timing.retry * timeout, (timing.retry + 1) * timeout};
}

nanoseconds operation_deadline(const RcTiming& timing) {
  return std::max<nanoseconds>(1s, 4 * detection_window(timing).latest);
}

}  // namespace rdma_exporter::probe
