// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/mesh/rails.h"

#include <gtest/gtest.h>

namespace rdma_exporter::probe {
namespace {

TEST(Rails, AreInTheOrderOfPciAddressesWhateverTheNames) {
  const auto rails =
      rails_of({{"mlx5_2", "0000:0c:00.0"}, {"rocep90s0", "0000:5a:00.0"}, {"mlx5_0", "0000:9b:00.0"}});
  EXPECT_EQ(rails,
            (std::map<std::string, Rail>{{"mlx5_2", {0, 3}}, {"rocep90s0", {1, 3}}, {"mlx5_0", {2, 3}}}));
}

TEST(Rails, OfVirtualDevicesAreInTheOrderOfTheirNames) {
  const auto rails = rails_of({{"rxe1", ""}, {"rxe0", ""}});
  EXPECT_EQ(rails, (std::map<std::string, Rail>{{"rxe0", {0, 2}}, {"rxe1", {1, 2}}}));
}

TEST(Rails, LeaveOutTheFrontendWhereThereIsAnotherDevice) {
  const RailDevice frontend{"mlx5_0", "0000:0c:00.0", true};
  EXPECT_EQ(rails_of({frontend, {"mlx5_1", "0000:5a:00.0"}}),
            (std::map<std::string, Rail>{{"mlx5_1", {0, 1}}}));
  EXPECT_EQ(rails_of({frontend}), (std::map<std::string, Rail>{{"mlx5_0", {0, 1}}}));
  EXPECT_TRUE(rails_of({}).empty());
}

TEST(Rails, AreNoMoreThanAFrameCanNumber) {
  std::vector<RailDevice> many(255);
  for (std::size_t i = 0; i < many.size(); ++i) many[i].name = "rxe" + std::to_string(i);
  EXPECT_EQ(rails_of(many).size(), 255U);
  many.push_back({"one more", ""});
  EXPECT_TRUE(rails_of(many).empty());
}

}  // namespace
}  // namespace rdma_exporter::probe
