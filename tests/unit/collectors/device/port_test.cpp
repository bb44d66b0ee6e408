// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <rdma/rdma_netlink.h>

#include <cerrno>

#include "host/netlink/netlink_attr.h"
#include "tests/unit/collectors/collector_fixture.h"

namespace rdma_exporter::collectors {
namespace {

const std::string kPort = R"({device="d",port="1"})";

class PortTest : public CollectorFixture {
 protected:
  PortTest() : CollectorFixture(port_spec) {}
  void add_gid(const std::string& slot, const std::string& type, const std::string& netdev = "") const {
    tree_.write(port_path("d") + "gids/" + slot, "fe80:0000:0000:0000:0000:00ff:fe00:0001\n");
    tree_.write(port_path("d") + "gid_attrs/types/" + slot, type + "\n");
    if (!netdev.empty()) tree_.write(port_path("d") + "gid_attrs/ndevs/" + slot, netdev + "\n");
  }
  static std::string info(const std::string& link_layer, const std::string& netdev,
                          const std::string& lid = "") {
    return R"(rdma_port_info{device="d",port="1",link_layer=")" + link_layer + R"(",netdev=")" + netdev +
           R"(",lid=")" + lid + R"("})";
  }
  static std::string gids(const std::string& type) {
    return R"(rdma_port_gids{device="d",port="1",type=")" + type + R"("})";
  }
};

TEST_F(PortTest, ShowsAnActivePort) {
  add_port("d");
  add_gid("0", "RoCE v2", "eth0");
  EXPECT_EQ(collect(), (Page{{"rdma_port_state" + kPort, 4},
                             {"rdma_port_up" + kPort, 1},
                             {"rdma_port_physical_state" + kPort, 5},
                             {"rdma_port_rate_bytes_per_second" + kPort, 12.5e9},
                             {"rdma_port_width_lanes" + kPort, 4},
                             {"rdma_port_active_mtu_bytes" + kPort, 1024},
                             {"rdma_port_max_mtu_bytes" + kPort, 4096},
                             {gids("RoCE v2"), 1},
                             {gids("IB/RoCE v1"), 0},
                             {info("Ethernet", "eth0"), 1}}));
  EXPECT_TRUE(errors_.empty());
}

// A port that is down prints a default ("40 Gb/sec (4X QDR)" on mlx5): a rate of its own it has not.
TEST_F(PortTest, HasARateOnlyWhileActive) {
  add_port("d");
  ASSERT_TRUE(collect().contains("rdma_port_rate_bytes_per_second" + kPort));
  for (const char* state : {"1: DOWN\n", "2: INIT\n", "3: ARMED\n", "5: ACTIVE_DEFER\n"}) {
    tree_.write(port_path("d") + "state", state);
    const Page page = collect();
    EXPECT_FALSE(page.contains("rdma_port_rate_bytes_per_second" + kPort)) << state;
    EXPECT_FALSE(page.contains("rdma_port_width_lanes" + kPort)) << state;
    EXPECT_EQ(page.at("rdma_port_up" + kPort), 0) << state;
    EXPECT_EQ(page.at("rdma_port_state" + kPort), state[0] - '0') << state;
  }
}

class PortRateTest : public PortTest {
 protected:
  PortRateTest() {
    add_port("d");
    add_gid("0", "RoCE v2", "eth0");
    host_.changes->set_complete(true);
  }
  double rate() { return collect().at("rdma_port_rate_bytes_per_second" + kPort); }
  void set_rate(const char* text) const { tree_.write(port_path("d") + "rate", text); }
};

TEST_F(PortRateTest, IsReadAgainWhenAnEventReportsAChange) {
  rate();
  ASSERT_EQ(rate(), 12.5e9);
  for (const char* name : {"eth0", "d"}) {
    set_rate("40 Gb/sec (4X QDR)\n");
    EXPECT_EQ(rate(), 12.5e9) << "each query costs the adapter a firmware access";
    host_.changes->note(name);
    EXPECT_EQ(rate(), 5e9) << name;
    set_rate("100 Gb/sec (4X EDR)\n");
    host_.changes->note(name);
    ASSERT_EQ(rate(), 12.5e9) << name;
  }
  set_rate("40 Gb/sec (4X QDR)\n");
  pass(std::chrono::seconds(60));
  EXPECT_EQ(rate(), 5e9) << "each minute without an event";
}

