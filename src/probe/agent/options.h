// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "asio/socket.h"
#include "core/text/pattern.h"
#include "discovery/sources.h"
#include "probe/channel/tls.h"
#include "probe/mesh/selection.h"
#include "probe/rdma/connection/rc_timing.h"
#include "probe/session/observer.h"
#include "probe/session/operation.h"

// What the probe is told to do, as plain data.
namespace rdma_exporter::probe {

inline constexpr std::uint16_t kDefaultPort = 9401;

/// A peer to probe.
struct Target {
  std::string name;     ///< value of the label `target`, unique among those of one own port
  std::string address;  ///< of its side channel: name or address
  std::uint16_t port = kDefaultPort;
  std::string group{};    ///< value of the label `target_group`
  std::string device{};   ///< the peer's device; empty: the peer chooses one
  std::string from{};     ///< own device; empty: each
  std::string source{};   ///< own RDMA address; empty: the one that suits
  bool rotating = false;  ///< for an epoch: counted together with the others of its kind
  bool operator==(const Target&) const = default;
  auto operator<=>(const Target&) const = default;
};

/// How each target is probed.
struct SessionOptions {
  std::vector<Op> operations{Op::write, Op::read, Op::echo};  ///< of write and read the first that works
  std::chrono::milliseconds interval{1'000};
  std::chrono::milliseconds echo_interval{5'000};
  TransportChoice transport = TransportChoice::automatic;
  unsigned flows = 1;  ///< connections to each target, each with a flow label of its own
  unsigned traffic_class = 106;
  unsigned service_level = 0;
  RcTiming timing{};
  std::string cluster{};
  std::string host{};  ///< what this host calls itself
  Credentials credentials{};
  bool operator==(const SessionOptions&) const = default;

  bool has(Op op) const { return std::find(operations.begin(), operations.end(), op) != operations.end(); }
  bool one_sided() const { return has(Op::write) || has(Op::read); }
  /// Those of a device. On iWARP a WRITE is complete when TCP has taken it, whether there is a peer or not
  /// (RFC 5040, 5.5): its time would say nothing. READ, which has an answer, stands in for it.
  std::vector<Op> operations_on(bool iwarp) const {
    if (!iwarp || !has(Op::write)) return operations;
    return has(Op::echo) ? std::vector{Op::read, Op::echo} : std::vector{Op::read};
  }
};

struct ResponderSettings {
  bool enabled = false;
  /// Addresses to listen on; of each the first endpoint that the host can give.
  std::vector<std::vector<asio::ip::tcp::endpoint>> listen{};
  bool insecure = false;
  bool operator==(const ResponderSettings&) const = default;
};

/// Of each device.
struct Limits {
  unsigned queue_pairs = 256;  ///< half of them for sessions of its own, half for its peers'
  unsigned probes_per_second = 500;
  unsigned connects_per_second = 10;
  unsigned cpu_percent = 10;  ///< of one processor, for its thread; above it the probes become rarer
  bool operator==(const Limits&) const = default;
};

/// Whom of the hosts that discovery brings this host probes; see selection.h.
struct SelectOptions {
  std::string label = "rail";  ///< that makes the kinds
  std::vector<Scope> scopes{Scope::same};
  unsigned ring = 4;
  unsigned rotate = 4;
  std::chrono::seconds epoch{300};
  bool operator==(const SelectOptions&) const = default;
};

struct AgentOptions {
  std::vector<Target> targets{};
  discovery::SourceOptions sources{};
  std::uint16_t discovered_port = 0;  ///< 0: as discovery says
  SelectOptions select{};
  bool hostmesh = false;  ///< own devices probe each other
  SessionOptions session{};
  ResponderSettings responder{};
  Limits limits{};
  core::Pattern device_include{};   ///< for whole names; unset: all
  unsigned histogram_targets = 64;  ///< up to so many targets have histograms of their own
  std::shared_ptr<Observer> observer{};
  bool operator==(const AgentOptions&) const = default;

  bool wanted() const { return responder.enabled || hostmesh || !targets.empty() || !sources.empty(); }
};

}  // namespace rdma_exporter::probe
