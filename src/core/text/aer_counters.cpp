// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/aer_counters.h"

#include "core/text/kernel_text.h"

namespace rdma_exporter::core {
namespace {

constexpr std::string_view kTotal = "TOTAL_ERR_";

Result<AerCount> parse_line(std::string_view line) {
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos || blank == 0) return parse_error();
  const auto count = parse_counter(line.substr(blank + 1));
  if (!count || !*count) return parse_error();
  return AerCount{line.substr(0, blank), **count};
}

}  // namespace

Result<AerCounters> parse_aer_counters(std::string_view text) {
  AerCounters counters;
  text = trim(text);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const auto line = parse_line(text.substr(0, end));
    if (!line) return tl::unexpected(line.error());
    if (line->error.starts_with(kTotal))
      counters.messages = line->count;
    else
      counters.errors.push_back(*line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return counters;
}

}  // namespace rdma_exporter::core
