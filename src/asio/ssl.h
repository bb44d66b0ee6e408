// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

// TLS on top of asio/socket.h.
#include "asio/socket.h"
//
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/system/error_code.hpp>

namespace rdma_exporter {

/// Keeps OpenSSL from freeing its memory at the end of the process: a thread that hangs in the kernel, or is
/// about to end, outlives main() and still uses that memory or frees it itself. Must be the first call into
/// OpenSSL. Source: OPENSSL_INIT_NO_ATEXIT in OPENSSL_init_crypto(3).
void let_threads_outlive_main();

/// Trusts the certificate authorities that this host trusts: SSL_CERT_FILE and SSL_CERT_DIR, or OpenSSL's own
/// places, or, where OpenSSL was built for another distribution and its file is not there, the bundle of this
/// one. Reads files.
void trust_system_authorities(asio::ssl::context& context, boost::system::error_code& error);

}  // namespace rdma_exporter
