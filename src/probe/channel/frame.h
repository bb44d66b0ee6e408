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

// Frames of the side channel, over which two peers agree on a connection of queue pairs and which stays open
// as its lease. A frame is a header of 8 bytes and a body; numbers are big-endian, texts have a length byte
// in front.
//
//     magic "RXP" | version (1) | type (1) | 0 (1) | length of the body (2)
//
// A body is taken only if it has exactly the fields of its type and version, each within its range. HELLO,
// WELCOME and REJECT are the same in all versions, so that a peer of another version can be told so. A frame
// is written in the lowest version that has its fields: what a peer of version 1 can be asked for, it
// understands.
namespace rdma_exporter::probe {

inline constexpr std::uint8_t kProtocolVersion = 2;
inline constexpr std::uint8_t kManagedVersion = 2;  ///< first that has Transport::rdma_cm
inline constexpr std::size_t kFrameHeader = 8;
inline constexpr std::size_t kMaxFrame = 512;
inline constexpr std::size_t kMaxFrameText = 64;  ///< longest name in a frame

/// Client, first: who it is.
struct Hello {
  std::uint8_t version = kProtocolVersion;  ///< highest that it speaks; >= 1
  std::string cluster;                      ///< both sides must have the same, so that two fleets do not mix
  std::string host;                         ///< for the peer's log
  bool operator==(const Hello&) const = default;
};

/// Server, in answer: the version of all that follows, at most the client's.
struct Welcome {
  std::uint8_t version = kProtocolVersion;
  std::string host;
  bool operator==(const Welcome&) const = default;
};

/// What carries a queue pair's packets. Values travel: never renumber.
enum class LinkLayer : std::uint8_t {
  ethernet = 1,    ///< RoCE
  infiniband = 2,  ///< or Omni-Path
  iwarp = 3,       ///< TCP, with Transport::rdma_cm only: version 2
};

/// One end of a queue pair. Of one that connection managers connect it only says that there is one.
struct QpEnd {
  std::uint32_t number = 0;  ///< 24 bits, never 0 or 1
  std::uint32_t psn = 0;     ///< first packet sequence number that this end sends, 24 bits, random
  bool operator==(const QpEnd&) const = default;
};

/// One end of a connection. What the peer has to know to address it, and how it wants its answers: ACKs carry
/// the traffic class and flow label of the end that sends them.
struct PathEnd {
  LinkLayer link = LinkLayer::ethernet;
  Gid gid;
  std::uint16_t lid = 0;  ///< InfiniBand, else 0
  std::uint8_t mtu = 0;   ///< as enum ibv_mtu, 1 (256) to 5 (4096)
  QpEnd one_sided;        ///< number 0: none
  QpEnd echo;             ///< number 0: none
  bool operator==(const PathEnd&) const = default;
};

/// How queue pairs come to be connected.
enum class Transport : std::uint8_t {
  verbs = 1,    ///< each end moves its own, with what the frames say of the other
  rdma_cm = 2,  ///< through the kernel's connection managers
};

/// Where a responder's connection manager waits for the requests of one session, and the word that they have
/// to bring.
struct CmAddress {
  std::uint16_t port = 0;  ///< of RDMA_PS_TCP, at the address of the responder's end; never 0
  std::array<std::uint8_t, 16> token{};
  bool operator==(const CmAddress&) const = default;
};

/// Operations, as bits of a set.
inline constexpr std::uint8_t kGrantWrite = 1;
inline constexpr std::uint8_t kGrantRead = 2;
inline constexpr std::uint8_t kGrantEcho = 4;

/// Client: make your ends of these queue pairs.
struct Connect {
  std::string device;  ///< the server's, by name; empty: the server chooses
  std::string rail;    ///< this client's device, a hint for that choice
  PathEnd end;
  std::uint8_t wanted = 0;  ///< kGrant bits, not 0
  std::uint8_t traffic_class = 0;
  std::uint8_t service_level = 0;  ///< 0 to 15
  std::uint32_t flow_label = 0;    ///< 20 bits; 0: left to the kernel
  std::uint8_t timeout = 0;        ///< of the server's end: RcTiming
  std::uint8_t retry = 0;
  Transport transport = Transport::verbs;  ///< rdma_cm: version 2
  bool operator==(const Connect&) const = default;
};

/// Server: made, and ready to receive.
struct Accept {
  std::string device;
  std::uint8_t port = 1;
  PathEnd end;
  std::uint8_t granted = 0;
  std::optional<CmAddress> cm_address{};  ///< for Transport::rdma_cm: version 2
  bool operator==(const Accept&) const = default;
};

/// Values travel: never renumber.
enum class RejectReason : std::uint8_t {
  version = 1,      ///< no version in common
  cluster = 2,      ///< another cluster
  limit = 3,        ///< queue pairs or sessions used up, or too many connects
  no_device = 4,    ///< no device of that name, or none that suits the link layer
  no_address = 5,   ///< the device has no usable GID
  not_granted = 6,  ///< none of the wanted operations
  set_up = 7,       ///< a queue pair could not be made
  protocol = 8,     ///< a frame that does not belong here
  shutdown = 9,
};

/// Server, instead of Welcome or Accept; the connection ends.
struct Reject {
  RejectReason reason = RejectReason::protocol;
  std::uint16_t os_errno = 0;  ///< of set_up, else 0
  bool operator==(const Reject&) const = default;
};

/// Client: its ends are ready too.
struct Ready {
  bool operator==(const Ready&) const = default;
};

/// Either side of the open lease; answered by the same number with `answer` set.
struct Ping {
  std::uint32_t number = 0;
  bool answer = false;
  bool operator==(const Ping&) const = default;
};

using Frame = std::variant<Hello, Welcome, Connect, Accept, Reject, Ready, Ping>;

/// The bytes of a frame. Texts longer than kMaxFrameText are cut.
std::vector<std::byte> encode(const Frame& frame);

/// Length of the frame that begins with `bytes`; 0: the header is not there yet. Refused, before anything
/// else is read: wrong magic, unknown version or type, longer than kMaxFrame.
core::Result<std::size_t> frame_length(std::span<const std::byte> bytes);

/// `bytes` is one whole frame.
core::Result<Frame> decode(std::span<const std::byte> bytes);

/// Value of the label `reason` on the side that was refused: "rejected_limit".
std::string_view rejected_name(RejectReason reason);

}  // namespace rdma_exporter::probe
