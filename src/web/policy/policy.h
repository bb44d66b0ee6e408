// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/web/web_file.h"

namespace boost::asio::ssl {
class context;
}

namespace rdma_exporter::web {

/// What TLS requires of clients, for comparison with another file. An empty list allows everything.
struct TlsRules {
  bool requires_certificate = false;
  bool verifies_certificate = false;
  std::string client_ca;  ///< the CA file, or a marker that the CA is in the web config file itself
  std::vector<std::string> allowed_sans;
  config::TlsVersion min_version = config::TlsVersion::tls10;
  std::vector<std::string> cipher_suites;  ///< of TLS 1.2 and older
  std::vector<std::string> curves;
};

/// The settings of the file of --web.config.file, ready for use. Immutable: a changed file makes a new
/// object.
struct Policy {
  std::shared_ptr<boost::asio::ssl::context> tls;  ///< null: plain HTTP
  TlsRules tls_rules;                              ///< of `tls`
  std::map<std::string, std::string> users;        ///< name -> bcrypt hash; empty: no password needed
  std::string headers;                             ///< for every response; whole lines, each ending in CRLF
  std::optional<config::RateLimit> rate_limit;
};

}  // namespace rdma_exporter::web
