// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Each check, on a healthy host and with one thing changed. EveryCheckPassesAndFails finds checks that lack a
// passing or a failing case.
#include "doctor/checks/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/unit/doctor/checks/check_cases.h"
#include "tests/unit/doctor/doctor_facts.h"

namespace rdma_exporter::doctor {
namespace {

using testing::HasSubstr;

// The worst finding of a check.
const Finding* find(const Findings& findings, std::string_view check) {
  const auto it =
      std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.check->id == check; });
  return it == findings.end() ? nullptr : &*it;
}

class DoctorCase : public testing::TestWithParam<CheckCase> {};

TEST_P(DoctorCase, HasItsVerdict) {
  Facts facts = test::healthy_facts();
  GetParam().change(facts);
  const Findings findings = diagnose(facts);
  const Finding* finding = find(findings, GetParam().check);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(to_string(finding->verdict), to_string(GetParam().verdict)) << finding->evidence;
  EXPECT_THAT(finding->evidence, HasSubstr(std::string(GetParam().evidence)));
}
INSTANTIATE_TEST_SUITE_P(Bad, DoctorCase, testing::ValuesIn(bad_cases()));
INSTANTIATE_TEST_SUITE_P(Good, DoctorCase, testing::ValuesIn(good_cases()));

TEST(Doctor, FindsNothingWrongOnAHealthyHost) {
  for (const Finding& finding : diagnose(test::healthy_facts()))
    EXPECT_EQ(finding.verdict, Verdict::ok) << finding.check->id << ": " << finding.evidence;
}

TEST(Doctor, EveryCheckPassesAndFails) {
  std::set<std::string_view> passed;
  std::set<std::string_view> failed;
  for (const Finding& finding : diagnose(test::healthy_facts())) passed.insert(finding.check->id);
  for (const CheckCase& it : good_cases()) passed.insert(it.check);
  for (const CheckCase& it : bad_cases())
    if (it.verdict >= Verdict::warning) failed.insert(it.check);
  for (const Check* check : all_checks()) {
    EXPECT_TRUE(passed.contains(check->id)) << check->id << " has no case that passes";
    EXPECT_TRUE(failed.contains(check->id)) << check->id << " has no case that fails";
  }
}

TEST(Doctor, OneFaultIsFoundByItsCheckAlone) {
  Facts facts = test::healthy_facts();
  netdev(facts).mtu = 1500;
  for (const Finding& finding : diagnose(facts))
    EXPECT_EQ(finding.verdict >= Verdict::warning,
              finding.check->id == "netdev_mtu" && finding.subject.netdev == "cx0")
        << finding.check->id;
}

TEST(Doctor, SaysNothingOfWhatDoesNotApply) {
  Facts infiniband = test::healthy_facts();
  make_infiniband(infiniband);
  for (const char* check : {"pfc", "global_pause", "roce_gids", "netdev_mtu", "ecn", "roce_priority"})
    EXPECT_EQ(find(diagnose(infiniband), check), nullptr) << check;
  Facts iwarp = test::healthy_facts();
  for (DeviceFacts& each : iwarp.devices) each.protocol = "iw";
  for (const char* check : {"pfc", "roce_gids", "netdev_mtu"})
    EXPECT_EQ(find(diagnose(iwarp), check), nullptr) << check;
}

TEST(Doctor, KnowsNothingOfADeviceThatDoesNotAnswer) {
  Facts facts = test::healthy_facts();
  facts.silent_devices = {"mlx5_9"};
  const Findings findings = diagnose(facts);
  EXPECT_EQ(findings.front().subject.device, "mlx5_9");
  EXPECT_EQ(findings.front().verdict, Verdict::unknown);
}

TEST(Doctor, DoesNotTakeAListThatIsLateForAnEmptyOne) {
  Facts facts = test::healthy_facts();
  facts.devices.clear();
  facts.devices_listed = false;
  EXPECT_EQ(find(diagnose(facts), "device_present")->verdict, Verdict::unknown);
}

TEST(Doctor, PutsTheWorstFirst) {
  Facts facts = test::healthy_facts();
  facts.devices[1].ports[0].state = 1;
  netdev(facts).mtu = 1500;
  const Findings findings = diagnose(facts);
  EXPECT_EQ(findings[0].verdict, Verdict::critical);
  EXPECT_EQ(findings[1].verdict, Verdict::warning);
  EXPECT_EQ(worst(findings), Verdict::critical);
}

TEST(Doctor, LooksAtThePhysicalWireOfAVirtualFunction) {
  Facts facts = test::healthy_facts();
  netdev(facts).dcb = core::os_error(EOPNOTSUPP);  // a VF has no DCB of its own
  device(facts).netdevs.push_back(test::healthy_netdev("pf0"));
  device(facts).netdevs.back().role = host::NetdevRole::physical;
  const Findings findings = diagnose(facts);
  EXPECT_EQ(find(findings, "pfc")->verdict, Verdict::ok);
}

}  // namespace
}  // namespace rdma_exporter::doctor
