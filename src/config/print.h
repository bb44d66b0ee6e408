// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "config/config.h"

namespace rdma_exporter::config {

/// All options with their values as YAML; load() of it gives the same Config again.
std::string print(const Config& config);

}  // namespace rdma_exporter::config
