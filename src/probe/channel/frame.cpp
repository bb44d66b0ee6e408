// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/channel/frame.h"

#include <algorithm>
#include <array>

#include "probe/channel/frame_bytes.h"

namespace rdma_exporter::probe {
namespace {

constexpr std::array<std::uint8_t, 3> kMagic{'R', 'X', 'P'};
constexpr std::uint32_t kMax24 = 0xffffff;
constexpr std::uint32_t kMaxFlowLabel = 0xfffff;
constexpr std::uint8_t kAllGrants = kGrantWrite | kGrantRead | kGrantEcho;

// The type byte is the index in the variant, starting at 1.
std::uint8_t type_of(const Frame& frame) { return static_cast<std::uint8_t>(frame.index() + 1); }
constexpr std::uint8_t kTypes = std::variant_size_v<Frame>;
// Frames that are sent before both sides have agreed on a version: HELLO, WELCOME, REJECT.
constexpr bool in_every_version(std::uint8_t type) { return type == 1 || type == 2 || type == 5; }
static_assert(std::is_same_v<std::variant_alternative_t<0, Frame>, Hello> &&
              std::is_same_v<std::variant_alternative_t<1, Frame>, Welcome> &&
              std::is_same_v<std::variant_alternative_t<4, Frame>, Reject>);

// The lowest version that has the frame's fields.
std::uint8_t version_of(const Frame& frame) {
  const auto* connect = std::get_if<Connect>(&frame);
  const auto* accept = std::get_if<Accept>(&frame);
  if (std::holds_alternative<Resume>(frame) || (connect != nullptr && connect->place) ||
      (accept != nullptr && accept->token))
    return kResumeVersion;
  const bool managed = (connect != nullptr && connect->transport == Transport::rdma_cm) ||
                       (accept != nullptr && accept->cm_address.has_value());
  return managed ? kManagedVersion : 1;
}

void put(ByteWriter& to, const QpNumbers& numbers) {
  to.u32(numbers.number);
  to.u32(numbers.psn);
}

void put(ByteWriter& to, const QpPairAddress& address) {
  to.u8(static_cast<std::uint8_t>(address.link));
  to.raw(address.gid.bytes);
  to.u16(address.lid);
  to.u8(address.mtu);
  put(to, address.one_sided);
  put(to, address.echo);
}

struct Put {
  ByteWriter& to;

