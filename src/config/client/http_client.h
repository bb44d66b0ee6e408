// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace rdma_exporter::config {

/// How to connect to a server: the keys of Prometheus' own http_config, as in promtool --http.config.file.
struct HttpClient {
  std::string username;
  std::string password;       ///< empty if there is a password_file
  std::string password_file;  ///< relative paths start from the folder of the file
  std::string credentials_type = "Bearer";
  std::string credentials;
  std::string credentials_file;
  std::string authority_file;
  std::string certificate_file;
  std::string key_file;
  std::string server_name;
  std::vector<std::pair<std::string, std::string>> headers;
};

/// Parses the text of such a file. Strict; reads no other file. The error is a complete message with file,
/// line and key, and never contains a secret.
core::Result<HttpClient> parse_http_client(std::string_view text, const std::string& file_name);

}  // namespace rdma_exporter::config
