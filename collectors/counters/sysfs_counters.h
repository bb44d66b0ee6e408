// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
  /// Of a counter's name.
  using IsRare = bool (*)(std::string_view name);

  /// `is_rare`: counters that need not be read in each cycle as long as they are 0. Null: none.
  SysfsCounters(host::Host& host, const std::string& path, IsRare is_rare = nullptr);

  /// Puts all readable counters into `counters`, and sets its names if they have changed. A missing directory
  /// means no counters and is not an error. With `rarely`, rare ones that are 0 are read in one cycle of
  /// kRareEvery, and are taken for 0 in the others.
  void read(CounterSet& counters, core::JobRun& run, bool rarely = false);

  static constexpr std::size_t kRareEvery = 10;

 private:
  struct Failing {
    std::size_t counter;
    task::Backoff backoff;
  };

  void set_names(CounterSet& counters);
  bool reads_all(bool rarely);
  void read_one(std::size_t counter, CounterSet& counters, core::JobRun& run);
  core::Result<std::optional<std::uint64_t>> read_value(std::size_t counter);

  host::AttrDir dir_;
  const IsRare is_rare_;
  std::vector<bool> rare_;  ///< by counter; empty without is_rare_
  std::size_t until_rare_;  ///< cycles until the rare ones are read
  bool names_are_new_ = true;
  std::size_t lifespan_ = 0;  ///< index in dir_ of the file that is no counter; past the end if there is none
  /// Of the counters that could not be read last time. A failing file is not read in every cycle: a failing
  /// firmware query is slow and may write to the kernel log each time.
  std::vector<Failing> failing_;
  std::uint64_t in_step_with_ = 0;  ///< version of the set's names that those of dir_ correspond to
};

}  // namespace rdma_exporter::collectors
