// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "facts/fact_cache.h"
#include "facts/facts.h"
#include "host/host.h"
#include "host/topology/device.h"
#include "host/topology/netdev.h"

// Reads the facts through the seams of the host. Each call may block for as long as the kernel or a driver's
// firmware takes. Thread-safe.
namespace rdma_exporter::facts {

/// Includes what this process and its user are allowed to do; nullopt on a recording or a tree of files.
SystemFacts gather_system(host::Host& host);

/// The value that the vendor's driver forces on all packets of a port takes precedence over rdma_cm's default
/// for connections that do not set one. nullopt: neither is set.
std::optional<TrafficClass> traffic_class(const PortClasses& classes);

/// A PCI function, and where its changeable facts are read. Paths are below sysfs.
struct KnownPci {
  std::shared_ptr<const PciFacts> facts;  ///< of the last reading, which may have many interrupts: not copied
  std::string path;
  std::vector<std::string> path_to_root;  ///< the functions whose links are examined
};

/// What one reading of a device keeps for the next, which then reads less. One thread at a time.
struct DeviceMemory {
  std::shared_ptr<DeviceCache> cache;
  std::vector<std::shared_ptr<NetdevCache>> netdev_caches;  ///< of the interfaces that it had
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
  FactCache& cache;
  Wanted wanted;
};

DeviceFacts gather_device(host::Host& host, const std::shared_ptr<const host::Device>& device,
                          DeviceMemory& memory, const Pass& pass);

}  // namespace rdma_exporter::facts
