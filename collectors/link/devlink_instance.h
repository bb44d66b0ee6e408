// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"
#include "host/netlink/devlink.h"
#include "task/background_value.h"

namespace rdma_exporter::collectors {

/// What devlink reported about one adapter.
struct DevlinkReport {
  using Clock = std::chrono::steady_clock;

  std::vector<host::devlink::Reporter> reporters;
  std::vector<host::devlink::Port> ports;
  std::vector<host::devlink::Version> versions;
  std::vector<std::string_view> errors;  ///< reasons of the failures in this reading
  Clock::time_point valid_until;
};

/// One devlink instance, read in the background while somebody asks: its lock may be held for minutes, and
/// its versions come from firmware. Shared by the jobs of the RDMA device and of its interfaces, and by the
/// reading in progress, which may be stuck in the kernel after they are gone. Thread-safe.
class DevlinkInstance : public std::enable_shared_from_this<DevlinkInstance> {
 public:
  using Clock = DevlinkReport::Clock;

  /// `background` and `host` outlive it.
  DevlinkInstance(task::Background& background, host::Host& host, host::devlink::Handle handle);

  /// Starts a reading if one is due at `now` and none is in progress.
  void start_if_due(Clock::time_point now);
  /// The result of the last reading that has ended; nullptr before that, and if it is older than kKept
  /// intervals.
  std::shared_ptr<const DevlinkReport> latest(Clock::time_point now) const;
  /// Whether a reading is late, so that its result would be outdated.
  bool is_late(Clock::time_point now) const;
  /// Waits for the first reading, at most for the given time.
  void wait_for_first(std::chrono::milliseconds at_most);

  static constexpr std::chrono::seconds kHealthInterval{15};
  /// For ports and versions, and for adapters without reporters.
  static constexpr std::chrono::seconds kFactsInterval{600};
  static constexpr int kKept = 3;
  /// More than any adapter has; further reporters or ports are left out.
  static constexpr std::size_t kMaxReporters = 64;
  static constexpr std::size_t kMaxPorts = 4096;

 private:
  std::shared_ptr<const DevlinkReport> read(Clock::time_point now);
  void read_all(Clock::time_point now, DevlinkReport& report);
  bool find_family(DevlinkReport& report);
  void read_reporters(DevlinkReport& report);
  void read_facts(DevlinkReport& report);
  void read_ports(DevlinkReport& report);
  void read_versions(DevlinkReport& report);

  host::Host& host_;
  const host::devlink::Handle handle_;

  // Used only by the reading in progress.
  std::unique_ptr<host::Netlink> netlink_;
  std::optional<std::uint16_t> family_;
  task::Schedule facts_schedule_{kFactsInterval};
  bool versions_wanted_ = true;
  std::vector<host::devlink::Port> ports_;
  std::vector<host::devlink::Version> versions_;

  task::BackgroundValue<DevlinkReport> report_;
};

/// The devlink instances of a host, without duplicates. Thread-safe.
class DevlinkInstances {
 public:
  /// `background` and `host` outlive it.
  DevlinkInstances(task::Background& background, host::Host& host) : background_(background), host_(host) {}

  /// The instance of the device at `path` below sysfs; nullptr if there is no device.
  std::shared_ptr<DevlinkInstance> find(const std::string& path);

 private:
  task::Background& background_;
  host::Host& host_;
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<DevlinkInstance>> known_;
};

}  // namespace rdma_exporter::collectors
