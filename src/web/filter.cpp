// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/filter.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace rdma_exporter::web {
namespace {

// application/x-www-form-urlencoded: %HH is a byte, + a blank.
std::optional<std::string> decode_percent(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    constexpr std::size_t kDigits = 2;
    const std::string_view digits = text.substr(i + 1, kDigits);
    unsigned char byte = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    if (!whole || digits.size() != kDigits) return std::nullopt;
    out += static_cast<char>(byte);
    i += kDigits;
  }
  return out;
}

}  // namespace

core::Result<CollectorFilter> parse_filter(std::string_view query) {
  CollectorFilter filter;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    const auto name = decode_percent(pair.substr(0, equals));
    const auto value =
        equals == std::string_view::npos ? std::string() : decode_percent(pair.substr(equals + 1));
    if (!name || !value) return core::config_error("broken percent escape in the query");
    if (*name == "collect[]") filter.collect.push_back(*value);
    if (*name == "exclude[]") filter.exclude.push_back(*value);
    if (*name == "collect" || *name == "exclude")
      return core::config_error(*name + ": unknown parameter (did you mean " + *name + "[]?)");
  }
  if (!filter.collect.empty() && !filter.exclude.empty())
    return core::config_error("collect[] and exclude[] cannot be combined");
  return filter;
}

}  // namespace rdma_exporter::web
