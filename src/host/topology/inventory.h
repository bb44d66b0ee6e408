// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/host.h"
#include "host/netlink/nldev/nldev.h"
#include "host/topology/device.h"

namespace rdma_exporter::host {

/// Where sysfs lists them.
inline constexpr const char* kDevices = "class/infiniband";

/// Which RDMA devices exist. sysfs says so; netlink adds the index and the protocol. Called by one worker at
/// a time, once per collection.
class Inventory {
 public:
  /// Which driver gives a port counters with these names; unknown when that is not certain.
  using Recognise = std::function<Driver(std::span<const std::string> counters)>;

  /// `wanted` decides by name, before anything of a device is read: an excluded device costs nothing and can
  /// break nothing. `recognise` is asked about a device that does not say its driver: a recorded tree or a
  /// container may lack the link to the PCI function.
  Inventory(Host& host, std::function<bool(const std::string&)> wanted, Recognise recognise = nullptr);

  using Clock = std::chrono::steady_clock;

  /// Looks for devices that came, went or were registered again. True when the list changed. No RDMA at all
  /// is an empty list, not an error.
  ///
  /// Names are listed in every call: a container in a user namespace hears no uevents and is not told so
  /// (lib/kobject_uevent.c uevent_net_init). It looks behind them when they changed, when the kernel told of
  /// devices (Changes::all), while a device is not whole, and every kInterval; and where not everything is
  /// told (Changes::complete) in every call, unless inode numbers show that the names stand for the same
  /// devices.
  core::Result<bool> refresh(Clock::time_point now = Clock::now());

  static constexpr std::chrono::seconds kInterval{60};

  /// Names that are listed but lead nowhere, in this refresh and the one before: a link whose target is not
  /// mounted.
  const std::vector<std::string>& unreachable() const { return unreachable_; }

  using Devices = std::vector<std::shared_ptr<const Device>>;
  /// Sorted by name.
  const Devices& devices() const { return devices_; }

 private:
  using NetlinkDevices = std::unordered_map<std::string, nldev::Device>;

  bool is_quiet(const std::vector<DirEntry>& entries, bool told) const;
  bool look(const std::vector<DirEntry>& entries);
  NetlinkDevices netlink_devices();
  std::shared_ptr<const Device> find(const std::string& name, const FileId& id, const NetlinkDevices& netlink,
                                     std::set<std::string>& settled);
  std::shared_ptr<const Device> known(const std::string& name, const FileId& id) const;
  std::shared_ptr<Device> load(const std::string& name, const FileId& id);
  std::vector<std::uint32_t> list_ports(const std::string& path);
  Driver find_driver(const Device& device);
  Driver driver_without_link(const Device& device);
  Driver driver_of_counters(const Device& device);
  Driver driver_of_netdev(const Device& device);

  Host& host_;
  std::function<bool(const std::string&)> wanted_;
  Recognise recognise_;
  std::unique_ptr<Netlink> netlink_;
  bool netlink_whole_ = true;               ///< the last dump came to its end
  std::vector<DirEntry> entries_;           ///< as listed in the last look
  std::optional<std::size_t> fingerprint_;  ///< of the last list
  std::optional<Clock::time_point> next_look_;
  std::uint64_t seen_changes_ = 0;
  Devices devices_;
  /// Names of devices that looked the same twice, with ports. The kernel shows a device before its attributes
  /// and ports (core/device.c enable_device_and_get, core/sysfs.c ib_setup_port_attrs): until then it is
  /// looked at again.
  std::set<std::string> settled_;
  std::vector<std::string> missing_;  ///< listed in the last refresh but not there: perhaps just gone
  std::vector<std::string> unreachable_;
};

}  // namespace rdma_exporter::host
