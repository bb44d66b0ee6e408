// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>

#include "config/config.h"

namespace rdma_exporter::config {

/// A completion script for bash, from the same table as the flags.
std::string bash_completion(std::span<const CollectorChoice> collectors);

}  // namespace rdma_exporter::config
