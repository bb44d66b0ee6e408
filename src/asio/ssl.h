// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

// TLS on top of asio/socket.h.
#include "asio/socket.h"
//
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
