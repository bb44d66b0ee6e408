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
#include "core/job.h"
#include "core/names.h"

namespace rdma_exporter::collectors {

/// The counters of one directory or one netlink answer, and the series they become. Labels are rendered when
/// the set of names changes, not per collection. One thread at a time.
class CounterSet {
 public:
  /// `labels`: rendered labels of the device or port, in front of all others. `carried`: where the 64-bit
  /// continuations of its counters come from and go to.
  CounterSet(CounterRules rules, std::string labels, CarryOver::Slot carried = {});

  /// The counters that the source has, in the order of its indices from now on. What is remembered of a
  /// counter (its 64-bit continuation) stays with its name.
  void set_names(std::vector<std::string> names);
  const std::vector<std::string>& names() const { return *names_; }
  /// Changes with every set_names(): tells a source that another one has set the names.
  std::uint64_t version() const { return version_; }

  /// The value of counter `index` in this cycle, as the kernel gave it.
  void put(std::size_t index, std::uint64_t value);
  /// Adds the series of all counters put since the last call; sums only when all their addends were put.
  void emit(core::JobRun& run);

 private:
  struct Continuation {
    std::uint64_t last_raw = 0;
    std::uint64_t wrapped = 0;  ///< what was added so far to continue it beyond its width
  };
  struct Counter {
    std::uint64_t value = 0;
    Continuation continuation;
    std::uint8_t bits = 64;
    bool present = false;  ///< value is of this cycle
  };
  /// What is carried over.
  struct Continuations {
    core::Names names;
    std::vector<Continuation> counters;
  };

  void carry_over();
  void emit_series(const PlannedSeries& series, core::SampleBatch& out) const;

  CounterRules rules_;
  std::string labels_;
  core::Names names_;
  std::vector<Counter> counters_;
  std::shared_ptr<const SeriesPlan> plan_;
  std::uint64_t version_ = 0;
  CarryOver::Slot carried_;
  bool continues_ = false;  ///< some of the counters are narrower than 64 bits
};

}  // namespace rdma_exporter::collectors
