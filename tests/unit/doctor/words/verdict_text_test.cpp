// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/words/verdict_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "doctor/checks/checks.h"
#include "doctor/words/problem.h"
#include "tests/unit/doctor/doctor_facts.h"

namespace rdma_exporter::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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
  EXPECT_THAT(text, HasSubstr("mlx5_0/1: 20 acknowledgements timed out per second.\n"));
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
