// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace rdma_exporter::http {

/// Returns all addresses of a name, in order. Blocks for as long as the host's resolver does. ENOENT: there
/// is no such name; EAGAIN: no name server answers.
core::Result<std::vector<std::string>> resolve(const std::string& name);

}  // namespace rdma_exporter::http