TEST_F(PortRateTest, IsReadAgainAfterThePortWasDown) {
  rate();
  rate();
  tree_.write(port_path("d") + "state", "1: DOWN\n");
  collect();
  set_rate("50 Gb/sec (2X EDR)\n");
  tree_.write(port_path("d") + "state", "4: ACTIVE\n");
  EXPECT_EQ(rate(), 6.25e9);
}

TEST_F(PortRateTest, IsReadInEachScrapeOfAnInfiniBandPort) {
  tree_.write(port_path("d") + "link_layer", "InfiniBand\n");
  rate();
  rate();
  set_rate("50 Gb/sec (2X EDR)\n");
  EXPECT_EQ(rate(), 6.25e9) << "no event reports a change of its links";
}

TEST_F(PortTest, ShowsEveryPortOfADevice) {
  add_port("d", "1");
  add_port("d", "2");
  tree_.write(port_path("d", "2") + "state", "1: DOWN\n");
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_port_up{device="d",port="1"})"), 1);
  EXPECT_EQ(page.at(R"(rdma_port_up{device="d",port="2"})"), 0);
}

TEST_F(PortTest, TakesAnUnknownWidthForAbsence) {
  add_port("d");
  fs_->failures[port_path("d") + "rate"] = EINVAL;
  const Page page = collect();
  EXPECT_FALSE(page.contains("rdma_port_rate_bytes_per_second" + kPort));
  EXPECT_EQ(page.at("rdma_port_up" + kPort), 1);
  EXPECT_TRUE(errors_.empty());
}

TEST_F(PortTest, LosesOneSampleToOneBadFile) {
  add_port("d");
  const Page whole = collect();
  tree_.remove(port_path("d") + "phys_state");
  tree_.link("/proc/self/mem", port_path("d") + "phys_state");
  Page page = collect();
  EXPECT_EQ(errors_, (Counts{{"EIO", 1}}));
  Page expected = whole;
  expected.erase("rdma_port_physical_state" + kPort);
  EXPECT_EQ(page, expected);
  for (const char* garbage :
       {"", "fast", "100 Gb/sec", "100 Gb/sec (5X EDR)", "-1 Gb/sec (4X EDR)", "\xff\xfe"}) {
    tree_.write(port_path("d") + "rate", garbage);
    page = collect();
    EXPECT_FALSE(page.contains("rdma_port_rate_bytes_per_second" + kPort)) << garbage;
    EXPECT_EQ(errors_["parse"], 1U) << garbage;
  }
}

