// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/result.h"
#include "probe/rdma/gid.h"

// Frames of the control connection, on which two peers agree on a connection of queue pairs, and which stays
// open as its lease. A frame is a header of 8 bytes and a body; numbers are big-endian, texts start with a
// length byte.
//
//     magic "RXP" | version (1) | type (1) | 0 (1) | length of the body (2)
//
// A body is accepted only if it has exactly the fields of its type and version, each within its range. HELLO,
// WELCOME and REJECT are the same in all versions, so that a peer with another version can be told. A frame
// is written in the lowest version that has its fields, so that older peers understand as much as possible.
namespace rdma_exporter::probe {

inline constexpr std::uint8_t kProtocolVersion = 3;
inline constexpr std::uint8_t kManagedVersion = 2;  ///< the first version with Transport::rdma_cm
inline constexpr std::uint8_t kResumeVersion = 3;   ///< the first version with Resume and Rail
inline constexpr std::size_t kFrameHeader = 8;
inline constexpr std::size_t kMaxFrame = 512;
inline constexpr std::size_t kMaxFrameText = 64;  ///< longest name in a frame

/// From the client, first: its identity.
struct Hello {
  std::uint8_t version = kProtocolVersion;  ///< the highest that it speaks; >= 1
  std::string cluster;                      ///< both sides must have the same, so that two fleets do not mix
  std::string host;                         ///< for the peer's log
  bool operator==(const Hello&) const = default;
};

/// From the server, in answer: the version of everything that follows, at most the client's.
struct Welcome {
  std::uint8_t version = kProtocolVersion;
  std::string host;
  bool operator==(const Welcome&) const = default;
};

/// What carries a queue pair's packets. These values are sent: never renumber them.
enum class LinkLayer : std::uint8_t {
  ethernet = 1,    ///< RoCE
  infiniband = 2,  ///< or Omni-Path
  iwarp = 3,       ///< TCP, with Transport::rdma_cm only: version 2
};

/// One end of a queue pair. If connection managers connect it, this only says that it exists.
struct QpNumbers {
  std::uint32_t number = 0;  ///< 24 bits, never 0 or 1
  std::uint32_t psn = 0;     ///< the first packet sequence number of this end, 24 bits, random
  bool operator==(const QpNumbers&) const = default;
};

/// One end of a connection: how the peer addresses it, and how it wants its answers. ACKs carry the traffic
/// class and flow label of the end that sends them.
struct QpPairAddress {
  LinkLayer link = LinkLayer::ethernet;
  Gid gid;
  std::uint16_t lid = 0;  ///< InfiniBand, else 0
  std::uint8_t mtu = 0;   ///< as enum ibv_mtu, 1 (256) to 5 (4096)
  QpNumbers one_sided;    ///< number 0: none
  QpNumbers echo;         ///< number 0: none
  bool operator==(const QpPairAddress&) const = default;
};

/// How queue pairs are connected.
enum class Transport : std::uint8_t {
  verbs = 1,    ///< each end moves its own, with the other's data from the frames
  rdma_cm = 2,  ///< through the kernel's connection managers
};

/// Where a responder's connection manager waits for the requests of one session, and the token that they must
/// contain.
struct CmAddress {
  std::uint16_t port = 0;  ///< of RDMA_PS_TCP, at the address of the responder's end; never 0
  std::array<std::uint8_t, 16> token{};
  bool operator==(const CmAddress&) const = default;
};

/// Identifies an interrupted lease when it is resumed.
using LeaseToken = std::array<std::uint8_t, 16>;

/// A device's place among the rails of its host, in the order of their PCI addresses.
struct Rail {
  std::uint8_t place = 0;  ///< below `of`
  std::uint8_t of = 1;     ///< number of rails, never 0
  bool operator==(const Rail&) const = default;
};

/// Bits of a set of operations.
inline constexpr std::uint8_t kGrantWrite = 1;
inline constexpr std::uint8_t kGrantRead = 2;
inline constexpr std::uint8_t kGrantEcho = 4;

/// From the client: create your ends of these queue pairs.
struct Connect {
  std::string device;  ///< the server's, by name; empty: the server chooses
  std::string rail;    ///< this client's device, a hint for that choice
  QpPairAddress address;
  std::uint8_t wanted = 0;  ///< kGrant bits, not 0
  std::uint8_t traffic_class = 0;
  std::uint8_t service_level = 0;  ///< 0 to 15
  std::uint32_t flow_label = 0;    ///< 20 bits; 0: left to the kernel
  std::uint8_t timeout = 0;        ///< of the server's end: RcTiming
  std::uint8_t retry = 0;
  Transport transport = Transport::verbs;  ///< rdma_cm: version 2
  std::optional<Rail> place{};             ///< of the client's device: version 3
  bool operator==(const Connect&) const = default;
};

/// From the server: created, and ready to receive.
struct Accept {
  std::string device;
  std::uint8_t port = 1;
  QpPairAddress address;
  std::uint8_t granted = 0;
  std::optional<CmAddress> cm_address{};  ///< for Transport::rdma_cm: version 2
  std::optional<LeaseToken> token{};      ///< the lease can be resumed: version 3
  bool operator==(const Accept&) const = default;
};

/// These values are sent: never renumber them.
enum class RejectReason : std::uint8_t {
  version = 1,      ///< no version in common
  cluster = 2,      ///< another cluster
  limit = 3,        ///< no queue pairs or sessions left, or too many connects
  no_device = 4,    ///< no device of that name, or none with this link layer
  no_address = 5,   ///< the device has no usable GID
  not_granted = 6,  ///< none of the requested operations
  set_up = 7,       ///< a queue pair could not be created
  protocol = 8,     ///< an unexpected frame
  shutdown = 9,
  lease = 10,  ///< to Resume: the lease no longer exists
};

/// From the server, instead of Welcome or Accept; the connection ends.
struct Reject {
  RejectReason reason = RejectReason::protocol;
  std::uint16_t os_errno = 0;  ///< of set_up, else 0
  bool operator==(const Reject&) const = default;
};

/// From the client, instead of Connect: continue a lease whose connection broke. Version 3.
struct Resume {
  LeaseToken token{};
  bool operator==(const Resume&) const = default;
};

/// From the client: its ends are ready, too. From the server, in answer to Resume: its own still are.
struct Ready {
  bool operator==(const Ready&) const = default;
};

/// From either side of the open lease; answered with the same number and `answer` set.
struct Ping {
  std::uint32_t number = 0;
  bool answer = false;
  bool operator==(const Ping&) const = default;
};

using Frame = std::variant<Hello, Welcome, Connect, Accept, Reject, Ready, Ping, Resume>;

/// The bytes of a frame. Texts longer than kMaxFrameText are cut.
std::vector<std::byte> encode(const Frame& frame);

/// Length of the frame that starts with `bytes`; 0: the header is incomplete. Refuses a wrong magic, an
/// unknown version or type, and lengths above kMaxFrame before reading anything else.
core::Result<std::size_t> frame_length(std::span<const std::byte> bytes);

/// `bytes` must be one whole frame.
core::Result<Frame> decode(std::span<const std::byte> bytes);

/// Value of the label `reason` on the refused side: "rejected_limit".
std::string_view rejected_name(RejectReason reason);

}  // namespace rdma_exporter::probe
