// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <cerrno>

#include "collectors/counters/tables/pma_table.h"
#include "tests/unit/collectors/collector_fixture.h"

namespace rdma_exporter::collectors {
namespace {

class PortCountersTest : public CollectorFixture {
 protected:
  PortCountersTest() : CollectorFixture(port_counters_spec) {}
  void set(const std::string& counter, const std::string& text) const {
    tree_.write(port_path("d") + "counters/" + counter, text + "\n");
  }
  static std::string saturated(const std::string& counter) {
    return R"(rdma_port_counters_saturated{device="d",port="1",counter=")" + counter + R"("})";
  }
  static constexpr const char* kRxBytes = R"(rdma_port_data_bytes_total{device="d",port="1",direction="rx"})";
  static constexpr const char* kLinkDowned = R"(rdma_port_link_downed_total{device="d",port="1"})";
};

TEST_F(PortCountersTest, ExportsDataInBytesAndPacketsAsTheyAre) {
  add_port("d");
  set("port_rcv_data", "1000");
  set("port_xmit_packets", "7");
  EXPECT_EQ(collect(),
            (Page{{kRxBytes, 4000}, {R"(rdma_port_packets_total{device="d",port="1",direction="tx"})", 7}}));
}

TEST_F(PortCountersTest, ExportsACounterWhileItIsZero) {
  add_port("d");
  set("port_rcv_data", "0");
  EXPECT_EQ(collect(), (Page{{kRxBytes, 0}}));
}

TEST_F(PortCountersTest, PassesUnknownFilesThrough) {
  add_port("d");
  set("new_in_linux_9", "3");
  EXPECT_EQ(
      collect(),
      (Page{{R"(rdma_port_raw_total{device="d",port="1",source="counters",counter="new_in_linux_9"})", 3}}));
}

TEST_F(PortCountersTest, SaysWhichNarrowFieldsStick) {
  add_port("d");
  set("link_downed", "254");
  set("local_link_integrity_errors", "15");
  set("port_rcv_data", "18446744073709551615");
  const Page page = collect();
  EXPECT_EQ(page.at(saturated("link_downed")), 0);
  EXPECT_EQ(page.at(saturated("local_link_integrity_errors")), 1);
  EXPECT_FALSE(page.contains(saturated("port_rcv_data"))) << "64 bits wide";
  EXPECT_EQ(page.at(kLinkDowned), 254);
  set("link_downed", "255");
  EXPECT_EQ(collect().at(saturated("link_downed")), 1);
}

TEST_F(PortCountersTest, TakesWhatAPortDoesNotSupportForAbsence) {
  add_port("d");
  set("link_downed", "N/A (no PMA)");
  set("symbol_error", "1");
  fs_->failures[port_path("d") + "counters/symbol_error"] = EINVAL;
  set("port_rcv_data", "1");
  EXPECT_EQ(collect(), (Page{{kRxBytes, 4}}));
  EXPECT_TRUE(errors_.empty());
}

TEST_F(PortCountersTest, HasNothingWithoutTheDirectory) {
  add_port("d");
  EXPECT_TRUE(collect().empty());
  EXPECT_TRUE(errors_.empty());
}

TEST_F(PortCountersTest, LosesOneSampleToAFileThatFails) {
  add_port("d");
  set("port_rcv_data", "1");
  tree_.link("/proc/self/mem", port_path("d") + "counters/link_downed");
  set("port_xmit_discards", "2");
  const Page page = collect();
  EXPECT_EQ(errors_, (Counts{{"EIO", 1}}));
  EXPECT_FALSE(page.contains(kLinkDowned));
  EXPECT_FALSE(page.contains(saturated("link_downed")));
  EXPECT_TRUE(page.contains(kRxBytes));
  EXPECT_EQ(page.at(R"(rdma_port_transmit_discards_total{device="d",port="1"})"), 2);
}

TEST_F(PortCountersTest, ShowsACounterThatFellAsItIs) {
  add_port("d");
  set("link_downed", "200");
  collect();
  set("link_downed", "3");
  EXPECT_EQ(collect().at(kLinkDowned), 3) << "reset by somebody: PMA fields stick, they do not wrap";
}

TEST_F(PortCountersTest, KeepsThePortsApart) {
  add_port("d", "1");
  add_port("d", "2");
  set("link_downed", "1");
  tree_.write(port_path("d", "2") + "counters/link_downed", "2\n");
  const Page page = collect();
  EXPECT_EQ(page.at(kLinkDowned), 1);
  EXPECT_EQ(page.at(R"(rdma_port_link_downed_total{device="d",port="2"})"), 2);
}

// bnxt_re counts traffic in hw_counters: the same series must not exist twice.
TEST_F(PortCountersTest, PassesTrafficThroughWhereHwCountersAreTheSeries) {
  add_port("d");
  set_driver("d", "bnxt_en");
  set("port_rcv_data", "1000");
  set("link_downed", "1");
  const Page page = collect();
  EXPECT_FALSE(page.contains(kRxBytes));
  EXPECT_EQ(page.at(R"(rdma_port_raw_total{device="d",port="1",source="counters",counter="port_rcv_data"})"),
            1000);
  EXPECT_EQ(page.at(kLinkDowned), 1);
}

// With the collector that reads what kind of link the port has.
class EthernetPortTest : public PortCountersTest {
 protected:
  EthernetPortTest() {
    specs_.push_back(&port_spec);
    context_.enabled.insert("port");
    add_port("d");
    set("link_downed", "0");
    set("port_rcv_data", "1");
    collect();
    collect();
    fs_->reads.clear();
  }
  int reads_of(const std::string& counter) const {
    return fs_->reads[port_path("d") + "counters/" + counter];
  }
};

TEST_F(EthernetPortTest, ReadsWhatOnlyAnInfiniBandLinkCountsInOneCycleOfTen) {
  for (int i = 0; i < 30; ++i) EXPECT_EQ(collect().at(kLinkDowned), 0);
  EXPECT_EQ(reads_of("link_downed"), 3);
  EXPECT_EQ(reads_of("port_rcv_data"), 30);
}

TEST_F(EthernetPortTest, ReadsItInEachCycleOnceItHasCounted) {
  set("link_downed", "1");
  for (int i = 0; i < 10; ++i) collect();
  EXPECT_EQ(collect().at(kLinkDowned), 1);
  set("link_downed", "2");
  EXPECT_EQ(collect().at(kLinkDowned), 2);
}

TEST_F(EthernetPortTest, ExportsNoneThatCannotBeRead) {
  set("link_downed", "N/A (no PMA)");
  for (int i = 0; i < 10; ++i) collect();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(collect().contains(kLinkDowned));
}

TEST_F(EthernetPortTest, ReadsThemInEachCycleOnInfiniBand) {
  tree_.write(port_path("d") + "link_layer", "InfiniBand\n");
  pass(std::chrono::hours(1));
  collect();
  fs_->reads.clear();
  for (int i = 0; i < 30; ++i) collect();
  EXPECT_EQ(reads_of("link_downed"), 30);
}

TEST_F(PortCountersTest, ObeysTheRawPolicy) {
  context_.raw = RawPolicy::all;
  add_port("d");
  set("port_rcv_data", "1000");
  EXPECT_EQ(collect(),
            (Page{{kRxBytes, 4000},
                  {R"(rdma_port_raw_total{device="d",port="1",source="counters",counter="port_rcv_data"})",
                   1000}}));
}

TEST_F(PortCountersTest, NoticesAFileThatAppears) {
  add_port("d");
  set("port_rcv_data", "1");
  ASSERT_EQ(collect().size(), 1U);
  set("port_xmit_data", "1");
  EXPECT_EQ(collect().size(), 2U);
}

TEST_F(PortCountersTest, ReadsTheFilesOfADeviceRegisteredAnew) {
  add_port("d");
  set("port_rcv_data", "1000");
  collect();
  tree_.remove(device_path("d"));
  EXPECT_TRUE(collect().empty());
  add_port("d");
  set("port_rcv_data", "1");
  EXPECT_EQ(collect(), (Page{{kRxBytes, 4}}));
}

}  // namespace
}  // namespace rdma_exporter::collectors
