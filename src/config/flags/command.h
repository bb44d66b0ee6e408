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
#include "config/flags/option_table.h"
#include "core/result.h"

// `rdma_exporter COMMAND [FLAG]... [ARGUMENT]...`: commands on the command line.
namespace rdma_exporter::config {

/// Syntax of a command.
struct CommandSyntax {
  std::string_view name;
  std::string_view arguments = {};  ///< for the help: "OUT.tar.gz"; empty: it takes none
  std::size_t at_least = 0;         ///< minimum number of arguments
  std::size_t at_most = 0;
  std::string_view summary = {};            ///< one line, for the list of commands
  std::string_view description = {};        ///< for its own help; lines of at most 120 characters
  std::span<const CommandFlag> flags = {};  ///< in addition to the daemon's; one long name each
};

/// The arguments of a command.
struct CommandLine {
  Config config;  ///< from the daemon's flags and file
  bool help = false;
  std::vector<std::string> arguments;
  /// The command's own flags that were passed, by name ("--format"), each once.
  std::map<std::string, std::string, std::less<>> flags;

  /// For flags without a value.
  bool has(std::string_view flag) const { return flags.find(flag) != flags.end(); }

  /// The value of a flag, or `otherwise` if it was not passed. The error is a message for the user.
  template <typename T>
  core::Result<T> value(std::string_view flag, const ValueType<T>& type, T otherwise) const {
    const auto given = flags.find(flag);
    if (given == flags.end()) return otherwise;
    auto result = checked(type, given->second);
    if (!result) return core::config_error(std::string(flag) + ": " + result.error().context.text());
    return result;
  }
};

/// The command in a command line (which starts with the program's name): its first word, unless that is a
/// flag. Later words cannot be the command, because they may be the value of a flag. Empty: no command.
std::string_view command_word(std::span<const char* const> arguments);

/// The message for a word that is not a command.
core::Error unknown_command(std::string_view word, std::span<const CommandSyntax> known);

/// Parses the command line of the command `syntax`, whose word follows the program's name: like parse(), with
/// the same flags and messages, plus the command's own flags and arguments. With --help, only the flags are
/// checked.
core::Result<CommandLine> parse_command(std::span<const char* const> arguments,
                                        std::span<const CollectorChoice> collectors,
                                        const CommandSyntax& syntax);

}  // namespace rdma_exporter::config
