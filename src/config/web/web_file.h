// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

// The file of --web.config.file: TLS, passwords, response headers, rate limit. Its format is shared by the
// exporters of the Prometheus family (prometheus/exporter-toolkit:docs/web-configuration.md).
namespace rdma_exporter::config {

/// A PEM text in the file itself, or the path of a file with it. Neither: not given.
struct PemSource {
  std::string path;  ///< absolute, or already below the folder of the web config file
  std::string text;
  std::string where;  ///< "web.yml:3: tls_server_config.cert_file", the start of a message
  bool given() const { return !path.empty() || !text.empty(); }
};

/// What is required of a client's certificate. Names as in Go's tls.ClientAuthType.
enum class ClientAuth : unsigned char {
  none,                ///< NoClientCert
  request,             ///< RequestClientCert: requested, not checked
  require_any,         ///< RequireAnyClientCert: required, not checked
  verify_if_given,     ///< VerifyClientCertIfGiven
  require_and_verify,  ///< RequireAndVerifyClientCert
};

enum class TlsVersion : unsigned char { tls10, tls11, tls12, tls13 };

struct TlsServer {
  PemSource certificate;
  PemSource key;
  PemSource client_ca;
  ClientAuth client_auth = ClientAuth::none;
  std::vector<std::string> client_allowed_sans;  ///< empty: any
  std::vector<std::string> cipher_suites;  ///< OpenSSL's names, for TLS 1.2 and older; empty: the default
  bool prefer_server_cipher_suites = true;
  std::vector<std::string> curves;  ///< OpenSSL's names, in order of preference; empty: the default
  TlsVersion min_version = TlsVersion::tls12;
  TlsVersion max_version = TlsVersion::tls13;
};

/// A token bucket shared by all clients: one request per interval, up to `burst` at once.
struct RateLimit {
  std::chrono::milliseconds interval{0};
  unsigned burst = 0;
  bool operator==(const RateLimit&) const = default;
};

struct WebFile {
  std::optional<TlsServer> tls;  ///< absent: plain HTTP
  bool http2_asked_for = false;
  std::vector<std::pair<std::string, std::string>> headers;  ///< for every response
  std::map<std::string, std::string> users;  ///< name -> bcrypt hash; empty: no password needed
  std::optional<RateLimit> rate_limit;
};

/// Parses the text of a web config file. Strict: unknown keys and contradictions are errors. Reads no other
/// file. The error is a complete message, "web.yml:3: min_version: ...", and never contains a hash or key.
core::Result<WebFile> parse_web_file(std::string_view text, const std::string& file_name);

}  // namespace rdma_exporter::config
