// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors

// The one translation unit that compiles Asio's implementation (BOOST_ASIO_SEPARATE_COMPILATION).
#include <utility>
//
#include <boost/asio/impl/src.hpp>
