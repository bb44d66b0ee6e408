// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"
#include "host/module/module.h"
#include "host/topology/netdev.h"
#include "task/background.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {

/// The result of reading a module.
struct ModuleReport {
  std::chrono::steady_clock::time_point read_at;
  host::ModuleFacts facts;
  host::ModuleReadings readings;
  std::string info_labels;  ///< of rdma_netdev_module_info
};

/// Reads the module of one interface when told to, and keeps the result. Identity and thresholds are read if
/// the link has come or gone and every kFactsInterval, measurements every time. Shared by its job and the
/// reading in progress, which may be stuck in the kernel after the job is gone. Thread-safe except for
/// read(), which runs one at a time, between claim() and its end.
class ModuleWatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// `host` outlives it and has netlink.
  ModuleWatch(host::Host& host, std::shared_ptr<const host::Netdev> netdev,
              std::chrono::milliseconds interval);

  /// True if a reading is due and none is in progress: the caller must then have it read. After a failed
  /// reading, the next one is due after twice the time, up to kMaxWait. It is due at once if
  /// `carrier_changes`, the kernel's count, has changed: somebody may have plugged in a module.
  bool claim(Clock::time_point now, const std::string& carrier_changes);
  /// May block in the kernel for as long as the firmware takes.
  void read();

  bool is_busy() const;
  /// The last result; nullptr before the first successful reading and after a failed one.
  std::shared_ptr<const ModuleReport> latest() const;
  /// Reasons (core::reason()) of readings that failed but should have worked, without duplicates.
  std::vector<std::string_view> take_errors();
  void wait_for_first(std::chrono::milliseconds at_most);

  static constexpr std::chrono::minutes kFactsInterval{10};
  static constexpr std::chrono::minutes kMaxWait{30};

 private:
  core::Result<ModuleReport> make_report();
  core::Result<std::vector<std::byte>> read_range(const host::ModuleRange& range);
  core::Result<std::uint16_t> family();

  const std::shared_ptr<const host::Netdev> netdev_;
  host::HostFs& sysfs_;

  // Used only by the reading in progress.
  const std::unique_ptr<host::Netlink> netlink_;
  std::optional<std::uint16_t> family_;
  std::optional<host::ModuleFacts> facts_;
  bool facts_wanted_ = true;

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool busy_ = false;
  Clock::time_point claimed_;
  task::Schedule schedule_;
  task::Schedule facts_schedule_{kFactsInterval};
  std::string carrier_changes_;
  std::vector<std::string_view> errors_;
  std::shared_ptr<const ModuleReport> latest_;
};

/// Reads modules in the background, one at a time for the whole host, because a reading holds the kernel's
/// RTNL lock. Thread-safe.
class ModuleQueue : public std::enable_shared_from_this<ModuleQueue> {
 public:
  explicit ModuleQueue(task::Background& background) : background_(background) {}

  /// `watch` must have been claimed, so that each one is queued at most once.
  void add(std::shared_ptr<ModuleWatch> watch);
  /// Call this regularly while a watch is busy.
  void tend() { background_.tend(); }

 private:
  std::shared_ptr<ModuleWatch> next();

  task::Background& background_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<ModuleWatch>> waiting_;
  bool running_ = false;
};

}  // namespace rdma_exporter::collectors
