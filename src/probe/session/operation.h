// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
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

std::string_view to_string(Op op);
std::string_view to_string(Stage stage);
std::string_view to_string(RttClock clock);

/// How to connect; automatic: by rdma_cm if queue pairs cannot be moved by hand (iWARP), otherwise by verbs.
enum class TransportChoice : unsigned char { automatic, verbs, rdma_cm };

}  // namespace rdma_exporter::probe
