// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "host/netlink/nldev/resource.h"
#include "host/netlink/nldev/statistic.h"
#include "tests/unit/collectors/collector_fixture.h"
#include "tests/unit/support/scripted_background.h"
#include "tests/unit/support/statistic_messages.h"

namespace rdma_exporter::collectors {

/// With answers recorded from a kernel (tests/unit/data/netlink/ORIGIN.md): 110 queue pairs of rxe0 and their
/// other objects. The expected numbers are those of rdma_resource_show.json.
class ResourceTest : public CollectorFixture {
 protected:
  ResourceTest() : CollectorFixture(resource_spec) {
    add_port("rxe0");
    answer_netlink();
    script_->answers[host::nldev::kStatGet].clear();  // no sets of queue pairs
    script_->answers[host::nldev::kResourceSummary] = {test::recorded_message("res_get_0.bin")};
    script_->answers[host::nldev::kStatGetStatus] = {test::recorded_message("stat_get_status_0.bin")};
    answer(host::nldev::ResourceTable::qp, {"res_qp_0.bin", "res_qp_1.bin"});
    answer(host::nldev::ResourceTable::mr, {"res_mr_0.bin"});
    answer(host::nldev::ResourceTable::cq, {"res_cq_0.bin"});
    answer(host::nldev::ResourceTable::ctx, {"res_ctx_0.bin"});
    // The summary is that of rxe0, the connection ids are those of rxe1: here rxe0 has them.
    answer(host::nldev::ResourceTable::cm_id, {"res_cm_id_0.bin"});
    host_.resource_dumps_safe = true;
    context_.background = &background_;
    verbs_->limits = host::DeviceLimits{.qps = 1000, .cqs = 2000, .mrs = 3000, .pds = 0, .srqs = 0};
  }

  void answer(host::nldev::ResourceTable table, const std::vector<std::string>& files) const {
    auto& messages = script_->answers[host::nldev::resource_command(table)];
    messages.clear();
    for (const std::string& file : files) messages.push_back(test::recorded_message(file));
  }
  std::uint16_t qp_dump() const { return host::nldev::resource_command(host::nldev::ResourceTable::qp); }

  static double sum(const Page& page, const std::string& start, const std::string& with = {}) {
    double total = 0;
    for (const auto& [series, value] : page)
      if (series.starts_with(start) && series.find(with) != std::string::npos) total += value;
    return total;
  }
  static std::size_t count(const Page& page, const std::string& start) {
    return static_cast<std::size_t>(std::count_if(
        page.begin(), page.end(), [&](const auto& entry) { return entry.first.starts_with(start); }));
  }

  test::ScriptedBackground background_;
};

}  // namespace rdma_exporter::collectors
