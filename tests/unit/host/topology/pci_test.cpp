// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/topology/pci.h"

#include <gtest/gtest.h>

#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::host {
namespace {

class PciTest : public ::testing::Test {
 protected:
  PciFunction find() const { return find_pci_function(*fs_, "class/infiniband/d/device"); }
  void set_device(const std::string& target) const {
    tree_.mkdir(target);
    tree_.link("../../../" + target, "class/infiniband/d/device");
  }

  test::TempTree tree_;
  std::unique_ptr<HostFs> fs_ = make_host_fs(tree_.root());
};

TEST_F(PciTest, FindsTheFunctionOfADevice) {
  set_device("devices/pci0000:3a/0000:3a:00.0/0000:3b:00.1");
  const PciFunction pci = find();
  EXPECT_EQ(pci.address, "0000:3b:00.1");
  EXPECT_EQ(pci.path, "devices/pci0000:3a/0000:3a:00.0/0000:3b:00.1");
  EXPECT_FALSE(pci.is_vf());
}

TEST_F(PciTest, FindsThePhysicalFunctionOfAVirtualOne) {
  set_device("devices/pci0000:3a/0000:3b:00.2");
  tree_.link("../0000:3b:00.0", "devices/pci0000:3a/0000:3b:00.2/physfn");
  const PciFunction pci = find();
  EXPECT_EQ(pci.address, "0000:3b:00.2");
  EXPECT_TRUE(pci.is_vf());
  EXPECT_EQ(pci.physfn, "0000:3b:00.0");
}

TEST_F(PciTest, FindsTheFunctionAboveAnAuxiliaryDevice) {
  set_device("devices/pci0000:3a/0000:3b:00.0/mlx5_core.sf.4");
  EXPECT_EQ(find().address, "0000:3b:00.0");
  EXPECT_EQ(find().path, "devices/pci0000:3a/0000:3b:00.0");
}

TEST_F(PciTest, AcceptsLongDomains) {
  set_device("devices/pci10000:00/10000:01:00.0");
  EXPECT_EQ(find().address, "10000:01:00.0");
}

TEST_F(PciTest, IsEmptyForSoftwareDevices) {
  EXPECT_TRUE(find().path.empty());
  set_device("devices/virtual/net/ve0");
  EXPECT_TRUE(find().path.empty());
  EXPECT_TRUE(find().address.empty());
  EXPECT_FALSE(find().is_vf());
}

TEST_F(PciTest, TakesNothingElseForAnAddress) {
  for (const char* name :
       {"0000:3b:00", "000:3b:00.0", "0000:3b:00.g", "0000-3b:00.0", "0000:3B:00.0", "pci0000:3b"}) {
    tree_.remove("class/infiniband/d/device");
    set_device("devices/" + std::string(name) + "/x");
    EXPECT_TRUE(find().address.empty()) << name;
  }
}

TEST_F(PciTest, DoesNotFollowALinkOutOfTheRoot) {
  test::TempTree outside;
  outside.mkdir("0000:3b:00.0");
  tree_.link(outside.path("0000:3b:00.0"), "class/infiniband/d/device");
  EXPECT_TRUE(find().address.empty());
}

TEST(PciPathToRoot, HasTheFunctionsFromTheAdapterUp) {
  EXPECT_EQ(pci_path_to_root("devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/0000:3c:00.0"),
            (std::vector<std::string>{"devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/0000:3c:00.0",
                                      "devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0",
                                      "devices/pci0000:3a/0000:3a:00.0"}));
  EXPECT_TRUE(pci_path_to_root("devices/virtual/net/ve0").empty());
}

}  // namespace
}  // namespace rdma_exporter::host
