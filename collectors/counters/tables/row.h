// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Helpers to write the rows of counter tables.
#pragma once

#include <cstdint>
#include <string_view>

#include "collectors/counters/tables/counter_row.h"
#include "collectors/counters/tables/port_families.h"
#include "core/metric.h"

namespace rdma_exporter::collectors::table {

inline constexpr std::string_view kRx = R"(direction="rx")";
inline constexpr std::string_view kTx = R"(direction="tx")";

inline constexpr std::string_view kRxRead = R"(direction="rx",operation="read")";
inline constexpr std::string_view kRxWrite = R"(direction="rx",operation="write")";
inline constexpr std::string_view kRxSend = R"(direction="rx",operation="send")";
inline constexpr std::string_view kRxAtomic = R"(direction="rx",operation="atomic")";
inline constexpr std::string_view kTxRead = R"(direction="tx",operation="read")";
inline constexpr std::string_view kTxWrite = R"(direction="tx",operation="write")";
inline constexpr std::string_view kTxSend = R"(direction="tx",operation="send")";
inline constexpr std::string_view kTxAtomic = R"(direction="tx",operation="atomic")";

inline constexpr std::string_view kTransport = R"(kind="transport")";
inline constexpr std::string_view kRnr = R"(kind="rnr")";

inline constexpr std::string_view kAll = R"(scope="all")";
inline constexpr std::string_view kAdaptive = R"(scope="adaptive")";

inline constexpr std::string_view kRequester = R"(side="requester")";
inline constexpr std::string_view kResponder = R"(side="responder")";

// The kinds of rdma_port_access_errors_total follow the completion statuses of verbs: the responder answered
// access, invalid and operation; this side found length and local_*.
inline constexpr std::string_view kRequesterAccess = R"(side="requester",kind="access")";
inline constexpr std::string_view kRequesterInvalid = R"(side="requester",kind="invalid")";
inline constexpr std::string_view kRequesterLength = R"(side="requester",kind="length")";
inline constexpr std::string_view kRequesterOperation = R"(side="requester",kind="operation")";
inline constexpr std::string_view kRequesterLocalOperation = R"(side="requester",kind="local_operation")";
inline constexpr std::string_view kRequesterLocalProtection = R"(side="requester",kind="local_protection")";
inline constexpr std::string_view kResponderAccess = R"(side="responder",kind="access")";
inline constexpr std::string_view kResponderInvalid = R"(side="responder",kind="invalid")";
inline constexpr std::string_view kResponderLength = R"(side="responder",kind="length")";
inline constexpr std::string_view kResponderLocalOperation = R"(side="responder",kind="local_operation")";
inline constexpr std::string_view kResponderLocalProtection = R"(side="responder",kind="local_protection")";

constexpr CounterRow curated(std::string_view raw, const core::MetricDesc& family,
                             std::string_view labels = {}, std::uint8_t bits = 64) {
  return {raw, &family, labels, 1, bits};
}
/// A counter that deliberately has no vendor-neutral name; the comment beside it gives the reason if it is
/// not obvious.
constexpr CounterRow raw_only(std::string_view raw, std::uint8_t bits = 64) {
  return {raw, nullptr, {}, 1, bits};
}

}  // namespace rdma_exporter::collectors::table
