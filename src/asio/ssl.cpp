// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors

// The one translation unit that compiles Asio's use of OpenSSL (BOOST_ASIO_SEPARATE_COMPILATION).
#include <utility>
//
#include <boost/asio/ssl/impl/src.hpp>
//
#include <openssl/x509.h>
#include <unistd.h>

#include <cstdlib>

#include "asio/ssl.h"

namespace rdma_exporter {
namespace {

// The packages ca-certificates of Red Hat and Fedora, SUSE, Debian and Ubuntu.
constexpr const char* kBundles[] = {"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                                    "/etc/ssl/certs/ca-certificates.crt"};

bool is_there(const char* path) { return ::access(path, R_OK) == 0; }

bool named_by_environment() {
  return std::getenv(::X509_get_default_cert_file_env()) != nullptr ||
         std::getenv(::X509_get_default_cert_dir_env()) != nullptr;
}

}  // namespace

void let_threads_outlive_main() { ::OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr); }

void trust_system_authorities(asio::ssl::context& context, boost::system::error_code& error) {
  context.set_default_verify_paths(error);
  if (error || named_by_environment() || is_there(::X509_get_default_cert_file())) return;
  for (const char* bundle : kBundles)
    if (is_there(bundle)) return context.load_verify_file(bundle, error);
}

}  // namespace rdma_exporter
