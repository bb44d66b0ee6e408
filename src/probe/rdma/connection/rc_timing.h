// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>

#include "core/result.h"

namespace rdma_exporter::probe {

/// Timers and retries of a reliable connection, as ibv_modify_qp() takes them.
struct RcTiming {
  unsigned timeout = 14;        ///< exponent of the ACK timeout: 4.096 us * 2^timeout
  unsigned retry = 3;           ///< retransmissions without an answer; 7 means "for ever" to Soft-RoCE
  unsigned rnr_retry = 1;       ///< retransmissions after "receiver not ready"; 7 means "for ever" to all
  unsigned min_rnr_timer = 12;  ///< code of the pause that a receiver without buffers asks for: 0.64 ms
  bool operator==(const RcTiming&) const = default;
};

/// Refuses what would never fail (timeout 0, retry 7, rnr_retry 7), what fails without a cause (timeouts near
/// the timer granularity of Soft-RoCE, the kernel's jiffy) and what needs more than a minute to fail.
core::Result<void> check(const RcTiming& timing);

/// 4.096 us * 2^exponent: the time an adapter waits for an ACK before it sends again. Adapters may take up to
/// four times as long, and have minimums of their own.
std::chrono::nanoseconds ack_timeout(unsigned exponent);

/// When a path that swallows everything is reported by the transport itself.
struct DetectionWindow {
  std::chrono::nanoseconds earliest;  ///< after all retransmissions
  std::chrono::nanoseconds latest;    ///< and one more ACK timeout
};
DetectionWindow detection_window(const RcTiming& timing);

/// When the probe gives an operation up by its own clock, because the transport may never do so: four times
/// the latest detection, and a second at least.
std::chrono::nanoseconds operation_deadline(const RcTiming& timing);

}  // namespace rdma_exporter::probe
