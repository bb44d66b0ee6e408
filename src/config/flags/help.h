// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/config.h"
#include "config/flags/command.h"

// What people read of flags and commands: made of their tables.
namespace rdma_exporter::config {

/// The output of --help: the commands, and each flag with its type, default and description.
std::string help_text(std::span<const CollectorChoice> collectors,
                      std::span<const CommandSyntax> commands = {});

/// The output of `COMMAND --help`.
std::string command_help(const CommandSyntax& syntax);

/// The manual page rdma_exporter(1) in troff's man macros (man(7)).
std::string man_page(std::span<const CollectorChoice> collectors, std::span<const CommandSyntax> commands,
                     std::string_view version);

/// A completion script for bash.
std::string bash_completion(std::span<const CollectorChoice> collectors,
                            std::span<const CommandSyntax> commands);

}  // namespace rdma_exporter::config
