// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/channel/frame.h"

#include <gtest/gtest.h>

namespace rdma_exporter::probe {
namespace {

QpPairAddress full_address() {
  QpPairAddress address;
  address.gid = *gid_of_address("10.9.0.1");
  address.mtu = 3;
  address.one_sided = {0x123456, 0xabcdef};
  address.echo = {0x123457, 1};
  return address;
}

Connect some_connect() {
  Connect connect;
  connect.device = "mlx5_0";
  connect.rail = "mlx5_1";
  connect.address = full_address();
  connect.wanted = kGrantWrite | kGrantEcho;
  connect.traffic_class = 106;
  connect.flow_label = 0x1234;
  connect.timeout = 14;
  connect.retry = 3;
  return connect;
}

Connect managed_connect() {
  Connect connect = some_connect();
  connect.transport = Transport::rdma_cm;
  return connect;
}

Accept some_accept() {
  Accept accept;
  accept.device = "mlx5_0";
  accept.address = full_address();
  accept.granted = kGrantWrite;
  return accept;
}

Accept managed_accept() {
  Accept accept = some_accept();
  accept.cm_address = CmAddress{40000, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
  return accept;
}

std::vector<Frame> one_of_each() {
  return {Hello{1, "pod", "gpu-1"},
          Welcome{1, "gpu-2"},
          some_connect(),
          some_accept(),
          managed_connect(),
          managed_accept(),
          Reject{RejectReason::limit, 0},
          Ready{},
          Ping{7, true}};
}

TEST(Frame, IsReadAsItWasWritten) {
  for (const Frame& frame : one_of_each()) {
    const auto bytes = encode(frame);
    EXPECT_LE(bytes.size(), kMaxFrame);
    EXPECT_EQ(frame_length(bytes).value(), bytes.size());
    const auto decoded = decode(bytes);
    ASSERT_TRUE(decoded) << frame.index();
    EXPECT_EQ(*decoded, frame) << frame.index();
  }
}

TEST(Frame, HasTheSameBytesInEveryVersion) {
  std::vector<std::byte> expected;
  for (const char byte : std::string("RXP\x01\x01\x00\x00\x0b\x01\x03pod\x05gpu-1", 19))
    expected.push_back(static_cast<std::byte>(byte));
  EXPECT_EQ(encode(Hello{1, "pod", "gpu-1"}), expected);
}

TEST(Frame, IsRefusedIfAnyByteIsMissingOrTooMany) {
  for (const Frame& frame : one_of_each()) {
    auto bytes = encode(frame);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(decode(std::span(bytes).first(size))) << frame.index() << " cut to " << size;
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(decode(bytes)) << frame.index();
    bytes[7] = static_cast<std::byte>(std::to_integer<unsigned>(bytes[7]) + 1);
    EXPECT_FALSE(decode(bytes)) << frame.index() << ": a byte behind the last field";
  }
}

TEST(Frame, OfAnotherProtocolIsRefusedAtItsFirstByte) {
  const std::string http = "G";
  EXPECT_FALSE(frame_length(std::as_bytes(std::span(http))));
  EXPECT_EQ(frame_length({}).value(), 0U);
}

TEST(Frame, ThatWouldBeTooLongIsRefusedByItsHeader) {
  auto bytes = encode(Hello{});
  bytes.resize(kFrameHeader);
  bytes[6] = std::byte{0xff};
  const auto length = frame_length(bytes);
  ASSERT_FALSE(length);
  EXPECT_EQ(length.error().kind, core::Errc::too_long);
  const auto announced = [&](std::size_t body) {
    bytes[6] = static_cast<std::byte>(body >> 8);
    bytes[7] = static_cast<std::byte>(body & 0xff);
    return frame_length(bytes);
  };
  EXPECT_EQ(announced(kMaxFrame - kFrameHeader).value(), kMaxFrame);
  EXPECT_FALSE(announced(kMaxFrame - kFrameHeader + 1));
}

TEST(Frame, OfAnotherVersionIsUnderstoodOnlyUntilTheVersionIsAgreed) {
  for (const Frame& frame : one_of_each()) {
    auto bytes = encode(frame);
    bytes[3] = std::byte{9};
    const bool every = std::holds_alternative<Hello>(frame) || std::holds_alternative<Welcome>(frame) ||
                       std::holds_alternative<Reject>(frame);
    EXPECT_EQ(decode(bytes).has_value(), every) << frame.index();
  }
  auto hello = encode(Hello{200, "", ""});
  EXPECT_EQ(std::get<Hello>(decode(hello).value()).version, 200);
}

TEST(Frame, SaysInTheFirstVersionWhatItHasWordsFor) {
  for (const Frame& frame : one_of_each()) {
    const bool managed = frame == Frame(managed_connect()) || frame == Frame(managed_accept());
    EXPECT_EQ(encode(frame)[3], std::byte{managed ? kManagedVersion : std::uint8_t{1}}) << frame.index();
  }
  // The fields of one version in a frame of the other.
  for (const Frame& frame :
       {Frame(some_connect()), Frame(some_accept()), Frame(managed_connect()), Frame(managed_accept())}) {
    auto bytes = encode(frame);
    bytes[3] ^= std::byte{1 ^ kManagedVersion};
    EXPECT_FALSE(decode(bytes)) << frame.index();
  }
}

template <typename T>
bool taken(const T& frame) {
  return decode(encode(frame)).has_value();
}

TEST(Frame, RefusesAbsurdValues) {
  const auto refused = [](auto change) {
    Connect connect = some_connect();
    change(connect);
    return !taken(connect);
  };
  EXPECT_TRUE(taken(some_connect()));
  EXPECT_TRUE(refused([](Connect& c) { c.address.mtu = 0; }));
  EXPECT_TRUE(refused([](Connect& c) { c.address.mtu = 6; }));
  EXPECT_TRUE(refused([](Connect& c) { c.address.one_sided.number = 1; })) << "a management queue pair";
  EXPECT_TRUE(refused([](Connect& c) { c.address.one_sided.number = 0x1000000; }));
  EXPECT_TRUE(refused([](Connect& c) { c.address.one_sided.psn = 0x1000000; }));
  EXPECT_TRUE(refused([](Connect& c) { c.address.echo = c.address.one_sided; })) << "one queue pair twice";
  EXPECT_TRUE(refused([](Connect& c) { c.address.echo = c.address.one_sided = {}; })) << "no queue pair";
  EXPECT_TRUE(refused([](Connect& c) { c.address.gid = {}; }));
  EXPECT_TRUE(refused([](Connect& c) { c.address.lid = 4; })) << "Ethernet has no LID";
  EXPECT_TRUE(refused([](Connect& c) { c.wanted = 0; }));
  EXPECT_TRUE(refused([](Connect& c) { c.wanted = 8; }));
  EXPECT_TRUE(refused([](Connect& c) { c.service_level = 16; }));
  EXPECT_TRUE(refused([](Connect& c) { c.flow_label = 0x100000; }));
  EXPECT_TRUE(refused([](Connect& c) { c.timeout = 0; })) << "for ever";
  EXPECT_TRUE(refused([](Connect& c) { c.retry = 7; })) << "for ever";
  EXPECT_TRUE(refused([](Connect& c) { c.device = "mlx5\n0"; })) << "goes into logs";
}

TEST(Frame, RefusesADoorWithoutAPort) {
  Accept accept = managed_accept();
  accept.cm_address->port = 0;
  EXPECT_FALSE(taken(accept));
}

TEST(Frame, TakesAnInfinibandEndWithoutAGid) {
  Connect connect = some_connect();
  connect.address.link = LinkLayer::infiniband;
  connect.address.gid = {};
  connect.address.lid = 17;
  EXPECT_TRUE(taken(connect));
  connect.address.lid = 0;
  EXPECT_FALSE(taken(connect));
}

TEST(Frame, HasIwarpOnlyWhereTheConnectionManagerConnects) {
  Connect connect = managed_connect();
  connect.address.link = LinkLayer::iwarp;
  EXPECT_TRUE(taken(connect));
  connect.address.lid = 4;
  EXPECT_FALSE(taken(connect));
  connect.address.lid = 0;
  connect.transport = Transport::verbs;
  EXPECT_FALSE(taken(connect)) << "a peer of version 1 does not know it";
}

TEST(Frame, CutsLongNames) {
  const std::string name(200, 'x');
  const auto decoded = decode(encode(Hello{1, name, name}));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<Hello>(*decoded).host, name.substr(0, kMaxFrameText));
}

TEST(Frame, NamesEveryRefusal) {
  for (unsigned reason = 1; reason <= 9; ++reason)
    EXPECT_TRUE(rejected_name(static_cast<RejectReason>(reason)).starts_with("rejected_")) << reason;
}

}  // namespace
}  // namespace rdma_exporter::probe
