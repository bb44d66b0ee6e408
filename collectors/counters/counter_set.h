// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectors/counters/carry_over.h"
#include "collectors/counters/series_plan.h"
#include "core/intern.h"
#include "core/job.h"

namespace rdma_exporter::collectors {

/// The counters of one directory or one netlink answer, and the series that they feed. Labels are rendered
/// when the set of names changes, not in each collection. One thread at a time.
class CounterSet {
 public:
  /// `labels`: rendered labels of the device or port, which precede all others. `carried`: where the 64-bit
  /// extensions of its counters are loaded from and stored.
  CounterSet(CounterRules rules, std::string labels, CarryOver::Slot carried = {});

  /// Sets the counters that the source has, in the order of its indices. State of a counter (its 64-bit
  /// extension) stays with its name.
  void set_names(std::vector<std::string> names);
  const std::vector<std::string>& names() const { return *state_.names; }
  /// Changes with every set_names(), so that a source notices when another one has set the names.
  std::uint64_t version() const { return version_; }

  /// Whether counter `index` feeds a series. A source need not read the others.
  bool is_wanted(std::size_t index) const { return counters_[index].wanted; }
  /// The value of counter `index` in this cycle, as read from the kernel.
  void put(std::size_t index, std::uint64_t value);
  /// Puts the value of the last cycle again, if there was one: for a counter that is not read in each cycle.
  void put_again(std::size_t index) { counters_[index].present = counters_[index].was_present; }
  /// Adds the series of all counters put since the last call. A sum is added only if all its counters
  /// were put.
  void emit(core::JobRun& run);

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Counter {
    std::uint64_t value = 0;
    std::uint32_t extension = kNone;  ///< index in State::extensions
    std::uint8_t bits = 64;
    bool present = false;      ///< the value belongs to this cycle
    bool was_present = false;  ///< it belonged to the last cycle
    bool wanted = false;       ///< the plan uses it
  };
  /// The 64-bit extension of a counter that is narrower.
  struct Extension {
    std::uint32_t counter = 0;  ///< index in State::names
    std::uint64_t last_raw = 0;
    std::uint64_t wrapped = 0;  ///< amount added so far to extend it beyond its width
  };
  /// What is carried over.
  struct State {
    core::Names names;
    std::vector<Extension> extensions;  ///< few, in the order of their counters
  };

  void emit_series(const PlannedSeries& series, core::SampleBatch& out) const;

  CounterRules rules_;
  std::string labels_;
  State state_;
  std::vector<Counter> counters_;
  std::shared_ptr<const SeriesPlan> plan_;
  std::uint64_t version_ = 0;
  CarryOver::Slot carried_;
};

}  // namespace rdma_exporter::collectors
