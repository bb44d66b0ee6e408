// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/module/module_eeprom.h"

#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <cerrno>
#include <map>
#include <span>

#include "host/netlink/netlink_attr.h"

namespace rdma_exporter::host::module_eeprom {
namespace {

// Synthetic, as eeprom_fill_reply() of net/ethtool/eeprom.c writes it: the header's nest, then the data.
std::vector<std::byte> answer(std::size_t bytes, std::uint8_t command = ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY) {
  const genlmsghdr header{command, 1, 0};
  const Bytes head = std::as_bytes(std::span(&header, 1));
  std::vector<std::byte> message(head.begin(), head.end());
  append_attr(message, ETHTOOL_A_MODULE_EEPROM_HEADER | NLA_F_NESTED, {});
  append_attr(message, ETHTOOL_A_MODULE_EEPROM_DATA, std::vector<std::byte>(bytes, std::byte{0x5a}));
  return message;
}

TEST(ModuleEepromTest, AsksForARangeInTheKernelsTypes) {
  const auto message = request("eth0", {.address = 0x51, .page = 3, .offset = 128, .length = 72});
  EXPECT_EQ(std::to_integer<int>(message[0]), ETHTOOL_MSG_MODULE_EEPROM_GET);
  std::map<int, std::size_t> sizes;  // policy ethnl_module_eeprom_get_policy: u32, u32, u8, u8, u8
  ASSERT_TRUE(for_each_attr(Bytes(message).subspan(sizeof(genlmsghdr)),
                            [&](const Attr& attr) { sizes[attr.type] = attr.data.size(); }));
  EXPECT_EQ(sizes[ETHTOOL_A_MODULE_EEPROM_OFFSET], 4U);
  EXPECT_EQ(sizes[ETHTOOL_A_MODULE_EEPROM_LENGTH], 4U);
  EXPECT_EQ(sizes[ETHTOOL_A_MODULE_EEPROM_PAGE], 1U);
  EXPECT_EQ(sizes[ETHTOOL_A_MODULE_EEPROM_BANK], 1U);
  EXPECT_EQ(sizes[ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS], 1U);
}

TEST(ModuleEepromTest, UnderstandsItsOwnRequest) {
  const ModuleRange range{.address = 0x51, .page = 3, .offset = 128, .length = 72};
  EXPECT_EQ(parse_request(request("eth0", range)).value(), range);
  EXPECT_FALSE(parse_request({}));
  EXPECT_FALSE(parse_request(answer(8)));
}

TEST(ModuleEepromTest, GivesTheBytes) {
  EXPECT_EQ(parse(answer(36), 36).value(), std::vector<std::byte>(36, std::byte{0x5a}));
}

TEST(ModuleEepromTest, TakesAnAnswerWithoutBytesForAFailedRead) {
  const auto none = parse(answer(0), 36);
  ASSERT_FALSE(none);
  EXPECT_TRUE(core::is_errno(none.error(), EIO));
  EXPECT_FALSE(parse(answer(35), 36));
  EXPECT_FALSE(parse(answer(37), 36));
}

TEST(ModuleEepromTest, RefusesWhatIsNoAnswer) {
  EXPECT_EQ(parse({}, 1).error().kind, core::Errc::parse);
  EXPECT_EQ(parse(answer(1, ETHTOOL_MSG_MODULE_GET_REPLY), 1).error().kind, core::Errc::parse);
  auto torn = answer(8);
  torn.resize(torn.size() - 4);
  EXPECT_EQ(parse(torn, 8).error().kind, core::Errc::parse);
}

}  // namespace
}  // namespace rdma_exporter::host::module_eeprom
