// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "collectors/ethtool/netdev_operation.h"
#include "host/netlink/netlink_attr.h"
#include "log/log.h"
#include "tests/unit/collectors/netdev_fixture.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec ethtool_standard_spec;

namespace {

class EthtoolStandardTest : public NetdevFixture {
 protected:
  EthtoolStandardTest() : NetdevFixture(ethtool_standard_spec) {}
  static std::string of(const std::string& family, const std::string& more = "") {
    return family + R"({device="d",port="1",netdev="eth0")" + (more.empty() ? "" : ",") + more + "}";
  }
  static std::size_t count(const Page& page, const std::string& family) {
    return static_cast<std::size_t>(std::count_if(page.begin(), page.end(), [&](const auto& sample) {
      return sample.first.starts_with(family + "{");
    }));
  }
  void add_sensor(int number, const std::string& label, const std::string& input) const {
    const std::string path = "class/net/eth0/device/hwmon/hwmon3/temp" + std::to_string(number);
    tree_.write(path + "_input", input);
    if (!label.empty()) tree_.write(path + "_label", label + "\n");
  }
};

TEST_F(EthtoolStandardTest, ExportsWhatAConnectXGives) {
  add_netdev("mlx5_core", "connectx");
  EXPECT_EQ(collect(),
            (Page{{of("rdma_netdev_link_up"), 1},
                  {of("rdma_netdev_speed_bytes_per_second"), 50e9},
                  {of("rdma_netdev_fec_line_bytes_per_second"), 53.125e9},
                  {of("rdma_netdev_fec_codeword_bytes"), 680},
                  {of("rdma_netdev_fec_bit_error_limit_ratio"), 2.4e-4},
                  {of("rdma_netdev_mac_bytes_total", R"(direction="rx")"), 1551},
                  {of("rdma_netdev_mac_bytes_total", R"(direction="tx")"), 1550},
                  {of("rdma_netdev_mac_frames_total", R"(direction="rx")"), 1163},
                  {of("rdma_netdev_mac_frames_total", R"(direction="tx")"), 1162},
                  {of("rdma_netdev_mac_errors_total", R"(direction="rx",error="fcs")"), 1159},
                  {of("rdma_netdev_mac_errors_total", R"(direction="rx",error="in_range_length")"), 1166},
                  {of("rdma_netdev_mac_errors_total", R"(direction="rx",error="out_of_range_length")"), 1167},
                  {of("rdma_netdev_mac_errors_total", R"(direction="rx",error="too_long")"), 1168},
                  {of("rdma_netdev_mac_errors_total", R"(direction="rx",error="unsupported_opcode")"), 1172},
                  {of("rdma_netdev_rmon_errors_total", R"(error="undersize")"), 1178},
                  {of("rdma_netdev_rmon_errors_total", R"(error="fragment")"), 1179},
                  {of("rdma_netdev_rmon_errors_total", R"(error="jabber")"), 1180},
                  {of("rdma_netdev_mac_control_frames_total", R"(direction="rx")"), 1171},
                  {of("rdma_netdev_mac_control_frames_total", R"(direction="tx")"), 1170},
                  {of("rdma_netdev_pause_frames_total", R"(direction="rx")"), 1173},
                  {of("rdma_netdev_pause_frames_total", R"(direction="tx")"), 1174},
                  {of("rdma_netdev_pause_enabled", R"(direction="rx")"), 0},
                  {of("rdma_netdev_pause_enabled", R"(direction="tx")"), 0},
                  {of("rdma_netdev_symbol_errors_total"), 1169},
                  {of("rdma_netdev_fec_info", R"(mode="rs")"), 1},
                  {of("rdma_netdev_fec_blocks_total", R"(result="corrected")"), 3033},
                  {of("rdma_netdev_fec_blocks_total", R"(result="uncorrectable")"), 3034},
                  {of("rdma_netdev_fec_corrected_bit_errors_total"), 1193},
                  {of("rdma_netdev_link_down_events_total"), 1191},
                  {of("rdma_netdev_rx_ring_entries"), 1024},
                  {of("rdma_netdev_rx_ring_entries_max"), 8192},
                  {of("rdma_netdev_tx_ring_entries"), 2048},
                  {of("rdma_netdev_tx_ring_entries_max"), 8192},
                  {of("rdma_netdev_raw_total", R"(counter="MulticastFramesXmittedOK")"), 1162},
                  {of("rdma_netdev_raw_total", R"(counter="BroadcastFramesXmittedOK")"), 1163},
                  {of("rdma_netdev_raw_total", R"(counter="MulticastFramesReceivedOK")"), 1164},
                  {of("rdma_netdev_raw_total", R"(counter="BroadcastFramesReceivedOK")"), 1165}}));
  EXPECT_TRUE(errors_.empty());
}

// Each group costs mlx5 accesses to registers of the adapter. RMON feeds only families of the full set.
TEST_F(EthtoolStandardTest, AsksForTheStatisticsThatFeedAnExportedFamily) {
  using namespace host::genl_ethtool;
  add_netdev("mlx5_core", "connectx");
  collect();
  EXPECT_EQ(last_["stats_get"], request(Query::statistics, "eth0"));
  reload();
  context_.metrics.set = core::MetricSet::lean;
  collect();
  constexpr Groups kPhyMacAndControl = 7;
  EXPECT_EQ(last_["stats_get"], statistics_request("eth0", kPhyMacAndControl));
  reload();
  context_.metrics.include = core::Pattern("rdma_netdev_symbol_errors_total");
  collect();
  constexpr Groups kPhy = 1;
  EXPECT_EQ(last_["stats_get"], statistics_request("eth0", kPhy));
  // Raw statistics of the lean set are the driver's. The kernel refuses a request for no group.
  reload();
  context_.metrics.include = core::Pattern("rdma_netdev_raw_total");
  last_.clear();
  collect();
  EXPECT_FALSE(last_.contains("stats_get"));
}

// In plain words: `rx` is a pause frame that this host RECEIVED, so this host is told to stop; `tx` is one
// that it SENT, so this host is the slow one. ethtool -I -a: tx_pause_frames 1174, rx_pause_frames 1173.
TEST_F(EthtoolStandardTest, CountsReceivedPauseAsRxThisHostIsToldToStop) {
  add_netdev("mlx5_core", "connectx");
  const Page page = collect();
  EXPECT_EQ(page.at(of("rdma_netdev_pause_frames_total", R"(direction="rx")")), 1173);
  EXPECT_EQ(page.at(of("rdma_netdev_pause_frames_total", R"(direction="tx")")), 1174);
}

TEST_F(EthtoolStandardTest, LeavesOutWhatADriverDoesNotFill) {
  add_netdev("bnxt_en", "netxtreme");
  const Page page = collect();
  EXPECT_EQ(page.at(of("rdma_netdev_mac_errors_total", R"(direction="rx",error="alignment")")), 1444);
  EXPECT_FALSE(page.contains(of("rdma_netdev_mac_errors_total", R"(direction="rx",error="too_long")")));
  EXPECT_FALSE(page.contains(of("rdma_netdev_mac_control_frames_total", R"(direction="tx")")));
  EXPECT_EQ(count(page, "rdma_netdev_mac_bytes_total"), 0U);
}

TEST_F(EthtoolStandardTest, CountsFecByLaneBesideTheTotal) {
  add_netdev("mlx5_core", "connectx");
  other_["fec_get"] = "connectx_baser";
  const Page page = collect();
  EXPECT_EQ(page.at(of("rdma_netdev_fec_info", R"(mode="baser")")), 1);
  EXPECT_EQ(page.at(of("rdma_netdev_fec_lane_blocks_total", R"(lane="0",result="corrected")")), 3035);
  EXPECT_EQ(page.at(of("rdma_netdev_fec_lane_blocks_total", R"(lane="3",result="uncorrectable")")), 3042);
  EXPECT_EQ(count(page, "rdma_netdev_fec_lane_blocks_total"), 8U);
  EXPECT_EQ(page.at(of("rdma_netdev_fec_blocks_total", R"(result="corrected")")), 3035 + 3036 + 3037 + 3038);
}

// Synthetic speed: the card of the recording has 400 Gbit/s. add_port() writes "100 Gb/sec (4X EDR)".
TEST_F(EthtoolStandardTest, TellsTheFecCodeByTheLanesOfTheRdmaPort) {
  add_netdev("mlx5_core", "connectx");
  test::Message modes = test::recorded_file("ethernet/connectx/linkmodes_get.bin");
  const std::uint32_t recorded_speed = 400'000;
  const std::uint32_t speed = 100'000;
  const auto pattern = std::as_bytes(std::span(&recorded_speed, 1));
  const auto at = std::search(modes.begin(), modes.end(), pattern.begin(), pattern.end());
  ASSERT_NE(at, modes.end());
  std::copy_n(std::as_bytes(std::span(&speed, 1)).begin(), sizeof speed, at);
  mutated_["linkmodes_get"] = modes;
  Page page = collect();
  EXPECT_EQ(page.at(of("rdma_netdev_fec_bit_error_limit_ratio")), 5e-5);
  EXPECT_EQ(page.at(of("rdma_netdev_fec_codeword_bytes")), 660);
  tree_.write(port_path("d") + "rate", "100 Gb/sec (2X HDR)\n");
  pass(std::chrono::minutes(2));
  EXPECT_EQ(collect().at(of("rdma_netdev_fec_bit_error_limit_ratio")), 2.4e-4);
  // Another wire than the port's: nobody knows its lanes.
  tree_.write(port_path("d") + "rate", "25 Gb/sec (1X EDR)\n");
  pass(std::chrono::minutes(4));
  EXPECT_FALSE(collect().contains(of("rdma_netdev_fec_bit_error_limit_ratio")));
}

TEST_F(EthtoolStandardTest, SaysWhyThereIsNoLinkAndNoSpeedWithoutOne) {
  add_netdev("mlx5_core", "connectx");
  collect();
  EXPECT_EQ(asked_["linkmodes_get"], 1);
  other_ = {{"linkstate_get", "connectx_down"}, {"linkmodes_get", "connectx_down"}};
  const Page page = collect();
  EXPECT_EQ(page.at(of("rdma_netdev_link_up")), 0);
  EXPECT_EQ(page.at(of("rdma_netdev_link_extended_state_info", R"(state="no_cable",substate="")")), 1);
  EXPECT_EQ(asked_["linkmodes_get"], 2) << "the link went: what depends on it is asked at once";
  EXPECT_EQ(count(page, "rdma_netdev_speed_bytes_per_second"), 0U);
}

TEST_F(EthtoolStandardTest, SendsFourRequestsPerScrapeAndThreeMoreAMinuteWithoutEvents) {
  add_netdev("mlx5_core", "connectx");
  for (int i = 0; i < 5; ++i) collect();
  const std::map<std::string, int> expected{{"getfamily", 1}, {"stats_get", 5},     {"pause_get", 5},
                                            {"fec_get", 5},   {"linkstate_get", 5}, {"linkmodes_get", 1},
                                            {"rings_get", 1}, {"module_get", 1}};
  EXPECT_EQ(asked_, expected);
  pass(std::chrono::seconds(80));
  collect();
  EXPECT_EQ(asked_["linkmodes_get"], 2);
}

TEST_F(EthtoolStandardTest, TrustsEventsWhileTheLinkIsUp) {
  add_netdev("mlx5_core", "connectx");
  host_.changes->set_complete(true);
  const Page first = collect();
  EXPECT_TRUE(first.contains(of("rdma_netdev_link_down_events_total")));
  EXPECT_EQ(collect(), first);
  EXPECT_EQ(asked_["linkstate_get"], 1);
  host_.changes->note("eth0");
  EXPECT_EQ(collect(), first);
  EXPECT_EQ(asked_["linkstate_get"], 2) << "an event";
  pass(std::chrono::seconds(60));
  collect();
  EXPECT_EQ(asked_["linkstate_get"], 3) << "a minute later";
  host_.changes->set_complete(false);
  collect();
  EXPECT_EQ(asked_["linkstate_get"], 4) << "events may be missing";
  host_.changes->set_complete(true);
  host_.changes->note("eth0");
  other_ = {{"linkstate_get", "connectx_down"}, {"linkmodes_get", "connectx_down"}};
  for (const int asked : {5, 6, 7}) {
    EXPECT_EQ(collect().at(of("rdma_netdev_link_up")), 0);
    EXPECT_EQ(asked_["linkstate_get"], asked) << "why there is no link may change without an event";
  }
}

TEST_F(EthtoolStandardTest, AsksRarelyForWhatADriverDoesNotSupport) {
  add_netdev("", "dummy");
  for (int i = 0; i < 3; ++i) {
    collect();
    EXPECT_TRUE(errors_.empty()) << "not supported is no error";
  }
  for (const char* operation : {"stats_get", "pause_get", "fec_get", "linkmodes_get", "rings_get"})
    EXPECT_EQ(asked_[operation], 1) << operation;
  pass(std::chrono::seconds(400));
  recording_ = "connectx";
  other_.clear();
  EXPECT_EQ(collect().at(of("rdma_netdev_pause_frames_total", R"(direction="rx")")), 1173)
      << "a driver that learned it is noticed";
}

TEST_F(EthtoolStandardTest, SaysOnceWhatADriverDoesNotSupport) {
  add_netdev("", "dummy");
  log::setup(log::Level::debug, log::Format::logfmt);
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    collect();
    pass(std::chrono::seconds(400));
  }
  const std::string lines = ::testing::internal::GetCapturedStderr();
  log::setup(log::Level::info, log::Format::logfmt);
  EXPECT_EQ(asked_["fec_get"], 3);
  for (const char* operation : {"FEC_GET", "STATS_GET", "RINGS_GET"}) {
    const std::string wanted = std::string("netdev=eth0 operation=") + operation;
    const std::size_t at = lines.find(wanted);
    EXPECT_NE(at, std::string::npos) << operation << lines;
    EXPECT_EQ(lines.find(wanted, at + 1), std::string::npos) << operation << ": twice";
  }
}

