// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <cerrno>
#include <fstream>

#include "collectors/counters/carry_over.h"
#include "tests/unit/collectors/collector_fixture.h"
#include "tests/unit/support/fake_ethtool.h"
#include "tests/unit/support/netlink_mutation.h"

namespace rdma_exporter::collectors {
namespace {

class HwCountersTest : public CollectorFixture {
 protected:
  HwCountersTest() : CollectorFixture(hw_counters_spec) {}

  void set(const std::string& device, const std::string& counter, const std::string& text) const {
    tree_.write(port_path(device) + "hw_counters/" + counter, text + "\n");
  }
  /// rxe0 as Soft-RoCE, known to netlink, with one file whose value tells that it was read.
  void add_rxe() const {
    add_port("rxe0");
    tree_.write(device_path("rxe0") + "parent", "ve0\n");
    set("rxe0", "sent_pkts", "77");
    answer_netlink();
  }
  /// Packets sent by rxe0: 500 in the recorded answer, 77 in the file.
  static double sent(const Page& page) {
    const auto it = page.find(R"(rdma_port_packets_total{device="rxe0",port="1",direction="tx"})");
    return it == page.end() ? -1 : it->second;
  }
  int stat_requests() const { return script_->requests[host::nldev::kStatGet]; }
};

TEST_F(HwCountersTest, TakesAllCountersOfAPortFromOneNetlinkAnswer) {
  add_rxe();
  const Page page = collect();
  EXPECT_EQ(sent(page), 500);
  EXPECT_EQ(page.size(), 15U) << "every counter of the answer exactly once";
  EXPECT_EQ(stat_requests(), 1);
  EXPECT_EQ(fs_->opens[port_path("rxe0") + "hw_counters/sent_pkts"], 0);
  EXPECT_TRUE(errors_.empty());
}

TEST_F(HwCountersTest, ReadsTheFilesWhereNetlinkDoesNotKnowTheDevice) {
  add_rxe();
  script_->answers[host::nldev::kGet].clear();
  EXPECT_EQ(sent(collect()), 77);
  EXPECT_EQ(stat_requests(), 0);
}

TEST_F(HwCountersTest, ReadsTheFilesWhereNetlinkRefusesAndTriesAgainLater) {
  add_rxe();
  for (const int refusal : {EINVAL, EMSGSIZE}) {
    script_->requests.clear();
    script_->refusals[host::nldev::kStatGet] = refusal;
    EXPECT_EQ(sent(collect()), 77) << refusal;
    EXPECT_EQ(sent(collect()), 77) << refusal;
    EXPECT_EQ(stat_requests(), 1) << "not in every collection";
    EXPECT_TRUE(errors_.empty()) << "a kernel or device without this is no error";
    script_->refusals.clear();
    pass(std::chrono::minutes(2));
    EXPECT_EQ(sent(collect()), 500) << refusal;
  }
}

TEST_F(HwCountersTest, CountsOtherRefusalsAndReadsTheFiles) {
  add_rxe();
  script_->refusals[host::nldev::kStatGet] = ETIMEDOUT;
  EXPECT_EQ(sent(collect()), 77);
  EXPECT_EQ(errors_, (Counts{{"ETIMEDOUT", 1}}));
}

TEST_F(HwCountersTest, ReadsTheFilesWhenTheAnswerIsMalformed) {
  add_rxe();
  test::Message& answer = script_->answers[host::nldev::kStatGet][0];
  answer.resize(answer.size() - 10);
  const Page page = collect();
  EXPECT_EQ(sent(page), 77) << "no value of an answer that is not whole";
  EXPECT_EQ(page.size(), 1U);
  EXPECT_EQ(errors_, (Counts{{"parse", 1}}));
}

TEST_F(HwCountersTest, ShowsOptionalCountersWhileTheyAreSwitchedOn) {
  add_rxe();
  auto& answer = script_->answers[host::nldev::kStatGet][0];
  const test::Message all = answer;
  answer = test::without_counter(all, "rdma_sends");
  EXPECT_EQ(collect().size(), 14U);
  answer = all;
  EXPECT_EQ(collect().size(), 15U);
  answer = test::without_counter(all, "sent_pkts");
  const Page page = collect();
  EXPECT_EQ(page.size(), 14U);
  EXPECT_EQ(sent(page), -1);
}

TEST_F(HwCountersTest, FollowsTheValuesOfTheAnswers) {
  add_rxe();
  auto& answer = script_->answers[host::nldev::kStatGet][0];
  collect();
  answer = test::with_value(answer, "sent_pkts", 18446744073709551614ULL);
  EXPECT_EQ(sent(collect()), 18446744073709551614.0);
}

// hw/ionic/ionic_hw_stats.c gives all-ones for what it could not decode.
TEST_F(HwCountersTest, LeavesOutWhatIonicCouldNotDecode) {
  add_port("rxe0");
  set_driver("rxe0", "ionic");
  answer_netlink();
  auto& answer = script_->answers[host::nldev::kStatGet][0];
  answer = test::with_value(answer, "sent_pkts", ~std::uint64_t{0});
  Page page = collect();
  EXPECT_EQ(page.size(), 14U);
  EXPECT_FALSE(page.contains(
      R"(rdma_port_raw_total{device="rxe0",port="1",source="hw_counters",counter="sent_pkts"})"));
  script_->refusals[host::nldev::kStatGet] = EINVAL;
  set("rxe0", "sent_pkts", "18446744073709551615");
  set("rxe0", "rcvd_pkts", "1");
  page = collect();
  EXPECT_EQ(
      page,
      (Page{{R"(rdma_port_raw_total{device="rxe0",port="1",source="hw_counters",counter="rcvd_pkts"})", 1}}));
}

TEST_F(HwCountersTest, ContinuesNarrowCountersWhenTheSourceChanges) {
  add_port("rxe0");
  set_driver("rxe0", "mlx5_core");
  set("rxe0", "out_of_sequence", "4294967290");
  set("rxe0", "lifespan", "10");
  answer_netlink();
  script_->refusals[host::nldev::kStatGet] = EINVAL;
  const std::string key = R"(rdma_port_out_of_sequence_total{device="rxe0",port="1"})";
  EXPECT_EQ(collect(), (Page{{key, 4294967290}}));
  set("rxe0", "out_of_sequence", "4");
  EXPECT_EQ(collect().at(key), 4294967300) << "the q counter is 32 bits wide and has wrapped";
  script_->refusals.clear();
  auto& answer = script_->answers[host::nldev::kStatGet][0];
  answer = test::with_name(answer, "sent_pkts", "out_of_sequence");
  pass(std::chrono::minutes(2));
  EXPECT_EQ(collect().at(key), 4294967796) << "500 in the answer";
}

TEST_F(HwCountersTest, ContinuesNarrowCountersWhenTheDumpOfDevicesFails) {
  add_port("rxe0");
  set_driver("rxe0", "mlx5_core");
  answer_netlink();
  script_->refusals[host::nldev::kStatGet] = EINVAL;
  const std::string key = R"(rdma_port_out_of_sequence_total{device="rxe0",port="1"})";
  set("rxe0", "out_of_sequence", "4294967290");
  collect();
  set("rxe0", "out_of_sequence", "4");
  ASSERT_EQ(collect().at(key), 4294967300);
  script_->refusals[host::nldev::kGet] = EINTR;
  EXPECT_EQ(collect().at(key), 4294967300);
  script_->refusals.erase(host::nldev::kGet);
  EXPECT_EQ(collect().at(key), 4294967300);
}

TEST_F(HwCountersTest, ContinuesNarrowCountersAfterAReload) {
  add_port("d");
  set_driver("d", "mlx5_core");
  const std::string key = R"(rdma_port_out_of_sequence_total{device="d",port="1"})";
  set("d", "out_of_sequence", "4294967290");
  collect();
  set("d", "out_of_sequence", "4");
  ASSERT_EQ(collect().at(key), 4294967300);
  reload();
  set("d", "out_of_sequence", "9");
  EXPECT_EQ(collect().at(key), 4294967305);
  reload();
  tree_.remove(device_path("d"));
  add_port("d");
  set_driver("d", "mlx5_core");
  set("d", "out_of_sequence", "5");
  EXPECT_EQ(collect().at(key), 5) << "another registration";
  EXPECT_EQ(context_.carry_over->size(), 1U) << "what is gone is forgotten: a port is left";
}

TEST_F(HwCountersTest, StartsAnewWithADeviceRegisteredAnew) {
  add_port("d");
  set_driver("d", "mlx5_core");
  const std::string key = R"(rdma_port_out_of_sequence_total{device="d",port="1"})";
  set("d", "out_of_sequence", "4294967290");
  collect();
  set("d", "out_of_sequence", "4");
  ASSERT_EQ(collect().at(key), 4294967300);
  tree_.remove(device_path("d"));
  add_port("d");
  set_driver("d", "mlx5_core");
  set("d", "out_of_sequence", "5");
  EXPECT_EQ(collect().at(key), 5);
}

// A synthetic tree with the names of drivers/infiniband/hw/mlx5/counters.c and no link `device`, as some
// support bundles are.
TEST_F(HwCountersTest, RecognisesADriverByItsCounters) {
  add_port("d");
  std::ifstream names(SOURCE_DIR "/tests/unit/data/hw_names/mlx5_port.txt");
  for (std::string name; std::getline(names, name);)
    if (!name.starts_with('#')) set("d", name, "7");
  set("d", "lifespan", "10");
  const Page page = collect();
  EXPECT_EQ(page.at(R"(rdma_port_out_of_sequence_total{device="d",port="1"})"), 7);
  EXPECT_EQ(page.at(R"(rdma_port_cnp_packets_total{device="d",port="1",direction="rx"})"), 14);
}

TEST_F(HwCountersTest, ExportsGaugesAsGauges) {
  add_port("d");
  set_driver("d", "bnxt_en");
  set("d", "active_qps", "3");
  set("d", "resize_cq_cnt", "4");
  EXPECT_EQ(
      collect(),
      (Page{
          {R"(rdma_port_raw_value{device="d",port="1",source="hw_counters",counter="active_qps"})", 3},
          {R"(rdma_port_raw_total{device="d",port="1",source="hw_counters",counter="resize_cq_cnt"})", 4}}));
}

TEST_F(HwCountersTest, LosesOneSampleToAFileThatFails) {
  add_port("d");
  set("d", "good", "1");
  tree_.link("/proc/self/mem", port_path("d") + "hw_counters/bad");
  EXPECT_EQ(collect(),
            (Page{{R"(rdma_port_raw_total{device="d",port="1",source="hw_counters",counter="good"})", 1}}));
  EXPECT_EQ(errors_, (Counts{{"EIO", 1}}));
}

class DeviceHwCountersTest : public HwCountersTest {
 protected:
  DeviceHwCountersTest() {
    add_port("d");
    tree_.write(path_ + "/num_cqovf", "9\n");
  }
  /// Anything at all done to the directory or a file in it.
  bool touched() const {
    const auto below = [&](const auto& counts) {
      for (const auto& [path, n] : counts)
        if (n > 0 && path.starts_with(path_)) return true;
      return false;
    };
    return below(fs_->opens) || below(fs_->lists);
  }
  const std::string path_ = device_path("d") + "hw_counters";
  const std::string key_ = R"(rdma_device_raw_total{device="d",counter="num_cqovf"})";
};

// A read from a network namespace that does not own the device crashes kernels without the fix of
// CVE-2025-22089.
TEST_F(DeviceHwCountersTest, AreNeverOpenedWhenThatMayCrashTheKernel) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(collect().empty());
    EXPECT_FALSE(touched());
  }
  EXPECT_TRUE(errors_.empty());
}

