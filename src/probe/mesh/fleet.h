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

/// What this host is, to find itself in a list that all hosts share.
struct OwnHost {
  std::string name{};
  std::set<std::string> addresses{};                 ///< of its network interfaces
  std::vector<asio::ip::tcp::endpoint> listening{};  ///< its responder; empty: it has none
  bool operator==(const OwnHost&) const = default;

  /// Whether who calls `address` gets this daemon: name or address are this host's, and so is the port,
  /// because one host may have several daemons. A name is this host's with or without the domain.
  bool is(const discovery::Address& address) const;
};

/// The hosts that discovery brought, and whom of them this host probes.
class Fleet {
 public:
  Fleet() = default;
  /// `port`: 0: as the list says, else of all.
  Fleet(const discovery::TargetList& list, const SelectOptions& options, std::uint16_t port, OwnHost own);

  /// Gives the own device that has an RDMA address, or an empty text.
  using DeviceOf = std::function<std::string(const std::string& address)>;

  /// Targets of the epoch, those that stay first. This host's own entry says whose turn it is: its label
  /// `device`, or the device that has its address. One entry without either stands for all devices; of
  /// several the others are rails of their own. A host without an entry probes as if it had one in each kind.
  std::vector<Target> choose(std::uint64_t epoch, const DeviceOf& device_of) const;
  std::size_t size() const { return peers_.size(); }

 private:
  struct Peer {
    Target target;
    std::string kind;
    bool own = false;
  };
  void name_peers();
  void join();

  SelectOptions options_;
  OwnHost own_;
  std::map<std::string, Peer> peers_;  ///< by "host:port", what all hosts call it
  std::vector<std::string> places_;    ///< this host's, in the circles
  Selection selection_{std::vector<Member>()};
};

}  // namespace rdma_exporter::probe
