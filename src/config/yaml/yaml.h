// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

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

}  // namespace rdma_exporter::config
