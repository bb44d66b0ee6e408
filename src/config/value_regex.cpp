// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <regex>

#include "config/value_type.h"

namespace rdma_exporter::config {
namespace {

/// libstdc++ compiles an expression by recursion: the bound keeps "((((..." from using up the stack.
constexpr std::size_t kLongestRegex = 1024;

core::Result<std::string> parse_regex(std::string_view value) {
  if (value.size() > kLongestRegex) return core::config_error("is too long");
  try {
    // A copy with a NUL at its end: behind a last "(" the scanner of libstdc++ 12 reads one byte further.
    const std::regex compiled(std::string(value), std::regex::ECMAScript);
  } catch (const std::regex_error& error) {
    return core::config_error(std::string("is not a regular expression: ") + error.what());
  }
  return text({}, {}).parse(value);
}

}  // namespace

ValueType<std::string> regex() {
  auto type = text(
      "REGEX", "use an ECMAScript expression of at most 1024 bytes, which is matched against the whole name");
  type.parse = parse_regex;
  return type;
}

}  // namespace rdma_exporter::config
