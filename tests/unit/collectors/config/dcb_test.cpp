// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "tests/unit/collectors/netdev_fixture.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec dcb_spec;

namespace {

class DcbTest : public NetdevFixture {
 protected:
  DcbTest() : NetdevFixture(dcb_spec) {}
  static std::string of_priority(const std::string& family, int priority, const std::string& more = "") {
    return family + R"({device="d",port="1",netdev="eth0",priority=")" + std::to_string(priority) + "\"" +
           more + "}";
  }
  static std::string frames(int priority, const std::string& direction) {
    return of_priority("rdma_pfc_frames_total", priority, R"(,direction=")" + direction + "\"");
  }
  static std::size_t count(const Page& page, const std::string& family) {
    return static_cast<std::size_t>(std::count_if(page.begin(), page.end(), [&](const auto& sample) {
      return sample.first.starts_with(family + "{");
    }));
  }
};

TEST_F(DcbTest, HasNoJobsWithoutNetlink) {
  use_no_netlink();
  add_netdev("mlx5_core", "connectx");
  EXPECT_EQ(collect(), Page());
  EXPECT_TRUE(jobs().empty());
}

TEST_F(DcbTest, SaysWhichPrioritiesAreLossless) {
  add_netdev("mlx5_core", "connectx");
  const Page page = collect();
  for (int priority = 0; priority < 8; ++priority)
    EXPECT_EQ(page.at(of_priority("rdma_dcb_pfc_enabled", priority)), priority == 3 || priority == 4);
  EXPECT_EQ(page.at(R"(rdma_dcb_pfc_max_traffic_classes{device="d",port="1",netdev="eth0"})"), 8);
}

// In plain words: `rx` is a PFC frame that this host RECEIVED, so this host is told to stop; `tx` is one that
// it SENT, so this host is the slow one. DCB calls the first an indication and the second a request.
TEST_F(DcbTest, CountsAnIndicationAsRxThisHostIsToldToStopAndARequestAsTxThisHostIsSlow) {
  add_netdev("mlx5_core", "connectx");
  const Page page = collect();
  // dcb -s pfc show: requests ... 3:1263, indications ... 3:1261
  EXPECT_EQ(page.at(frames(3, "rx")), 1261);
  EXPECT_EQ(page.at(frames(3, "tx")), 1263);
  EXPECT_EQ(count(page, "rdma_pfc_frames_total"), 16U);
}

TEST_F(DcbTest, LeavesOutTheCountsOfDriversThatDoNotFillThem) {
  for (const char* driver : {"hns3", "qede", "cxgb4", "mlx4_core", ""}) {
    add_netdev(driver, "connectx");
    pass(std::chrono::seconds(60));
    EXPECT_EQ(count(collect(), "rdma_pfc_frames_total"), 0U) << driver;
    tree_.remove("class/net/eth0");
    tree_.remove("devices");
  }
}

TEST_F(DcbTest, TakesTheDelayOfMlx5ForTheLengthOfACable) {
  add_netdev("mlx5_core", "netxtreme");
  EXPECT_EQ(collect().at(R"(rdma_dcb_cable_length_meters{device="d",port="1",netdev="eth0"})"), 32768);
}

TEST_F(DcbTest, HasTheDelayInBytesElsewhere) {
  add_netdev("bnxt_en", "netxtreme");
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_dcb_pfc_delay_bytes{device="d",port="1",netdev="eth0"})"), 4096);
  EXPECT_EQ(count(page, "rdma_dcb_cable_length_meters"), 0U);
}

TEST_F(DcbTest, HasTheBandwidthOfEtsClassesOnly) {
  add_netdev("mlx5_core", "connectx");
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_dcb_ets_bandwidth_ratio{device="d",port="1",netdev="eth0",tc="0"})"), 0.4);
  EXPECT_EQ(page.at(R"(rdma_dcb_ets_bandwidth_ratio{device="d",port="1",netdev="eth0",tc="1"})"), 0.6);
  EXPECT_EQ(count(page, "rdma_dcb_ets_bandwidth_ratio"), 2U);
  EXPECT_EQ(page.at(R"(rdma_dcb_tsa_info{device="d",port="1",netdev="eth0",tc="0",tsa="ets"})"), 1);
  EXPECT_EQ(page.at(R"(rdma_dcb_tsa_info{device="d",port="1",netdev="eth0",tc="2",tsa="strict"})"), 1);
  EXPECT_EQ(page.at(of_priority("rdma_dcb_priority_tc", 7)), 6);
  EXPECT_EQ(page.at(R"(rdma_dcb_ets_willing{device="d",port="1",netdev="eth0"})"), 0);
  EXPECT_EQ(page.at(R"(rdma_dcb_ets_traffic_classes{device="d",port="1",netdev="eth0"})"), 8);
}

