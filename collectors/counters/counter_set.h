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
  bool is_wanted(std::size_t index) const { return plan_->counters[index].wanted; }
  /// The value of counter `index` in this cycle, as read from the kernel.
  void put(std::size_t index, std::uint64_t value);
  /// Puts the value of the last cycle again, if there was one: for a counter that is not read in each cycle.
  void put_again(std::size_t index) { present_[index].now = present_[index].before; }
  /// Adds the series of all counters put since the last call. A sum is added only if all its counters
  /// were put.
  void emit(core::JobRun& run);

 private:
  /// Whether the value of a counter belongs to this cycle, and whether it belonged to the last one.
  struct Presence {
    bool now = false;
    bool before = false;
  };
  /// The 64-bit extension of a counter with 32 bits.
  struct Extension {
    std::uint32_t counter = 0;  ///< index in State::names
    std::uint32_t wraps = 0;    ///< how often it has passed its maximum
    std::uint64_t last_raw = 0;
  };
  /// What is carried over.
  struct State {
    core::Names names;
    std::vector<Extension> extensions;  ///< few, in the order of their counters
  };

  void emit_series(const PlannedSeries& series, core::SampleBatch& out) const;

  // What devices of one kind have in common is shared by them.
  std::shared_ptr<const CounterRules> rules_;
  std::shared_ptr<const SeriesPlan> plan_;
  core::SharedText labels_;
  State state_;
  // Of each counter, by index.
  std::vector<std::uint64_t> values_;
  std::vector<Presence> present_;
  std::uint64_t version_ = 0;
  CarryOver::Slot carried_;
};

}  // namespace rdma_exporter::collectors
