// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors

// The one translation unit that compiles Asio's use of OpenSSL (BOOST_ASIO_SEPARATE_COMPILATION).
#include <utility>
//
#include <boost/asio/ssl/impl/src.hpp>
//
#include "asio/ssl.h"

namespace rdma_exporter {

void let_threads_outlive_main() { ::OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr); }

}  // namespace rdma_exporter
