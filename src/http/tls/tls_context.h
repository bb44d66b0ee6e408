// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/web/web_file.h"
#include "core/result.h"

namespace boost::asio::ssl {
class context;
}

namespace rdma_exporter::http {

/// The contents of the PEM files that a TlsServer names.
struct PemTexts {
  std::string certificate;
  std::string key;
  std::string client_ca;
};

/// The suites of TLS 1.2 and older that these settings allow, by OpenSSL's names.
std::vector<std::string> cipher_suites_of(const config::TlsServer& settings);

/// Makes the context shared by all TLS connections: certificate, key, versions, suites, curves, and what is
/// required of clients. Sessions are not resumed, and nothing is renegotiated. Reads no file except the
/// system's CA store, if clients are to be verified and no CA is given. The error is a complete message that
/// begins with file, line and key. Logs a warning for settings that are allowed but hardly intended, such as
/// an expired certificate.
core::Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(const config::TlsServer& settings,
                                                                          const PemTexts& pem);

}  // namespace rdma_exporter::http
