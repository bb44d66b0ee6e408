// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/yaml/yaml_section.h"

#include <algorithm>
#include <set>

#include "config/message.h"

namespace rdma_exporter::config {
namespace {

using Kind = YamlNode::Kind;

/// An item of a list stands on its own line, everything else is found by its key.
unsigned line_of(const YamlNode& node) { return node.key_line != 0 ? node.key_line : node.line; }

std::vector<std::string> names(const std::vector<YamlKey>& keys) {
  std::vector<std::string> all;
  for (const YamlKey& key : keys) all.push_back(key.name);
  return all;
}

tl::unexpected<core::Error> unknown(const YamlNode& node, std::string_view file_name, const std::string& path,
                                    const std::vector<YamlKey>& keys) {
  const std::vector<std::string> known = names(keys);
  const std::string near = nearest(node.key, known);
  const std::string hint =
      near.empty() ? " (use " + alternatives(known) + ")" : " (did you mean " + near + "?)";
  return yaml_error(file_name, node.key_line, path + in_quotes(node.key) + ": unknown key" + hint);
}

}  // namespace

tl::unexpected<core::Error> yaml_error(std::string_view file_name, unsigned line,
                                       const std::string& problem) {
  return core::config_error(std::string(file_name) + ":" + std::to_string(std::max(line, 1U)) + ": " +
                            problem);
}

core::Result<void> each_key(const YamlNode& node, std::string_view file_name, const std::string& path,
                            const std::vector<YamlKey>& keys) {
  if (node.kind == Kind::empty) return {};
  if (node.kind != Kind::section) {
    const std::string what = path.empty() ? "the file" : path.substr(0, path.size() - 1) + ":";
    return yaml_error(file_name, line_of(node),
                      what + " must be a section with the keys " + alternatives(names(keys)));
  }
  std::set<std::string_view> seen;
  for (const YamlNode& child : node.children) {
    const auto key =
        std::find_if(keys.begin(), keys.end(), [&](const YamlKey& k) { return k.name == child.key; });
    if (key == keys.end()) return unknown(child, file_name, path, keys);
    if (!seen.insert(child.key).second)
      return yaml_error(file_name, child.key_line, path + child.key + ": is there twice");
    if (auto done = key->take(child); !done) return done;
  }
  return {};
}

core::Result<std::string> yaml_text(const YamlNode& node, std::string_view file_name,
                                    const std::string& path) {
  if (node.kind == Kind::scalar) return node.text;
  return yaml_error(file_name, line_of(node),
                    path + (node.kind == Kind::empty ? ": has no value" : ": must be a single value"));
}

core::Result<std::vector<std::string>> yaml_texts(const YamlNode& node, std::string_view file_name,
                                                  const std::string& path) {
  std::vector<std::string> texts;
  if (node.kind != Kind::list) return yaml_error(file_name, line_of(node), path + ": must be a list");
  for (const YamlNode& item : node.children) {
    auto text = yaml_text(item, file_name, path);
    if (!text) return tl::unexpected(std::move(text.error()));
    texts.push_back(std::move(*text));
  }
  return texts;
}

}  // namespace rdma_exporter::config
