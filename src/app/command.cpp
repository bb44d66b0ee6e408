// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/command.h"

#include <algorithm>

#include "app/setup/setup_log.h"
#include "config/flags/help.h"

namespace rdma_exporter::app {

std::vector<config::CommandSyntax> syntaxes_of(Commands commands) {
  std::vector<config::CommandSyntax> syntaxes;
  for (const Command* command : commands) syntaxes.push_back(command->syntax);
  return syntaxes;
}

int run_command(Commands commands, std::string_view word, std::span<const char* const> arguments) {
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [&](const Command* known) { return known->syntax.name == word; });
  if (command == commands.end()) return refuse(config::unknown_command(word, syntaxes_of(commands)));
  const config::CommandSyntax& syntax = (*command)->syntax;
  const auto refused = [&](const core::Error& error) {
    refuse(error);
    return (*command)->refused;
  };
  const auto line = config::parse_command(arguments, collector_choices(), syntax);
  if (!line) return refused(line.error());
  if (line->help) return print(config::command_help(syntax));
  setup_log(line->config.log);
  const auto status = (*command)->run(*line);
  return status ? *status : refused(status.error());
}

}  // namespace rdma_exporter::app
