// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/yaml/overlay.h"

#include <algorithm>
#include <map>

#include "config/yaml/yaml.h"

namespace rdma_exporter::config {
namespace {

using Kind = YamlNode::Kind;

std::string describe(Kind kind) {
  switch (kind) {
    case Kind::empty:
      return "has no value";
    case Kind::scalar:
      return "is a single value";
    case Kind::list:
      return "is a list";
    case Kind::section:
      return "is a section";
  }
  return {};
}

/// A key as the messages show it: keys of ours need no quotes, what else a file may hold does.
std::string shown(const std::string& key) {
  const bool plain = std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  return plain && !key.empty() && key.size() <= 80 ? key : in_quotes(key);
}

class Overlay {
 public:
  Overlay(std::string_view file_name, std::span<const Option> options, Config& config)
      : file_name_(file_name), options_(options), config_(config) {}

  core::Result<void> root(const YamlNode& node) {
    if (node.kind == Kind::empty) return {};
    if (node.kind != Kind::section)
      return error(node.line, "the file " + describe(node.kind) + keys_below(""));
    return section(node, "");
  }

 private:
  core::Result<void> section(const YamlNode& node, const std::string& prefix) {
    std::map<std::string_view, unsigned> seen;
    for (const YamlNode& child : node.children) {
      const auto [first, is_new] = seen.emplace(child.key, child.key_line);
      if (!is_new) {
        return error(child.key_line, shown(prefix + child.key) + ": is given twice (first on line " +
                                         std::to_string(first->second) + ")");
      }
      if (auto done = entry(child, prefix); !done) return done;
    }
    return {};
  }

  core::Result<void> entry(const YamlNode& node, const std::string& prefix) {
    const std::string key = prefix + node.key;
    if (node.key.find('.') != std::string::npos) {
      return error(
          node.key_line,
          shown(key) + ": unknown key (keys have no dots: write a section, and its keys indented below it)");
    }
    const auto option =
        std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.key == key; });
    if (option != options_.end()) return value(node, *option);
    if (words_below(key + ".").empty()) return unknown(node, prefix, key);
    if (node.kind == Kind::empty) return {};  // a section of which every key is commented out
    if (node.kind == Kind::section) return section(node, key + ".");
    return error(node.key_line, key + ": " + describe(node.kind) + keys_below(key + "."));
  }

  core::Result<void> value(const YamlNode& node, const Option& option) {
    if (option.shape != Option::Shape::list) return scalar(node, option);
    if (node.kind != Kind::list) {
      return error(node.key_line,
                   option.key + ": " + describe(node.kind) + " (use a list; " + option.allowed + ")");
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
      return error(line_of(node), prefix + describe(node.kind) + " (" + option.allowed + ")");
    if (option.literal && node.is_quoted) {
      return error(node.line,
                   prefix + in_quotes(node.text) + " is text (" + option.allowed + ", without quotes)");
    }
    const auto done = option.add(config_, node.text);
    return done ? core::Result<void>{} : error(node.line, prefix + done.error().context);
  }

  core::Result<void> unknown(const YamlNode& node, const std::string& prefix, const std::string& key) const {
    const std::string near = nearest(key, other_keys(prefix));
    const std::string hint = near.empty() ? keys_below(prefix) : " (did you mean " + near + "?)";
    return error(node.key_line, shown(key) + ": unknown key" + hint);
  }

  /// Every section and key but the sections that `prefix` is in.
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
  std::string keys_below(const std::string& prefix) const {
    return " (use the keys " + alternatives(words_below(prefix)) + ")";
  }

  /// An item of a list stands on its own line, everything else is found by its key.
  static unsigned line_of(const YamlNode& node) { return node.key_line != 0 ? node.key_line : node.line; }

  core::Result<void> error(unsigned line, const std::string& problem) const {
    return core::config_error(std::string(file_name_) + ":" + std::to_string(line) + ": " + problem);
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
  return Overlay(file_name, options, config).root(*root);
}

}  // namespace rdma_exporter::config
