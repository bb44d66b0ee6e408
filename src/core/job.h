// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sample_batch.h"

namespace rdma_exporter::core {

/// What one run of a job produced. Filled by the worker that runs the job and by nobody else.
class JobRun {
 public:
  using Clock = std::chrono::steady_clock;

  explicit JobRun(std::uint64_t cycle, Clock::time_point now = Clock::now()) : cycle_(cycle), now_(now) {}

  /// Makes it empty again for another cycle; buffers are kept.
  void reset(std::uint64_t cycle, Clock::time_point now = Clock::now()) {
    cycle_ = cycle;
    now_ = now;
    samples_.clear();
    read_errors_.clear();
    dropped_.clear();
    failed_ = false;
  }

  /// Number of the collection this run belongs to: what one job of a device has read in a cycle may be shared
  /// with its siblings.
  std::uint64_t cycle() const { return cycle_; }
  /// When the run began: the time by which a job decides what is due (a refresh, the end of a back-off).
  Clock::time_point now() const { return now_; }
  SampleBatch& samples() { return samples_; }
  const SampleBatch& samples() const { return samples_; }

  /// Counts one read that should have worked and did not; `reason` must be static text (core::reason()).
  void count_read_error(std::string_view reason) { read_errors_.emplace_back(reason, 1); }
  /// Counts series that a limit kept out; `reason` is static text.
  void count_dropped(std::string_view reason, std::uint64_t series) { dropped_.emplace_back(reason, series); }
  /// The job as a whole failed (its device cannot be listed, it threw).
  void fail() { failed_ = true; }

  using Counts = std::vector<std::pair<std::string_view, std::uint64_t>>;
  const Counts& read_errors() const { return read_errors_; }
  const Counts& dropped() const { return dropped_; }
  bool failed() const { return failed_; }

 private:
  std::uint64_t cycle_;
  Clock::time_point now_;
  SampleBatch samples_;
  Counts read_errors_;
  Counts dropped_;
  bool failed_ = false;
};

/// The unit of failure: what one collector reads of one device. run() may block for as long as the kernel
/// likes; it is called by one worker at a time, never again before it has returned, and on any thread.
class Job {
 public:
  /// `device` is empty for what a collector reads of the host as a whole.
  Job(std::string_view collector, std::string device) : collector_(collector), device_(std::move(device)) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  virtual void run(JobRun& run) = 0;

  std::string_view collector() const { return collector_; }  ///< static text
  const std::string& device() const { return device_; }

 private:
  std::string_view collector_;
  std::string device_;
};

}  // namespace rdma_exporter::core
