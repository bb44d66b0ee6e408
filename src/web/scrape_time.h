// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <string_view>

namespace rdma_exporter::web {

/// How long a scrape may take.
struct Timeouts {
  std::chrono::milliseconds scrape{8000};  ///< the longest, whatever the client allows
  std::chrono::milliseconds offset{500};   ///< kept back for the way home out of what the client allows
};

/// The time a scrape has: the smaller of `scrape` and the client's own timeout minus `offset`. `header` is
/// the value of X-Prometheus-Scrape-Timeout-Seconds (seconds, may have a fraction); when it is absent,
/// malformed or not positive the client is taken to wait. A client that waits no longer than `offset` gets
/// half of its timeout.
std::chrono::nanoseconds scrape_time(const Timeouts& timeouts, std::string_view header);

}  // namespace rdma_exporter::web
