// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "core/result.h"

namespace rdma_exporter::commands {

/// Writes a new probe secret to a file that must not exist yet: a random name and 32 random bytes, mode 0400.
/// Returns the name. EEXIST: the file exists and is left unchanged; other errors name the file and the
/// failure, and leave no file behind.
core::Result<std::string> make_key(const std::string& path);

}  // namespace rdma_exporter::commands
