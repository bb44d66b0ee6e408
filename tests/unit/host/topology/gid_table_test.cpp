// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Tables are synthetic: files with the texts of drivers/infiniband/core/sysfs.c (show_port_gid,
// show_port_gid_attr_gid_type).
#include "host/topology/gid_table.h"

#include <gtest/gtest.h>

#include "tests/unit/support/temp_tree.h"
#include "tests/unit/support/watched_fs.h"

namespace rdma_exporter::host {
namespace {

constexpr int kSlots = 64;
const std::string kZero = "0000:0000:0000:0000:0000:0000:0000:0000";

class GidTableTest : public ::testing::Test {
 protected:
  GidTableTest() {
    for (int slot = 0; slot < kSlots; ++slot) clear(slot);
    fill(0, 1);
    fill(1, 1);
  }

  void clear(int slot) { tree_.write("p/gids/" + std::to_string(slot), kZero + "\n"); }
  void fill(int slot, int address) {
    const std::string digit = std::to_string(address);
    tree_.write("p/gids/" + std::to_string(slot), "0000:0000:0000:0000:0000:ffff:0a08:000" + digit + "\n");
    tree_.write("p/gid_attrs/types/" + std::to_string(slot), "RoCE v2\n");
  }

  /// Slots that are filled.
  std::vector<std::uint32_t> read() {
    fs_.opens.clear();
    std::vector<std::uint32_t> slots;
    const auto gids = table_.read(fs_, "p", [this](const core::Error&) { ++errors_; });
    EXPECT_TRUE(gids);
    if (!gids) return slots;
    for (const Gid& gid : **gids) slots.push_back(gid.slot);
    return slots;
  }
  bool has_read(int slot) { return fs_.opens["p/gids/" + std::to_string(slot)] > 0; }

  test::TempTree tree_;
  test::WatchedFs fs_{make_host_fs(tree_.root())};
  GidTable table_;
  int errors_ = 0;
};

using Slots = std::vector<std::uint32_t>;

TEST_F(GidTableTest, ReadsAllSlotsOnceAndThenThoseThatWouldChangeFirst) {
  EXPECT_EQ(read(), (Slots{0, 1}));
  EXPECT_TRUE(has_read(kSlots - 1));
  EXPECT_EQ(read(), (Slots{0, 1}));
  for (const int slot : {0, 1, 2, 3, 4}) EXPECT_TRUE(has_read(slot)) << slot;
  for (const int slot : {5, 10, kSlots - 1}) EXPECT_FALSE(has_read(slot)) << slot;
}

TEST_F(GidTableTest, SeesANewGidAndOneThatIsGoneAtOnce) {
  read();
  fill(2, 2);
  EXPECT_EQ(read(), (Slots{0, 1, 2}));
  clear(1);
  EXPECT_EQ(read(), (Slots{0, 2}));
  fill(1, 3);
  EXPECT_EQ(read(), (Slots{0, 1, 2}));
}

TEST_F(GidTableTest, SeesAnotherAddressInTheSameSlot) {
  read();
  fill(1, 7);
  fs_.opens.clear();
  const auto gids = table_.read(fs_, "p", [](const core::Error&) {});
  ASSERT_TRUE(gids);
  EXPECT_EQ((**gids)[1].gid, "0000:0000:0000:0000:0000:ffff:0a08:0007");
}

TEST_F(GidTableTest, OrdersSlotsByNumberAndKnowsTheirTypes) {
  fill(10, 2);
  tree_.write("p/gid_attrs/types/1", "IB/RoCE v1\n");
  tree_.write("p/gid_attrs/types/10", "RoCE v3\n");
  EXPECT_EQ(read(), (Slots{0, 1, 10}));
  const auto gids = table_.read(fs_, "p", [](const core::Error&) {});
  ASSERT_TRUE(gids);
  EXPECT_EQ((**gids)[0].type, GidType::roce_v2);
  EXPECT_EQ((**gids)[1].type, GidType::ib_or_roce_v1);
  EXPECT_EQ((**gids)[2].type, GidType::other);
}

TEST_F(GidTableTest, KeepsOneListWhileNothingChanges) {
  const auto ignore = [](const core::Error&) {};
  const GidList first = table_.read(fs_, "p", ignore).value();
  EXPECT_EQ(table_.read(fs_, "p", ignore).value(), first);
  fill(2, 2);
  EXPECT_NE(table_.read(fs_, "p", ignore).value(), first);
  EXPECT_EQ(first->size(), 2U) << "who has the old list keeps it";
}

TEST_F(GidTableTest, FindsWhatASubnetManagerPutsAnywhereWhenAllAreReadAgain) {
  read();
  fill(40, 2);
  unsigned readings = 1;
  while (read().size() == 2) ASSERT_LE(++readings, GidTable::kWholeEvery);
  EXPECT_EQ(readings, GidTable::kWholeEvery);
  fill(50, 3);
  table_.reset();
  EXPECT_EQ(read().size(), 4U);
}

TEST_F(GidTableTest, ReadsAllAgainAfterAFailure) {
  fs_.failures["p/gids/9"] = EIO;
  read();
  EXPECT_EQ(errors_, 1);
  read();
  EXPECT_TRUE(has_read(kSlots - 1));
}

}  // namespace
}  // namespace rdma_exporter::host
