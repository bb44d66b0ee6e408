// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/number.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

namespace rdma_exporter::core {
namespace {

char* write_word(char* to, std::string_view word) {
  std::memcpy(to, word.data(), word.size());
  return to + word.size();
}

}  // namespace

char* write_number(char* to, double value) {
  if (std::isnan(value)) return write_word(to, "NaN");
  if (std::isinf(value)) return write_word(to, value > 0 ? "+Inf" : "-Inf");
  return std::to_chars(to, to + kNumberSize, value).ptr;
}

char* write_bound(char* to, double value) {
  if (std::isnan(value) || std::isinf(value)) return write_number(to, value);
  char* const end = std::to_chars(to, to + kNumberSize, value, std::chars_format::general).ptr;
  const std::string_view written(to, static_cast<std::size_t>(end - to));
  return written.find_first_of(".e") == std::string_view::npos ? write_word(end, ".0") : end;
}

char* write_number(char* to, std::uint64_t value) {
  if (value < 10) {  // most counters of errors
    *to = static_cast<char>('0' + value);
    return to + 1;
  }
  return std::to_chars(to, to + kNumberSize, value).ptr;
}

}  // namespace rdma_exporter::core
