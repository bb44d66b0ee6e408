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

/// The PEM texts that a TlsServer names, read.
struct PemTexts {
  std::string certificate;
  std::string key;
  std::string client_ca;
};

/// The suites of TLS 1.2 and older that these settings allow, by OpenSSL's names.
std::vector<std::string> cipher_suites_of(const config::TlsServer& settings);

/// What all TLS connections share: certificate, key, versions, suites, curves, what is asked of clients. No
/// session is resumed and nothing renegotiated. Touches no file but, when clients are to be verified and no
/// CA is given, the system's CA store. The error is a whole message that begins with file, line and key. Logs
/// a warning for what is allowed but hardly meant, such as an expired certificate.
core::Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(const config::TlsServer& settings,
                                                                          const PemTexts& pem);

}  // namespace rdma_exporter::http
