// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags/help.h"

#include "config/flags/command.h"
#include "config/flags/flags.h"
#include "config/flags/option_table.h"

namespace rdma_exporter::config {
namespace {

constexpr std::string_view kIntroduction =
    "Usage: rdma_exporter [FLAG]...\n       rdma_exporter COMMAND [FLAG]... [ARGUMENT]...\nPrometheus "
    "exporter for hosts with RDMA devices.\n\nEvery flag below the first group is also a key of the YAML "
    "file given with --config.file: dots separate levels,\nand - becomes _ (web.telemetry_path). The key of "
    "--collector.NAME is collector.NAME.enabled. Flags override the\nfile, and the file overrides the "
    "defaults.\n";

std::string flag_line(const Option& option, const Config& defaults) {
  const bool is_toggle = option.shape == Option::Shape::toggle;
  std::string line = "  --" + std::string(is_toggle ? "[no-]" : "") + option.flag;
  if (!is_toggle) line += "=" + option.placeholder;
  std::vector<std::string> notes;
  for (const std::string& value : option.values(defaults)) {
    if (!value.empty()) notes.push_back("default " + value);
  }
  if (option.shape == Option::Shape::list) notes.emplace_back("repeatable");
  for (std::size_t i = 0; i < notes.size(); ++i) line += (i == 0 ? "  (" : ", ") + notes[i];
  if (!notes.empty()) line += ")";
  return line + "\n      " + option.help + "\n";
}

std::string command_line(const CommandFlag& flag) {
  std::string line = "  " + std::string(flag.names);
  if (!flag.placeholder.empty()) line += "=" + std::string(flag.placeholder);
  return line + "\n      " + std::string(flag.help) + "\n";
}

std::string command_list(std::span<const CommandSyntax> commands) {
  if (commands.empty()) return {};
  std::string text = "\nCommands (see rdma_exporter COMMAND --help):\n";
  for (const CommandSyntax& command : commands) {
    text += "  " + std::string(command.name);
    if (!command.arguments.empty()) text += " " + std::string(command.arguments);
    text += "\n      " + std::string(command.summary) + "\n";
  }
  return text;
}

}  // namespace

std::string command_help(const CommandSyntax& syntax) {
  std::string text = "Usage: rdma_exporter " + std::string(syntax.name) + " [FLAG]...";
  if (!syntax.arguments.empty()) text += " " + std::string(syntax.arguments);
  text += "\n" + std::string(syntax.summary) + "\n\n" + std::string(syntax.description) + "\n\n";
  for (const CommandFlag& flag : syntax.flags) text += command_line(flag);
  return text +
         "  -h, --help\n      Show this help.\n\nThe flags of the daemon (rdma_exporter --help) also "
         "apply.\n";
}

std::string help_text(std::span<const CollectorChoice> collectors, std::span<const CommandSyntax> commands) {
  const Config defaults = default_config(collectors);
  std::string text(kIntroduction);
  text += command_list(commands) + "\nWithout a command:\n";
  for (const CommandFlag& flag : command_flags()) text += command_line(flag);
  std::string group;
  for (const Option& option : option_table(collectors)) {
    const std::string part =
        option.key.find('.') == std::string::npos ? "" : option.key.substr(0, option.key.find('.'));
    if (part != group) text += "\n";
    group = part;
    text += flag_line(option, defaults);
  }
  return text;
}

}  // namespace rdma_exporter::config
