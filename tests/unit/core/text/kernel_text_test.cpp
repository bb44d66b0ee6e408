// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/kernel_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace rdma_exporter::core {
namespace {

TEST(ParseCounter, ReadsWhatTheKernelPrints) {
  EXPECT_EQ(parse_counter("0\n").value(), std::uint64_t{0});
  EXPECT_EQ(parse_counter("12345678901234567\n").value(), std::uint64_t{12345678901234567});
  EXPECT_EQ(parse_counter("9999999999999999999\n").value(), std::uint64_t{9999999999999999999U});
  EXPECT_EQ(parse_counter("18446744073709551615\n").value(), std::numeric_limits<std::uint64_t>::max());
}

TEST(ParseCounter, TakesTheTextOfOldKernelsForAbsence) {
  EXPECT_EQ(parse_counter("N/A (no PMA)\n").value(), std::nullopt);
}

TEST(ParseCounter, RefusesEverythingElse) {
  for (const char* text :
       {"", "\n", "-1\n", "18446744073709551616\n", "1 2\n", "0x10\n", "12abc\n", "1.5\n", "\x01\xff"})
    EXPECT_FALSE(parse_counter(text).has_value()) << text;
  EXPECT_EQ(reason(parse_counter("x").error()), "parse");
}

TEST(ParseEnum, TakesTheNumberBeforeTheColon) {
  EXPECT_EQ(parse_enum("4: ACTIVE\n").value(), 4U);
  EXPECT_EQ(parse_enum("7: Phy Test\n").value(), 7U);
  EXPECT_EQ(parse_enum("0: <unknown>\n").value(), 0U);
  for (const char* text : {"", "ACTIVE\n", "4 ACTIVE\n", "-4: X\n", "4294967296: X\n"})
    EXPECT_FALSE(parse_enum(text).has_value()) << text;
}

TEST(ParseHex, WantsThePrefix) {
  EXPECT_EQ(parse_hex("0x1a\n").value(), 26U);
  EXPECT_EQ(parse_hex("0xffffffff\n").value(), 0xffffffffU);
  for (const char* text : {"1a", "0x", "0x1g", "0x100000000", "", "-0x1"})
    EXPECT_FALSE(parse_hex(text).has_value()) << text;
}

TEST(ParseGlobalTrafficClass, ReadsTheFirstLine) {
  EXPECT_EQ(parse_global_traffic_class("Global tclass=106\n").value(), 106U);
  EXPECT_EQ(parse_global_traffic_class("Global tclass=96\nsrc_ip=10.0.0.1,tclass=3\n").value(), 96U);
}

TEST(ParseGlobalTrafficClass, KnowsWhenNoneIsForced) {
  EXPECT_EQ(parse_global_traffic_class("").value(), std::nullopt);
  EXPECT_EQ(parse_global_traffic_class("src_ip=10.0.0.1,tclass=3\n").value(), std::nullopt);
}

TEST(ParseGlobalTrafficClass, RefusesWhatIsNoOctet) {
  for (const char* text : {"Global tclass=", "Global tclass=256", "Global tclass=-1", "Global tclass=1x"})
    EXPECT_FALSE(parse_global_traffic_class(text).has_value()) << text;
}

TEST(ParseRate, GivesBytesPerSecondAndLanes) {
  const auto edr = parse_rate("100 Gb/sec (4X EDR)\n");
  ASSERT_TRUE(edr.has_value());
  EXPECT_DOUBLE_EQ(edr->bytes_per_second, 12.5e9);
  EXPECT_EQ(edr->lanes, 4U);
  EXPECT_DOUBLE_EQ(parse_rate("2.5 Gb/sec (1X SDR)\n")->bytes_per_second, 312.5e6);
  EXPECT_EQ(parse_rate("1200 Gb/sec (12X NDR)\n")->lanes, 12U);
}

TEST(ParseRate, RefusesWhatRateShowNeverPrints) {
  for (const char* text :
       {"", "100", "100 Gb/sec", "100 Gb/sec (3X EDR)", "-1 Gb/sec (4X EDR)", "inf Gb/sec (4X EDR)",
        "nan Gb/sec (4X EDR)", "1e9 Gb/sec (4X EDR)", "100 Gb/sec (4X EDR", "100 Mb/sec (4X EDR)"})
    EXPECT_FALSE(parse_rate(text).has_value()) << text;
}

TEST(ParsePciSpeed, KnowsOldAndNewKernelsAndTheUnknown) {
  EXPECT_DOUBLE_EQ(*parse_pci_speed("16.0 GT/s PCIe\n").value(), 16e9);
  EXPECT_DOUBLE_EQ(*parse_pci_speed("8 GT/s\n").value(), 8e9);
  EXPECT_EQ(parse_pci_speed("Unknown\n").value(), std::nullopt);
  EXPECT_EQ(parse_pci_speed("Unknown speed\n").value(), std::nullopt);
  EXPECT_FALSE(parse_pci_speed("fast\n").has_value());
  EXPECT_FALSE(parse_pci_speed(std::string(301, '9') + " GT/s\n").has_value())
      << "infinite in transfers per second";
  EXPECT_FALSE(parse_rate(std::string(301, '9') + " Gb/sec (4X EDR)\n").has_value());
}

TEST(ParsePciWidth, TakesZeroAnd255ForUnknown) {
  EXPECT_EQ(parse_pci_width("16\n").value(), 16U);
  EXPECT_EQ(parse_pci_width("0\n").value(), std::nullopt);
  EXPECT_EQ(parse_pci_width("255\n").value(), std::nullopt);
  EXPECT_FALSE(parse_pci_width("x16\n").has_value());
}

TEST(ZeroGid, IsAnEmptySlot) {
  EXPECT_TRUE(is_zero_gid("0000:0000:0000:0000:0000:0000:0000:0000\n"));
  EXPECT_FALSE(is_zero_gid("0000:0000:0000:0000:0000:ffff:0a09:0001\n"));
}

TEST(Trim, CutsBlanksNewlinesAndNuls) {
  EXPECT_EQ(trim(" a b \n"), "a b");
  EXPECT_EQ(trim(std::string_view("x\0\n", 3)), "x");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(NumberList, IsWhatTheKernelPrints) {
  const NumberList list = parse_number_list("0-3,8,10-11\n").value();
  EXPECT_EQ(list.count(), 7U);
  for (const std::uint32_t inside : {0U, 3U, 8U, 10U, 11U}) EXPECT_TRUE(list.contains(inside)) << inside;
  for (const std::uint32_t outside : {4U, 7U, 9U, 12U}) EXPECT_FALSE(list.contains(outside)) << outside;
}

TEST(NumberList, MayBeEmpty) {
  EXPECT_TRUE(parse_number_list("\n").value().empty());
  EXPECT_FALSE(parse_number_list("").value().contains(0));
}

TEST(NumberList, Intersects) {
  const NumberList low = parse_number_list("0-3").value();
  EXPECT_TRUE(low.intersects(parse_number_list("3-5").value()));
  EXPECT_FALSE(low.intersects(parse_number_list("4-7").value()));
  EXPECT_FALSE(low.intersects(NumberList()));
}

TEST(NumberList, CountsTheWholeRangeOfNumbers) {
  EXPECT_EQ(parse_number_list("0-4294967295").value().count(), 4294967296U);
}

TEST(NumberList, RefusesEverythingElse) {
  for (const char* text :
       {"a", "1-", "-1", "3-1", "1,", ",1", "1,,2", "1 2", "2,1", "1-3,3", "4294967296", "1-2-3"})
    EXPECT_FALSE(parse_number_list(text).has_value()) << text;
}

// Synthetic, after drivers/pci/pcie/aer.c of Linux 6.1: aer_correctable_error_string, aer_stats_dev_attr.
constexpr std::string_view kCorrectable =
    "RxErr 2\nBadTLP 2\nBadDLLP 0\nRollover 0\nTimeout 0\nNonFatalErr 0\nCorrIntErr 0\nHeaderOF 0\n"
    "TOTAL_ERR_COR 3\n";

TEST(AerCounters, KeepMessagesApartFromTheErrorsThatTheyReport) {
  const AerCounters counters = parse_aer_counters(kCorrectable).value();
  EXPECT_EQ(counters.messages, 3U);
  ASSERT_EQ(counters.errors.size(), 8U);
  EXPECT_EQ(counters.errors[0], (AerCount{"RxErr", 2}));
  EXPECT_EQ(counters.errors[1], (AerCount{"BadTLP", 2}));
  EXPECT_EQ(counters.errors[7], (AerCount{"HeaderOF", 0}));
}

TEST(AerCounters, MayHaveKindsThatNobodyHasNamed) {
  const AerCounters counters =
      parse_aer_counters("RxErr 0\ndev_cor_errs_bit[4] 18446744073709551615\nTOTAL_ERR_COR 1\n").value();
  EXPECT_EQ(counters.errors[1], (AerCount{"dev_cor_errs_bit[4]", 18446744073709551615U}));
}

// Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats shows names with blanks.
TEST(AerCounters, MayHaveBlanksInTheirNames) {
  EXPECT_EQ(parse_aer_counters("Receiver Error 7\n").value().errors.at(0), (AerCount{"Receiver Error", 7}));
}

TEST(AerCounters, WithoutATotalHaveNoMessages) {
  EXPECT_FALSE(parse_aer_counters("RxErr 0\n").value().messages.has_value());
  EXPECT_FALSE(parse_aer_counters("").value().messages.has_value());
}

TEST(AerCounters, AreNotGuessed) {
  for (const char* text : {"RxErr", "RxErr \n", " 5", "RxErr -1", "RxErr 1x", "RxErr 18446744073709551616",
                           "RxErr 1\n\nBadTLP 2", "RxErr N/A"})
    EXPECT_FALSE(parse_aer_counters(text).has_value()) << text;
}

}  // namespace
}  // namespace rdma_exporter::core
