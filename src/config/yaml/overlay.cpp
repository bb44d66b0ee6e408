// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/yaml/overlay.h"

#include <algorithm>

#include "config/yaml/yaml_section.h"

namespace rdma_exporter::config {
namespace {

using Kind = YamlNode::Kind;

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
    return done ? core::Result<void>{} : error(node.line, prefix + done.error().context);
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

}  // namespace

core::Result<void> load_text(std::string_view text, std::string_view file_name,
                             std::span<const Option> options, Config& config) {
  const auto root = parse_yaml(text, file_name);
  if (!root) return tl::unexpected(root.error());
  return Overlay(file_name, options, config).section(*root, "");
}

}  // namespace rdma_exporter::config
