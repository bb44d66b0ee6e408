// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

namespace rdma_exporter::probe {

/// The statuses of enum ibv_wc_status that affect decisions. Only verbs_*.cpp include libibverbs' own header;
/// they check that the numbers agree.
inline constexpr int kWcSuccess = 0;
inline constexpr int kWcFlushed = 5;            ///< a consequence, never the cause
inline constexpr int kWcInvalidRequest = 9;     ///< the peer does not support this operation
inline constexpr int kWcAccessError = 10;       ///< the peer's adapter demands a key although none is needed
inline constexpr int kWcRetryExceeded = 12;     ///< no ACK: path or peer
inline constexpr int kWcRnrRetryExceeded = 13;  ///< ACK, but no receive posted: the peer's process
inline constexpr int kWcGeneralError = 21;      ///< irdma's replacement for all its own statuses

/// Name of a completion status in lower case as in enum ibv_wc_status ("retry_exc_err"), or "unknown_err".
/// Static storage and a bounded set: safe as a label value.
std::string_view wc_status_name(int status);

}  // namespace rdma_exporter::probe
