// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

// The event loop and its timers. Always include Asio through this header: with g++ 12 Boost 1.74 needs
// <utility> first (std::exchange), and asio_lib sets the definitions that every user has to agree on.
#include <utility>
//
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

namespace rdma_exporter {
namespace asio = boost::asio;
}
