// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

// TLS on top of asio/socket.h.
#include "asio/socket.h"
//
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>

namespace rdma_exporter {

/// Keeps OpenSSL from freeing its memory at the end of the process: a thread that hangs in the kernel, or is
/// about to end, outlives main() and still uses that memory or frees it itself. Must be the first call into
/// OpenSSL. Source: OPENSSL_INIT_NO_ATEXIT in OPENSSL_init_crypto(3).
void let_threads_outlive_main();

}  // namespace rdma_exporter
