// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/flags/option_table.h"
#include "config/parse.h"
#include "core/result.h"

namespace rdma_exporter::config {

struct CommandSyntax;

/// A flag that is not an option of the daemon and therefore not a key of the file.
struct CommandFlag {
  std::string_view names;        ///< as CLI11 takes them: "-h,--help"
  std::string_view placeholder;  ///< empty: takes no value
  std::string_view help;
};

/// All such flags, in the order of the help.
std::span<const CommandFlag> command_flags();

/// A command line that has been split but not checked: values are still text.
struct FlagValues {
  Action action = Action::serve;
  std::string config_file;  ///< empty: none
  std::vector<std::pair<const Option*, std::vector<std::string>>>
      options;  ///< into the table that was passed
  std::map<std::string, std::string, std::less<>>
      own;                             ///< flags of the command, by name; "true" without value
  std::vector<std::string> arguments;  ///< of the command
};

/// Splits a command line (which starts with the program's name). Unknown flags, missing values, duplicate
/// flags and conflicting actions are errors: "--flag: what is wrong". For a command, its own flags and
/// arguments are parsed too, and help is the only action.
core::Result<FlagValues> read_flags(std::span<const char* const> arguments, std::span<const Option> options,
                                    const CommandSyntax* command = nullptr);

/// The configuration from these flags, which were parsed with `options`, and from their file; see parse().
core::Result<Parsed> apply(const FlagValues& flags, std::span<const Option> options,
                           std::span<const CollectorChoice> collectors);

}  // namespace rdma_exporter::config
