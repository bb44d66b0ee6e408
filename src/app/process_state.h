// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>

#include "collectors/counters/carry_over.h"
#include "http/http_counters.h"
#include "probe/agent/agent.h"
#include "scrape/page_budget.h"

namespace rdma_exporter::app {

/// How the last attempt to load the configuration ended. Any thread may read.
struct ReloadStatus {
  std::atomic<bool> last_successful{true};
  std::atomic<std::int64_t> last_success_time{std::time(nullptr)};  ///< seconds since 1970
};

/// What is counted from the start of the process and outlives a configuration; and the probe, whose sessions
/// do.
struct ProcessState {
  http::HttpCounters http{};
  std::shared_ptr<scrape::PageBudget> pages = std::make_shared<scrape::PageBudget>();
  ReloadStatus reload{};
  /// Belongs to this host, not to recordings.
  std::shared_ptr<collectors::CarryOver> carry_over = std::make_shared<collectors::CarryOver>();
  probe::Agent probe;
};

}  // namespace rdma_exporter::app
