// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/flags/flags.h"
#include "config/flags/option.h"
#include "core/result.h"

// `rdma_exporter COMMAND [FLAG]... [ARGUMENT]...`: what a command is on the command line, and in the help.
namespace rdma_exporter::config {

/// How a command is written.
struct CommandSyntax {
  std::string_view name;
  std::string_view arguments = {};  ///< stand for its arguments in the help: "OUT.tar.gz"; empty: takes none
  std::size_t at_least = 0;         ///< so many arguments
  std::size_t at_most = 0;
  std::string_view summary = {};            ///< one line, for the list of commands
  std::string_view description = {};        ///< for its own help; lines of at most 120 characters
  std::span<const CommandFlag> flags = {};  ///< beside those of the daemon; one long name each
};

/// What was written after a command.
struct CommandLine {
  Config config;  ///< of the daemon's flags and file
  bool help = false;
  std::vector<std::string> arguments;
  /// The command's own flags that were given, by name ("--format"), each once.
  std::map<std::string, std::string, std::less<>> flags;

  /// Of a flag without a value.
  bool has(std::string_view flag) const { return flags.find(flag) != flags.end(); }

  /// The value of a flag, or `otherwise` when it was not given. The error is a message for the person.
  template <typename T>
  core::Result<T> value(std::string_view flag, const ValueType<T>& type, T otherwise) const {
    const auto given = flags.find(flag);
    if (given == flags.end()) return otherwise;
    auto result = checked(type, given->second);
    if (!result) return core::config_error(std::string(flag) + ": " + result.error().context);
    return result;
  }
};

/// The word of a command line (the program's name first) that is a command: the first one, when it is not a
/// flag. Later ones cannot be: they may be the value of a flag. Empty: no command.
std::string_view command_word(std::span<const char* const> arguments);

/// The message for a word that is no command.
core::Error unknown_command(std::string_view word, std::span<const CommandSyntax> known);

/// Reads the command line of the command `syntax`, whose word comes after the program's name: parse() with
/// the same flags and messages, and the command's own flags and arguments. With help nothing is checked but
/// the flags.
core::Result<CommandLine> parse_command(std::span<const char* const> arguments,
                                        std::span<const CollectorChoice> collectors,
                                        const CommandSyntax& syntax);

/// What `COMMAND --help` prints.
std::string command_help(const CommandSyntax& syntax);

}  // namespace rdma_exporter::config
