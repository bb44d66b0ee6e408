// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

// A YAML document as a tree, and its strict traversal: each problem is a message with file and line.
namespace rdma_exporter::config {

/// A value of a YAML document, with its line.
struct YamlNode {
  enum class Kind : unsigned char { empty, scalar, list, section };

  Kind kind = Kind::empty;
  unsigned line = 0;  ///< from 1
  std::string key;    ///< in a section
  unsigned key_line = 0;
  std::string text;                ///< of a scalar
  bool is_quoted = false;          ///< the scalar is text even if it looks like a number
  std::vector<YamlNode> children;  ///< of a list or a section, in the order of the file
};

/// Parses one YAML document; an empty file is an empty node. The text may come from anybody: it is an error
/// if it is binary, longer than 1 MiB, nested more than 16 levels deep, or has more than 10000 values,
/// anchors, aliases (which can make a small file huge), tags or a second document. The error is a complete
/// message: "FILE:LINE: what is wrong".
core::Result<YamlNode> parse_yaml(std::string_view text, std::string_view file_name);

/// "FILE:LINE: problem".
tl::unexpected<core::Error> yaml_error(std::string_view file_name, unsigned line, const std::string& problem);

/// The line that a message about the node names: for an item of a list its own, otherwise that of the key.
unsigned line_of(const YamlNode& node);

/// "is a list", "has no value".
std::string kind_of(const YamlNode& node);

/// A key of a section, and what handles its value. An error of `take` is a complete message.
struct YamlKey {
  std::string name;
  std::function<core::Result<void>(const YamlNode&)> take;
};

/// Passes each value of the section `node` to the handler of its key. An empty node is a section without
/// keys. Rejects nodes that are not sections, unknown keys and duplicate keys. `path` is "" or
/// "tls_server_config.". `all_paths`: full keys of the file among which a suggestion for a misspelt key is
/// searched; empty: only this section.
core::Result<void> each_key(const YamlNode& node, std::string_view file_name, const std::string& path,
                            const std::vector<YamlKey>& keys, const std::vector<std::string>& all_paths = {});

/// Passes each value of a section with user-defined keys to `take`. Rejects duplicate keys.
core::Result<void> each_entry(const YamlNode& section, std::string_view file_name, const std::string& path,
                              const std::function<core::Result<void>(const YamlNode&)>& take);

/// The text of a single value.
core::Result<std::string> yaml_text(const YamlNode& node, std::string_view file_name,
                                    const std::string& path);

/// The texts of a list.
core::Result<std::vector<std::string>> yaml_texts(const YamlNode& node, std::string_view file_name,
                                                  const std::string& path);

}  // namespace rdma_exporter::config
