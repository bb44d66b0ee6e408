// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

// The HTTP parser of Boost.Beast, on top of asio/asio.h.
#include "asio/asio.h"
//
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

namespace rdma_exporter {
namespace beast = boost::beast;
}
