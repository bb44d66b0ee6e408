// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/fs/fd.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace rdma_exporter::host {
namespace {

TEST(OpenFileBudget, GivesWhatThereIs) {
  OpenFileBudget budget(3);
  EXPECT_TRUE(budget.take(2));
  EXPECT_FALSE(budget.take(2));
  EXPECT_TRUE(budget.take());
  EXPECT_FALSE(budget.take());
  EXPECT_EQ(budget.used(), 3U);
  budget.give_back(2);
  EXPECT_TRUE(budget.take());
}

TEST(OpenFileBudget, AsksAQuarterBackWhenTheProcessHasNoMore) {
  OpenFileBudget budget(100);
  ASSERT_TRUE(budget.take(80));
  EXPECT_FALSE(budget.ran_out({core::Errc::os, EIO, {}}));
  EXPECT_FALSE(budget.over());
  for (const int error : {EMFILE, ENFILE, EMFILE})
    EXPECT_TRUE(budget.ran_out({core::Errc::os, error, {}})) << "several find out at the same time";
  unsigned given_back = 0;
  for (; budget.over(); ++given_back) budget.give_back();
  EXPECT_EQ(given_back, 20U);
  EXPECT_FALSE(budget.take());
}

TEST(OpenFileBudget, RecoversWithUse) {
  OpenFileBudget budget(8);
  ASSERT_TRUE(budget.take(8));
  budget.ran_out({core::Errc::os, EMFILE, {}});
  budget.give_back(2);
  unsigned refused = 0;
  while (budget.used() < 8) refused += budget.take() ? 0U : 1U;
  EXPECT_EQ(refused, 2 * OpenFileBudget::kRefusalsForOneMore);
  EXPECT_FALSE(budget.take()) << "never above its limit";
}

}  // namespace
}  // namespace rdma_exporter::host