// A kernel before 6.4 refuses LINKSTATE_GET as a whole when its counter is asked for.
TEST_F(EthtoolStandardTest, AsksOlderKernelsWithoutTheCounters) {
  add_netdev("mlx5_core", "connectx");
  other_ = {{"linkstate_get", "connectx_6_1"}, {"linkstate_get_without_stats", "connectx_6_1"}};
  for (int i = 0; i < 3; ++i) {
    const Page page = collect();
    EXPECT_EQ(page.at(of("rdma_netdev_link_up")), 1);
    EXPECT_EQ(count(page, "rdma_netdev_link_down_events_total"), 0U);
    EXPECT_TRUE(errors_.empty());
  }
  EXPECT_EQ(asked_["linkstate_get"], 1) << "refused with EINVAL once";
  EXPECT_EQ(asked_["linkstate_get_without_stats"], 3);
}

// A driver whose firmware resets may refuse once what it supports.
TEST_F(EthtoolStandardTest, AsksForTheCountersAgainAfterARefusal) {
  add_netdev("mlx5_core", "connectx");
  const std::string pause = of("rdma_netdev_pause_frames_total", R"(direction="rx")");
  const std::string corrected = of("rdma_netdev_fec_blocks_total", R"(result="corrected")");
  const std::string downs = of("rdma_netdev_link_down_events_total");
  refusals_ = {{"pause_get", EINVAL}, {"fec_get", EINVAL}, {"linkstate_get", EINVAL}};
  Page page = collect();
  for (const std::string& name : {pause, corrected, downs}) EXPECT_FALSE(page.contains(name)) << name;
  refusals_.clear();
  pass(NetdevOperation::kFirstRetry);
  page = collect();
  for (const std::string& name : {pause, corrected, downs}) EXPECT_TRUE(page.contains(name)) << name;
}

