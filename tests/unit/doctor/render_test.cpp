// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "doctor/checks/checks.h"
#include "doctor/report.h"
#include "doctor/words/problem.h"
#include "tests/unit/doctor/doctor_facts.h"

namespace rdma_exporter::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Facts broken() {
  Facts facts = test::healthy_facts();
  facts.devices[1].netdevs[0].mtu = 1500;
  facts.devices[1].netdevs[0].name = "cx<1>";
  return facts;
}

TEST(DoctorText, ShowsTheDeviceWithTheWorstFirstAndWhatToDo) {
  const Facts facts = broken();
  const std::string text = to_text(facts, diagnose(facts), false);
  EXPECT_THAT(text, HasSubstr("gpu-17, kernel 6.1.0-56-amd64: warning (0 critical, 1 warning, 0 unknown, "));
  EXPECT_LT(text.find("\nmlx5_1\n"), text.find("\nmlx5_0\n"));
  EXPECT_THAT(text, HasSubstr("warning   netdev_mtu       port 1, cx<1>: 1500 bytes\n"));
  EXPECT_THAT(text, HasSubstr("To do: ip link set dev NETDEV mtu 9000"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(to_text(facts, diagnose(facts), true), HasSubstr("\x1b[33mwarning \x1b[0m"));
}

TEST(DoctorJson, HasEveryFinding) {
  Facts facts = broken();
  facts.system.host_name = "a\xff\x1b[31m\"b";
  const Findings findings = diagnose(facts);
  const auto document = nlohmann::json::parse(to_json(facts, findings));
  EXPECT_EQ(document["host"], "a\\xff\\x1b[31m\"b");
  ASSERT_EQ(document["findings"].size(), findings.size());
  const auto& first = document["findings"][0];
  EXPECT_EQ(first["check"], "netdev_mtu");
  EXPECT_EQ(first["device"], "mlx5_1");
  EXPECT_EQ(first["netdev"], "cx<1>");
  EXPECT_EQ(first["verdict"], "warning");
  EXPECT_EQ(document["counts"]["warning"], 1);
}

TEST(DoctorReport, PutsTheLargestOwnersFirstAndLimitsThem) {
  std::vector<Owner> owners;
  for (std::uint64_t i = 0; i < 50; ++i)
    owners.push_back({"mlx5_0", "process", "p" + std::to_string(i), "", 1, i << 20});
  const Facts facts = test::healthy_facts();
  const Report report = make_report(facts, {}, owners);
  const auto table = std::find_if(report.tables.begin(), report.tables.end(), [](const ReportTable& it) {
    return it.columns.size() > 2 && it.columns[2] == "Owner";
  });
  ASSERT_NE(table, report.tables.end());
  EXPECT_EQ(table->rows.size(), 20U);
  EXPECT_EQ(table->rows.front()[2], "p49");
}

TEST(DoctorReport, TextBeginsWithTheVerdictInWords) {
  const Facts facts = broken();
  const std::string text = report_text(make_report(facts, diagnose(facts), {}));
  EXPECT_THAT(
      text, HasSubstr("gpu-17: warning: 1 warning (Linux 6.1.0-56-amd64, 2 RDMA devices, watched for 2 s)"));
}

TEST(DoctorReport, ShowsCountersThatMatterAndAreNotZero) {
  Facts facts = test::healthy_facts();
  facts.counters[0].total = 17;
  facts.counters.push_back({"rdma_port_data_bytes_total", "device=\"mlx5_0\"", "mlx5_0", "1", "", 1e9, 0.0});
  const std::string text = report_text(make_report(facts, {}, {}));
  EXPECT_THAT(text, HasSubstr("rdma_netdev_discards_total"));
  EXPECT_THAT(text, Not(HasSubstr("rdma_port_data_bytes_total")));
  EXPECT_THAT(text, Not(HasSubstr("rdma_pfc_frames_total"))) << "0";
}

TEST(VerdictText, AHealthyHostIsTwoLines) {
  const Facts facts = test::healthy_facts();
  const std::string text = verdict_text(facts, diagnose(facts), false);
  EXPECT_THAT(
      text,
      StartsWith(
          "gpu-17: ok: nothing is wrong (Linux 6.1.0-56-amd64, 2 RDMA devices, watched for 2 s)\n\nok  "));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
}

TEST(VerdictText, SaysEachProblemOnceWithItsPlacesAndWhatToDo) {
  Facts facts = test::healthy_facts();
  for (DeviceFacts& device : facts.devices) device.netdevs[0].mtu = 1500;
  const std::string text = verdict_text(facts, diagnose(facts), false);
  EXPECT_THAT(text, StartsWith("gpu-17: warning: 2 warnings ("));
  EXPECT_THAT(
      text,
      HasSubstr("warning   mlx5_0/1 cx0, mlx5_1/1 cx1: the MTU of the interface is 1500 bytes, too small "
                "for RDMA packets of 4096 bytes.\n          To do: ip link set dev NETDEV mtu 9000"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(verdict_text(facts, diagnose(facts), true), HasSubstr("\x1b[33mwarning "));
}

TEST(VerdictText, SeriesAreNotForPeople) {
  Facts facts = test::healthy_facts();
  facts.counters[2].total = 100;  // ACK timeouts
  facts.counters[2].moved = 40;
  const std::string text = verdict_text(facts, diagnose(facts), false);
  EXPECT_THAT(text, HasSubstr("mlx5_0/1: 20 acknowledgements per second timed out.\n"));
  EXPECT_THAT(text, Not(HasSubstr("rdma_port_ack")));
}

TEST(VerdictText, NamesCannotSpeakToTheTerminal) {
  Facts facts = test::healthy_facts();
  facts.devices[0].netdevs[0].mtu = 1500;
  facts.devices[0].netdevs[0].name = "a\x1b[31m";
  EXPECT_THAT(verdict_text(facts, diagnose(facts), false), HasSubstr("a\\x1b[31m"));
}

TEST(VerdictText, EveryCheckOfSettingsHasWords) {
  for (const Check* check : all_checks())
    EXPECT_EQ(check->problem.empty(), check->kind == CheckKind::counters) << check->id;
}

}  // namespace
}  // namespace rdma_exporter::doctor
