// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/yaml.h"
#include "core/result.h"

// Walking a YAML tree strictly: each problem is one message with file and line.
namespace rdma_exporter::config {

/// "FILE:LINE: problem".
tl::unexpected<core::Error> yaml_error(std::string_view file_name, unsigned line, const std::string& problem);

/// A key of a section and what takes its value. An error of `take` is a whole message.
struct YamlKey {
  std::string name;
  std::function<core::Result<void>(const YamlNode&)> take;
};

/// Gives each value of the section `node` to its key. An empty node is a section without keys. Refuses what
/// is no section, unknown keys and keys that are there twice. `path` is "" or "tls_server_config.".
core::Result<void> each_key(const YamlNode& node, std::string_view file_name, const std::string& path,
                            const std::vector<YamlKey>& keys);

/// The text of a single value.
core::Result<std::string> yaml_text(const YamlNode& node, std::string_view file_name,
                                    const std::string& path);

/// The texts of a list.
core::Result<std::vector<std::string>> yaml_texts(const YamlNode& node, std::string_view file_name,
                                                  const std::string& path);

}  // namespace rdma_exporter::config
