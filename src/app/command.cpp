// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/command.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "app/setup/setup.h"
#include "collectors/collector.h"
#include "config/flags/help.h"

namespace rdma_exporter::app {

std::vector<config::CollectorChoice> collector_choices() {
  std::vector<config::CollectorChoice> choices;
  for (const collectors::CollectorSpec* spec : collectors::all_collectors()) {
    auto& choice =
        choices.emplace_back(config::CollectorChoice{spec->name, spec->enabled_by_default, spec->help});
    for (const core::MetricDesc* family : spec->families()) choice.families.push_back(family->name);
  }
  return choices;
}

int print(const std::string& text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) fmt::print(stderr, "rdma_exporter: cannot write to standard output\n");
  return written ? 0 : kCannotServe;
}

void exit_now(int status) {
  std::fflush(nullptr);
  std::_Exit(status);
}

int refuse(const core::Error& error) {
  fmt::print(stderr, "rdma_exporter: {}\n", core::to_string(error));
  return error.os_errno != 0 ? kCannotServe : kBadConfiguration;
}

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
