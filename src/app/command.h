// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/flags/command.h"
#include "core/result.h"

// The commands of the program, and what they share with serving.
namespace rdma_exporter::app {

/// Exit statuses.
constexpr int kCannotServe = 1;       ///< what was asked for did not come out
constexpr int kBadConfiguration = 2;  ///< what was asked for makes no sense

/// The collectors of this binary, for the parser of the configuration.
std::vector<config::CollectorChoice> collector_choices();

/// Writes to standard output. The exit status: what was asked for did not come out when standard output is
/// full or closed.
int print(const std::string& text);

/// Ends the process while a worker may be inside the kernel: destructors would wait for it for ever.
[[noreturn]] void exit_now(int status);

/// Says on standard error what is wrong with what was asked for. The exit status: kCannotServe for what may
/// pass, which a service manager tries again, kBadConfiguration for what a person has to edit.
int refuse(const core::Error& error);

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
