// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/parse.h"

#include <algorithm>

#include "config/flags/flags.h"
#include "config/flags/option_table.h"
#include "config/yaml/file.h"
#include "config/yaml/overlay.h"

namespace rdma_exporter::config {
namespace {

bool is_about_program(Action action) {
  return action == Action::help || action == Action::version || action == Action::describe_markdown ||
         action == Action::describe_json || action == Action::describe_man ||
         action == Action::describe_bash_completion;
}

bool says_nothing(std::string_view text) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin != std::string_view::npos && line[begin] != '#') return false;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return true;
}

core::Result<void> apply_file(const std::string& name, std::span<const Option> options, Parsed& parsed) {
  const auto text = read_file(name);
  if (!text) return core::config_error("--config.file: " + text.error().context);
  parsed.file_is_empty = says_nothing(*text);
  return load_text(*text, name, options, parsed.config);
}

core::Result<void> apply_flags(const FlagValues& flags, Config& config) {
  for (const auto& [option, values] : flags.options) {
    option->clear(config);
    for (const std::string& value : values) {
      const auto done = option->add(config, value);
      if (!done) return core::config_error("--" + option->flag + ": " + done.error().context);
    }
  }
  return {};
}

}  // namespace

core::Result<Parsed> apply(const FlagValues& flags, std::span<const Option> options,
                           std::span<const CollectorChoice> collectors) {
  Parsed parsed{default_config(collectors), flags.action};
  if (!flags.config_file.empty() && !is_about_program(flags.action)) {
    const auto done = apply_file(flags.config_file, options, parsed);
    if (!done) return tl::unexpected(done.error());
  }
  const auto done = apply_flags(flags, parsed.config);
  if (!done) return tl::unexpected(done.error());
  return parsed;
}

core::Result<Parsed> parse(std::span<const char* const> arguments,
                           std::span<const CollectorChoice> collectors) {
  const std::vector<Option> options = option_table(collectors);
  const auto flags = read_flags(arguments, options);
  if (!flags) return tl::unexpected(flags.error());
  return apply(*flags, options, collectors);
}

core::Result<Config> load(std::string_view text, std::string_view file_name,
                          std::span<const CollectorChoice> collectors) {
  Config config = default_config(collectors);
  const auto done = load_text(text, file_name, option_table(collectors), config);
  if (!done) return tl::unexpected(done.error());
  return config;
}

}  // namespace rdma_exporter::config
