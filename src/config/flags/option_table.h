// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <vector>

#include "config/flags/option.h"

namespace rdma_exporter::config {

/// Every option of the daemon, in the order of help and printing; each collector adds two rows at the end.
std::vector<Option> option_table(std::span<const CollectorChoice> collectors);

/// The configuration without a file or flags.
Config default_config(std::span<const CollectorChoice> collectors);

}  // namespace rdma_exporter::config
