// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/generic_netlink.h"

#include <gtest/gtest.h>
#include <linux/genetlink.h>

#include <cerrno>
#include <memory>

#include "host/ethtool/genl_ethtool.h"
#include "host/netlink/devlink.h"
#include "host/netlink/netlink_attr.h"
#include "tests/unit/support/recorded_netlink.h"

namespace rdma_exporter::host::generic_netlink {
namespace {

TEST(GenericFamily, IsAskedByName) {
  const auto request = family_request(genl_ethtool::kFamily);
  const auto asked = attributes(request, CTRL_CMD_GETFAMILY);
  ASSERT_TRUE(asked);
  std::string name;
  ASSERT_TRUE(for_each_attr(*asked, [&](const Attr& attr) {
    if (attr.type == CTRL_ATTR_FAMILY_NAME) name = attr.text();
  }));
  EXPECT_EQ(name, "ethtool");
}

TEST(GenericFamily, IsReadFromTheAnswer) {
  EXPECT_EQ(parse_family(test::recorded_file("ethernet/getfamily.bin")).value(), 0x16);
  EXPECT_EQ(parse_family(test::recorded_file("devlink/getfamily.bin")).value(), 0x15);
  EXPECT_FALSE(parse_family(test::recorded_file("ethernet/connectx/stats_get.bin")).has_value());
}

TEST(GenericFamily, IsRefusedWhenCutOff) {
  const test::Message answer = test::recorded_file("ethernet/getfamily.bin");
  std::size_t refused = 0;
  for (std::size_t size = 0; size < answer.size(); ++size)
    refused += parse_family(Bytes(answer).first(size)) ? 0U : 1U;
  EXPECT_GT(refused, answer.size() / 2);  // what is cut between two attributes is whole
}

TEST(GenericFamily, TellsAKernelWithoutItFromOneWithIt) {
  const auto script = std::make_shared<test::Script>();
  test::ScriptedNetlink netlink(script);
  script->answers[kControl] = {test::recorded_file("devlink/getfamily.bin")};
  EXPECT_EQ(find_family(netlink, devlink::kFamily).value(), 0x15);
  script->refusals[kControl] = ENOENT;
  EXPECT_TRUE(core::is_errno(find_family(netlink, devlink::kFamily).error(), ENOENT));
}

}  // namespace
}  // namespace rdma_exporter::host::generic_netlink
