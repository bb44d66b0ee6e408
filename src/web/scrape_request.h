// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <string_view>

#include "core/exposition/format.h"
#include "core/result.h"
#include "web/metrics_source.h"

// What a request for metrics asks for: collectors, format, compression, and when it needs the answer.
namespace rdma_exporter::web {

/// Parses `collect[]=NAME` and `exclude[]=NAME` in the query of a target; ignores other parameters. Errors,
/// each a message for the client: both kinds at once, either without its brackets, a broken percent escape.
core::Result<CollectorFilter> parse_filter(std::string_view query);

/// The format that the client prefers according to its Accept header (RFC 9110, 12.5.1); of equally preferred
/// ones the first. Text 0.0.4 if the header is absent, malformed or names nothing that is served, so that a
/// person with a browser sees a page.
core::Format preferred_format(std::string_view accept);

/// Whether an Accept-Encoding header allows gzip.
bool accepts_gzip(std::string_view accept_encoding);

/// The value of Content-Type.
std::string_view content_type(core::Format format);

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
