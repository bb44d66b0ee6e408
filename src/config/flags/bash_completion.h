// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>

#include "config/config.h"
#include "config/flags/command.h"

namespace rdma_exporter::config {

/// A completion script for bash, generated from the tables of flags and commands.
std::string bash_completion(std::span<const CollectorChoice> collectors,
                            std::span<const CommandSyntax> commands);

}  // namespace rdma_exporter::config