TEST_F(PortTest, CountsAFileThatIsTooLong) {
  add_port("d");
  tree_.write(port_path("d") + "state", std::string(100'000, '4'));
  const Page page = collect();
  EXPECT_FALSE(page.contains("rdma_port_state" + kPort));
  EXPECT_FALSE(page.contains("rdma_port_up" + kPort));
  EXPECT_EQ(errors_, (Counts{{"too_long", 1}}));
}

TEST_F(PortTest, ShowsLidsOnInfiniBandOnly) {
  add_port("d");
  tree_.write(port_path("d") + "lid", "0x1a\n");
  tree_.write(port_path("d") + "sm_lid", "0x1\n");
  EXPECT_FALSE(collect().contains("rdma_port_lid" + kPort)) << "RoCE prints a LID too, without meaning";
  tree_.write(port_path("d") + "link_layer", "InfiniBand\n");
  pass(std::chrono::minutes(2));
  const Page page = collect();
  EXPECT_EQ(page.at("rdma_port_lid" + kPort), 26);
  EXPECT_EQ(page.at("rdma_port_sm_lid" + kPort), 1);
  EXPECT_TRUE(page.contains(info("InfiniBand", "", "0x1a")));
}

TEST_F(PortTest, FollowsAChangeOfTheLidAtOnce) {
  add_port("d");
  tree_.write(port_path("d") + "link_layer", "InfiniBand\n");
  tree_.write(port_path("d") + "lid", "0x1a\n");
  tree_.write(port_path("d") + "sm_lid", "0x1\n");
  ASSERT_TRUE(collect().contains(info("InfiniBand", "", "0x1a")));
  tree_.write(port_path("d") + "lid", "0x2b\n");
  const Page page = collect();
  EXPECT_EQ(page.at("rdma_port_lid" + kPort), 43);
  EXPECT_TRUE(page.contains(info("InfiniBand", "", "0x2b")));
}

// fill_port_info() of nldev.c adds both on InfiniBand; recorded was Soft-RoCE, so they are appended.
TEST_F(PortTest, TakesLidsFromTheAnswerThatHasTheState) {
  add_port("rxe0");
  tree_.write(port_path("rxe0") + "link_layer", "InfiniBand\n");
  tree_.write(port_path("rxe0") + "lid", "0x1a\n");
  tree_.write(port_path("rxe0") + "sm_lid", "0x1\n");
  answer_netlink();
  test::Message& answer = script_->answers[host::nldev::kPortGet][0];
  host::append_number(answer, RDMA_NLDEV_ATTR_LID, std::uint32_t{0x2c});
  host::append_number(answer, RDMA_NLDEV_ATTR_SM_LID, std::uint32_t{3});
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_port_lid{device="rxe0",port="1"})"), 44);
  EXPECT_EQ(page.at(R"(rdma_port_sm_lid{device="rxe0",port="1"})"), 3);
  EXPECT_TRUE(page.contains(
      R"(rdma_port_info{device="rxe0",port="1",link_layer="InfiniBand",netdev="ve0",lid="0x2c"})"));
  for (const char* file : {"lid", "sm_lid", "state", "phys_state"})
    EXPECT_EQ(fs_->opens[port_path("rxe0") + file], 0) << file << ": one more query of the port";
}

TEST_F(PortTest, CountsGidsByType) {
  add_port("d");
  add_gid("0", "IB/RoCE v1", "eth0");
  add_gid("1", "RoCE v2", "eth0");
  add_gid("2", "RoCE v2", "eth0.7");
  // Empty slots: all zero, or no type to be had.
  tree_.write(port_path("d") + "gids/3", "0000:0000:0000:0000:0000:0000:0000:0000\n");
  tree_.write(port_path("d") + "gid_attrs/types/3", "RoCE v2\n");
  tree_.write(port_path("d") + "gids/4", "fe80:0000:0000:0000:0000:00ff:fe00:0001\n");
  const Page page = collect();
  EXPECT_EQ(page.at(gids("IB/RoCE v1")), 1);
  EXPECT_EQ(page.at(gids("RoCE v2")), 2);
}

TEST_F(PortTest, CountsNoGidsOfATableThatItCouldReadInPartOnly) {
  add_port("d");
  add_gid("0", "RoCE v2", "eth0");
  add_gid("1", "RoCE v2", "eth0");
  fs_->failures[port_path("d") + "gids/1"] = EIO;
  const Page page = collect();
  EXPECT_FALSE(page.contains(gids("RoCE v2")));
  EXPECT_EQ(errors_.at("EIO"), 1U);
}

TEST_F(PortTest, KeepsItsLabelsDuringReadErrorsAndThenReadsAtOnce) {
  add_port("d");
  add_gid("0", "RoCE v2", "eth0");
  const Page before = collect();
  for (const char* file : {"link_layer", "gids/0", "gid_attrs/types/0", "gid_attrs/ndevs/0"})
    fs_->failures[port_path("d") + file] = EMFILE;
  pass(std::chrono::minutes(2));
  Page during = collect();
  EXPECT_FALSE(during.contains(gids("RoCE v2")));
  fs_->failures.clear();
  Page after = collect();
  EXPECT_EQ(after, before);
  std::erase_if(after, [](const auto& sample) { return sample.first.starts_with("rdma_port_gids"); });
  EXPECT_EQ(during, after);
}

TEST_F(PortTest, HasNoGidSamplesWithoutAGidTable) {
  add_port("d");
  const Page page = collect();
  EXPECT_FALSE(page.contains(gids("RoCE v2")));
  EXPECT_FALSE(page.contains(gids("IB/RoCE v1")));
}

TEST_F(PortTest, ReadsGidsAnewWhenTheStateChangesAndElseRarely) {
  add_port("d");
  add_gid("0", "RoCE v2", "eth0");
  collect();
  add_gid("1", "RoCE v2", "eth0");
  EXPECT_EQ(collect().at(gids("RoCE v2")), 1) << "256 slots and more are not read in every collection";
  tree_.write(port_path("d") + "state", "1: DOWN\n");
  EXPECT_EQ(collect().at(gids("RoCE v2")), 2);
  add_gid("2", "RoCE v2", "eth0");
  pass(std::chrono::minutes(2));
  EXPECT_EQ(collect().at(gids("RoCE v2")), 3);
}

TEST_F(PortTest, TakesTheNetdevOfRxeFromItsParent) {
  add_port("d");
  tree_.write(device_path("d") + "parent", "ve0\n");
  EXPECT_TRUE(collect().contains(info("Ethernet", "ve0")));
}

TEST_F(PortTest, TakesTheOnlyNetdevOfThePciFunction) {
  add_port("d");
  tree_.mkdir(device_path("d") + "device/net/ens1");
  EXPECT_TRUE(collect().contains(info("Ethernet", "ens1")));
  tree_.mkdir(device_path("d") + "device/net/ens2");
  pass(std::chrono::minutes(2));
  EXPECT_TRUE(collect().contains(info("Ethernet", ""))) << "which of two is the port's is not known";
}

TEST_F(PortTest, PrefersTheNetdevOfNetlink) {
  add_port("rxe0");
  tree_.write(device_path("rxe0") + "parent", "other\n");
  answer_netlink();
  tree_.write(port_path("rxe0") + "state", "1: DOWN\n");
  const Page page = collect();
  EXPECT_TRUE(
      page.contains(R"(rdma_port_info{device="rxe0",port="1",link_layer="Ethernet",netdev="ve0",lid=""})"));
  EXPECT_EQ(page.at(R"(rdma_port_state{device="rxe0",port="1"})"), 4)
      << "netlink answered, the file was not read";
}

TEST_F(PortTest, ReadsFilesWhereNetlinkRefuses) {
  add_port("rxe0");
  answer_netlink();
  script_->refusals[host::nldev::kPortGet] = EINVAL;
  tree_.write(port_path("rxe0") + "state", "1: DOWN\n");
  EXPECT_EQ(collect().at(R"(rdma_port_state{device="rxe0",port="1"})"), 1);
}

TEST_F(PortTest, HasNoMtuWhereItsQueryFails) {
  add_port("d");
  verbs_->answer = core::os_error(EACCES);
  EXPECT_FALSE(collect().contains("rdma_port_active_mtu_bytes" + kPort));
  EXPECT_EQ(errors_, (Counts{{"EACCES", 1}}));
  collect();
  EXPECT_TRUE(errors_.empty());
  EXPECT_EQ(verbs_->queries, 1) << "opening a device costs a firmware command: not in every collection";
  verbs_->answer = host::PortMtu{2048, 4096};
  pass(std::chrono::minutes(10));
  EXPECT_EQ(collect().at("rdma_port_active_mtu_bytes" + kPort), 2048);
}

// The kernel told of the device or of its interface: what is read once a minute otherwise is read now.
TEST_F(PortTest, ReadsSlowFactsAgainWhenToldOfAChange) {
  add_port("d");
  add_gid("0", "RoCE v2", "eth0");
  collect();
  collect();
  const int queries = verbs_->queries;
  add_gid("1", "RoCE v2", "eth0");
  ASSERT_EQ(collect().at(gids("RoCE v2")), 1) << "not told";
  host_.changes->note("d");
  EXPECT_EQ(collect().at(gids("RoCE v2")), 2);
  EXPECT_EQ(verbs_->queries, queries + 1);
  for (int i = 0; i < 1000; ++i) host_.changes->note("eth0");
  collect();
  EXPECT_EQ(verbs_->queries, queries + 2) << "once, however much was told";
  host_.changes->note_all();
  collect();
  EXPECT_EQ(verbs_->queries, queries + 3);
  collect();
  EXPECT_EQ(verbs_->queries, queries + 3);
}

TEST_F(PortTest, TakesAMissingUserSpaceDriverForAbsence) {
  add_port("d");
  verbs_->answer = core::os_error(ENODEV);
  EXPECT_FALSE(collect().contains("rdma_port_max_mtu_bytes" + kPort));
  EXPECT_TRUE(errors_.empty());
}

TEST_F(PortTest, AsksForTheMtuAgainWhenThePortComesUp) {
  add_port("d");
  tree_.write(port_path("d") + "state", "1: DOWN\n");
  collect();
  verbs_->answer = host::PortMtu{4096, 4096};
  tree_.write(port_path("d") + "state", "4: ACTIVE\n");
  EXPECT_EQ(collect().at("rdma_port_active_mtu_bytes" + kPort), 4096);
}

TEST_F(PortTest, IsSilentAboutADeviceThatWentAway) {
  add_port("d");
  collect();
  tree_.remove(port_path("d"));
  const Page page = collect();
  EXPECT_FALSE(page.contains("rdma_port_up" + kPort));
  EXPECT_FALSE(page.contains("rdma_port_state" + kPort));
  EXPECT_TRUE(errors_.empty());
}

}  // namespace
}  // namespace rdma_exporter::collectors
