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
#include <vector>

#include "facts/facts.h"
#include "host/host.h"
#include "host/topology/device.h"
#include "host/topology/gid_table.h"
#include "host/topology/netdev.h"

// Reads the facts through the seams of the host. Each call may block for as long as the kernel or a driver's
// firmware takes. Thread-safe.
namespace rdma_exporter::facts {

/// Includes what this process and its user are allowed to do; nullopt on a recording or a tree of files.
SystemFacts gather_system(host::Host& host);

/// The value that the vendor's driver forces on all packets of a port takes precedence over rdma_cm's default
/// for connections that do not set one. nullopt: neither is set.
std::optional<TrafficClass> read_traffic_class(host::HostFs& sysfs, const std::string& device,
                                               std::uint32_t port);

/// A PCI function, and where its changeable facts are read. Paths are below sysfs.
struct KnownPci {
  PciFacts facts;
  std::string path;
  std::vector<std::string> way;  ///< the functions whose links are examined, up to the root
};

/// What one reading of a device keeps for the next, which then reads less. Facts that do not change while the
/// device is registered are read in the first two readings, because the kernel shows a device before its
/// attributes, and then in every kWholeEvery-th. One thread at a time.
struct DeviceMemory {
  static constexpr unsigned kWholeEvery = 10;

  std::map<std::uint32_t, host::GidTable> gids;  ///< by port
  std::optional<host::DeviceLimits> limits;      ///< fixed while the device is registered
  std::optional<host::Netdevs> netdevs;
  std::string protocol;
  std::string board_id;
  std::optional<KnownPci> pci;
  unsigned looks = 0;
};

/// The addresses of all interfaces of the host, without link-local ones. The kernel lists only all of them at
/// once, so one list serves every device that is looked at in the same pass. Thread-safe; who asks while
/// another thread reads the list waits for it.
class HostAddresses {
 public:
  using Clock = std::chrono::steady_clock;
  using ByInterface = std::map<std::uint32_t, std::vector<AddressFacts>>;  ///< by ifindex
  using Listed = Fact<std::shared_ptr<const ByInterface>>;

  /// The list as it was at `not_before` or later. May block for as long as the kernel takes.
  Listed since(host::Host& host, Clock::time_point not_before);

 private:
  std::mutex mutex_;
  Clock::time_point read_at_{};
  Listed listed_ = unread();
};

/// What the readings of several devices share.
struct Pass {
  HostAddresses& addresses;
  HostAddresses::Clock::time_point began;  ///< the facts are those of this moment or later
};

DeviceFacts gather_device(host::Host& host, const std::shared_ptr<const host::Device>& device,
                          DeviceMemory& memory, const Pass& pass);

}  // namespace rdma_exporter::facts
