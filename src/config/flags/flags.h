// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/flags/option.h"
#include "config/parse.h"
#include "core/result.h"

namespace rdma_exporter::config {

struct CommandSyntax;

/// A flag that is no option of the daemon, so that it has no key in the file.
struct CommandFlag {
  std::string_view names;        ///< as CLI11 takes them: "-h,--help"
  std::string_view placeholder;  ///< empty: takes no value
  std::string_view help;
};

/// All of them, in the order of the help.
std::span<const CommandFlag> command_flags();

/// The command line, split but not judged: values are still text.
struct FlagValues {
  Action action = Action::serve;
  std::string config_file;  ///< empty: none
  std::vector<std::pair<const Option*, std::vector<std::string>>>
      options;  ///< into the table that was passed
  std::map<std::string, std::string, std::less<>>
      own;                             ///< flags of the command, by name; "true" without value
  std::vector<std::string> arguments;  ///< of the command
};

/// Splits a command line (with the program's name first). Unknown flags, missing values, flags given twice
/// and actions that exclude each other are errors, "--flag: what is wrong". With a command, its own flags and
/// arguments are read too, and of the actions there is only help.
core::Result<FlagValues> read_flags(std::span<const char* const> arguments, std::span<const Option> options,
                                    const CommandSyntax* command = nullptr);

/// The configuration that those flags, made with `options`, and their file give; see parse().
core::Result<Parsed> apply(const FlagValues& flags, std::span<const Option> options,
                           std::span<const CollectorChoice> collectors);

}  // namespace rdma_exporter::config
