// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace rdma_exporter::probe {

using Clock = std::chrono::steady_clock;

/// What a probe does on the wire.
enum class Op : unsigned char {
  write,  ///< RDMA WRITE of 0 bytes: answered by the far adapter, without access to the peer's memory
  read,   ///< RDMA READ of 0 bytes: the same through the adapter's READ engine
  echo,   ///< SEND, answered by a SEND of the far process
};

/// How far a probe, or the connection that it needs, got. Value of the label `stage`.
enum class Stage : unsigned char {
  resolve,   ///< name of the target -> address
  tcp,       ///< the control connection, and later its role as lease
  tls,       ///< mutual authentication
  exchange,  ///< the frames on it
  gid,       ///< this port's address
  modify,    ///< queue pair to RTR and RTS; the kernel resolves the neighbour here
  op,        ///< a one-sided operation
  echo,      ///< an echo
  local,     ///< this host: out of memory, device gone
};

/// True for steps over the control connection, which may use another network and say nothing about the path
/// that the probe measures.
constexpr bool of_control(Stage stage) { return stage <= Stage::exchange; }

/// Why there is no result. `reason` is a string literal from a bounded set: a completion status
/// ("retry_exc_err"), the name of an errno ("ECONNREFUSED"), or one of kDeadline .. below.
struct Failure {
  Stage stage;
  std::string_view reason;
  bool operator==(const Failure&) const = default;
};

inline constexpr std::string_view kDeadline = "deadline";
inline constexpr std::string_view kNotConnected = "not_connected";  ///< between two connections
inline constexpr std::string_view kPeerClosed = "peer_closed";      ///< the peer ended the lease
inline constexpr std::string_view kBadClock = "adapter_clock";      ///< its timestamps are impossible
inline constexpr std::string_view kSuspended = "suspended";  ///< no lease for longer than the peer holds it
inline constexpr std::string_view kUntrusted = "tls";        ///< certificates or secrets do not match

/// The clock of a round trip. Value of the label `clock`.
enum class RttClock : unsigned char {
  host,  ///< this host's, from before the post to after the poll
  nic,   ///< the adapter's, between the ends of two consecutive operations
};

/// Result of one operation.
struct Completion {
  int status = 0;                                        ///< as enum ibv_wc_status
  std::chrono::nanoseconds rtt{};                        ///< by `clock`; status 0 only
  std::optional<std::chrono::nanoseconds> peer_delay{};  ///< echo: time in the peer's process, by its clock
  bool slept = false;  ///< rtt includes interrupt and wake-up: seen after a sleep
  RttClock clock = RttClock::host;
  bool preempted = false;  ///< rtt includes time in which this host did not poll
};

inline std::string_view to_string(Op op) {
  constexpr std::array<std::string_view, 3> kNames{"write", "read", "echo"};
  return kNames[static_cast<std::size_t>(op)];
}
inline std::string_view to_string(Stage stage) {
  constexpr std::array<std::string_view, 9> kNames{"resolve", "tcp", "tls",  "exchange", "gid",
                                                   "modify",  "op",  "echo", "local"};
  return kNames[static_cast<std::size_t>(stage)];
}
inline std::string_view to_string(RttClock clock) { return clock == RttClock::nic ? "nic" : "host"; }

/// How to connect; automatic: by rdma_cm if queue pairs cannot be moved by hand (iWARP), otherwise by verbs.
enum class TransportChoice : unsigned char { automatic, verbs, rdma_cm };

/// The steps of establishing a connection, in order.
enum class ConnectStep : unsigned char {
  tcp,       ///< the peer's name, and the TCP connection to it
  tls,       ///< mutual authentication
  exchange,  ///< both ends' queue pairs are created, and the peer's is connected
  modify,    ///< this end is connected; the kernel resolves the neighbour
};
inline constexpr std::array<std::string_view, 4> kConnectSteps{"tcp", "tls", "exchange", "modify"};

/// Duration of each step of a successful connection, indexed by ConnectStep.
using ConnectTimes = std::array<std::chrono::nanoseconds, kConnectSteps.size()>;

/// Bucket bounds of connect times in seconds. A kernel that fails to resolve a neighbour takes 1 to 3 s.
inline constexpr std::array<double, 13> kConnectBounds{0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064,
                                                       0.128, 0.256, 0.512, 1.024, 2.048, 4.096};

}  // namespace rdma_exporter::probe
