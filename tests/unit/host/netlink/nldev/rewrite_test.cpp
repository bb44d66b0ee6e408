// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Uses answers recorded from a kernel (tests/unit/data/netlink/ORIGIN.md): tests what may be passed on.
#include "host/netlink/nldev/rewrite.h"

#include <gtest/gtest.h>
#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <set>

#include "host/netlink/netlink_attr.h"
#include "host/netlink/nldev/nldev.h"
#include "host/netlink/nldev/resource.h"
#include "tests/unit/support/netlink_mutation.h"
#include "tests/unit/support/recorded_netlink.h"

namespace rdma_exporter::host::nldev {
namespace {

using test::Message;
using test::recorded_message;

// Types of all attributes of the entries of a table.
std::set<std::uint16_t> types(Bytes message) {
  std::set<std::uint16_t> found;
  for_each_attr(message, [&](const Attr& table) {
    for_each_attr(table.data, [&](const Attr& entry) {
      for_each_attr(entry.data, [&](const Attr& attr) { found.insert(attr.type); });
    });
  });
  return found;
}

std::vector<Resource> regions(Bytes message) {
  std::vector<Resource> all;
  EXPECT_TRUE(
      parse_resources(message, ResourceTable::mr, [&](const Resource& region) { all.push_back(region); }));
  return all;
}

TEST(NldevRewrite, LeavesKeysOutAndTheRestIn) {
  const Message message = recorded_message("res_mr_0.bin");
  const auto before = types(message);
  ASSERT_TRUE(before.contains(RDMA_NLDEV_ATTR_RES_RKEY) && before.contains(RDMA_NLDEV_ATTR_RES_LKEY));
  const Message stripped = without_secrets(message);
  const auto after = types(stripped);
  for (const std::uint16_t key :
       {RDMA_NLDEV_ATTR_RES_RKEY, RDMA_NLDEV_ATTR_RES_LKEY, RDMA_NLDEV_ATTR_RES_IOVA})
    EXPECT_FALSE(after.contains(key)) << key;
  const auto all = regions(message);
  const auto left = regions(stripped);
  ASSERT_EQ(left.size(), all.size());
  ASSERT_FALSE(all.empty());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(left[i].id, all[i].id);
    EXPECT_EQ(left[i].length, all[i].length);
    EXPECT_EQ(left[i].pid, all[i].pid);
    EXPECT_EQ(left[i].on_demand, all[i].on_demand);
  }
}

TEST(NldevRewrite, ChangesGuids) {
  const Message message = recorded_message("get_0.bin");
  const auto nothing = [](auto) {};
  int guids = 0;
  const Message changed = with_identities(message, {[&](std::span<std::byte, 8> guid) {
                                                      ++guids;
                                                      std::fill(guid.begin(), guid.end(), std::byte{0x5A});
                                                    },
                                                    nothing, nothing});
  EXPECT_EQ(guids, 2);
  EXPECT_EQ(changed.size(), message.size());
  EXPECT_EQ(parse_device(changed)->name, parse_device(message)->name);
  EXPECT_NE(changed, message);
}

TEST(NldevRewrite, ChangesAddressesOfConnections) {
  const Message message = recorded_message("res_cm_id_0.bin");
  int addresses = 0;
  with_identities(message, {[](auto) {}, [](auto) {},
                            [&](std::span<std::byte> address) {
                              EXPECT_GE(address.size(), 16U);
                              ++addresses;
                            }});
  EXPECT_GT(addresses, 0);
}

TEST(NldevRewrite, CutsWhatIsNotWhole) {
  const Message message = recorded_message("res_mr_0.bin");
  for (std::size_t size = 0; size < message.size(); ++size) {
    const Message stripped = without_secrets(Bytes(message).first(size));
    EXPECT_FALSE(types(stripped).contains(RDMA_NLDEV_ATTR_RES_RKEY)) << size;
  }
}

}  // namespace
}  // namespace rdma_exporter::host::nldev
