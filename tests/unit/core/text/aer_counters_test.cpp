// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/aer_counters.h"

#include <gtest/gtest.h>

namespace rdma_exporter::core {
namespace {

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
