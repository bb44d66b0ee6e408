// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/parse.h"

#include <algorithm>

#include "config/flags/flags.h"
#include "config/flags/option_table.h"
#include "config/yaml/file.h"
#include "config/yaml/yaml.h"

namespace rdma_exporter::config {
namespace {

using Kind = YamlNode::Kind;

// Overlays a configuration with YAML; values that the YAML does not mention stay unchanged.
class Overlay {
 public:
  Overlay(std::string_view file_name, std::span<const Option> options, Config& config)
      : file_name_(file_name), options_(options), config_(config) {}

  /// Overlays the section below `prefix`: "" or "web.".
  core::Result<void> section(const YamlNode& node, const std::string& prefix) {
    std::vector<YamlKey> keys;
    for (const std::string& word : words_below(prefix)) {
      keys.push_back({word, [this, key = prefix + word](const YamlNode& child) {
                        const auto option = std::find_if(options_.begin(), options_.end(),
                                                         [&](const Option& o) { return o.key == key; });
                        return option != options_.end() ? value(child, *option) : section(child, key + ".");
                      }});
    }
    return each_key(node, file_name_, prefix, keys, other_keys(prefix));
  }

 private:
  core::Result<void> value(const YamlNode& node, const Option& option) {
    if (option.shape != Option::Shape::list) return scalar(node, option);
    if (node.kind != Kind::list) {
      return error(node.key_line,
                   option.key + ": " + kind_of(node) + " (use a list; " + option.allowed + ")");
    }
    if (node.children.size() < option.at_least) {
      return error(node.key_line, option.key + ": has too few values (use at least " +
                                      std::to_string(option.at_least) + ")");
    }
    option.clear(config_);
    for (const YamlNode& item : node.children) {
      if (auto done = scalar(item, option); !done) return done;
    }
    return {};
  }

  core::Result<void> scalar(const YamlNode& node, const Option& option) {
    const std::string prefix = option.key + ": ";
    if (node.kind != Kind::scalar)
      return error(line_of(node), prefix + kind_of(node) + " (" + option.allowed + ")");
    if (option.literal && node.is_quoted) {
      return error(node.line,
                   prefix + in_quotes(node.text) + " is text (" + option.allowed + ", without quotes)");
    }
    const auto done = option.add(config_, node.text);
    return done ? core::Result<void>{} : error(node.line, prefix + done.error().context.text());
  }

  /// All sections and keys except the sections that contain `prefix`.
  std::vector<std::string> other_keys(std::string_view prefix) const {
    std::vector<std::string> keys;
    for (const Option& option : options_) {
      for (auto dot = option.key.find('.'); dot != std::string::npos; dot = option.key.find('.', dot + 1)) {
        if (!prefix.starts_with(option.key.substr(0, dot + 1))) keys.push_back(option.key.substr(0, dot));
      }
      keys.push_back(option.key);
    }
    return keys;
  }

  /// The words that can follow `prefix` ("" or "web."), in the order of the table.
  std::vector<std::string> words_below(const std::string& prefix) const {
    std::vector<std::string> words;
    for (const Option& option : options_) {
      if (!option.key.starts_with(prefix)) continue;
      const auto end = option.key.find('.', prefix.size());
      std::string word =
          option.key.substr(prefix.size(), end == std::string::npos ? end : end - prefix.size());
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(std::move(word));
    }
    return words;
  }

  core::Result<void> error(unsigned line, const std::string& problem) const {
    return yaml_error(file_name_, line, problem);
  }

  std::string_view file_name_;
  std::span<const Option> options_;
  Config& config_;
};

// The error is a complete message, "FILE:LINE: KEY: what is wrong (what is allowed)"; `config` is then partly
// overlaid and must not be used.
core::Result<void> load_text(std::string_view text, std::string_view file_name,
                             std::span<const Option> options, Config& config) {
  const auto root = parse_yaml(text, file_name);
  if (!root) return tl::unexpected(root.error());
  return Overlay(file_name, options, config).section(*root, "");
}

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
  if (!text) return core::config_error("--config.file: " + text.error().context.text());
  parsed.file_is_empty = says_nothing(*text);
  return load_text(*text, name, options, parsed.config);
}

core::Result<void> apply_flags(const FlagValues& flags, Config& config) {
  for (const auto& [option, values] : flags.options) {
    option->clear(config);
    for (const std::string& value : values) {
      const auto done = option->add(config, value);
      if (!done) return core::config_error("--" + option->flag + ": " + done.error().context.text());
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
