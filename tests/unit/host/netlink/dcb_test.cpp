// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Uses answers recorded from a kernel (tests/unit/data/ethernet/ORIGIN.md); expects what dcb -s printed then.
// Malformed answers are mutations of these.
#include "host/netlink/dcb.h"

#include <gtest/gtest.h>
#include <linux/dcbnl.h>

#include "host/netlink/netlink_attr.h"
#include "tests/unit/support/recorded_netlink.h"

namespace rdma_exporter::host::dcb {
namespace {

using test::Message;

Message recorded(const std::string& name) {
  return test::recorded_file("ethernet/" + name + "/dcb_ieee_get.bin");
}
Ieee ieee(const std::string& name) {
  const auto parsed = parse_ieee(recorded(name));
  EXPECT_TRUE(parsed.has_value());
  return parsed.value_or(Ieee{});
}

// The answer with another nest of IEEE attributes.
Message with_nest(const Message& nest) {
  const Message answer = recorded("connectx");
  Message changed(answer.begin(), answer.begin() + sizeof(dcbmsg));
  append_attr(changed, DCB_ATTR_IEEE, nest);
  return changed;
}

TEST(DcbPfc, IsWhatDcbPrints) {
  const auto pfc = ieee("connectx").pfc;
  ASSERT_TRUE(pfc.has_value());
  EXPECT_EQ(pfc->capability, 8U);
  EXPECT_EQ(pfc->enabled, 0b0001'1000) << "prio-pfc 3:on 4:on";
  EXPECT_EQ(pfc->delay, 0U);
  EXPECT_EQ(pfc->requests, (PerPriority<std::uint64_t>{1248, 1253, 1258, 1263, 1268, 1273, 1278, 1283}));
  EXPECT_EQ(pfc->indications, (PerPriority<std::uint64_t>{1246, 1251, 1256, 1261, 1266, 1271, 1276, 1281}));
  EXPECT_EQ(ieee("netxtreme").pfc->delay, 32768U);
}

TEST(DcbEts, IsWhatDcbPrints) {
  const auto ets = ieee("connectx").ets;
  ASSERT_TRUE(ets.has_value());
  EXPECT_FALSE(ets->willing);
  EXPECT_EQ(ets->traffic_classes, 8U);
  EXPECT_EQ(ets->bandwidth_percent, (PerClass<std::uint8_t>{40, 60, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(ets->tsa, (PerClass<std::uint8_t>{kTsaEts, kTsaEts, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(ets->priority_class, (PerPriority<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 6}));
}

TEST(DcbApp, HasTheEntriesOfTheTable) {
  const auto apps = ieee("connectx").apps;
  EXPECT_EQ(apps, (std::vector<App>{{IEEE_8021QAZ_APP_SEL_ETHERTYPE, 1, 0},
                                    {IEEE_8021QAZ_APP_SEL_ETHERTYPE, 4, 0x8915},
                                    {IEEE_8021QAZ_APP_SEL_DGRAM, 3, 4791},
                                    {IEEE_8021QAZ_APP_SEL_DSCP, 3, 26},
                                    {IEEE_8021QAZ_APP_SEL_DSCP, 6, 48}}));
  EXPECT_EQ(ieee("netxtreme").apps, (std::vector<App>{{IEEE_8021QAZ_APP_SEL_STREAM, 4, 3260}}));
}

TEST(DcbApp, HasEachEntryOnce) {
  const dcb_app app{IEEE_8021QAZ_APP_SEL_DGRAM, 3, 4791};
  Message table;
  append_number(table, DCB_ATTR_IEEE_APP, app);
  append_number(table, DCB_ATTR_IEEE_APP, app);
  Message nest;
  append_attr(nest, DCB_ATTR_IEEE_APP_TABLE, table);
  EXPECT_EQ(parse_ieee(with_nest(nest))->apps.size(), 1U);
}

TEST(DcbBuffers, AreThereWhereTheDriverHasThem) {
  const auto buffers = ieee("connectx").buffers;
  ASSERT_TRUE(buffers.has_value());
  EXPECT_EQ(buffers->bytes[0], 131072U);
  EXPECT_EQ(buffers->bytes[1], 262144U);
  EXPECT_EQ(buffers->total_bytes, 524288U);
  EXPECT_EQ(buffers->priority_buffer, (PerPriority<std::uint8_t>{0, 0, 0, 1, 0, 0, 0, 0}));
  EXPECT_FALSE(ieee("netxtreme").buffers.has_value());
}

TEST(DcbxMode, HasTheBitsOfTheHeader) {
  EXPECT_EQ(ieee("connectx").dcbx, DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE);
}

TEST(DcbNames, AreThoseOfTheStandard) {
  EXPECT_EQ(tsa_name(IEEE_8021QAZ_TSA_VENDOR), "vendor");
  EXPECT_EQ(tsa_name(77), "reserved");
  EXPECT_EQ(selector_name(255), "pcp");
  EXPECT_EQ(selector_name(77), "");
}

TEST(DcbRequest, NamesTheInterface) {
  const auto payload = ieee_request("cx0");
  ASSERT_EQ(payload.size(), sizeof(dcbmsg) + 8);
  EXPECT_EQ(payload[1], std::byte{DCB_CMD_IEEE_GET});
}

TEST(DcbAnswer, ThatIsNoneIsRefused) {
  EXPECT_FALSE(parse_ieee({}).has_value());
  Message other = recorded("connectx");
  other[1] = std::byte{DCB_CMD_CEE_GET};
  EXPECT_FALSE(parse_ieee(other).has_value());
}

TEST(DcbAnswer, WithAStructureThatIsTooShortIsRefused) {
  for (const std::uint16_t type : {DCB_ATTR_IEEE_PFC, DCB_ATTR_IEEE_ETS, DCB_ATTR_DCB_BUFFER}) {
    Message nest;
    append_attr(nest, type, Message(16));
    EXPECT_FALSE(parse_ieee(with_nest(nest)).has_value()) << type;
  }
}

// The kernel appends members at the end of such a structure, if at all.
TEST(DcbAnswer, WithAStructureThatHasGrownIsRead) {
  Message nest;
  append_attr(nest, DCB_ATTR_IEEE_PFC, Message(sizeof(ieee_pfc) + 32));
  EXPECT_TRUE(parse_ieee(with_nest(nest)).value().pfc.has_value());
}

TEST(DcbAnswer, WithoutANestOffersNothing) {
  const Message answer = recorded("connectx");
  const auto parsed = parse_ieee(Bytes(answer).first(sizeof(dcbmsg)));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_FALSE(parsed->pfc || parsed->ets || parsed->buffers || parsed->dcbx);
}

}  // namespace
}  // namespace rdma_exporter::host::dcb
