// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/counters/tables/counter_row.h"
#include "collectors/settings.h"
#include "core/job.h"
#include "core/metric.h"
#include "core/policy.h"
#include "host/host.h"
#include "host/topology/device.h"

namespace rdma_exporter::facts {
class FactCache;
}
namespace rdma_exporter::host {
class PortStates;
struct Netdev;
}  // namespace rdma_exporter::host
namespace rdma_exporter::task {
class Background;
}

namespace rdma_exporter::collectors {

using core::AsyncEventsPolicy;
using core::RawPolicy;

class CarryOver;
class NetdevSharing;

/// New and empty.
std::shared_ptr<CarryOver> make_carry_over();
std::shared_ptr<NetdevSharing> make_netdev_sharing();
std::shared_ptr<facts::FactCache> make_fact_cache();

/// What collectors need from the configuration and the host. Outlives them.
struct Context {
  host::Host& host;
  RawPolicy raw = RawPolicy::unmapped;
  std::chrono::seconds forget_after{86400};
  EthtoolOptions ethtool = {};
  AsyncEventsPolicy async_events = AsyncEventsPolicy::automatic;
  ResourceSettings resource = {};
  ConfigCheckSettings config_check = {};
  task::Background* background = nullptr;  ///< nullptr: nothing that takes longer than a scrape is done
  /// Outlives the configuration.
  std::shared_ptr<CarryOver> carry_over = make_carry_over();
  core::FamilySelection metrics =
      {};  ///< families of the page; sources that feed no other family need not be read
  /// Names of the collectors that run; empty: all.
  std::set<std::string, std::less<>> enabled = {};
  std::shared_ptr<NetdevSharing> netdevs = make_netdev_sharing();
  ModuleSettings module = {};
  BurstSettings burst = {};
  std::shared_ptr<facts::FactCache> facts = make_fact_cache();

  bool runs(std::string_view collector) const { return enabled.empty() || enabled.contains(collector); }
};

/// A device and the state that its jobs share.
struct DeviceHandle {
  std::shared_ptr<const host::Device> device;
  std::shared_ptr<host::PortStates> port_states;
};

/// Turns devices into jobs. Called by one worker at a time during discovery; its jobs run concurrently with
/// it and with each other.
class Collector {
 public:
  virtual ~Collector() = default;
  /// Makes the job of this collector for a device, once per registration of the device. Must not touch the
  /// device: the first read belongs to the job. Returns nullptr if the collector reads nothing from devices.
  virtual std::shared_ptr<core::Job> device_job(const DeviceHandle& handle) {
    (void)handle;
    return nullptr;
  }
  /// Makes the job of this collector for a network interface behind an RDMA port, once per registration of
  /// the interface. Returns nullptr if it reads nothing from interfaces.
  virtual std::shared_ptr<core::Job> netdev_job(const std::shared_ptr<const host::Netdev>& netdev) {
    (void)netdev;
    return nullptr;
  }
  /// Makes a job for the host as a whole, or returns nullptr. Called once.
  virtual std::shared_ptr<core::Job> host_job() { return nullptr; }
  /// Tells the collector which devices exist now. Called when the list has changed.
  virtual void devices_changed(std::span<const DeviceHandle> devices) { (void)devices; }
  /// Ends the threads that the collector has started itself. Returns true if none still runs at the deadline;
  /// until then the host object has to stay alive. May be called again.
  virtual bool stop(std::chrono::steady_clock::time_point deadline) {
    (void)deadline;
    return true;
  }
};

/// Makes a collector with nothing but a job for each device: CollectorSpec::make. The job is constructed from
/// the context and the handle.
template <typename DeviceJob>
std::unique_ptr<Collector> make_per_device(const Context& context) {
  class PerDevice : public Collector {
   public:
    explicit PerDevice(const Context& with) : context_(with) {}
    std::shared_ptr<core::Job> device_job(const DeviceHandle& handle) override {
      return std::make_shared<DeviceJob>(context_, handle);
    }

   private:
    const Context& context_;
  };
  return std::make_unique<PerDevice>(context);
}

/// The same with a job for each network interface, constructed from the context and the interface.
template <typename NetdevJob>
std::unique_ptr<Collector> make_per_netdev(const Context& context) {
  class PerNetdev : public Collector {
   public:
    explicit PerNetdev(const Context& with) : context_(with) {}
    std::shared_ptr<core::Job> netdev_job(const std::shared_ptr<const host::Netdev>& netdev) override {
      return std::make_shared<NetdevJob>(context_, netdev);
    }

   private:
    const Context& context_;
  };
  return std::make_unique<PerNetdev>(context);
}

/// The same with one job for the host as a whole, constructed from the context.
template <typename HostJob>
std::unique_ptr<Collector> make_for_host(const Context& context) {
  class ForHost : public Collector {
   public:
    explicit ForHost(const Context& with) : context_(with) {}
    std::shared_ptr<core::Job> host_job() override { return std::make_shared<HostJob>(context_); }

   private:
    const Context& context_;
  };
  return std::make_unique<ForHost>(context);
}

/// One collector, as --describe, the flags and the contract tests see it.
struct CollectorSpec {
  std::string_view name;   ///< as in --collector.NAME and in the label `collector`
  std::string_view help;   ///< what it exports, in one line
  std::string_view reads;  ///< from where, for docs/CONFIGURATION.md, whose links it may have
  /// Not for what needs a capability, or costs more than a collector of files does: users turn that on.
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
