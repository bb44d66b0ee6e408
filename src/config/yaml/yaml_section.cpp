// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/yaml/yaml.h"

#include <algorithm>
#include <map>

#include "config/message.h"

namespace rdma_exporter::config {
namespace {

using Kind = YamlNode::Kind;

std::vector<std::string> names(const std::vector<YamlKey>& keys) {
  std::vector<std::string> all;
  for (const YamlKey& key : keys) all.push_back(key.name);
  return all;
}

/// A key as messages show it: our own keys need no quotes, anything else does.
std::string shown(const std::string& key) {
  const bool plain = std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  return plain && !key.empty() && key.size() <= 80 ? key : in_quotes(key);
}

std::string use_keys(const std::vector<YamlKey>& keys) {
  return " (use the keys " + alternatives(names(keys)) + ")";
}

tl::unexpected<core::Error> unknown(const YamlNode& node, std::string_view file_name, const std::string& path,
                                    const std::vector<YamlKey>& keys,
                                    const std::vector<std::string>& all_paths) {
  const std::string key = path + node.key;
  std::string near = all_paths.empty() ? nearest(node.key, names(keys)) : nearest(key, all_paths);
  if (all_paths.empty() && !near.empty()) near.insert(0, path);
  std::string hint = near.empty() ? use_keys(keys) : " (did you mean " + near + "?)";
  if (node.key.find('.') != std::string::npos)
    hint = " (keys contain no dots: write a section, with its keys indented below it)";
  return yaml_error(file_name, node.key_line, shown(key) + ": unknown key" + hint);
}

}  // namespace

tl::unexpected<core::Error> yaml_error(std::string_view file_name, unsigned line,
                                       const std::string& problem) {
  return core::config_error(std::string(file_name) + ":" + std::to_string(std::max(line, 1U)) + ": " +
                            problem);
}

unsigned line_of(const YamlNode& node) { return node.key_line != 0 ? node.key_line : node.line; }

std::string kind_of(const YamlNode& node) {
  switch (node.kind) {
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

core::Result<void> each_entry(const YamlNode& section, std::string_view file_name, const std::string& path,
                              const std::function<core::Result<void>(const YamlNode&)>& take) {
  std::map<std::string_view, unsigned> seen;
  for (const YamlNode& child : section.children) {
    const auto [first, is_new] = seen.emplace(child.key, child.key_line);
    if (!is_new) {
      return yaml_error(
          file_name, child.key_line,
          shown(path + child.key) + ": is given twice (first on line " + std::to_string(first->second) + ")");
    }
    if (auto done = take(child); !done) return done;
  }
  return {};
}

core::Result<void> each_key(const YamlNode& node, std::string_view file_name, const std::string& path,
                            const std::vector<YamlKey>& keys, const std::vector<std::string>& all_paths) {
  if (node.kind == Kind::empty) return {};
  if (node.kind != Kind::section) {
    const std::string what = path.empty() ? "the file " : path.substr(0, path.size() - 1) + ": ";
    return yaml_error(file_name, line_of(node), what + kind_of(node) + use_keys(keys));
  }
  return each_entry(node, file_name, path, [&](const YamlNode& child) -> core::Result<void> {
    const auto key =
        std::find_if(keys.begin(), keys.end(), [&](const YamlKey& k) { return k.name == child.key; });
    if (key == keys.end()) return unknown(child, file_name, path, keys, all_paths);
    return key->take(child);
  });
}

core::Result<std::string> yaml_text(const YamlNode& node, std::string_view file_name,
                                    const std::string& path) {
  if (node.kind == Kind::scalar) return node.text;
  return yaml_error(file_name, line_of(node), path + ": " + kind_of(node) + " (use a single value)");
}

core::Result<std::vector<std::string>> yaml_texts(const YamlNode& node, std::string_view file_name,
                                                  const std::string& path) {
  std::vector<std::string> texts;
  if (node.kind != Kind::list)
    return yaml_error(file_name, line_of(node), path + ": " + kind_of(node) + " (use a list)");
  for (const YamlNode& item : node.children) {
    auto text = yaml_text(item, file_name, path);
    if (!text) return tl::unexpected(std::move(text.error()));
    texts.push_back(std::move(*text));
  }
  return texts;
}

}  // namespace rdma_exporter::config