TEST_F(DeviceHwCountersTest, AreReadWhereCountersOfAPortProveTheRealDevice) {
  set("d", "any", "1");
  EXPECT_EQ(collect().at(key_), 9);
}

TEST_F(DeviceHwCountersTest, AreReadWherePmaFilesProveTheRealDevice) {
  tree_.write(port_path("d") + "counters/link_downed", "0\n");
  EXPECT_EQ(collect(), (Page{{key_, 9}}));
}

// While a device registers, its ports come after itself.
TEST_F(DeviceHwCountersTest, AreReadOnceTheProofIsThere) {
  collect();
  tree_.mkdir(port_path("d") + "counters");
  EXPECT_EQ(collect(), (Page{{key_, 9}}));
}

// A device that moves to another network namespace leaves one behind that only looks like it.
TEST_F(DeviceHwCountersTest, AreLeftAloneWhenTheProofIsGone) {
  set("d", "any", "1");
  collect();
  tree_.remove(port_path("d") + "hw_counters");
  EXPECT_FALSE(collect().contains(key_));
}

// As those of cxgb4, which has no counters at the port.
class PortlessHwCountersTest : public DeviceHwCountersTest {
 protected:
  PortlessHwCountersTest() {
    auto kernel = std::make_unique<test::FakeEthtool>();
    kernel->interfaces["eth0"].bus_address = "0000:3b:00.4";
    kernel_ = kernel.get();
    host_.ethtool = std::move(kernel);
    proc_.write("sys/net/core/netdev_max_backlog", "1000\n");
    tree_.mkdir("devices/0000:3b:00.4/net/eth0");
    tree_.link("../../../devices/0000:3b:00.4", device_path("d") + "device");
  }
  test::FakeEthtool* kernel_ = nullptr;
};

