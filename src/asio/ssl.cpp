// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors

// The one translation unit that compiles Asio's use of OpenSSL (BOOST_ASIO_SEPARATE_COMPILATION).
#include <utility>
//
#include <boost/asio/ssl/impl/src.hpp>
