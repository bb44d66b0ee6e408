// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/answer.h"

#include <cerrno>

namespace rdma_exporter::record {
namespace {

constexpr int kLastErrno = 133;  // EHWPOISON, include/uapi/asm-generic/errno.h

}  // namespace

std::string error_word(const core::Error& error) { return std::string(core::reason(error)); }

core::Error error_of_word(std::string_view word) {
  if (word == "parse") return core::parse_error().value();
  if (word == "too_long") return core::too_long_error().value();
  for (int number = 1; number <= kLastErrno; ++number)
    if (core::errno_name(number) == word) return core::os_error(number).value();
  return core::os_error(EIO).value();
}

}  // namespace rdma_exporter::record
