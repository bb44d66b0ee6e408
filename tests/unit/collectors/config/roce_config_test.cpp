// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Trees of MLNX_OFED and of debugfs, synthetic: file names and formats after en_sysfs.c, en_ecn.c and
// main_ext.c of MLNX_OFED, drivers/infiniband/hw/mlx5/cong.c and core/cma_configfs.c of Linux.
#include <algorithm>
#include <cerrno>

#include "tests/unit/collectors/netdev_fixture.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec roce_config_spec;

namespace {

constexpr const char* kEcn = "class/net/eth0/ecn/";
constexpr const char* kParams = "kernel/debug/mlx5/0000:3b:00.0/cc_params";
const std::string kMtu = R"(rdma_netdev_mtu_bytes{device="d",port="1",netdev="eth0"})";
const std::string kReadable = R"(rdma_netdev_roce_cc_parameters_readable{device="d",port="1",netdev="eth0"})";

class RoceConfigTest : public NetdevFixture {
 protected:
  RoceConfigTest() : NetdevFixture(roce_config_spec) {}
  static std::string parameter(const std::string& family, const std::string& name) {
    return family + R"({device="d",port="1",netdev="eth0",parameter=")" + name + "\"}";
  }
  void write(const std::string& folder, const std::string& file, const std::string& value) const {
    tree_.write(folder + "/" + file, value + "\n");
  }
};

TEST_F(RoceConfigTest, HasTheMtuOfTheInterface) {
  add_netdev("bnxt_en", "netxtreme");
  EXPECT_EQ(collect(), (Page{{kMtu, 4200}}));
  tree_.write("class/net/eth0/mtu", "1500\n");
  EXPECT_EQ(collect(), (Page{{kMtu, 1500}})) << "in the next scrape";
}

TEST_F(RoceConfigTest, ReadsTheMtuAgainWhenAnEventReportsAChange) {
  add_netdev("bnxt_en", "netxtreme");
  host_.changes->set_complete(true);
  ASSERT_EQ(collect().at(kMtu), 4200);
  tree_.write("class/net/eth0/mtu", "1500\n");
  EXPECT_EQ(collect().at(kMtu), 4200) << "the kernel has not reported it yet";
  host_.changes->note("eth0");
  EXPECT_EQ(collect().at(kMtu), 1500);
}

TEST_F(RoceConfigTest, ReadsTheMtuAgainAfterAFailure) {
  add_netdev("bnxt_en", "netxtreme");
  host_.changes->set_complete(true);
  fs_->failures["class/net/eth0/mtu"] = EIO;
  EXPECT_FALSE(collect().contains(kMtu));
  fs_->failures.clear();
  EXPECT_EQ(collect().at(kMtu), 4200);
}

TEST_F(RoceConfigTest, DoesNotReadAnMtuThatIsNotExported) {
  add_netdev("bnxt_en", "netxtreme");
  context_.metrics.set = core::MetricSet::lean;
  EXPECT_EQ(collect(), Page());
  EXPECT_EQ(fs_->reads["class/net/eth0/mtu"], 0);
}

TEST_F(RoceConfigTest, ReadsTheVendorDriversEcnFilesInBaseUnits) {
  add_netdev("mlx5_core", "connectx");
  for (int priority = 0; priority < 8; ++priority) {
    const std::string on = priority == 3 ? "1" : "0";
    write(kEcn, "roce_np/enable/" + std::to_string(priority), on);
    write(kEcn, "roce_rp/enable/" + std::to_string(priority), on);
  }
  write(kEcn, "roce_np/min_time_between_cnps", "4");
  write(kEcn, "roce_np/cnp_dscp", "48");
  write(kEcn, "roce_np/cnp_802p_prio", "6");
  write(kEcn, "roce_rp/rpg_ai_rate", "5");
  write(kEcn, "roce_rp/rpg_min_dec_fac", "50");
  write(kEcn, "roce_rp/dce_tcp_g", "1019");
  write(kEcn, "roce_rp/rpg_byte_reset", "32767");
  Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_priority_ecn_enabled{device="d",port="1",netdev="eth0",role="np",priority="3"})"),
            1);
  EXPECT_EQ(page.at(R"(rdma_priority_ecn_enabled{device="d",port="1",netdev="eth0",role="rp",priority="4"})"),
            0);
  std::erase_if(page,
                [](const auto& sample) { return sample.first.starts_with("rdma_priority_ecn_enabled"); });
  EXPECT_EQ(page, (Page{{kMtu, 4200},
                        {kReadable, 1},
                        {R"(rdma_netdev_roce_cnp_dscp{device="d",port="1",netdev="eth0"})", 48},
                        {R"(rdma_netdev_roce_cnp_priority{device="d",port="1",netdev="eth0"})", 6},
                        {parameter("rdma_netdev_roce_cc_time_seconds", "np_min_time_between_cnps"), 4e-6},
                        {parameter("rdma_netdev_roce_cc_rate_bytes_per_second", "rp_ai_rate"), 625'000},
                        {parameter("rdma_netdev_roce_cc_ratio", "rp_min_dec_fac"), 0.5},
                        {parameter("rdma_netdev_roce_cc_ratio", "rp_dce_tcp_g"), 1019.0 / 1024},
                        {parameter("rdma_netdev_roce_cc_value", "rp_byte_reset"), 32767}}));
  EXPECT_TRUE(errors_.empty());
}

