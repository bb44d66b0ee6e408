// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/events/port_states.h"

#include <gtest/gtest.h>

#include "host/netlink/nldev/nldev.h"
#include "tests/unit/support/recorded_netlink.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::host {
namespace {

class PortStatesTest : public ::testing::Test {
 protected:
  PortStates make(std::optional<std::uint32_t> index) {
    auto device = std::make_shared<Device>();
    device->name = "rxe0";
    device->path = "class/infiniband/rxe0";
    device->netlink_index = index;
    device->ports = {1};
    return {host_, device};
  }
  void write_state(const std::string& state, const std::string& physical) const {
    tree_.write("class/infiniband/rxe0/ports/1/state", state);
    tree_.write("class/infiniband/rxe0/ports/1/phys_state", physical);
  }

  test::TempTree tree_;
  std::shared_ptr<test::Script> script_ = std::make_shared<test::Script>();
  Host host_{
      .sysfs = make_host_fs(tree_.root()),
      .procfs = nullptr,
      .make_netlink = [this](NetlinkProtocol) { return std::make_unique<test::ScriptedNetlink>(script_); },
      .verbs = nullptr,
      .open_files = OpenFileBudget(100)};
};

TEST_F(PortStatesTest, AsksNetlinkOncePerCycle) {
  script_->answers[nldev::kPortGet] = {test::recorded_message("port_get_0.bin")};
  PortStates states = make(0);
  EXPECT_EQ(states.get(1, 7).state.value(), 4U);
  EXPECT_EQ(states.get(1, 7).physical_state.value(), 5U);
  EXPECT_EQ(states.get(1, 7).netdev, "ve0");
  EXPECT_EQ(script_->requests[nldev::kPortGet], 1);
  states.get(1, 8);
  EXPECT_EQ(script_->requests[nldev::kPortGet], 2);
}

TEST_F(PortStatesTest, ReadsTheFilesWhereNetlinkRefuses) {
  script_->refusals[nldev::kPortGet] = EINVAL;
  write_state("1: DOWN\n", "3: Disabled\n");
  PortStates states = make(0);
  EXPECT_EQ(states.get(1, 1).state.value(), 1U);
  EXPECT_EQ(states.get(1, 1).physical_state.value(), 3U);
}

TEST_F(PortStatesTest, FollowsTheFiles) {
  write_state("4: ACTIVE\n", "5: LinkUp\n");
  PortStates states = make({});
  EXPECT_EQ(states.get(1, 1).state.value(), 4U);
  write_state("1: DOWN\n", "2: Polling\n");
  EXPECT_EQ(states.get(1, 1).state.value(), 4U) << "same cycle, same answer";
  EXPECT_EQ(states.get(1, 2).state.value(), 1U);
}

TEST_F(PortStatesTest, LosesOneFileOnly) {
  write_state("garbage", "5: LinkUp\n");
  PortStates states = make({});
  EXPECT_EQ(core::reason(states.get(1, 1).state.error()), "parse");
  EXPECT_EQ(states.get(1, 1).physical_state.value(), 5U);
}

TEST_F(PortStatesTest, HasAnErrorForAPortThatIsNotThere) {
  PortStates states = make({});
  EXPECT_TRUE(core::is_errno(states.get(1, 1).state.error(), ENOENT));
  EXPECT_TRUE(core::is_errno(states.get(9, 1).state.error(), ENODEV));
}

}  // namespace
}  // namespace rdma_exporter::host