TEST_F(DcbTest, HasTheAppTableAndInfersTrustFromIt) {
  add_netdev("mlx5_core", "connectx");
  Page page = collect();
  for (const char* app :
       {R"(selector="udp",protocol="4791",priority="3")",
        R"(selector="ethertype",protocol="0x8915",priority="4")",
        R"(selector="ethertype",protocol="0x0000",priority="1")",
        R"(selector="dscp",protocol="26",priority="3")", R"(selector="dscp",protocol="48",priority="6")"})
    EXPECT_EQ(page.at(std::string(R"(rdma_dcb_app_info{device="d",port="1",netdev="eth0",)") + app + "}"), 1);
  EXPECT_EQ(count(page, "rdma_dcb_app_info"), 5U);
  EXPECT_EQ(page.at(R"(rdma_dcb_trust_info{device="d",port="1",netdev="eth0",trust="dscp",inferred="true"})"),
            1);
  recording_ = "netxtreme";  // no DSCP entry
  pass(std::chrono::seconds(60));
  page = collect();
  EXPECT_EQ(count(page, "rdma_dcb_app_info"), 1U);
  EXPECT_EQ(page.at(R"(rdma_dcb_trust_info{device="d",port="1",netdev="eth0",trust="pcp",inferred="true"})"),
            1);
}

TEST_F(DcbTest, HasBuffersAndTheDcbxMode) {
  add_netdev("mlx5_core", "connectx");
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_dcb_buffer_bytes{device="d",port="1",netdev="eth0",buffer="1"})"), 262144);
  EXPECT_EQ(page.at(R"(rdma_dcb_port_buffer_bytes{device="d",port="1",netdev="eth0"})"), 524288);
  EXPECT_EQ(page.at(of_priority("rdma_dcb_priority_buffer", 3)), 1);
  EXPECT_EQ(page.at(R"(rdma_dcb_dcbx_info{device="d",port="1",netdev="eth0",mode="host"})"), 1);
  EXPECT_EQ(page.at(R"(rdma_dcb_dcbx_info{device="d",port="1",netdev="eth0",mode="ieee"})"), 1);
  EXPECT_EQ(count(page, "rdma_dcb_dcbx_info"), 2U);
}

TEST_F(DcbTest, AsksADriverThatCountsInMemoryEachTimeAndMlx5Rarely) {
  add_netdev("bnxt_en", "netxtreme");
  for (int i = 0; i < 3; ++i) collect();
  EXPECT_EQ(asked_["dcb_ieee_get"], 3);
}

TEST_F(DcbTest, AsksMlx5AgainAfterHalfAMinuteAndServesWhatItKnowsUntilThen) {
  add_netdev("mlx5_core", "connectx");
  const Page first = collect();
  EXPECT_EQ(collect(), first);
  EXPECT_EQ(asked_["dcb_ieee_get"], 1);
  pass(std::chrono::seconds(40));
  EXPECT_EQ(collect(), first);
  EXPECT_EQ(asked_["dcb_ieee_get"], 2);
}

TEST_F(DcbTest, AsksAnInterfaceWithoutDcbRarely) {
  add_netdev("ionic", "virtio");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(collect(), Page{});
  EXPECT_EQ(asked_["dcb_ieee_get"], 1);
  EXPECT_TRUE(errors_.empty()) << "not supported is no error";
  pass(std::chrono::seconds(400));
  recording_ = "netxtreme";
  EXPECT_FALSE(collect().empty()) << "a driver that learned it is noticed";
}

TEST_F(DcbTest, CountsAFailureAndAsksAgain) {
  add_netdev("mlx5_core", "connectx");
  refusals_["dcb_ieee_get"] = EIO;
  EXPECT_EQ(collect(), Page{});
  EXPECT_EQ(errors_, (Counts{{"EIO", 1}}));
  refusals_.clear();
  EXPECT_FALSE(collect().empty());
  EXPECT_TRUE(errors_.empty());
}

TEST_F(DcbTest, IsSilentAboutAnInterfaceThatHasGoneSinceTheDiscovery) {
  add_netdev("mlx5_core", "connectx");
  route_script_->respond = [this](std::uint16_t, host::Bytes) -> std::optional<core::Result<test::Message>> {
    tree_.remove("class/net/eth0");  // renamed, deleted or moved to another namespace
    return core::os_error(ENODEV);
  };
  EXPECT_EQ(collect(), Page{});
  EXPECT_TRUE(errors_.empty());
}

TEST_F(DcbTest, CountsENODEVOfAnInterfaceThatIsThere) {
  add_netdev("mlx5_core", "gone");
  EXPECT_EQ(collect(), Page{});
  EXPECT_TRUE(errors_.empty()) << "it may be in the middle of a renaming";
  EXPECT_EQ(collect(), Page{});
  EXPECT_EQ(errors_, (Counts{{"ENODEV", 1}}));
}

}  // namespace
}  // namespace rdma_exporter::collectors
