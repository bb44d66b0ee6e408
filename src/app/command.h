// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "app/program.h"
#include "config/flags/command.h"
#include "core/result.h"

namespace rdma_exporter::app {

/// What the program can do once and end, beside serving.
struct Command {
  config::CommandSyntax syntax;
  /// Does it, and returns the exit status. Results go to standard output, what is said on the way to the log.
  /// The error is about what was asked for: a message for the person, and exit status `refused`.
  core::Result<int> (*run)(const config::CommandLine& line) = nullptr;
  int refused = kBadConfiguration;
};

/// In the order of the help.
using Commands = std::span<const Command* const>;

/// How they are written, in the same order.
std::vector<config::CommandSyntax> syntaxes_of(Commands commands);

/// Runs the command `word` of this command line (the program's name first); the exit status.
int run_command(Commands commands, std::string_view word, std::span<const char* const> arguments);

}  // namespace rdma_exporter::app
