// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string_view>

#include "app/program.h"
#include "config/command.h"
#include "core/result.h"

// Commands: what the program can do once and end, beside serving. To add one: src/app/commands/NAME.cpp that
// defines NAME_command, and its line in commands.cpp.
namespace rdma_exporter::app {

struct Command {
  config::CommandSyntax syntax;
  /// Does it, and returns the exit status. Results go to standard output, what is said on the way to the log.
  /// The error is about what was asked for: a message for the person, and exit status `refused`.
  core::Result<int> (*run)(const config::CommandLine& line) = nullptr;
  int refused = kBadConfiguration;
};

/// All of them, in the order of the help.
std::span<const Command* const> all_commands();

/// How they are written, in the same order.
std::span<const config::CommandSyntax> command_syntaxes();

/// Runs the command `word` of this command line (the program's name first); the exit status.
int run_command(std::string_view word, std::span<const char* const> arguments);

}  // namespace rdma_exporter::app
