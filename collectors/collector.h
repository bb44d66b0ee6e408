// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/counters/carry_over.h"
#include "collectors/counters/counter_row.h"
#include "collectors/resource/resource_settings.h"
#include "core/background.h"
#include "core/job.h"
#include "core/metric.h"
#include "core/text/pattern.h"
#include "host/events/port_states.h"
#include "host/host.h"
#include "host/topology/device.h"
#include "host/topology/netdev.h"

namespace rdma_exporter::collectors {

/// Which counters without a curated name are exported under the raw family of their source.
enum class RawPolicy : unsigned char {
  unmapped,  ///< those without a curated name: every counter appears exactly once
  all,       ///< every counter, curated ones a second time
  none,      ///< no raw families
};

/// How the collector ethtool reads driver statistics.
struct EthtoolOptions {
  std::chrono::milliseconds interval{10'000};  ///< of one network interface, at least
  /// Which statistics without a curated name are exported: those whose name matches the first (unset: none)
  /// and not the second.
  core::Pattern raw_include{};
  core::Pattern raw_exclude{};
};

/// How the collector config_check works.
struct ConfigCheckSettings {
  std::chrono::milliseconds interval{60'000};  ///< from one reading to the next
  std::chrono::milliseconds first_wait{0};     ///< so long the first run waits for the first readings
};

/// Which devices' asynchronous events are listened to.
enum class AsyncEventsPolicy : unsigned char {
  automatic,  ///< of drivers that let go of a device although we have it open (host::lets_go_while_open)
  on,         ///< of all
  off,
};

/// What collectors need of the configuration and the host. Outlives them.
struct Context {
  host::Host& host;
  RawPolicy raw = RawPolicy::unmapped;
  std::chrono::seconds forget_after{86400};
  EthtoolOptions ethtool = {};
  AsyncEventsPolicy async_events = AsyncEventsPolicy::automatic;
  ResourceSettings resource = {};
  ConfigCheckSettings config_check = {};
  core::Background* background = nullptr;  ///< nullptr: what takes longer than a scrape is not done
  /// Outlives the configuration.
  std::shared_ptr<CarryOver> carry_over = std::make_shared<CarryOver>();
};

/// A device and what its jobs share.
struct DeviceHandle {
  std::shared_ptr<const host::Device> device;
  std::shared_ptr<host::PortStates> port_states;
};

/// Turns devices into jobs. Called by one worker at a time during discovery; its jobs run concurrently with
/// it and with each other.
class Collector {
 public:
  virtual ~Collector() = default;
  /// The job of this collector for a device, made once per registration of the device. Must not touch the
  /// device: the first read belongs to the job. nullptr if the collector reads nothing of devices.
  virtual std::shared_ptr<core::Job> device_job(const DeviceHandle& handle) {
    (void)handle;
    return nullptr;
  }
  /// The job of this collector for a network interface behind an RDMA port, made once per registration of the
  /// interface; nullptr if it reads nothing there. The job's device() is the interface's name.
  virtual std::shared_ptr<core::Job> netdev_job(const std::shared_ptr<const host::Netdev>& netdev) {
    (void)netdev;
    return nullptr;
  }
  /// A job for the host as a whole, or nullptr. Made once.
  virtual std::shared_ptr<core::Job> host_job() { return nullptr; }
  /// All devices there are now; called when the list has changed.
  virtual void devices_changed(std::span<const DeviceHandle> devices) { (void)devices; }
};

/// What becomes of the counters of one source, for --describe and the contract tests.
struct CounterTable {
  std::string_view source;  ///< "ports/N/counters", "ports/N/hw_counters", "hw_counters"
  std::string_view driver;  ///< "any", "mlx5", ...
  std::span<const CounterRow> rows;
};

/// One line of the list of collectors: what --describe, the flags and the contract tests know of it.
struct CollectorSpec {
  std::string_view name;  ///< as in --collector.NAME and in the label `collector`
  std::string_view help;
  bool enabled_by_default;
  /// Every family the collector can emit, in the order of the page.
  std::span<const core::MetricDesc* const> (*families)();
  std::unique_ptr<Collector> (*make)(const Context& context);
  /// Tables of kernel counters, for collectors that have them.
  std::vector<CounterTable> (*tables)() = [] { return std::vector<CounterTable>(); };
};

/// All collectors, in the order of collectors/CMakeLists.txt.
std::span<const CollectorSpec* const> all_collectors();

}  // namespace rdma_exporter::collectors
