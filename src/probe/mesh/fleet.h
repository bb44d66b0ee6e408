// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "asio/socket.h"
#include "discovery/target_list.h"
#include "probe/agent/options.h"
#include "probe/mesh/selection.h"

namespace rdma_exporter::probe {

/// What this host knows about itself, to find its entry in a list that all hosts share.
struct OwnHost {
  std::string name{};
  std::set<std::string> addresses{};                 ///< of its network interfaces
  std::vector<asio::ip::tcp::endpoint> listening{};  ///< its responder; empty: it has none
  bool operator==(const OwnHost&) const = default;

  /// Whether a connection to `address` reaches this daemon: name or address are this host's, and so is the
  /// port, because a host may run several daemons. The name may have the domain or not.
  bool is(const discovery::Address& address) const;
};

/// The discovered hosts, and which of them this host probes.
class Fleet {
 public:
  Fleet() = default;
  /// `port`: that of all peers; 0: as in the list.
  Fleet(const discovery::TargetList& list, const SelectOptions& options, std::uint16_t port, OwnHost own);

  /// Returns the local device that has an RDMA address, or an empty string.
  using DeviceOf = std::function<std::string(const std::string& address)>;

  /// Targets in the epoch, permanent ones first. Which devices probe depends on this host's own entries: an
  /// entry applies to the device in its label `device`, or the device that has its address; a single entry
  /// without either applies to all devices; several entries are rails of their own. A host without an entry
  /// probes as if it had one of each kind.
  std::vector<Target> choose(std::uint64_t epoch, const DeviceOf& device_of) const;
  std::size_t size() const { return peers_.size(); }
  /// Whether this host is in the list.
  bool has_self() const;

 private:
  struct Peer {
    Target target;
    std::string circle;  ///< of a mesh, the rail; else one for all
    std::string kind;
    bool own = false;
  };
  struct Part {
    Scope scope;
    std::size_t ring;
    std::size_t rotate;
  };
  /// This host as a member of a ring.
  struct Place {
    std::string id;
    std::string circle;
  };
  void name_peers();
  void join();
  std::vector<Part> parts(const Place& place) const;

  SelectOptions options_;
  OwnHost own_;
  std::map<std::string, Peer> peers_;  ///< by "host:port", the name that all hosts use
  std::vector<Place> places_;
  std::map<std::string, Selection> selections_;  ///< by circle
};

}  // namespace rdma_exporter::probe