  void operator()(const Hello& hello) const {
    to.u8(hello.version);
    to.text(hello.cluster, kMaxFrameText);
    to.text(hello.host, kMaxFrameText);
  }
  void operator()(const Welcome& welcome) const {
    to.u8(welcome.version);
    to.text(welcome.host, kMaxFrameText);
  }
  void operator()(const Connect& connect) const {
    to.text(connect.device, kMaxFrameText);
    to.text(connect.rail, kMaxFrameText);
    put(to, connect.address);
    to.u8(connect.wanted);
    to.u8(connect.traffic_class);
    to.u8(connect.service_level);
    to.u32(connect.flow_label);
    to.u8(connect.timeout);
    to.u8(connect.retry);
    if (connect.transport == Transport::rdma_cm || connect.place)
      to.u8(static_cast<std::uint8_t>(connect.transport));
    if (!connect.place) return;
    to.u8(connect.place->place);
    to.u8(connect.place->of);
  }
  void operator()(const Accept& accept) const {
    to.text(accept.device, kMaxFrameText);
    to.u8(accept.port);
    put(to, accept.address);
    to.u8(accept.granted);
    if (accept.cm_address || accept.token) {
      const CmAddress cm_address = accept.cm_address.value_or(CmAddress{});
      to.u16(cm_address.port);
      to.raw(cm_address.token);
    }
    if (accept.token) to.raw(*accept.token);
  }
  void operator()(const Reject& reject) const {
    to.u8(static_cast<std::uint8_t>(reject.reason));
    to.u16(reject.os_errno);
  }
  void operator()(const Ready& /*ready*/) const {}
  void operator()(const Ping& ping) const {
    to.u32(ping.number);
    to.u8(ping.answer ? 1 : 0);
  }
  void operator()(const Resume& resume) const { to.raw(resume.token); }
};

QpNumbers get_qp(ByteReader& from) {
  QpNumbers numbers;
  numbers.number = from.u32(kMax24);
  numbers.psn = from.u32(kMax24);
  // 0 and 1 are the management queue pairs of every port; here 0 means "none", and then there is no PSN
  // either.
  from.require(numbers.number != 1 && (numbers.number != 0 || numbers.psn == 0));
  return numbers;
}

QpPairAddress get_address(ByteReader& from, std::uint8_t version) {
  QpPairAddress address;
  address.link = static_cast<LinkLayer>(from.u8(1, version >= kManagedVersion ? 3 : 2));
  from.raw(address.gid.bytes);
  address.lid = from.u16();
  address.mtu = from.u8(1, 5);
  address.one_sided = get_qp(from);
  address.echo = get_qp(from);
  const bool infiniband = address.link == LinkLayer::infiniband;
  from.require(infiniband ? address.lid != 0 || !address.gid.zero()
                          : address.lid == 0 && !address.gid.zero());
  from.require(address.one_sided.number != 0 || address.echo.number != 0);
  from.require(address.one_sided.number != address.echo.number);
  return address;
}

Frame get(ByteReader& from, std::uint8_t /*version*/, Hello hello) {
  hello.version = from.u8(1);
  hello.cluster = from.text(kMaxFrameText);
  hello.host = from.text(kMaxFrameText);
  return hello;
}

Frame get(ByteReader& from, std::uint8_t /*version*/, Welcome welcome) {
  welcome.version = from.u8(1, kProtocolVersion);
  welcome.host = from.text(kMaxFrameText);
  return welcome;
}

Frame get(ByteReader& from, std::uint8_t version, Connect connect) {
  connect.device = from.text(kMaxFrameText);
  connect.rail = from.text(kMaxFrameText);
  connect.address = get_address(from, version);
  connect.wanted = from.u8(1, kAllGrants);
  connect.traffic_class = from.u8();
  connect.service_level = from.u8(0, 15);
  connect.flow_label = from.u32(kMaxFlowLabel);
  connect.timeout = from.u8(1, 31);  // 0 means forever, and so does retry 7 on Soft-RoCE
  connect.retry = from.u8(0, 6);
  constexpr auto kManaged = static_cast<std::uint8_t>(Transport::rdma_cm);
  if (version < kManagedVersion) return connect;
  // Version 2 is written only if rdma_cm is used.
  connect.transport = static_cast<Transport>(from.u8(version >= kResumeVersion ? 1 : kManaged, kManaged));
  if (version < kResumeVersion) return connect;
  Rail place;
  place.place = from.u8();
  place.of = from.u8(1);
  from.require(place.place < place.of);
  connect.place = place;
  return connect;
}

Frame get(ByteReader& from, std::uint8_t version, Accept accept) {
  accept.device = from.text(kMaxFrameText);
  accept.port = from.u8(1);
  accept.address = get_address(from, version);
  accept.granted = from.u8(1, kAllGrants);
  if (version < kManagedVersion) return accept;
  CmAddress cm_address;
  cm_address.port = from.u16();
  from.raw(cm_address.token);
  if (version < kResumeVersion) from.require(cm_address.port != 0);
  if (cm_address.port != 0) accept.cm_address = cm_address;
  from.require(cm_address.port != 0 || cm_address == CmAddress{});
  if (version < kResumeVersion) return accept;
  accept.token.emplace();
  from.raw(*accept.token);
  return accept;
}

Frame get(ByteReader& from, std::uint8_t /*version*/, Reject reject) {
  reject.reason = static_cast<RejectReason>(from.u8(1, 10));
  reject.os_errno = from.u16(4095);
  return reject;
}

Frame get(ByteReader& /*from*/, std::uint8_t /*version*/, Ready ready) { return ready; }

Frame get(ByteReader& from, std::uint8_t /*version*/, Ping ping) {
  ping.number = from.u32();
  ping.answer = from.u8(0, 1) == 1;
  return ping;
}

Frame get(ByteReader& from, std::uint8_t version, Resume resume) {
  from.require(version >= kResumeVersion);
  from.raw(resume.token);
  return resume;
}

// Parses the body of the type with the index `type` - 1.
template <std::size_t Index = 0>
Frame get_body(ByteReader& from, std::uint8_t version, std::uint8_t type) {
  if constexpr (Index + 1 < std::variant_size_v<Frame>) {
    if (type != Index + 1) return get_body<Index + 1>(from, version, type);
  }
  return get(from, version, std::variant_alternative_t<Index, Frame>{});
}

}  // namespace

std::vector<std::byte> encode(const Frame& frame) {
  ByteWriter body;
  std::visit(Put{body}, frame);
  const std::vector<std::byte> bytes = body.take();
  ByteWriter header;
  header.raw(kMagic);
  header.u8(version_of(frame));
  header.u8(type_of(frame));
  header.u8(0);
  header.u16(bytes.size());
  std::vector<std::byte> whole = header.take();
  whole.insert(whole.end(), bytes.begin(), bytes.end());
  return whole;
}

core::Result<std::size_t> frame_length(std::span<const std::byte> bytes) {
  // Checks the bytes received so far: a peer that speaks another protocol need not send eight of them.
  const std::size_t magic = std::min(bytes.size(), kMagic.size());
  for (std::size_t i = 0; i < magic; ++i)
    if (std::to_integer<std::uint8_t>(bytes[i]) != kMagic[i]) return core::parse_error("magic");
  if (bytes.size() < kFrameHeader) return 0;
  ByteReader header(bytes.subspan(kMagic.size(), kFrameHeader - kMagic.size()));
  const std::uint8_t version = header.u8(1);
  const std::uint8_t type = header.u8(1, kTypes);
  header.u8(0, 0);
  const std::size_t length = header.u16();
  if (!header.complete() || (version > kProtocolVersion && !in_every_version(type)))
    return core::parse_error("header");
  if (kFrameHeader + length > kMaxFrame) return core::too_long_error();
  return kFrameHeader + length;
}

core::Result<Frame> decode(std::span<const std::byte> bytes) {
  const auto length = frame_length(bytes);
  if (!length) return tl::unexpected(length.error());
  if (*length == 0 || *length != bytes.size()) return core::parse_error("length");
  ByteReader body(bytes.subspan(kFrameHeader));
  Frame frame =
      get_body(body, std::to_integer<std::uint8_t>(bytes[3]), std::to_integer<std::uint8_t>(bytes[4]));
  if (!body.complete()) return core::parse_error("body");
  return frame;
}

std::string_view rejected_name(RejectReason reason) {
  static constexpr std::array<std::string_view, 11> kNames{"",
                                                           "rejected_version",
                                                           "rejected_cluster",
                                                           "rejected_limit",
                                                           "rejected_no_device",
                                                           "rejected_no_address",
                                                           "rejected_not_granted",
                                                           "rejected_set_up",
                                                           "rejected_protocol",
                                                           "rejected_shutdown",
                                                           "rejected_lease"};
  return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace rdma_exporter::probe
