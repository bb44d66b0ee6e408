// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/topology/driver.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <utility>

namespace rdma_exporter::host {
namespace {

TEST(Driver, IsKnownByTheDriverOfTheParentDevice) {
  for (const auto& [parent, driver] : {std::pair<std::string_view, Driver>{"mlx5_core", Driver::mlx5},
                                       {"mlx5_core.sf", Driver::mlx5},
                                       {"mlx4_core", Driver::mlx4},
                                       {"bnxt_en", Driver::bnxt_re},
                                       {"ice", Driver::irdma},
                                       {"i40e", Driver::irdma},
                                       {"idpf", Driver::irdma},
                                       {"efa", Driver::efa},
                                       {"erdma", Driver::erdma},
                                       {"hns3", Driver::hns},
                                       {"mana", Driver::mana},
                                       {"ionic", Driver::ionic},
                                       {"hfi1", Driver::hfi1},
                                       {"ib_qib", Driver::qib},
                                       {"cxgb4", Driver::cxgb4},
                                       {"qede", Driver::qedr},
                                       {"be2net", Driver::ocrdma},
                                       {"ib_mthca", Driver::mthca},
                                       {"usnic_verbs", Driver::usnic},
                                       {"vmw_pvrdma", Driver::vmw_pvrdma}})
    EXPECT_EQ(driver_from_parent(parent), driver) << parent;
}

TEST(Driver, IsUnknownForAnyOtherParent) {
  for (const std::string_view parent : {"", "mlx5", "mlx5_core.eth", "virtio-pci", "MLX5_CORE", "ice "})
    EXPECT_EQ(driver_from_parent(parent), Driver::unknown) << parent;
}

TEST(Driver, IsKnownByTheTypeOfTheAdapter) {
  for (const auto& [type, driver] :
       {std::pair<std::string_view, Driver>{"MT4113", Driver::mlx5},  // Connect-IB
        {"MT4129", Driver::mlx5},                                     // ConnectX-7
        {"MT41692", Driver::mlx5},                                    // BlueField-3
        {"MT4099", Driver::mlx4},                                     // ConnectX-3
        {"MT4112", Driver::mlx4},
        {"MT26428", Driver::mlx4},  // ConnectX-2
        {"MT25408", Driver::mlx4},
        {"MT25204", Driver::mthca},
        {"MT25208 (MT23108 compat mode)", Driver::mthca},
        {"cxgb4", Driver::cxgb4}})
    EXPECT_EQ(driver_from_hca_type(type), driver) << type;
  for (const std::string_view type : {"", "MT", "MTx", "MT4129x", "MT 4129", "MT99999999999", "mt4129",
                                      "MT4097", "MT1", "Broadcom NetXtreme-C/E RoCE Driver HCA"})
    EXPECT_EQ(driver_from_hca_type(type), Driver::unknown) << type;
}

TEST(Driver, HasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Driver::siw); ++i)
    EXPECT_TRUE(names.insert(to_string(static_cast<Driver>(i))).second) << i;
  EXPECT_EQ(to_string(Driver::unknown), "unknown");
  EXPECT_EQ(to_string(Driver::bnxt_re), "bnxt_re");
  EXPECT_EQ(to_string(Driver::vmw_pvrdma), "vmw_pvrdma");
  EXPECT_EQ(to_string(Driver::rxe), "rxe");
  EXPECT_EQ(to_string(Driver::siw), "siw");
}

}  // namespace
}  // namespace rdma_exporter::host
