// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/collector.h"
#include "collectors/counters/tables/counter_row.h"
#include "collectors/counters/tables/hw_table.h"
#include "host/topology/driver.h"

namespace rdma_exporter::collectors {

/// The rows of a table; equal if they are the same ones.
struct CounterRows : std::span<const CounterRow> {
  using Span = std::span<const CounterRow>;
  using Span::Span;
  CounterRows(Span rows) : Span(rows) {}
  bool operator==(const CounterRows& other) const { return data() == other.data() && size() == other.size(); }
};

/// How the counters of one source become series.
struct CounterRules {
  CounterRows rows;                               ///< curated names of this source
  const core::MetricDesc* raw_counter;            ///< family of counters without curated name
  const core::MetricDesc* raw_value = nullptr;    ///< family of gauges without curated name
  std::string_view raw_source = {};               ///< rendered label in front of `counter` in raw series
  const core::MetricDesc* saturated = nullptr;    ///< set: report narrow fields that stick at their maximum
  bool saturated_only = false;                    ///< report only those that are 1
  bool unwrap = false;                            ///< set: fields below 64 bits wrap; extend them to 64 bits
  std::optional<std::uint64_t> undecodable = {};  ///< a value that means "no value"
  const core::FamilySelection* selection = nullptr;     ///< exported families; nullptr: all
  bool (*left_out)(const core::MetricDesc&) = nullptr;  ///< set: families not exported for this source
  bool lean = false;  ///< of the counters without a family, export only those without a row
  RawPolicy raw = RawPolicy::unmapped;
  host::Driver driver = host::Driver::unknown;
  bool (*is_gauge)(std::string_view raw, host::Driver driver) = collectors::is_gauge;

  bool operator==(const CounterRules&) const = default;
};

/// One counter of the source.
struct PlannedCounter {
  std::uint8_t bits = 64;  ///< its width
  bool wanted = false;     ///< it feeds a series
  /// Its index among those that are extended to 64 bits, or kNone.
  std::uint32_t extension = kNone;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  bool operator==(const PlannedCounter&) const = default;
};

/// One series, and the counters that it sums up (nearly always one).
struct PlannedSeries {
  const core::MetricDesc* metric;
  std::string labels;  ///< follow those of the device or port
  std::uint32_t scale;
  std::uint32_t divisor;
  std::vector<std::uint32_t> counters;  ///< their indices; several are summed
  bool operator==(const PlannedSeries&) const = default;
};

/// A counter that sticks at its maximum.
struct Saturation {
  std::uint32_t counter;  ///< its index
  std::string labels;     ///< follow those of the device or port
  bool operator==(const Saturation&) const = default;
};

struct SeriesPlan {
  std::vector<PlannedCounter> counters;  ///< by index
  std::vector<PlannedSeries> series;  ///< no two with the same metric and labels; curated ones first, so that
                                      ///< a limit takes raw ones
  std::vector<Saturation> saturation;  ///< if the rules require it
  std::uint64_t duplicates = 0;        ///< series left out because they would equal another one
  bool operator==(const SeriesPlan&) const = default;
};

/// Decides which series the counters `names` of a device or port feed.
SeriesPlan plan_series(const CounterRules& rules, std::span<const std::string> names);

/// `counter="NAME"`: the label of a raw series.
std::string counter_label(const std::string& name);

}  // namespace rdma_exporter::collectors
