// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/lldp/lldp.h"

#include <gtest/gtest.h>

#include "tests/unit/support/lldp_frame.h"

namespace rdma_exporter::host {
namespace {

using namespace std::chrono_literals;
using test::leaf_frame;
using test::LldpFrame;

TEST(LldpTest, ReadsWhatASwitchSays) {
  const LldpNeighbor neighbor = parse_lldp(leaf_frame().bytes()).value();
  EXPECT_EQ(neighbor.chassis_id, "44:38:39:00:00:12");
  EXPECT_EQ(neighbor.port_id, "Ethernet1/7");
  EXPECT_EQ(neighbor.port_description, "to gpu-17 mlx5_0");
  EXPECT_EQ(neighbor.system_name, "leaf-a12");
  EXPECT_EQ(neighbor.management_address, "10.0.0.12");
  EXPECT_EQ(neighbor.ttl, 120s);
}

// 802.1AB tables 8-2 and 8-3: the same kinds of identifier have other numbers in chassis and port.
TEST(LldpTest, ReadsEachKindOfIdentifier) {
  const std::string_view mac("\x00\x11\x22\x33\x44\x55", 6);
  const std::string_view ipv4("\x01\xc0\x00\x02\x01", 5);
  const std::string ipv6 = '\x02' + std::string("\x20\x01\x0d\xb8", 4) + std::string(11, '\0') + '\x01';
  const auto parsed = [](const LldpFrame& frame) { return parse_lldp(frame.bytes()).value(); };
  EXPECT_EQ(parsed(LldpFrame().chassis(5, ipv4).port(3, mac).ttl(1).end()).chassis_id, "192.0.2.1");
  EXPECT_EQ(parsed(LldpFrame().chassis(5, ipv4).port(3, mac).ttl(1).end()).port_id, "00:11:22:33:44:55");
  EXPECT_EQ(parsed(LldpFrame().chassis(5, ipv6).port(4, ipv4).ttl(1).end()).chassis_id, "2001:db8::1");
  EXPECT_EQ(parsed(LldpFrame().chassis(5, ipv6).port(4, ipv4).ttl(1).end()).port_id, "192.0.2.1");
  EXPECT_EQ(parsed(LldpFrame().chassis(7, "rack 4").port(7, "0x1f").ttl(1).end()).chassis_id, "rack 4");
}

TEST(LldpTest, MakesTextOfTheWirePrintableAndShort) {
  LldpFrame frame;
  frame.chassis(7, "a\n\"\x1b[31m\xff").port(7, "p").ttl(9).tlv(5, std::string(511, 'x')).end();
  const LldpNeighbor neighbor = parse_lldp(frame.bytes()).value();
  EXPECT_EQ(neighbor.chassis_id, "a?\"?[31m?");
  EXPECT_EQ(neighbor.system_name.size(), LldpNeighbor::kMaxText);
}

TEST(LldpTest, SkipsWhatItDoesNotKnowAndPadding) {
  LldpFrame frame;
  frame.chassis(7, "c")
      .port(7, "p")
      .ttl(9)
      .tlv(127, std::string("\x00\x80\xc2\x01\x00\x01", 6))
      .tlv(5, "sw")
      .end();
  auto bytes = frame.bytes();
  bytes.resize(bytes.size() + 13, std::byte{0xff});
  EXPECT_EQ(parse_lldp(bytes).value().system_name, "sw");
}

TEST(LldpTest, TakesNoManagementAddressThatIsBroken) {
  for (const std::string_view value : {"", "\x05", "\x20\x01\x0a", "\x05\x07\x0a\x01\x02\x03"}) {
    LldpFrame frame;
    frame.chassis(7, "c").port(7, "p").ttl(9).tlv(8, value).end();
    EXPECT_EQ(parse_lldp(frame.bytes()).value().management_address, "");
  }
}

TEST(LldpTest, RefusesFramesWithoutTheThreeThatComeFirst) {
  EXPECT_FALSE(parse_lldp({}));
  EXPECT_FALSE(parse_lldp(LldpFrame().end().bytes()));
  EXPECT_FALSE(parse_lldp(LldpFrame().port(7, "p").chassis(7, "c").ttl(1).end().bytes())) << "another order";
  EXPECT_FALSE(parse_lldp(LldpFrame().chassis(7, "c").port(7, "p").end().bytes())) << "no time to live";
  EXPECT_FALSE(parse_lldp(LldpFrame().chassis(7, "").port(7, "p").ttl(1).end().bytes())) << "empty chassis";
  EXPECT_FALSE(parse_lldp(LldpFrame().chassis(7, std::string(256, 'c')).port(7, "p").ttl(1).end().bytes()));
  auto arp = leaf_frame().bytes();
  arp[12] = std::byte{0x08};
  arp[13] = std::byte{0x06};
  EXPECT_FALSE(parse_lldp(arp));
}

TEST(LldpTest, AFrameThatWasCutOffIsNoFrame) {
  const auto whole = leaf_frame().bytes();
  const std::size_t without_end = whole.size() - 2;
  for (std::size_t size = 0; size < without_end; ++size) {
    const auto neighbor = parse_lldp(std::span(whole).first(size));
    // Where it was cut between two TLVs it reads like a shorter frame.
    EXPECT_EQ(neighbor ? neighbor->port_id : "Ethernet1/7", "Ethernet1/7") << size;
  }
  EXPECT_FALSE(parse_lldp(std::span(whole).first(without_end - 1)));
}

class LldpNeighborsTest : public ::testing::Test {
 protected:
  void take(const LldpFrame& frame, std::chrono::seconds ago = 0s) {
    neighbors_.take(frame.bytes(), now_ - ago, now_);
  }
  LldpNeighbors neighbors_;
  LldpNeighbors::Clock::time_point now_{1000h};
};

TEST_F(LldpNeighborsTest, ForgetsANeighborWhenItsTimeIsOver) {
  take(leaf_frame("p", 120));
  neighbors_.expire(now_ + 119s);
  EXPECT_EQ(neighbors_.all().size(), 1U);
  neighbors_.expire(now_ + 120s);
  EXPECT_TRUE(neighbors_.all().empty());
}

TEST_F(LldpNeighborsTest, ForgetsANeighborThatSaysGoodbye) {
  take(leaf_frame("p"));
  take(leaf_frame("q"));
  take(leaf_frame("p", 0));
  ASSERT_EQ(neighbors_.all().size(), 1U);
  EXPECT_EQ(neighbors_.all()[0].neighbor.port_id, "q");
}

TEST_F(LldpNeighborsTest, KeepsTheLastThatANeighborSaid) {
  take(leaf_frame("p", 120, "old"), 30s);
  take(leaf_frame("p", 120, "new"));
  ASSERT_EQ(neighbors_.all().size(), 1U);
  EXPECT_EQ(neighbors_.all()[0].neighbor.system_name, "new");
}

// What waited in the socket while nobody scraped.
TEST_F(LldpNeighborsTest, TakesNoFrameThatIsOlderThanItsTimeToLive) {
  take(leaf_frame("p", 120), 121s);
  EXPECT_TRUE(neighbors_.all().empty());
  EXPECT_EQ(neighbors_.frames(), 1U);
}

TEST_F(LldpNeighborsTest, HasRoomForSoManyAndGivesItToTheNewest) {
  for (unsigned i = 0; i < LldpNeighbors::kMax + 5; ++i) take(leaf_frame("p" + std::to_string(i), 100 + i));
  EXPECT_EQ(neighbors_.all().size(), LldpNeighbors::kMax);
  EXPECT_EQ(neighbors_.evicted(), 5U);
  EXPECT_EQ(neighbors_.all().back().neighbor.port_id, "p" + std::to_string(LldpNeighbors::kMax + 4));
  EXPECT_EQ(neighbors_.all().front().neighbor.port_id, "p5");
}

TEST_F(LldpNeighborsTest, CountsWhatIsNoFrame) {
  take(LldpFrame().end());
  take(leaf_frame());
  EXPECT_EQ(neighbors_.frames(), 2U);
  EXPECT_EQ(neighbors_.malformed(), 1U);
}

}  // namespace
}  // namespace rdma_exporter::host
