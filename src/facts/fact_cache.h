// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/kernel_text.h"
#include "facts/cached.h"
#include "facts/facts.h"
#include "facts/netdev_cache.h"
#include "host/host.h"
#include "host/topology/device.h"
#include "host/topology/gid_table.h"
#include "host/topology/netdev.h"
#include "host/topology/pci.h"

// The facts that collectors show and checks judge: each is read by one function and at most once, whoever
// needs it first. Each call may block for as long as the kernel or a driver's firmware takes.
namespace rdma_exporter::facts {

/// The GIDs of a port, and what could not be read.
struct PortGids {
  Fact<host::GidList> gids = unread();
  std::vector<std::string> netdevs;      ///< interfaces that have these GIDs, by slot
  std::vector<core::Error> slot_errors;  ///< EINVAL, ENOENT: an empty slot
  std::vector<core::Error> netdev_errors;
};

/// The traffic classes that apply to connections of a port which do not request one.
struct PortClasses {
  Fact<std::optional<std::uint32_t>> forced = unread();  ///< on all packets, by the driver (MLNX_OFED)
  Fact<std::optional<std::uint64_t>> preset = unread();  ///< by rdma_cm
};
PortClasses read_classes(host::HostFs& sysfs, const std::string& device, std::uint32_t port);

/// The link of a port.
struct PortLink {
  Fact<std::uint32_t> state = unread();
  Fact<std::uint32_t> physical_state = unread();
  Fact<core::LinkRate> rate = unread();  ///< read only while the port is ACTIVE

  bool operator==(const PortLink& other) const;
};

/// The adapter's end of its PCIe link; for a VF, that of its physical function.
struct AdapterEnd {
  host::PciFunction function;  ///< of the device itself
  std::string path;            ///< of the function that has the link
  PcieEnd link;
  std::vector<core::Error> errors;  ///< of `link`
};

/// The facts of one port.
class PortCache {
 public:
  PortCache(host::Host& host, std::shared_ptr<const host::Device> device, std::uint32_t number);

  Fact<std::string> link_layer(const Wanted& wanted);
  /// Whether somebody has read that the link is Ethernet. Never waits.
  bool is_ethernet() const;
  Cached<PortLink>::Value port_link(const Wanted& wanted);
  /// For whoever reads it in each scrape.
  void put_link(const PortLink& link, Clock::time_point now) { link_.put(link, now); }
  Cached<PortGids>::Value gids(const Wanted& wanted);
  /// Opens the verbs device.
  Cached<Fact<host::PortMtu>>::Value mtu(const Wanted& wanted);
  Cached<PortClasses>::Value classes(const Wanted& wanted);

 private:
  PortLink read_link();
  PortGids read_gids();

  host::Host& host_;
  const std::shared_ptr<const host::Device> device_;
  const std::uint32_t number_;
  const std::string path_;
  host::GidTable table_;  ///< used only while gids_ is read
  Cached<Fact<std::string>> link_layer_;
  Cached<PortLink> link_;
  Cached<PortGids> gids_;
  Cached<Fact<host::PortMtu>> mtu_;
  Cached<PortClasses> classes_;
};

/// The facts of one registration of a device. `host` outlives it.
class DeviceCache {
 public:
  DeviceCache(host::Host& host, std::shared_ptr<const host::Device> device);

  /// `number` is one of the device's ports.
  PortCache& port(std::uint32_t number) { return ports_.at(number); }
  Cached<AdapterEnd>::Value adapter(const Wanted& wanted);
  /// Opens the verbs device. What it said once is not asked again.
  Cached<Fact<host::DeviceLimits>>::Value limits(const Wanted& wanted);
  Fact<std::string> firmware(const Wanted& wanted);
  Fact<std::string> board_id(const Wanted& wanted);
  Fact<std::string> node_type(const Wanted& wanted);
  /// Of its PCI function; unread() without one.
  Fact<std::string> numa_node(const Wanted& wanted);

  bool is_of(const std::shared_ptr<const host::Device>& device) const { return device_ == device; }

 private:
  AdapterEnd read_adapter(const AdapterEnd* last);

  host::Host& host_;
  const std::shared_ptr<const host::Device> device_;
  std::map<std::uint32_t, PortCache> ports_;
  unsigned adapter_readings_ = 0;  ///< used only while the next is in progress
  Cached<AdapterEnd> adapter_;
  Cached<Fact<host::DeviceLimits>> limits_;
  Cached<Fact<std::string>> firmware_;
  Cached<Fact<std::string>> board_id_;
  Cached<Fact<std::string>> node_type_;
  Cached<Fact<std::string>> numa_node_;
};

/// The facts of all devices and interfaces, each for as long as somebody holds them. Thread-safe.
class FactCache {
 public:
  std::shared_ptr<DeviceCache> of(host::Host& host, const std::shared_ptr<const host::Device>& device);
  std::shared_ptr<NetdevCache> of(const host::Netdev& netdev);

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<DeviceCache>> devices_;
  std::vector<std::pair<host::FileId, std::weak_ptr<NetdevCache>>> netdevs_;
};

}  // namespace rdma_exporter::facts
