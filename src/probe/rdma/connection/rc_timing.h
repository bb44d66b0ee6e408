// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>

#include "core/result.h"

namespace rdma_exporter::probe {

/// Timers and retries of a reliable connection, as in ibv_modify_qp().
struct RcTiming {
  unsigned timeout = 14;        ///< exponent of the ACK timeout: 4.096 us * 2^timeout
  unsigned retry = 3;           ///< retransmissions without an answer; 7 means forever on Soft-RoCE
  unsigned rnr_retry = 1;       ///< retransmissions after "receiver not ready"; 7 means forever everywhere
  unsigned min_rnr_timer = 12;  ///< code of the pause that a receiver without buffers requests: 0.64 ms
  bool operator==(const RcTiming&) const = default;
};

/// Rejects values that never fail (timeout 0, retry 7, rnr_retry 7), that fail without cause (timeouts close
/// to the resolution of Soft-RoCE's timer, the kernel's jiffy), and that need more than a minute to fail.
core::Result<void> check(const RcTiming& timing);

/// 4.096 us * 2^exponent: how long an adapter waits for an ACK before it retransmits. Adapters may take up to
/// four times as long, and have minimums.
std::chrono::nanoseconds ack_timeout(unsigned exponent);

/// When the transport itself reports a path that drops everything.
struct DetectionWindow {
  std::chrono::nanoseconds earliest;  ///< after all retransmissions
  std::chrono::nanoseconds latest;    ///< and one more ACK timeout
};
DetectionWindow detection_window(const RcTiming& timing);

/// When the probe gives up an operation by its own clock, because the transport may never report a failure:
/// four times the latest detection, and at least a second.
std::chrono::nanoseconds operation_deadline(const RcTiming& timing);

}  // namespace rdma_exporter::probe
