// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/metric.h"
#include "core/sample_batch.h"
#include "host/fs/fd.h"
#include "host/fs/host_fs.h"

namespace rdma_exporter::app {

/// When the process started, in clock ticks since the system booted: field 22 of /proc/PID/stat
/// (Documentation/filesystems/proc.rst, table 1-4).
std::optional<std::uint64_t> parse_start_ticks(std::string_view text);

/// The process_* metrics that every Prometheus client library has, for this process. One thread at a time.
class ProcessMetrics {
 public:
  ProcessMetrics();
  void add(core::SampleBatch& out);
  static std::span<const core::MetricDesc* const> families();

 private:
  void add_open_files(core::SampleBatch& out);

  std::unique_ptr<host::HostFs> proc_;
  std::unique_ptr<host::OpenFile> statm_;
  host::Fd fd_list_;                         ///< /proc/self/fd
  host::Fd task_list_;                       ///< /proc/self/task
  std::optional<double> start_time_;         ///< seconds since the epoch
  std::optional<std::uint64_t> open_files_;  ///< nullopt: not known
  std::chrono::steady_clock::time_point open_files_counted_;
};

}  // namespace rdma_exporter::app