TEST_F(EthtoolStandardTest, AsksARefusingKernelForTheCountersLessAndLess) {
  add_netdev("mlx5_core", "connectx");
  other_ = {{"linkstate_get", "connectx_6_1"}, {"linkstate_get_without_stats", "connectx_6_1"}};
  constexpr int kMinutes = 60;
  for (int i = 0; i < kMinutes; ++i) {
    EXPECT_EQ(collect().at(of("rdma_netdev_link_up")), 1);
    EXPECT_TRUE(errors_.empty());
    pass(std::chrono::minutes(1));
  }
  EXPECT_EQ(asked_["linkstate_get_without_stats"], kMinutes);
  EXPECT_LE(asked_["linkstate_get"], 16) << "every five minutes in the end";
}

TEST_F(EthtoolStandardTest, DoesWithoutAKernelThatHasNoEthtoolNetlink) {
  add_netdev("mlx5_core", "connectx");
  refusals_["getfamily"] = ENOENT;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(collect(), Page{});
  EXPECT_EQ(asked_["getfamily"], 1);
  EXPECT_TRUE(errors_.empty());
}

TEST_F(EthtoolStandardTest, OneFailureCostsItsOwnSamples) {
  add_netdev("mlx5_core", "connectx");
  refusals_["stats_get"] = EIO;
  const Page page = collect();
  EXPECT_EQ(errors_, (Counts{{"EIO", 1}}));
  EXPECT_EQ(count(page, "rdma_netdev_mac_frames_total"), 0U);
  EXPECT_EQ(count(page, "rdma_netdev_pause_frames_total"), 2U);
}

