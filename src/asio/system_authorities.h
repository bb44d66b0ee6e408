// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <boost/system/error_code.hpp>

#include "asio/ssl.h"

namespace rdma_exporter {

/// Trusts the certificate authorities that this host trusts: SSL_CERT_FILE and SSL_CERT_DIR, or OpenSSL's own
/// places, or, where OpenSSL was built for another distribution and its file is not there, the bundle of this
/// one. Reads files.
void trust_system_authorities(asio::ssl::context& context, boost::system::error_code& error);

}  // namespace rdma_exporter
