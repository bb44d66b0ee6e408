// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "core/result.h"

namespace rdma_exporter::config {

/// The content of a configuration file of at most 1 MiB. The error is "NAME: reason".
core::Result<std::string> read_file(const std::string& name);

}  // namespace rdma_exporter::config
