// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags.h"
#include "config/option_table.h"
#include "config/print.h"

namespace rdma_exporter::config {
namespace {

constexpr std::string_view kIntroduction =
    "Usage: rdma_exporter [FLAG]...\n"
    "Prometheus exporter for hosts with RDMA devices.\n"
    "\n"
    "Each flag below the first group is also a key of the YAML file that --config.file names: dots are "
    "levels and\n"
    "- becomes _ (web.telemetry_path). The key of --collector.NAME is collector.NAME.enabled. A flag wins "
    "over the\n"
    "file, the file over the default.\n";

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

}  // namespace

std::string help_text(std::span<const CollectorChoice> collectors) {
  const Config defaults = default_config(collectors);
  std::string text(kIntroduction);
  text += "\nCommands:\n";
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
