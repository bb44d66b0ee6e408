// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/resource/object_statistics.h"

#include <gtest/gtest.h>

namespace rdma_exporter::collectors {
namespace {

TEST(RunningTotals, AddsUpObjectsAndNeverFalls) {
  RunningTotals totals;
  totals.put(1, "packets", 100, "a");
  totals.put(2, "packets", 10, "a");
  totals.put(3, "packets", 1, "b");
  totals.end_dump();
  EXPECT_EQ(totals.totals().at("a"), 110U);
  EXPECT_EQ(totals.totals().at("b"), 1U);

  totals.put(1, "packets", 150, "a");  // 2 and 3 are gone
  totals.end_dump();
  EXPECT_EQ(totals.totals().at("a"), 160U);
  EXPECT_EQ(totals.totals().at("b"), 1U);

  totals.put(2, "packets", 7, "a");   // another set with the id of one that went
  totals.put(1, "packets", 20, "a");  // dissolved and made anew between two dumps
  totals.end_dump();
  EXPECT_EQ(totals.totals().at("a"), 187U);
}

TEST(RunningTotals, ForgetsNobodyInADumpThatFailed) {
  RunningTotals totals;
  totals.put(1, "x", 100, "a");
  totals.put(2, "x", 100, "a");
  totals.end_dump();
  totals.put(1, "x", 101, "a");  // and the dump breaks off
  totals.put(1, "x", 102, "a");
  totals.put(2, "x", 103, "a");
  totals.end_dump();
  EXPECT_EQ(totals.totals().at("a"), 205U);
}

}  // namespace
}  // namespace rdma_exporter::collectors
