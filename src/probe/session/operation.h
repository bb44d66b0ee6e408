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
  write,  ///< RDMA WRITE of 0 bytes: answered by the far adapter, no memory of the peer is touched
  read,   ///< RDMA READ of 0 bytes: the same through the adapter's READ engine
  echo,   ///< SEND, answered by a SEND of the far process
};

/// How far a probe, or the connection it needs, got. Value of the label `stage`.
enum class Stage : unsigned char {
  resolve,   ///< name of the target -> address
  control,   ///< the TCP connection, and later the lease that it is
  auth,      ///< TLS
  exchange,  ///< the frames on it
  gid,       ///< this port's own address
  modify,    ///< queue pair to RTR and RTS; the kernel resolves the neighbour here
  op,        ///< a one-sided operation
  echo,      ///< an echo
  local,     ///< this host: out of memory, device gone
};

/// Why there is no result. `reason` is static text of a bounded set: a completion status ("retry_exc_err"),
/// an errno name ("ECONNREFUSED"), or one of kDeadline .. below.
struct Failure {
  Stage stage;
  std::string_view reason;
  bool operator==(const Failure&) const = default;
};

inline constexpr std::string_view kDeadline = "deadline";
inline constexpr std::string_view kNotConnected = "not_connected";  ///< between two connections
inline constexpr std::string_view kPeerClosed = "peer_closed";      ///< the peer ended the lease
inline constexpr std::string_view kBadClock = "adapter_clock";      ///< its stamps cannot be
inline constexpr std::string_view kUntrusted = "tls";               ///< certificates or secrets do not fit

/// What a round trip was taken by. Value of the label `clock`.
enum class RttClock : unsigned char {
  host,  ///< this host's, from before the post to after the poll
  nic,   ///< the adapter's, between the ends of two operations one after the other
};

/// What one operation came to.
struct Completion {
  int status = 0;                                        ///< as enum ibv_wc_status
  std::chrono::nanoseconds rtt{};                        ///< by `clock`; status 0 only
  std::optional<std::chrono::nanoseconds> peer_delay{};  ///< echo: the peer's process had it, by its clock
  bool slept = false;  ///< rtt includes interrupt and wake-up: seen after a sleep
  RttClock clock = RttClock::host;
};

std::string_view to_string(Op op);
std::string_view to_string(Stage stage);
std::string_view to_string(RttClock clock);

/// How a connection is to come about; automatic: by rdma_cm where queue pairs cannot be moved by hand
/// (iWARP), else by verbs.
enum class TransportChoice : unsigned char { automatic, verbs, rdma_cm };

}  // namespace rdma_exporter::probe
