// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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

// Settings of the probe as plain data.
namespace rdma_exporter::probe {

inline constexpr std::uint16_t kDefaultPort = 9401;
/// DSCP 26, ECT(0): what most lossless fabrics use.
inline constexpr unsigned kTrafficClass = 106;

/// A peer to probe.
struct Target {
  std::string name;     ///< value of the label `target`, unique for each local port
  std::string address;  ///< of its control connection: name or address
  std::uint16_t port = kDefaultPort;
  std::string group{};    ///< value of the label `target_group`
  std::string device{};   ///< the peer's device; empty: the peer chooses one
  std::string from{};     ///< this host's device; empty: each
  std::string source{};   ///< this host's RDMA address; empty: a suitable one
  bool rotating = false;  ///< for one epoch; counted together with the others of its kind
  std::string leaf{};     ///< leaf of the peer's adapter according to discovery; empty: unknown
  std::string rail{};     ///< the same
  bool operator==(const Target&) const = default;
  auto operator<=>(const Target&) const = default;
};

/// How to probe each target.
struct SessionOptions {
  std::vector<Op> operations{Op::write, Op::read, Op::echo};  ///< of write and read, the first that works
  std::chrono::milliseconds interval{1'000};
  std::chrono::milliseconds echo_interval{5'000};
  TransportChoice transport = TransportChoice::automatic;
  unsigned flows = 1;                     ///< connections to each target, each with a flow label of its own
  std::optional<unsigned> traffic_class;  ///< unset: the port's own, else kTrafficClass
  unsigned service_level = 0;
  RcTiming timing{};
  std::string cluster{};
  std::string host{};  ///< name of this host
  Credentials credentials{};
  bool operator==(const SessionOptions&) const = default;

  bool has(Op op) const { return std::find(operations.begin(), operations.end(), op) != operations.end(); }
  bool one_sided() const { return has(Op::write) || has(Op::read); }
  /// The operations on a device. On iWARP a WRITE completes as soon as TCP has accepted it, even without a
  /// peer (RFC 5040, 5.5), so its time would be meaningless. READ, which has a response, replaces it.
  std::vector<Op> operations_on(bool iwarp) const {
    if (!iwarp || !has(Op::write)) return operations;
    return has(Op::echo) ? std::vector{Op::read, Op::echo} : std::vector{Op::read};
  }
};

struct ResponderSettings {
  bool enabled = false;
  /// Addresses to listen on; of each, the first endpoint that can be bound.
  std::vector<std::vector<asio::ip::tcp::endpoint>> listen{};
  bool insecure = false;
  bool operator==(const ResponderSettings&) const = default;
};

/// Limits of each device.
struct Limits {
  unsigned queue_pairs = 256;  ///< half of them for its own sessions, half for its peers'
  unsigned probes_per_second = 500;
  unsigned connects_per_second = 10;
  unsigned cpu_percent = 10;  ///< of one processor, for its thread; above it the probes become rarer
  bool operator==(const Limits&) const = default;
};

/// Which of the discovered hosts this host probes; see selection.h.
struct SelectOptions {
  /// This host must be in the list; otherwise it probes nobody. Peers are those of the same `rail`. The next
  /// `ring` of its `leaf` are always probed, and `rotate` in turn: from other leaves, if the list has leaves.
  bool mesh = false;
  std::string label = "rail";  ///< whose values are the kinds
  std::vector<Scope> scopes{Scope::same};
  unsigned ring = 4;
  unsigned rotate = 4;
  std::chrono::seconds epoch{300};
  bool operator==(const SelectOptions&) const = default;
};

/// The traffic class to which this host sets a port; nullopt: none. May block.
using PresetClass = std::function<std::optional<unsigned>(const std::string& device, std::uint8_t port)>;

struct AgentOptions {
  std::vector<Target> targets{};
  discovery::SourceOptions sources{};
  std::uint16_t discovered_port = 0;  ///< 0: as discovered
  SelectOptions select{};
  bool hostmesh = false;  ///< this host's devices probe each other
  SessionOptions session{};
  ResponderSettings responder{};
  Limits limits{};
  core::Pattern device_include{};   ///< matches whole names; unset: all
  unsigned histogram_targets = 64;  ///< up to this many targets have their own histograms
  std::shared_ptr<Observer> observer{};
  bool operator==(const AgentOptions&) const = default;

  bool wanted() const { return responder.enabled || hostmesh || !targets.empty() || !sources.empty(); }
};

}  // namespace rdma_exporter::probe
