// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

namespace rdma_exporter::core {

/// Symbolic name of an errno value ("EIO"; 524 is the kernel's own "ENOTSUPP"), or "errno_other" for one
/// without. The result has static storage and is one of a bounded set: safe as a label value.
std::string_view errno_name(int os_errno);

}  // namespace rdma_exporter::core
