// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/result.h"

#include <cstring>

namespace rdma_exporter::core {
namespace {

// include/linux/errno.h: not for user space, but drivers let it through.
constexpr int kNotSupported = 524;  // ENOTSUPP

}  // namespace

std::string_view errno_name(int os_errno) {
  if (os_errno == kNotSupported) return "ENOTSUPP";
  const char* name = strerrorname_np(os_errno);
  return name == nullptr ? std::string_view("errno_other") : std::string_view(name);
}

}  // namespace rdma_exporter::core
