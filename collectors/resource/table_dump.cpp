// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/resource/table_dump.h"

#include <algorithm>
#include <utility>

#include "host/netlink/netlink.h"

namespace rdma_exporter::collectors {

bool DumpGuard::fresh(std::uint64_t id) {
  if (seen_.empty() || id > seen_.back()) {
    seen_.push_back(id);
    return true;
  }
  const auto at = std::lower_bound(seen_.begin(), seen_.end(), id);
  if (*at == id) return false;
  seen_.insert(at, id);
  return true;
}

bool DumpGuard::more(Clock::time_point now) {
  idle_messages_ = seen_.size() == seen_before_ ? idle_messages_ + 1 : 0;
  seen_before_ = seen_.size();
  if (seen_.size() > max_entries_) stopped_ = kMaxEntries;
  if (now >= deadline_) stopped_ = kTimeout;
  if (idle_messages_ >= kIdleMessages) stopped_ = kStalled;
  return stopped_.empty();
}

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
