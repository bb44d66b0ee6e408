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

/// How the counters of one source become series.
struct CounterRules {
  std::span<const CounterRow> rows;               ///< curated names of this source
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
  std::vector<PlannedSeries> series;  ///< no two with the same metric and labels; curated ones first, so that
                                      ///< a limit takes raw ones
  std::vector<Saturation> saturation;  ///< if the rules require it
  std::uint64_t duplicates = 0;        ///< series left out because they would equal another one
  bool operator==(const SeriesPlan&) const = default;
};

/// Decides which series the counters `names` of a device or port feed.
SeriesPlan plan_series(const CounterRules& rules, std::span<const std::string> names);

/// Width of the counter `name` in bits.
std::uint8_t counter_bits(const CounterRules& rules, std::string_view name);

/// `counter="NAME"`: the label of a raw series.
std::string counter_label(const std::string& name);

}  // namespace rdma_exporter::collectors
