// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/resource/table_dump.h"

#include <utility>

#include "host/netlink/netlink.h"

namespace rdma_exporter::collectors {

void TableReport::forbid(std::string_view limit) {
  truncated = limit;
  rows.clear();
  finished.reset();
}

void TableReport::finish(std::vector<ResourceRow> result) {
  rows = std::move(result);
  finished = DumpGuard::Clock::now();
}

bool dump_table(host::Netlink& netlink, std::uint16_t command, host::Bytes request, const DumpLimits& limits,
                TableReport& report, const OnDumpMessage& on_message) {
  const auto start = DumpGuard::Clock::now();
  DumpGuard guard(limits.max_entries, limits.deadline);
  const auto dumped = host::walk(netlink, command, request, [&](host::Bytes message) {
    return on_message(message, guard).map([&] { return guard.more(); });
  });
  report.duration = DumpGuard::Clock::now() - start;
  report.truncated = {};
  if (!dumped) {
    ++report.errors[core::reason(dumped.error())];
    return false;
  }
  if (guard.stopped().empty()) return true;
  if (guard.stopped() == DumpGuard::kStalled) {
    ++report.errors[guard.stopped()];
  } else {
    report.truncated = guard.stopped();
  }
  return false;
}

}  // namespace rdma_exporter::collectors
