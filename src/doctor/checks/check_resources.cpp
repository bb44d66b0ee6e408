// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <fmt/core.h>

#include <algorithm>

#include "doctor/checks/checks.h"
#include "doctor/judge.h"

namespace rdma_exporter::doctor {
namespace {

constexpr double kMany = 0.80;
constexpr double kNearlyAll = 0.95;

}  // namespace

void check_resources(const DeviceFacts& device, Findings& out) {
  const Judge judge(out, of_device(device));
  if (!device.resources) {
    judge.unread(check::resource_limits, "the number of objects", device.resources.error());
    return;
  }
  double most = 0;
  std::vector<std::string> used;
  for (const ResourceFacts& resource : *device.resources) {
    if (!resource.limit || *resource.limit == 0) continue;
    most = std::max(most, static_cast<double>(resource.current) / static_cast<double>(*resource.limit));
    used.push_back(fmt::format("{} {} of {}", resource.type, resource.current, *resource.limit));
  }
  if (used.empty()) return judge.unknown(check::resource_limits, "the limits of the device are not known");
  Verdict verdict = most > kMany ? Verdict::warning : Verdict::ok;
  if (most > kNearlyAll) verdict = Verdict::critical;
  judge.add_finding(check::resource_limits, verdict, listed(used, used.size()));
}

}  // namespace rdma_exporter::doctor
