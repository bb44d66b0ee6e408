// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Uses answers recorded from a kernel (tests/unit/data/ethernet/ORIGIN.md); expects what ethtool -I printed
// then. Malformed answers are mutations of these.
#include "host/ethtool/genl_ethtool.h"

#include <gtest/gtest.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <algorithm>
#include <map>
#include <span>

#include "host/netlink/netlink_attr.h"
#include "tests/unit/support/recorded_netlink.h"

namespace rdma_exporter::host::genl_ethtool {
namespace {

using test::Message;
using Counters = std::map<std::string_view, std::uint64_t>;

Message recorded(const std::string& name) { return test::recorded_file("ethernet/" + name + ".bin"); }

// What `parse` says of an answer, and the counters that it reports.
template <typename Parse>
auto parse_with(const Parse& parse, Bytes answer, Counters& counters) {
  return parse(answer, [&](std::size_t counter, std::uint64_t value) {
    EXPECT_TRUE(counters.emplace(kCounterNames.at(counter), value).second) << kCounterNames.at(counter);
  });
}

Counters statistics(const std::string& name) {
  Counters counters;
  EXPECT_TRUE(parse_with(parse_statistics, recorded(name), counters).has_value());
  return counters;
}

void expect_refused_when_cut(const Message& answer, const std::function<bool(Bytes)>& parses) {
  ASSERT_TRUE(parses(answer));
  std::size_t refused = 0;
  for (std::size_t size = 0; size < answer.size(); ++size)
    refused += parses(Bytes(answer).first(size)) ? 0U : 1U;
  // What is cut between two attributes is whole, and shorter.
  EXPECT_GT(refused, answer.size() / 2);
  Message other_command = answer;
  other_command[0] ^= std::byte{0x40};
  EXPECT_FALSE(parses(other_command)) << "an answer to another command";
}

// The kernel took the same bytes from tests/tools/record_ethernet.py, made of the same header's numbers.
TEST(GenlRequest, NamesTheInterfaceAndAsksForCounters) {
  const auto payload = request(Query::pause, "eth0");
  ASSERT_EQ(payload[0], std::byte{ETHTOOL_MSG_PAUSE_GET});
  std::string name;
  std::uint32_t flags = 0;
  ASSERT_TRUE(for_each_attr(Bytes(payload).subspan(sizeof(genlmsghdr)), [&](const Attr& nest) {
    EXPECT_EQ(nest.type, ETHTOOL_A_PAUSE_HEADER);
    for_each_attr(nest.data, [&](const Attr& attr) {
      if (attr.type == ETHTOOL_A_HEADER_DEV_NAME) name = attr.text();
      if (attr.type == ETHTOOL_A_HEADER_FLAGS) flags = attr.number<std::uint32_t>().value();
    });
  }));
  EXPECT_EQ(name, "eth0");
  EXPECT_TRUE(flags & ETHTOOL_FLAG_STATS);
  EXPECT_NE(request(Query::pause, "eth0", false), payload);
  // STATS_GET refuses that flag (EINVAL).
  EXPECT_EQ(request(Query::statistics, "eth0", true), request(Query::statistics, "eth0", false));
}

// The mask of the groups that a request for statistics asks for.
std::uint32_t asked_groups(const std::vector<std::byte>& payload) {
  std::uint32_t mask = 0;
  EXPECT_TRUE(for_each_attr(Bytes(payload).subspan(sizeof(genlmsghdr)), [&](const Attr& nest) {
    if (nest.type != ETHTOOL_A_STATS_GROUPS) return;
    for_each_attr(nest.data, [&](const Attr& attr) {
      if (attr.type == ETHTOOL_A_BITSET_VALUE) mask = attr.number<std::uint32_t>().value();
    });
  }));
  return mask;
}

TEST(GenlRequest, AsksForSomeGroupsOfStatistics) {
  const auto group = [](std::string_view counter) {
    const auto at = std::find(kCounterNames.begin(), kCounterNames.end(), counter);
    return group_of(static_cast<std::size_t>(at - kCounterNames.begin()));
  };
  EXPECT_EQ(group("SymbolErrorDuringCarrier"), 1U << ETHTOOL_STATS_ETH_PHY);
  EXPECT_EQ(group("FramesTransmittedOK"), 1U << ETHTOOL_STATS_ETH_MAC);
  EXPECT_EQ(group("FrameTooLongErrors"), 1U << ETHTOOL_STATS_ETH_MAC);
  EXPECT_EQ(group("UnsupportedOpcodesReceived"), 1U << ETHTOOL_STATS_ETH_CTRL);
  EXPECT_EQ(group("etherStatsJabbers"), 1U << ETHTOOL_STATS_RMON);
  EXPECT_EQ(group("tx_pause_frames"), 0U);
  EXPECT_EQ(group("link_down_events"), 0U);

  const Groups some = group("FramesReceivedOK") | group("etherStatsFragments");
  const auto asked = statistics_request("eth0", some);
  EXPECT_EQ(asked_groups(asked), some);
  EXPECT_EQ(asked_groups(request(Query::statistics, "eth0")), 15U);
  EXPECT_EQ(with_all_groups(asked), request(Query::statistics, "eth0"));
  EXPECT_EQ(with_all_groups(request(Query::pause, "eth0")), std::nullopt);
  EXPECT_EQ(with_all_groups({}), std::nullopt);
}

TEST(GenlStatistics, AreThoseThatEthtoolPrints) {
  EXPECT_EQ(statistics("connectx/stats_get"), (Counters{{"SymbolErrorDuringCarrier", 1169},
                                                        {"FramesTransmittedOK", 1162},
                                                        {"FramesReceivedOK", 1163},
                                                        {"FrameCheckSequenceErrors", 1159},
                                                        {"OctetsTransmittedOK", 1550},
                                                        {"OctetsReceivedOK", 1551},
                                                        {"MulticastFramesXmittedOK", 1162},
                                                        {"BroadcastFramesXmittedOK", 1163},
                                                        {"MulticastFramesReceivedOK", 1164},
                                                        {"BroadcastFramesReceivedOK", 1165},
                                                        {"InRangeLengthErrors", 1166},
                                                        {"OutOfRangeLengthField", 1167},
                                                        {"FrameTooLongErrors", 1168},
                                                        {"MACControlFramesTransmitted", 1170},
                                                        {"MACControlFramesReceived", 1171},
                                                        {"UnsupportedOpcodesReceived", 1172},
                                                        {"etherStatsUndersizePkts", 1178},
                                                        {"etherStatsFragments", 1179},
                                                        {"etherStatsJabbers", 1180}}));
  EXPECT_EQ(statistics("netxtreme/stats_get"), (Counters{{"SymbolErrorDuringCarrier", 1543},
                                                         {"FramesTransmittedOK", 1478},
                                                         {"FramesReceivedOK", 1450},
                                                         {"FrameCheckSequenceErrors", 1440},
                                                         {"AlignmentErrors", 1444},
                                                         {"OutOfRangeLengthField", 1628},
                                                         {"MACControlFramesReceived", 1441},
                                                         {"etherStatsUndersizePkts", 1459},
                                                         {"etherStatsOversizePkts", 1445},
                                                         {"etherStatsJabbers", 1446}}));
}

TEST(GenlStatistics, OfADriverWithoutAnyAreNone) { EXPECT_EQ(statistics("virtio/stats_get"), Counters{}); }

TEST(GenlStatistics, OfANewerKernelAreSkipped) {
  // A group and a statistic that these headers do not know.
  for (const std::uint32_t group_id : {std::uint32_t{ETHTOOL_STATS_ETH_PHY}, std::uint32_t{77}}) {
    Message nest;
    append_number(nest, group_id == 77 ? std::uint16_t{0} : std::uint16_t{9}, std::uint64_t{5});
    Message group;
    append_number(group, ETHTOOL_A_STATS_GRP_ID, group_id);
    append_attr(group, ETHTOOL_A_STATS_GRP_STAT, nest);
    Message answer = recorded("virtio/stats_get");
    append_attr(answer, ETHTOOL_A_STATS_GRP, group);
    Counters counters;
    EXPECT_TRUE(parse_with(parse_statistics, answer, counters).has_value());
    EXPECT_EQ(counters, Counters{});
  }
}

TEST(GenlPause, IsReadWithItsCounters) {
  Counters counters;
  const auto pause = parse_with(parse_pause, recorded("connectx/pause_get"), counters);
  ASSERT_TRUE(pause.has_value());
  EXPECT_EQ(pause->rx, false);
  EXPECT_EQ(pause->tx, false);
  EXPECT_EQ(counters, (Counters{{"tx_pause_frames", 1174}, {"rx_pause_frames", 1173}}));
  Counters ignored;
  const auto received = parse_with(parse_pause, recorded("connectx_down/pause_get"), ignored);
  EXPECT_EQ(received->rx, true) << "ethtool -A rx on";
  EXPECT_EQ(received->tx, false);
}

TEST(GenlFec, HasTotalsWhereLanesAreNotCounted) {
  Counters counters;
  const auto fec = parse_with(parse_fec, recorded("connectx/fec_get"), counters);
  ASSERT_TRUE(fec.has_value());
  EXPECT_EQ(fec->active, "rs");
  EXPECT_EQ(counters,
            (Counters{{"corrected_blocks", 3033}, {"uncorrectable_blocks", 3034}, {"corrected_bits", 1193}}));
  EXPECT_TRUE(fec->corrected_blocks.empty());
}

TEST(GenlFec, HasLanesBehindTheTotal) {
  Counters counters;
  const auto fec = parse_with(parse_fec, recorded("connectx_baser/fec_get"), counters);
  ASSERT_TRUE(fec.has_value());
  EXPECT_EQ(fec->active, "baser");
  EXPECT_EQ(fec->corrected_blocks, (std::vector<std::uint64_t>{3035, 3036, 3037, 3038}));
  EXPECT_EQ(fec->uncorrectable_blocks, (std::vector<std::uint64_t>{3039, 3040, 3041, 3042}));
  EXPECT_TRUE(fec->corrected_bits.empty());
  EXPECT_EQ(counters.at("corrected_blocks"), 3035U + 3036 + 3037 + 3038);
}

TEST(GenlFec, SaysWhenItIsOff) {
  Counters counters;
  EXPECT_EQ(parse_with(parse_fec, recorded("connectx_down/fec_get"), counters)->active, "off");
}

TEST(GenlFec, RefusesMoreLanesThanThereAre) {
  Message lanes((Fec::kMaxLanes + 2) * sizeof(std::uint64_t));
  Message nest;
  append_attr(nest, ETHTOOL_A_FEC_STAT_CORRECTED, lanes);
  Message answer = recorded("connectx/fec_get");
  append_attr(answer, ETHTOOL_A_FEC_STATS, nest);
  EXPECT_FALSE(parse_fec(answer, [](std::size_t, std::uint64_t) {}).has_value());
}

TEST(GenlLinkState, IsUpOrDownWithAReason) {
  Counters counters;
  const auto up = parse_with(parse_link_state, recorded("connectx/linkstate_get"), counters);
  ASSERT_TRUE(up.has_value());
  EXPECT_EQ(up->up, true);
  EXPECT_EQ(up->extended_state, "");
  EXPECT_EQ(counters, (Counters{{"link_down_events", 1191}}));
  counters.clear();
  const auto down = parse_with(parse_link_state, recorded("connectx_down/linkstate_get"), counters);
  EXPECT_EQ(down->up, false);
  EXPECT_EQ(down->extended_state, "no_cable");
  EXPECT_EQ(down->extended_substate, "");
  EXPECT_EQ(counters, (Counters{{"link_down_events", 1192}}));
}

TEST(GenlLinkState, OfAnInterfaceThatIsSwitchedOffHasNoReason) {
  Counters counters;
  const auto down = parse_with(parse_link_state, recorded("netxtreme_down/linkstate_get"), counters);
  EXPECT_EQ(down->up, false);
  EXPECT_EQ(down->extended_state, "");
}

TEST(GenlLinkState, OfOlderKernelsHasNoCount) {
  Counters counters;
  const auto link =
      parse_with(parse_link_state, recorded("connectx_6_1/linkstate_get_without_stats"), counters);
  EXPECT_EQ(link->up, true);
  EXPECT_EQ(counters, Counters{});
}

TEST(GenlLinkState, OfDriversThatDoNotTellIsUnknown) {
  Counters counters;
  const auto link = parse_with(parse_link_state, recorded("dummy/linkstate_get_without_stats"), counters);
  ASSERT_TRUE(link.has_value());
  EXPECT_FALSE(link->up.has_value());
}

TEST(GenlLinkState, NamesSubstates) {
  Message answer = recorded("connectx/linkstate_get");
  append_number(answer, ETHTOOL_A_LINKSTATE_EXT_STATE,
                std::uint8_t{ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY});
  append_number(answer, ETHTOOL_A_LINKSTATE_EXT_SUBSTATE,
                std::uint8_t{ETHTOOL_LINK_EXT_SUBSTATE_BSI_SERDES_ALOS});
  Counters counters;
  auto link = parse_with(parse_link_state, answer, counters);
  EXPECT_EQ(link->extended_state, "bad_signal_integrity");
  EXPECT_EQ(link->extended_substate, "serdes_loss_of_signal");
  append_number(answer, ETHTOOL_A_LINKSTATE_EXT_STATE, std::uint8_t{200});
  counters.clear();
  link = parse_with(parse_link_state, answer, counters);
  EXPECT_EQ(link->extended_state, "other");
  EXPECT_EQ(link->extended_substate, "other");
}

TEST(GenlSpeed, IsInBytesPerSecondAndUnknownWithoutALink) {
  EXPECT_EQ(parse_speed(recorded("connectx/linkmodes_get")).value(), 50e9) << "400 Gb/s";
  EXPECT_EQ(parse_speed(recorded("netxtreme/linkmodes_get")).value(), 25e9) << "200 Gb/s";
  EXPECT_EQ(parse_speed(recorded("connectx_down/linkmodes_get")).value(), std::nullopt);
}

// Some drivers say 0 without a link, where ethtool's own word for it is all-ones.
TEST(GenlSpeed, OfZeroIsUnknown) {
  auto bytes = recorded("connectx/linkmodes_get");
  const std::uint32_t fast = 400'000;
  const auto pattern = std::as_bytes(std::span(&fast, 1));
  const auto speed = std::search(bytes.begin(), bytes.end(), pattern.begin(), pattern.end());
  ASSERT_NE(speed, bytes.end());
  std::fill_n(speed, sizeof fast, std::byte{0});
  EXPECT_EQ(parse_speed(bytes).value(), std::nullopt);
}

TEST(GenlRings, AreReadWithTheirMaximum) {
  const auto rings = parse_rings(recorded("connectx/rings_get"));
  ASSERT_TRUE(rings.has_value());
  EXPECT_EQ(rings->rx, 1024U);
  EXPECT_EQ(rings->rx_max, 8192U);
  EXPECT_EQ(rings->tx, 2048U);
  EXPECT_EQ(rings->tx_max, 8192U);
}

TEST(GenlModule, WithoutPowerModesIsUnknown) {
  const auto high = parse_module_high_power(recorded("connectx/module_get"));
  ASSERT_TRUE(high.has_value());
  EXPECT_EQ(*high, std::nullopt);
  for (const auto& [mode, expected] :
       {std::pair{ETHTOOL_MODULE_POWER_MODE_LOW, false}, std::pair{ETHTOOL_MODULE_POWER_MODE_HIGH, true}}) {
    Message answer = recorded("connectx/module_get");
    append_number(answer, ETHTOOL_A_MODULE_POWER_MODE, static_cast<std::uint8_t>(mode));
    EXPECT_EQ(parse_module_high_power(answer).value(), expected);
  }
}

TEST(GenlAnswers, ThatAreCutAreRefused) {
  const OnCounter ignore = [](std::size_t, std::uint64_t) {};
  const auto check = [](const std::string& name, const std::function<bool(Bytes)>& parses) {
    SCOPED_TRACE(name);
    expect_refused_when_cut(recorded(name), parses);
  };
  check("connectx/stats_get", [&](Bytes b) { return parse_statistics(b, ignore).has_value(); });
  check("connectx/pause_get", [&](Bytes b) { return parse_pause(b, ignore).has_value(); });
  check("connectx_baser/fec_get", [&](Bytes b) { return parse_fec(b, ignore).has_value(); });
  check("connectx_down/linkstate_get", [&](Bytes b) { return parse_link_state(b, ignore).has_value(); });
  check("connectx/linkmodes_get", [&](Bytes b) { return parse_speed(b).has_value(); });
  check("connectx/rings_get", [&](Bytes b) { return parse_rings(b).has_value(); });
  check("connectx/module_get", [&](Bytes b) { return parse_module_high_power(b).has_value(); });
}

}  // namespace
}  // namespace rdma_exporter::host::genl_ethtool
