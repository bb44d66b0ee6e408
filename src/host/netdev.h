// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/device.h"
#include "host/host.h"

namespace rdma_exporter::host {

/// How a network interface is related to an RDMA port.
enum class NetdevRole : std::uint8_t {
  port,  ///< the interface whose addresses are the port's GIDs
};

/// One registration of a network interface behind an RDMA port, in our network namespace. Immutable: an
/// interface that is renamed or registered anew is another Netdev.
struct Netdev {
  std::string name;
  std::string path;  ///< below sysfs: "class/net/eth0"
  FileId id;         ///< of that directory
  NetdevRole role = NetdevRole::port;
  std::string device;      ///< the RDMA device it belongs to; the first by name where several share it
  std::uint32_t port = 0;  ///< and its port
  std::string driver;      ///< "mlx5_core", "bnxt_en"; empty for software interfaces
};

/// The network interfaces behind the RDMA ports, each once. Called by one worker at a time, once per
/// collection.
class Netdevs {
 public:
  using Clock = std::chrono::steady_clock;
  using Devices = std::span<const std::shared_ptr<const Device>>;

  explicit Netdevs(Host& host);

  /// Looks for interfaces that came, went or were renamed. Known ones are checked in every call, which ports
  /// belong to which interface is asked again when `devices_changed`, when an interface has gone, and every
  /// kInterval. True when the list changed.
  bool refresh(Devices devices, bool devices_changed, Clock::time_point now);

  using List = std::vector<std::shared_ptr<const Netdev>>;
  /// Sorted by name.
  const List& all() const { return netdevs_; }

  static constexpr std::chrono::seconds kInterval{10};

 private:
  bool all_unchanged() const;
  List find(Devices devices);
  std::string port_netdev(const Device& device, std::uint32_t port);
  std::shared_ptr<const Netdev> load(const std::string& name, const Device& device, std::uint32_t port);

  Host& host_;
  std::unique_ptr<Netlink> netlink_;
  List netdevs_;
  std::optional<Clock::time_point> next_;
};

}  // namespace rdma_exporter::host
