// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "config/web_file.h"

namespace boost::asio::ssl {
class context;
}

namespace rdma_exporter::net {

/// What the file of --web.config.file asks for, ready for use. Never changes: a file that changed makes a new
/// one.
struct Policy {
  std::shared_ptr<boost::asio::ssl::context> tls;  ///< null: plain HTTP
  std::map<std::string, std::string> users;        ///< name -> bcrypt hash; empty: no password needed
  std::string headers;                             ///< for every response; whole lines, each ending in CRLF
  std::optional<config::RateLimit> rate_limit;
};

}  // namespace rdma_exporter::net
