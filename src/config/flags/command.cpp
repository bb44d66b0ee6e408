// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags/command.h"

#include <algorithm>

#include "config/flags/option_table.h"
#include "config/message.h"
#include "config/parse.h"

namespace rdma_exporter::config {
namespace {

core::Result<void> check_arguments(const CommandSyntax& syntax, const std::vector<std::string>& given) {
  const std::string usage = " (usage: rdma_exporter " + std::string(syntax.name) + " " +
                            std::string(syntax.arguments) + "; see --help)";
  if (given.size() < syntax.at_least)
    return core::config_error(std::string(syntax.name) + ": an argument is missing" + usage);
  if (given.size() > syntax.at_most) {
    const std::string problem = in_quotes(given[syntax.at_most]) + ": is not a flag (flags start with --)";
    return core::config_error(syntax.at_most == 0 ? problem : std::string(syntax.name) + ": " + problem);
  }
  return {};
}

}  // namespace

std::string_view command_word(std::span<const char* const> arguments) {
  if (arguments.size() < 2) return {};
  const std::string_view word = arguments[1];
  return word.starts_with('-') ? std::string_view() : word;
}

core::Error unknown_command(std::string_view word, std::span<const CommandSyntax> known) {
  std::vector<std::string> names;
  for (const CommandSyntax& syntax : known) names.emplace_back(syntax.name);
  const std::string near = nearest(word, names);
  return {core::Errc::config, 0,
          in_quotes(word) + ": is neither a flag nor a command" +
              (near.empty() ? " (see --help)" : " (did you mean " + near + "?)")};
}

core::Result<CommandLine> parse_command(std::span<const char* const> arguments,
                                        std::span<const CollectorChoice> collectors,
                                        const CommandSyntax& syntax) {
  const std::vector<Option> options = option_table(collectors);
  // The command's word takes the place of the program's name.
  auto values = read_flags(arguments.subspan(1), options, &syntax);
  if (!values) return tl::unexpected(values.error());
  CommandLine line;
  line.help = values->action == Action::help;
  if (!line.help) {
    if (auto done = check_arguments(syntax, values->arguments); !done) return tl::unexpected(done.error());
  }
  auto parsed = apply(*values, options, collectors);
  if (!parsed) return tl::unexpected(parsed.error());
  line.config = std::move(parsed->config);
  line.arguments = std::move(values->arguments);
  line.flags = std::move(values->own);
  return line;
}

}  // namespace rdma_exporter::config