TEST_F(EthtoolStandardTest, StopsAskingAnInterfaceThatGoesInMidScrape) {
  add_netdev("mlx5_core", "connectx");
  const auto respond = generic_script_->respond;
  generic_script_->respond = [this, respond](std::uint16_t type, host::Bytes payload) {
    if (payload[0] != std::byte{29}) return respond(type, payload);  // FEC_GET
    tree_.remove("class/net/eth0");
    refusals_ = {{"linkstate_get", ENODEV}, {"linkmodes_get", ENODEV}};
    return std::optional<core::Result<test::Message>>(core::os_error(ENODEV));
  };
  const Page page = collect();
  EXPECT_TRUE(errors_.empty());
  EXPECT_EQ(asked_["linkstate_get"], 0);
  EXPECT_EQ(asked_["linkmodes_get"], 0);
  EXPECT_EQ(count(page, "rdma_netdev_mac_frames_total"), 2U) << "what was read before is true";
}

TEST_F(EthtoolStandardTest, CountsENODEVOfAnInterfaceThatIsThere) {
  add_netdev("mlx5_core", "gone");
  collect();
  EXPECT_TRUE(errors_.empty()) << "it may be in the middle of a renaming";
  collect();
  EXPECT_GT(errors_["ENODEV"], 0U);
}

