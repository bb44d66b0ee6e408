// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/intern.h"
#include "core/rare_counts.h"
#include "core/sample_batch.h"

namespace rdma_exporter::core {

/// The results of one run of a job. Filled only by the worker that runs the job.
class JobRun {
 public:
  using Clock = std::chrono::steady_clock;

  /// `set`: of the families that are exported.
  explicit JobRun(std::uint64_t cycle, Clock::time_point now = Clock::now(), MetricSet set = MetricSet::full)
      : cycle_(cycle), now_(now), samples_(set) {}

  /// Makes it empty for another cycle, keeping its buffers.
  void reset(std::uint64_t cycle, Clock::time_point now = Clock::now()) {
    cycle_ = cycle;
    now_ = now;
    samples_.clear();
    read_errors_.clear();
    dropped_.clear();
    failed_ = false;
  }

  /// Number of the collection that this run belongs to. What one job of a device has read in a cycle may be
  /// shared with the other jobs of the device.
  std::uint64_t cycle() const { return cycle_; }
  /// When the run began. A job decides by this time what is due, such as a refresh or the end of a back-off.
  Clock::time_point now() const { return now_; }
  SampleBatch& samples() { return samples_; }
  const SampleBatch& samples() const { return samples_; }

  /// Counts a failed read of a source that exists. `reason` must be static text (core::reason()).
  void count_read_error(std::string_view reason) { read_errors_.append(reason, 1); }
  /// Counts series that were left out because of a limit. `reason` must be static text.
  void count_dropped(std::string_view reason, std::uint64_t series) { dropped_.append(reason, series); }
  /// Marks the whole job as failed: its device cannot be listed, or it threw an exception.
  void fail() { failed_ = true; }

  /// One entry for each call. Valid until the next one.
  RareCounts::List read_errors() const { return read_errors_.all(); }
  RareCounts::List dropped() const { return dropped_.all(); }
  bool failed() const { return failed_; }

 private:
  std::uint64_t cycle_;
  Clock::time_point now_;
  SampleBatch samples_;
  RareCounts read_errors_;
  RareCounts dropped_;
  bool failed_ = false;
};

/// The unit of failure: what one collector reads from one device. run() may block for as long as the kernel
/// blocks. It is called on any thread, by one worker at a time, and never again before it has returned.
class Job {
 public:
  /// `device` is empty for a job about the host as a whole, `netdev` for a job about a device.
  Job(std::string_view collector, std::string device, std::string netdev = {})
      : collector_(collector), about_(intern(About{std::move(device), std::move(netdev)})) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  virtual void run(JobRun& run) = 0;

  std::string_view collector() const { return collector_; }     ///< static text
  const std::string& device() const { return about_->device; }  ///< the RDMA device
  const std::string& netdev() const { return about_->netdev; }  ///< the network interface
  /// The unit that may hang as a whole and has its own share of workers and series: the interface if there is
  /// one, otherwise the device.
  const std::string& subject() const { return netdev().empty() ? device() : netdev(); }

 private:
  /// The jobs of a device share it.
  struct About {
    std::string device;
    std::string netdev;
    bool operator==(const About&) const = default;
  };

  std::string_view collector_;
  std::shared_ptr<const About> about_;
};

}  // namespace rdma_exporter::core
