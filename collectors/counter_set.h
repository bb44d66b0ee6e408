// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collectors/collector.h"
#include "collectors/counter_row.h"
#include "core/job.h"
#include "host/driver.h"

namespace rdma_exporter::collectors {

/// How the counters of one source become series.
struct CounterRules {
  std::span<const CounterRow> rows;              ///< curated names of this source
  const core::MetricDesc* raw_counter;           ///< family of counters without curated name
  const core::MetricDesc* raw_value = nullptr;   ///< family of gauges without curated name
  const core::MetricDesc* saturated = nullptr;   ///< set: fields below 64 bits stick at their maximum, say so
  bool unwrap = false;                           ///< set: fields below 64 bits wrap, continue them to 64 bits
  RawPolicy raw = RawPolicy::unmapped;
  std::size_t max_series = std::numeric_limits<std::size_t>::max();
  host::Driver driver = host::Driver::unknown;
};

/// The counters of one directory or one netlink answer, and the series they become. Labels are rendered when the
/// set of names changes, not per collection. One thread at a time.
class CounterSet {
 public:
  /// `labels`: rendered labels of the device or port, in front of all others.
  CounterSet(CounterRules rules, std::string labels);

  /// The counters that the source has, in the order of its indices from now on. What is remembered of a counter
  /// (its 64-bit continuation) stays with its name.
  void set_names(std::vector<std::string> names);
  const std::vector<std::string>& names() const { return names_; }
  /// Changes with every set_names(): tells a source that another one has set the names.
  std::uint64_t version() const { return version_; }

  /// The value of counter `index` in this cycle, as the kernel gave it.
  void put(std::size_t index, std::uint64_t value);
  /// Adds the series of all counters put since the last call; sums only when all their addends were put.
  void emit(core::JobRun& run);

 private:
  struct Series {
    const core::MetricDesc* metric;
    std::string labels;
    std::uint32_t scale;
    std::vector<std::size_t> addends;  ///< counter indices; one, or those of a documented sum
  };
  struct Counter {
    std::uint8_t bits = 64;
    std::optional<std::uint64_t> value;  ///< in this cycle
    std::uint64_t last_raw = 0;
    std::uint64_t wrapped = 0;  ///< what was added so far to continue it beyond its width
  };

  void add_series(std::size_t index);
  void add_curated(std::size_t index, const CounterRow& row);
  void add_raw(std::size_t index);
  void drop_incomplete_sums();
  void drop_duplicates_and_excess();
  std::size_t addends_wanted(const Series& series) const;

  CounterRules rules_;
  std::string labels_;
  std::vector<std::string> names_;
  std::vector<Counter> counters_;
  std::vector<Series> series_;
  std::vector<std::pair<std::size_t, std::string>> saturation_;  ///< counter index, labels
  std::uint64_t version_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t excess_ = 0;
};

}  // namespace rdma_exporter::collectors
