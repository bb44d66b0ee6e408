// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>

#include "config/config.h"
#include "config/flags/command.h"

namespace rdma_exporter::config {

/// All options with their values as YAML; load() of it gives the same Config again.
std::string print(const Config& config);

/// The output of --help: the commands, and each flag with its type, default and description.
std::string help_text(std::span<const CollectorChoice> collectors,
                      std::span<const CommandSyntax> commands = {});

}  // namespace rdma_exporter::config
