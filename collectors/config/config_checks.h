// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "doctor/check.h"
#include "doctor/host_facts.h"
#include "facts/gather.h"
#include "host/host.h"
#include "host/topology/device.h"
#include "task/background_value.h"

namespace rdma_exporter::collectors {

/// Gathers the facts for the settings checks in the background, one device at a time, so that a device that
/// hangs loses only its own findings. Shared by the job and the gathering in progress, which may be stuck in
/// the kernel after the job is gone. Thread-safe.
class ConfigChecks : public std::enable_shared_from_this<ConfigChecks> {
 public:
  using Clock = std::chrono::steady_clock;
  using Device = std::shared_ptr<const host::Device>;

  /// `background` and `host` outlive it.
  ConfigChecks(task::Background& background, host::Host& host, std::chrono::milliseconds interval);

  /// Sets the devices that exist; facts of all others are forgotten.
  void set_devices(std::vector<Device> devices);
  /// Starts the readings that are due at `now` and not in progress: after each interval, or a minute
  /// after the one before it if the kernel reported a change of the device or one of its interfaces. One
  /// thread at a time.
  void start_due(Clock::time_point now);
  /// Waits until no reading is in progress, at most for the given time.
  void wait(std::chrono::milliseconds at_most);

  /// Shows each finding of configuration checks on what was read within the last kKept intervals; none where
  /// there is no RDMA.
  void visit(Clock::time_point now, const std::function<void(const doctor::Finding&)>& visitor) const;
  /// Grows whenever a reading may have changed the findings.
  std::uint64_t version() const { return version_; }

  /// Maximum age of facts, in intervals: a reading may be late, but the facts of a device that hangs expire.
  static constexpr int kKept = 3;

 private:
  struct Facts : task::BackgroundValue<facts::DeviceFacts> {
    using BackgroundValue::BackgroundValue;
    facts::DeviceMemory memory;      ///< used only by the pass in progress
    std::uint64_t seen_changes = 0;  ///< used only by start_due()
  };
  using Devices = std::vector<std::pair<Device, std::shared_ptr<Facts>>>;

  std::shared_ptr<const Devices> devices() const;
  std::uint64_t changes_of(const host::Device& device, const facts::DeviceFacts* facts) const;
  template <typename T>
  std::shared_ptr<const T> fresh(const task::BackgroundValue<T>& value, Clock::time_point now) const;

  task::Background& background_;
  host::Host& host_;
  const std::chrono::milliseconds interval_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Devices> devices_ = std::make_shared<const Devices>();
  task::BackgroundValue<facts::SystemFacts> system_;
  facts::HostAddresses addresses_;
  std::atomic<std::uint64_t> version_ = 0;
};

}  // namespace rdma_exporter::collectors
