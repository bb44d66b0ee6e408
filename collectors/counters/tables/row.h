// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Helpers to write the rows of counter tables, and compile-time checks of these tables.
#pragma once

#include <cstddef>
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

/// Whether the family's labels are those in `common` followed by exactly the names in `rendered`:
/// "direction,operation" matches `direction="rx",operation="read"`. Builds no string; values contain neither
/// `"` nor `,`.
constexpr bool labels_agree(const core::MetricDesc& family, std::string_view rendered,
                            std::string_view common = "device,port") {
  std::string_view names = family.labels;
  if (!names.starts_with(common)) return false;
  names.remove_prefix(common.size());
  while (!names.empty()) {
    names.remove_prefix(1);
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(name.size());
    if (!rendered.starts_with(name) || !rendered.substr(name.size()).starts_with("=\"")) return false;
    rendered.remove_prefix(name.size() + 2);
    const std::size_t quote = rendered.find('"');
    if (quote == 0 || quote == std::string_view::npos) return false;
    rendered.remove_prefix(quote + 1);
    if (!names.empty()) {
      if (!rendered.starts_with(',')) return false;
      rendered.remove_prefix(1);
    }
  }
  return rendered.empty();
}

constexpr bool same_series(const CounterRow& a, const CounterRow& b) {
  return a.metric != nullptr && a.metric == b.metric && a.labels == b.labels;
}

constexpr bool valid(const CounterRow& row) {
  const bool width = row.bits == 4 || row.bits == 8 || row.bits == 16 || row.bits == 32 || row.bits == 64;
  if (row.raw.empty() || row.raw == "lifespan" || !width) return false;
  if (row.metric == nullptr) return row.labels.empty() && row.scale == 1;
  if (row.metric->type != core::MetricType::counter) return false;
  // The only unit conversion: 4-octet words to bytes.
  if (row.scale != 1 && !(row.scale == 4 && row.metric->unit == "bytes")) return false;
  return labels_agree(*row.metric, row.labels);
}

/// Each counter has one row. The only exception is that of ignored CNPs, which has two: it is part of
/// all received CNPs and a series of its own.
template <typename Table>
constexpr bool all_valid(const Table& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!valid(rows[i])) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (rows[i].raw != rows[j].raw) continue;
      if (rows[i].metric != &kPortCnpIgnored || same_series(rows[i], rows[j])) return false;
    }
  }
  return true;
}

/// How many rows share their series with another row. Each table states this number, so that a label
/// forgotten in a new row, which would silently add up two counters, does not compile.
template <typename Table, typename IsOtherSpelling>
constexpr std::size_t count_summed(const Table& rows, IsOtherSpelling is_other_spelling) {
  std::size_t summed = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    bool shared = false;
    for (std::size_t j = 0; j < rows.size(); ++j)
      shared = shared || (i != j && !is_other_spelling(rows[j].raw) && same_series(rows[i], rows[j]));
    if (shared && !is_other_spelling(rows[i].raw)) ++summed;
  }
  return summed;
}
template <typename Table>
constexpr std::size_t count_summed(const Table& rows) {
  return count_summed(rows, [](std::string_view) { return false; });
}

/// Each alternative spelling replaces a counter: exactly one row with the regular spelling has the same
/// series.
template <typename Table, typename IsOtherSpelling>
constexpr bool other_spellings_have_twin(const Table& rows, IsOtherSpelling is_other_spelling) {
  for (const CounterRow& row : rows) {
    if (row.metric == nullptr || !is_other_spelling(row.raw)) continue;
    std::size_t twins = 0;
    for (const CounterRow& other : rows)
      if (!is_other_spelling(other.raw) && same_series(row, other) && row.bits == other.bits) ++twins;
    if (twins != 1) return false;
  }
  return true;
}

}  // namespace rdma_exporter::collectors::table
