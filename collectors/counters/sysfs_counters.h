// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collectors/counters/counter_set.h"
#include "core/job.h"
#include "host/fs/attr_dir.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {

/// Reads a sysfs directory of counters into a CounterSet, file by file: a failing file does not affect the
/// others. One thread at a time.
class SysfsCounters {
 public:
  SysfsCounters(host::Host& host, std::string path);

  /// Puts all readable counters into `counters`, and sets its names if they have changed. A missing directory
  /// means no counters and is not an error.
  void read(CounterSet& counters, core::JobRun& run);

 private:
  void set_names(CounterSet& counters);
  void read_one(std::size_t counter, CounterSet& counters, core::JobRun& run);

  host::AttrDir dir_;
  std::size_t lifespan_ = 0;  ///< index in dir_ of the file that is no counter; past the end if there is none
  /// Of the counters that could not be read last time. A failing file is not read in every cycle: a failing
  /// firmware query is slow and may write to the kernel log each time.
  std::map<std::size_t, task::Backoff> backoffs_;
  std::uint64_t in_step_with_ = 0;  ///< version of the set's names that those of dir_ correspond to
};

}  // namespace rdma_exporter::collectors
