// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace rdma_exporter::config {

/// One value of a YAML document, with the line it stands on.
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

/// Reads one YAML document; an empty file is an empty node. Takes text from anybody: what is binary, longer
/// than 1 MiB, nested deeper than 16, or has more than 10000 values is an error, as are anchors, aliases
/// (which can make a small file huge), tags and a second document. The error is a whole message: "FILE:LINE:
/// what is wrong".
core::Result<YamlNode> parse_yaml(std::string_view text, std::string_view file_name);

}  // namespace rdma_exporter::config
