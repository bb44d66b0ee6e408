// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as Accept, Accept-Encoding and query (lines of the input): there is always an answer, and an
// accepted filter survives encoding and parsing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "tests/fuzz/check.h"
#include "web/scrape_request.h"

namespace {

using namespace rdma_exporter;
using fuzz::check;

std::string_view take_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return line;
}

void add_encoded(std::string& query, std::string_view name, const std::string& value) {
  query.append(query.empty() ? "" : "&").append(name).append("%5B%5D=");
  for (const char c : value) {
    char escape[4];
    std::snprintf(escape, sizeof escape, "%%%02x", static_cast<unsigned char>(c));
    query += escape;
  }
}

void check_filter(std::string_view query) {
  const auto filter = web::parse_filter(query);
  if (!filter) return check(!core::to_string(filter.error()).empty(), "an error has a message", query);
  check(filter->collect.empty() || filter->exclude.empty(), "not both kinds", query);
  std::string encoded;
  for (const std::string& name : filter->collect) add_encoded(encoded, "collect", name);
  for (const std::string& name : filter->exclude) add_encoded(encoded, "exclude", name);
  const auto again = web::parse_filter(encoded);
  check(again && again->collect == filter->collect && again->exclude == filter->exclude, "the same again",
        query);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view accept = take_line(rest);
  const core::Format format = web::preferred_format(accept);
  check(
      web::content_type(format).find("version") != std::string_view::npos || format == core::Format::protobuf,
      "a format that is served", accept);
  // What is not named is not chosen.
  check(format == core::Format::text || accept.find('/') != std::string_view::npos, "text by default",
        accept);
  const std::string_view encodings = take_line(rest);
  check(!web::accepts_gzip(encodings) || encodings.find_first_of("*zZ") != std::string_view::npos,
        "gzip only where it is named", encodings);
  check_filter(rest);
  return 0;
}
