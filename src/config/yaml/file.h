// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace rdma_exporter::config {

/// The content of a regular file of at most 1 MiB. The error is "NAME: reason", with the errno of open(2) or
/// read(2) if one of these failed.
core::Result<std::string> read_file(const std::string& name);

/// The same error, with `where` in front of its message.
tl::unexpected<core::Error> error_at(std::string_view where, core::Error error);

}  // namespace rdma_exporter::config
