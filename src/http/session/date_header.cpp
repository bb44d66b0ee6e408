// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/session/date_header.h"

#include <array>
#include <utility>

namespace rdma_exporter::http {

DateHeader::DateHeader(Clock clock) : clock_(std::move(clock)) {
  if (!clock_) clock_ = [] { return std::time(nullptr); };
}

std::string_view DateHeader::line() {
  const std::time_t now = clock_();
  if (now == rendered_for_) return line_;
  std::tm utc{};
  std::array<char, 64> text{};
  // The names of days and months are English because no part of the program sets a locale.
  const std::size_t size =
      gmtime_r(&now, &utc) == nullptr
          ? 0
          : std::strftime(text.data(), text.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
  line_.assign(text.data(), size);
  rendered_for_ = now;
  return line_;
}

}  // namespace rdma_exporter::http
