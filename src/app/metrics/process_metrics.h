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

/// Fields of /proc/PID/stat that the process metrics need (Documentation/filesystems/proc.rst, table 1-4).
struct ProcessStat {
  std::uint64_t user_ticks;
  std::uint64_t system_ticks;
  std::uint64_t threads;
  std::uint64_t start_ticks;  ///< since boot
  std::uint64_t virtual_bytes;
  std::uint64_t resident_pages;
};
std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// The process_* metrics that every Prometheus client library has, for this process. One thread at a time.
class ProcessMetrics {
 public:
  ProcessMetrics();
  void add(core::SampleBatch& out);
  static std::span<const core::MetricDesc* const> families();

 private:
  void add_open_files(core::SampleBatch& out);

  std::unique_ptr<host::HostFs> proc_;
  std::unique_ptr<host::OpenFile> stat_;
  host::Fd fd_list_;  ///< /proc/self/fd, kept open: to look it up costs five times as much
  double boot_time_;  ///< seconds since the epoch
  std::optional<std::uint64_t> open_files_;  ///< nullopt: not known
  std::chrono::steady_clock::time_point open_files_counted_;
};

}  // namespace rdma_exporter::app