TEST_F(EthtoolStandardTest, ContinuesTheLinkCountBeyond32Bits) {
  add_netdev("mlx5_core", "connectx");
  std::uint32_t value = 0xfffffffe;
  const auto respond = generic_script_->respond;
  generic_script_->respond = [&, respond](std::uint16_t type, host::Bytes payload) {
    auto answer = respond(type, payload);
    if (payload[0] == std::byte{6}) std::memcpy(&(**answer)[(**answer).size() - 4], &value, sizeof value);
    return answer;
  };
  EXPECT_EQ(collect().at(of("rdma_netdev_link_down_events_total")), 0xfffffffe);
  value = 3;
  EXPECT_EQ(collect().at(of("rdma_netdev_link_down_events_total")), 0x1'0000'0003);
}

// Also with RawPolicy::all: the driver has statistics of the names that those with a family have.
TEST_F(EthtoolStandardTest, HasNoRawFormOfWhatHasAFamily) {
  add_netdev("mlx5_core", "connectx");
  context_.raw = RawPolicy::all;
  EXPECT_EQ(count(collect(), "rdma_netdev_raw_total"), 4U);
  reload();
  context_.raw = RawPolicy::none;
  EXPECT_EQ(count(collect(), "rdma_netdev_raw_total"), 0U);
}

