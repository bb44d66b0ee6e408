// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/commands.h"

#include <algorithm>
#include <array>
#include <vector>

#include "app/setup_log.h"

namespace rdma_exporter::app {

extern const Command capture_command;
extern const Command doctor_command;
extern const Command probe_command;
extern const Command report_command;
extern const Command responder_command;

namespace {

constexpr std::array kAll{&capture_command, &doctor_command, &report_command, &probe_command,
                          &responder_command};

}  // namespace

std::span<const Command* const> all_commands() { return kAll; }

std::span<const config::CommandSyntax> command_syntaxes() {
  static const std::vector<config::CommandSyntax> syntaxes = [] {
    std::vector<config::CommandSyntax> all;
    for (const Command* command : kAll) all.push_back(command->syntax);
    return all;
  }();
  return syntaxes;
}

int run_command(std::string_view word, std::span<const char* const> arguments) {
  const auto command = std::find_if(kAll.begin(), kAll.end(),
                                    [&](const Command* known) { return known->syntax.name == word; });
  if (command == kAll.end()) return refuse(config::unknown_command(word, command_syntaxes()));
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
