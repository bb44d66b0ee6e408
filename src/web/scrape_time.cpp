// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/scrape_time.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace rdma_exporter::web {

std::chrono::nanoseconds scrape_time(const Timeouts& timeouts, std::string_view header) {
  using Seconds = std::chrono::duration<double>;
  double value = 0;
  const char* const end = header.data() + header.size();
  const auto [rest, error] = std::from_chars(header.data(), end, value);
  const bool usable = error == std::errc() && rest == end && std::isfinite(value) && value > 0;
  if (!usable) return timeouts.scrape;

  Seconds allowed = Seconds(value) - Seconds(timeouts.offset);
  if (allowed <= Seconds::zero()) allowed = Seconds(value / 2);
  // Compared before the cast: a timeout of 1e300 s has no representation in nanoseconds.
  if (allowed >= Seconds(timeouts.scrape)) return timeouts.scrape;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(allowed);
}

}  // namespace rdma_exporter::web