// No driver of the lab has these: mutations of its answers.
TEST_F(EthtoolStandardTest, ExportsThePowerModeOfTheModuleAndBitsByLane) {
  add_netdev("mlx5_core", "connectx");
  const auto respond = generic_script_->respond;
  generic_script_->respond = [respond](std::uint16_t type, host::Bytes payload) {
    auto answer = respond(type, payload);
    if (payload[0] == std::byte{34}) host::append_number(**answer, 3, std::uint8_t{2});  // POWER_MODE high
    if (payload[0] == std::byte{29}) {
      const std::array<std::uint64_t, 3> bits{30, 10, 20};  // the total, two lanes
      test::Message counters;
      host::append_attr(counters, 4, std::as_bytes(std::span(bits)));  // FEC_STAT_CORR_BITS
      host::append_attr(**answer, 5, counters);                        // FEC_STATS, again
    }
    return answer;
  };
  const Page page = collect();
  EXPECT_EQ(page.at(of("rdma_netdev_module_high_power")), 1);
  EXPECT_EQ(page.at(of("rdma_netdev_fec_lane_corrected_bit_errors_total", R"(lane="1")")), 20);
  EXPECT_EQ(page.at(of("rdma_netdev_fec_corrected_bit_errors_total")), 30);
}

TEST_F(EthtoolStandardTest, ReadsTemperatureSensorsOfTheAdapter) {
  add_netdev("mlx5_core", "virtio");
  add_sensor(1, "asic", "61500\n");
  add_sensor(2, "Module0", "-5000\n");
  add_sensor(3, "", "40000\n");
  add_sensor(4, "asic", "70000\n");
  tree_.write("class/net/eth0/device/hwmon/hwmon3/temp1_crit", "105000\n");
  const Page page = collect();
  EXPECT_EQ(page.at(of("rdma_netdev_temperature_celsius", R"(sensor="asic")")), 61.5);
  EXPECT_EQ(page.at(of("rdma_netdev_temperature_celsius", R"(sensor="Module0")")), -5);
  EXPECT_EQ(page.at(of("rdma_netdev_temperature_celsius", R"(sensor="temp3")")), 40);
  EXPECT_EQ(page.at(of("rdma_netdev_temperature_celsius", R"(sensor="temp4")")), 70) << "a second asic";
  EXPECT_EQ(page.at(of("rdma_netdev_temperature_critical_celsius", R"(sensor="asic")")), 105);
  EXPECT_EQ(count(page, "rdma_netdev_temperature_critical_celsius"), 1U);
}

TEST_F(EthtoolStandardTest, LeavesASensorThatFailsAloneForAWhile) {
  add_netdev("mlx5_core", "virtio");
  add_sensor(1, "asic", "61500\n");
  const std::string input = "class/net/eth0/device/hwmon/hwmon3/temp1_input";
  fs_->failures[input] = EIO;
  collect();
  EXPECT_EQ(errors_, (Counts{{"EIO", 1}}));
  collect();
  EXPECT_TRUE(errors_.empty());
  EXPECT_EQ(fs_->reads[input], 1);
  fs_->failures.clear();
  pass(std::chrono::seconds(80));
  EXPECT_EQ(count(collect(), "rdma_netdev_temperature_celsius"), 1U);
}

}  // namespace
}  // namespace rdma_exporter::collectors
