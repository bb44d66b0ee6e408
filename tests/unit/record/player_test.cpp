// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/player.h"

#include <gtest/gtest.h>

#include "tests/unit/support/record_fixture.h"

namespace rdma_exporter::record {
namespace {

using namespace std::chrono_literals;

const Player::Clock::time_point kStart{1000h};

TEST(Player, PlaysInTimeAndBeginsAgain) {
  const Snapshot one{{"a", {{"1"}}}};
  const Player player(*recording_of({one, one, one}), kStart);  // ten seconds each
  EXPECT_EQ(player.at(kStart - 1s), (Position{0, 0}));
  EXPECT_EQ(player.at(kStart), (Position{0, 0}));
  EXPECT_EQ(player.at(kStart + 9999ms), (Position{0, 0}));
  EXPECT_EQ(player.at(kStart + 10s), (Position{1, 0}));
  EXPECT_EQ(player.at(kStart + 29s), (Position{2, 0})) << "the last one as long as the one before";
  EXPECT_EQ(player.at(kStart + 30s), (Position{0, 1}));
  EXPECT_EQ(player.at(kStart + 3051s), (Position{2, 101}));
}

TEST(Player, StandsStillOnASingleSnapshot) {
  const Player player(*recording_of({{{"a", {{"1"}}}}}), kStart);
  EXPECT_EQ(player.at(kStart + 100h), (Position{0, 0}));
}

TEST(Player, ShowsOneSnapshotUntilItIsMovedOn) {
  Player player(*recording_of({{{"a", {{"1"}}}}, {{"a", {{"2"}}}}}), kStart);
  EXPECT_FALSE(player.advance(kStart + 5s));
  EXPECT_EQ(player.find("a")->parts.front(), "1");
  EXPECT_TRUE(player.advance(kStart + 15s));
  EXPECT_EQ(player.find("a")->parts.front(), "2");
  EXPECT_EQ(player.find("b"), nullptr);
  EXPECT_TRUE(player.advance(kStart + 25s));
  EXPECT_EQ(player.shown(), (Position{0, 1}));
}

}  // namespace
}  // namespace rdma_exporter::record
