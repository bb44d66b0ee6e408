// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"
#include "host/topology/device.h"

namespace rdma_exporter::host {

/// How a network interface is related to an RDMA port.
enum class NetdevRole : std::uint8_t {
  port,      ///< the interface whose addresses are the port's GIDs
  lower,     ///< the interface below a VLAN or macvlan that is the port's: the one with driver statistics
  physical,  ///< the physical function's interface, where the port's is a virtual function: it has the wire
  bond,      ///< a bond that is the port's interface, or that the port's interface is a member of
  member,    ///< a further member of such a bond: with RoCE LAG one RDMA port uses several wires
};

/// "port", "lower", ...: as in the label `role`.
std::string_view to_string(NetdevRole role);

/// One registration of a network interface behind an RDMA port, in our network namespace. Immutable: an
/// interface that is renamed or registered again, or gets another role, is another Netdev.
struct Netdev {
  std::string name;
  std::string path;  ///< below sysfs: "class/net/eth0"
  FileId id;         ///< of that directory
  NetdevRole role = NetdevRole::port;
  std::string device;      ///< the RDMA device it belongs to; the first by name where several share it
  std::uint32_t port = 0;  ///< and its port
  std::string driver;      ///< "mlx5_core", "bnxt_en"; empty for software interfaces

  bool operator==(const Netdev&) const = default;
};

/// The network interfaces behind the RDMA ports, each once: a port's own, and those that carry its wire.
/// Left out: representors of switchdev mode, VLANs and macvlans themselves (the interface below them counts),
/// and what is in another network namespace. Called by one worker at a time, once per collection.
class Netdevs {
 public:
  using Clock = std::chrono::steady_clock;
  using Devices = std::span<const std::shared_ptr<const Device>>;

  explicit Netdevs(Host& host);

  /// Looks for interfaces that came, went or were renamed. Known ones are checked in every call, or, where
  /// everything is told (Changes::complete), when the kernel told of any interface. Which ports belong to
  /// which interface is asked again when `devices_changed`, when the kernel told of devices that came, went
  /// or changed their interface (Changes::all), when an interface has gone, and every kInterval; every
  /// kQuietInterval while nothing was told and either everything is told or sysfs lists the same interfaces
  /// as in the call before. True when the list changed.
  bool refresh(Devices devices, bool devices_changed, Clock::time_point now);

  using List = std::vector<std::shared_ptr<const Netdev>>;
  /// Sorted by name.
  const List& all() const { return netdevs_; }

  static constexpr std::chrono::seconds kInterval{10};
  static constexpr std::chrono::seconds kQuietInterval{60};

 private:
  /// A name and its relation, before it is known whether it is there.
  struct Candidate {
    std::string name;
    NetdevRole role;
    const Device* device;
    std::uint32_t port;
  };
  using Candidates = std::vector<Candidate>;
  struct Representor {
    std::string name;
    FileId id;
    bool operator==(const Representor&) const = default;
  };

  std::vector<DirEntry> list() const;
  bool all_listed() const;
  bool all_unchanged(const std::vector<DirEntry>& entries) const;
  List find(Devices devices);
  std::string port_netdev(const Device& device, std::uint32_t port);
  void resolve(Candidate& candidate, Candidates& all);
  std::shared_ptr<const Netdev> load(const Candidate& candidate);
  bool is_known_representor(const Representor& netdev);

  Host& host_;
  List netdevs_;
  std::optional<std::size_t> listed_;  ///< fingerprint of the last list
  std::vector<std::uint64_t> links_;  ///< inode numbers of the links in class/net to them, at the last search
  /// Results of the last search, and of the running one: recognising a representor waits for the kernel's
  /// RTNL lock, so each interface is queried once.
  std::vector<Representor> representors_;
  std::vector<Representor> representors_found_;
  std::optional<Clock::time_point> next_;
  std::uint64_t seen_changes_ = 0;
  std::uint64_t seen_links_ = 0;
};

}  // namespace rdma_exporter::host