TEST_F(RoceConfigTest, ReadsDebugfsWhereTheVendorDriverIsNot) {
  add_netdev("mlx5_core", "connectx");
  write(kParams, "np_cnp_dscp", "48");
  write(kParams, "rp_time_reset", "300");
  EXPECT_EQ(collect(), (Page{{kMtu, 4200},
                             {kReadable, 1},
                             {R"(rdma_netdev_roce_cnp_dscp{device="d",port="1",netdev="eth0"})", 48},
                             {parameter("rdma_netdev_roce_cc_time_seconds", "rp_time_reset"), 300e-6}}));
}

TEST_F(RoceConfigTest, ReadsOnePlaceOnlyWhenBothAreThere) {
  add_netdev("mlx5_core", "connectx");
  write(kEcn, "roce_np/cnp_dscp", "26");
  write(kParams, "np_cnp_dscp", "48");
  EXPECT_EQ(collect().at(R"(rdma_netdev_roce_cnp_dscp{device="d",port="1",netdev="eth0"})"), 26);
}

TEST_F(RoceConfigTest, SaysWhenDebugfsIsForRootOnly) {
  add_netdev("mlx5_core", "connectx");
  write(kParams, "np_cnp_dscp", "48");
  fs_->failures[std::string(kParams) + "/rp_clamp_tgt_rate"] = EACCES;
  write(kParams, "rp_clamp_tgt_rate", "0");
  EXPECT_EQ(collect(), (Page{{kMtu, 4200}, {kReadable, 0}}));
  EXPECT_TRUE(errors_.empty()) << "a missing privilege is no read error";
}

TEST_F(RoceConfigTest, AsksTheFirmwareRarely) {
  add_netdev("mlx5_core", "connectx");
  write(kParams, "np_cnp_dscp", "48");
  for (int i = 0; i < 3; ++i) collect();
  EXPECT_EQ(fs_->reads[std::string(kParams) + "/np_cnp_dscp"], 1);
  pass(std::chrono::seconds(400));
  collect();
  EXPECT_EQ(fs_->reads[std::string(kParams) + "/np_cnp_dscp"], 2);
}

TEST_F(RoceConfigTest, AParameterThatFailsCostsItself) {
  add_netdev("mlx5_core", "connectx");
  write(kParams, "np_cnp_dscp", "48");
  write(kParams, "np_cnp_prio", "many");
  write(kParams, "rp_gd", "");
  EXPECT_EQ(collect().at(R"(rdma_netdev_roce_cnp_dscp{device="d",port="1",netdev="eth0"})"), 48);
  EXPECT_EQ(errors_, (Counts{{"parse", 1}})) << "an empty file: the firmware did not answer";
}

TEST_F(RoceConfigTest, HasForcedTrafficClassAndHopLimit) {
  add_netdev("mlx5_core", "connectx");
  write(device_path("d") + "tc/1", "traffic_class", "Global tclass=106\nsrc_ip=10.0.0.0,tclass=96");
  write(device_path("d") + "ttl/1", "ttl", "64");
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_port_roce_traffic_class{device="d",port="1"})"), 106);
  EXPECT_EQ(page.at(R"(rdma_port_roce_ttl{device="d",port="1"})"), 64);
}

TEST_F(RoceConfigTest, HasNoTrafficClassWhereNoneIsForced) {
  add_netdev("mlx5_core", "connectx");
  tree_.write(device_path("d") + "tc/1/traffic_class", "");
  write(device_path("d") + "ttl/1", "ttl", "0");
  EXPECT_EQ(collect(), (Page{{kMtu, 4200}}));
}

TEST_F(RoceConfigTest, HasThePresetsOfConnectionsThatSomebodyMadeVisible) {
  add_netdev("mlx5_core", "connectx");
  write("kernel/config/rdma_cm/d/ports/1", "default_roce_tos", "106");
  write("kernel/config/rdma_cm/d/ports/1", "default_roce_mode", "RoCE v2");
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_port_cm_default_tos{device="d",port="1"})"), 106);
  EXPECT_EQ(page.at(R"(rdma_port_cm_default_roce_mode_info{device="d",port="1",mode="RoCE v2"})"), 1);
}

TEST_F(RoceConfigTest, MakesNothing) {
  add_netdev("mlx5_core", "connectx");
  tree_.mkdir("kernel/config/rdma_cm");
  tree_.mkdir("kernel/debug/mlx5");
  collect();
  EXPECT_TRUE(std::filesystem::is_empty(tree_.path("kernel/config/rdma_cm")));
  EXPECT_TRUE(std::filesystem::is_empty(tree_.path("kernel/debug/mlx5")));
}

}  // namespace
}  // namespace rdma_exporter::collectors
