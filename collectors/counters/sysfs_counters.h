// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "collectors/counters/counter_set.h"
#include "core/job.h"
#include "host/fs/attr_dir.h"

namespace rdma_exporter::collectors {

/// Reads one sysfs directory of counters into a CounterSet, file by file: what happens to one file concerns
/// no other. One thread at a time.
class SysfsCounters {
 public:
  SysfsCounters(host::Host& host, std::string path);

  /// Puts all readable counters into `counters` (and sets its names when they changed). A missing directory
  /// is absence, not an error.
  void read(CounterSet& counters, core::JobRun& run);

 private:
  using Clock = core::JobRun::Clock;
  /// A file that keeps failing is not read in every cycle: a failing firmware query is slow and may write
  /// into the kernel's log each time.
  struct Patience {
    unsigned failures = 0;
    Clock::time_point not_before;
  };

  void set_names(CounterSet& counters);
  void read_one(std::size_t counter, CounterSet& counters, core::JobRun& run);
  void failed(Patience& patience, Clock::time_point now);

  host::AttrDir dir_;
  std::vector<std::size_t> files_;  ///< index in dir_ of each counter
  std::vector<Patience> patience_;
  std::uint64_t in_step_with_ = 0;  ///< version of the set's names that files_ corresponds to
};

}  // namespace rdma_exporter::collectors