TEST_F(PortlessHwCountersTest, AreReadInTheFirstNetworkNamespace) {
  EXPECT_EQ(collect(), (Page{{key_, 9}}));
  EXPECT_EQ(collect(), (Page{{key_, 9}}));
  EXPECT_EQ(kernel_->calls[ETHTOOL_GDRVINFO], 1) << "it waits for the RTNL lock";
}

TEST_F(PortlessHwCountersTest, AreNeverOpenedInAnotherNamespace) {
  proc_.remove("sys/net/core/netdev_max_backlog");
  EXPECT_TRUE(collect().empty());
  EXPECT_FALSE(touched());
  EXPECT_TRUE(kernel_->calls.empty());
}

// The process is in the first namespace (`nsenter --net`), the mount of sysfs in that of a container, whose
// interface has the same name.
TEST_F(PortlessHwCountersTest, AreNeverOpenedWhereSysfsBelongsToAnotherNamespace) {
  kernel_->interfaces["eth0"].bus_address = "0000:17:00.0";
  EXPECT_TRUE(collect().empty());
  kernel_->interfaces.clear();
  pass(std::chrono::minutes(2));
  EXPECT_TRUE(collect().empty());
  EXPECT_FALSE(touched());
}

// Each namespace has one of the adapter's two interfaces, under the same name.
TEST_F(PortlessHwCountersTest, AreNeverOpenedWhereAPortOfTheFunctionIsInAnotherNamespace) {
  add_port("d", "2");
  EXPECT_TRUE(collect().empty());
  EXPECT_FALSE(touched());
}

TEST_F(PortlessHwCountersTest, AreReadOnceAnInterfaceOfTheFunctionIsThere) {
  tree_.remove("devices/0000:3b:00.4/net");
  EXPECT_TRUE(collect().empty());
  tree_.mkdir("devices/0000:3b:00.4/net/eth0");
  EXPECT_TRUE(collect().empty()) << "not asked for in each collection";
  pass(std::chrono::minutes(2));
  EXPECT_EQ(collect(), (Page{{key_, 9}}));
}

}  // namespace
}  // namespace rdma_exporter::collectors
