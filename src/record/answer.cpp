// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/answer.h"

#include <cerrno>
#include <charconv>

namespace rdma_exporter::record {
namespace {

constexpr int kLastErrno = 524;  // ENOTSUPP, the highest errno that core::errno_name() knows

}  // namespace

std::string error_word(const core::Error& error) {
  const std::string_view word = core::reason(error);
  // core::errno_name() has one word for all unnamed values, but the kernel has further ones
  // (include/linux/errno.h).
  return word == "errno_other" ? std::to_string(error.os_errno) : std::string(word);
}

core::Error error_of_word(std::string_view word) {
  if (word == "parse") return core::parse_error().value();
  if (word == "too_long") return core::too_long_error().value();
  for (int number = 1; number <= kLastErrno; ++number)
    if (core::errno_name(number) == word) return core::os_error(number).value();
  int number = 0;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_number = failed == std::errc() && end == word.data() + word.size() && number > 0;
  return core::os_error(is_number ? number : EIO).value();
}

}  // namespace rdma_exporter::record
