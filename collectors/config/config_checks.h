// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/background.h"
#include "doctor/check.h"
#include "doctor/gather/facts.h"
#include "host/host.h"
#include "host/topology/device.h"

namespace rdma_exporter::collectors {

/// Gathers what the configuration checks go by, in the background: each device by itself, so that one that
/// hangs costs its own findings. Owned jointly by the job and by what is going on, which may be stuck in the
/// kernel when the job is gone. Thread-safe.
class ConfigChecks : public std::enable_shared_from_this<ConfigChecks> {
 public:
  using Clock = std::chrono::steady_clock;
  using Device = std::shared_ptr<const host::Device>;

  /// `background` and `host` outlive it.
  ConfigChecks(core::Background& background, host::Host& host, std::chrono::milliseconds interval);

  /// All devices there are now. What is known of others is forgotten.
  void set_devices(std::vector<Device> devices);
  /// Starts the readings that are due at `now` and not going on.
  void start_due(Clock::time_point now);
  /// Waits until none is going on, at most so long.
  void wait(std::chrono::milliseconds at_most);

  /// The findings of configuration checks on what was read within the last kKept intervals; empty where there
  /// is no RDMA.
  doctor::Findings findings(Clock::time_point now) const;
  /// Grows whenever findings() may have become others by a reading.
  std::uint64_t version() const;

  /// So old may facts be, in intervals: a reading may be late, but what hangs is not served as if it were
  /// known.
  static constexpr int kKept = 3;

 private:
  template <typename T>
  struct Reading {
    bool going_on = false;
    std::optional<Clock::time_point> started;
    std::optional<Clock::time_point> ended;
    std::shared_ptr<const T> facts;
  };
  struct Entry {
    Device device;
    Reading<doctor::DeviceFacts> reading;
  };

  using Tasks = std::vector<std::function<void()>>;
  template <typename T, typename Read, typename Find>
  void prepare_if_due(Reading<T>& reading, Clock::time_point now, Tasks& tasks, Read read, Find find);
  Tasks due_tasks(Clock::time_point now);
  template <typename T>
  bool is_fresh(const Reading<T>& reading, Clock::time_point now) const;
  bool is_idle() const;

  core::Background& background_;
  host::Host& host_;
  const std::chrono::milliseconds interval_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Entry> devices_;
  Reading<doctor::SystemFacts> system_;
  std::uint64_t version_ = 0;
};

}  // namespace rdma_exporter::collectors
