// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string_view>

#include "config/config.h"
#include "core/result.h"

namespace rdma_exporter::config {

/// The action that the command line requests.
enum class Action : unsigned char {
  serve,
  version,
  describe_markdown,
  describe_json,
  describe_man,
  describe_bash_completion,
  check_config,
  print_config,
  once,
  help,
};

struct Parsed {
  Config config;
  Action action = Action::serve;
  bool file_is_empty = true;  ///< nothing but blanks and comments in the file, or no file
};

/// Parses the command line (as main() receives it, starting with the program's name) and the file that
/// --config.file names. Flags override the file, the file overrides defaults. help, version and the describe
/// actions are about the program and read no file. The error is a message for the person who started the
/// program.
core::Result<Parsed> parse(std::span<const char* const> arguments,
                           std::span<const CollectorChoice> collectors);

/// The same for the text of a file alone; `file_name` is used in messages.
core::Result<Config> load(std::string_view text, std::string_view file_name,
                          std::span<const CollectorChoice> collectors);

}  // namespace rdma_exporter::config
