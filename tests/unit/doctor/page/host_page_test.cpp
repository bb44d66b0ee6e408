// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/page/host_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/checks/checks.h"
#include "doctor/page/port_summary.h"
#include "tests/unit/doctor/doctor_facts.h"

namespace rdma_exporter::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string page_of(const Facts& facts, const PageFrame& frame = {}, std::vector<Owner> owners = {}) {
  return host_page(facts, diagnose(facts), std::move(owners), frame);
}

CounterFacts counter(const std::string& device, const char* metric, const std::string& labels, double moved) {
  return {metric, "device=\"" + device + "\",port=\"1\"," + labels, device, "1", "", moved * 3, moved};
}

void add_traffic(Facts& facts, const std::string& device) {
  for (const char* direction : {"rx", "tx"}) {
    const std::string label = std::string("direction=\"") + direction + "\"";
    facts.counters.push_back(counter(device, "rdma_port_data_bytes_total", label, 25e9 * 2));
    for (const char* priority : {"0", "3", "4", "5"})
      facts.counters.push_back(counter(device, "rdma_pfc_pause_seconds_total",
                                       std::string("priority=\"") + priority + "\"," + label,
                                       priority[0] == '0' ? 0 : 2 * 0.1 * (priority[0] - '0')));
  }
}

TEST(HostPage, ShowsAPortWithItsStateBarsAndSentences) {
  Facts facts = test::healthy_facts();
  facts.devices[1].netdevs[0].mtu = 1500;
  add_traffic(facts, "mlx5_1");
  const auto findings = diagnose(facts);
  const auto problems = problems_of(findings);
  const auto ports = summarize_ports(facts, problems);
  ASSERT_EQ(ports.size(), 2U);
  const PortSummary& worst_one = ports[0];
  EXPECT_EQ(worst_one.name, "mlx5_1/1");
  EXPECT_EQ(worst_one.netdev, "cx1");
  EXPECT_EQ(worst_one.state, "ACTIVE, 400 Gb/s, RDMA MTU 4096");
  EXPECT_EQ(worst_one.device, "mlx5_core 28.39.1002, PCIe 32 GT/s x16, NUMA node 1");
  ASSERT_EQ(worst_one.bars.size(), 6U) << "in, out, the two hottest priorities of each direction";
  EXPECT_EQ(worst_one.bars[0].label, "in");
  EXPECT_DOUBLE_EQ(worst_one.bars[0].share, 0.5);
  EXPECT_EQ(worst_one.bars[0].text, "200 Gb/s");
  EXPECT_EQ(worst_one.bars[2].label, "paused, priority 5");
  EXPECT_DOUBLE_EQ(worst_one.bars[2].share, 0.5);
  EXPECT_EQ(worst_one.bars[3].label, "paused, priority 4");
  EXPECT_EQ(worst_one.bars[4].label, "pausing, priority 5");
  EXPECT_THAT(
      worst_one.sentences,
      testing::Contains("the MTU of the interface is 1500 bytes, too small for RDMA packets of 4096 bytes"));
}

TEST(HostPage, FoldsAwayWhatIsOk) {
  const std::string page = page_of(test::healthy_facts());
  EXPECT_THAT(page, HasSubstr("<p class=\"v ok\">Ok: nothing is wrong</p>"));
  EXPECT_THAT(page, HasSubstr("checks are ok</summary>"));
  EXPECT_THAT(page, Not(HasSubstr("What to do")));
  EXPECT_LT(page.find("<details>"), page.find("netdev_mtu"));
}

TEST(HostPage, EscapesWhatOthersHaveNamed) {
  Facts facts = test::healthy_facts();
  facts.devices[1].netdevs[0].mtu = 1500;
  facts.devices[1].netdevs[0].name = "cx<1>";
  facts.devices[0].firmware = "<b onload='x'>";
  facts.system.host_name = "<script>\x1b\xff";
  facts.counters[0].labels = R"(netdev="<img src=x>")";
  facts.counters[0].total = 1;
  const std::string page = page_of(facts, {}, {{"mlx5_0", "process", "<b onload='x'>&\"", "", 3, 5 << 20}});
  for (const char* raw : {"<script", "<img", "<b onload", "cx<1>", "\x1b", "\xff"})
    EXPECT_THAT(page, Not(HasSubstr(raw)));
  EXPECT_THAT(page, HasSubstr("&lt;b onload=&#39;x&#39;&gt;&amp;&quot;"));
  EXPECT_THAT(page, HasSubstr("cx&lt;1&gt;"));
  EXPECT_THAT(page, HasSubstr("5.0 MiB"));
}

TEST(HostPage, NeedsNothingFromElsewhere) {
  const std::string page = page_of(test::healthy_facts(), {15, ""});
  for (const char* loader : {"src=", "href=", "url(", "@import", "<script", "<link"})
    EXPECT_THAT(page, Not(HasSubstr(loader)));
  EXPECT_THAT(page, HasSubstr("<meta http-equiv=refresh content=15>"));
  EXPECT_THAT(page_of(test::healthy_facts()), Not(HasSubstr("refresh")));
}

TEST(HostPage, AHostWithoutDevicesSaysSo) {
  Facts facts;
  EXPECT_THAT(page_of(facts), HasSubstr("No RDMA device."));
}

TEST(HostPage, ADeviceThatIsSilentIsShown) {
  Facts facts = test::healthy_facts();
  facts.silent_devices = {"mlx5_7"};
  const std::string page = page_of(facts);
  EXPECT_THAT(page, HasSubstr("<section class=unknown><h3>mlx5_7<small>"));
  EXPECT_THAT(page, HasSubstr("did not answer"));
}

// The worst that a large host can show: every port has problems of its own, traffic and pauses.
TEST(HostPage, IsBelow100kBWith136DevicesThatAreAllIll) {
  Facts facts = test::healthy_facts();
  facts.devices.clear();
  for (int i = 0; i < 136; ++i) {
    const std::string name = "mlx5_" + std::to_string(i);
    facts.devices.push_back(test::healthy_device(name, "ens" + std::to_string(i) + "f0np0"));
    facts.devices.back().netdevs[0].mtu = 1000U + static_cast<unsigned>(i);
    facts.devices.back().netdevs[0].pause = host::genl_ethtool::Pause{true, true};
    add_traffic(facts, name);
    for (const char* metric : {"rdma_port_ack_timeouts_total", "rdma_port_out_of_sequence_total",
                               "rdma_port_symbol_errors_total", "rdma_port_receive_buffer_missing_total"})
      facts.counters.push_back(counter(name, metric, "", 1000.0 + i));
  }
  const std::string page = page_of(facts);
  EXPECT_LT(page.size(), 100'000U);
  EXPECT_THAT(page, HasSubstr("mlx5_135/1")) << "no port is left out";
}

}  // namespace
}  // namespace rdma_exporter::doctor
