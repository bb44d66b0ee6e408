// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors

// The one translation unit that compiles Beast's implementation (BOOST_BEAST_SEPARATE_COMPILATION).
#include <utility>
//
#include <boost/beast/src.hpp>
