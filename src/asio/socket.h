// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

// Stream sockets, TCP or unix, on top of asio/asio.h. The executor is the io_context's own type and not the
// type-erased default, which costs a virtual call and an allocation per operation.
#include "asio/asio.h"
//
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/write.hpp>
#include <chrono>

namespace rdma_exporter {
using Executor = asio::io_context::executor_type;
using StreamProtocol = asio::generic::stream_protocol;
using StreamSocket = asio::basic_stream_socket<StreamProtocol, Executor>;
using StreamAcceptor = asio::basic_socket_acceptor<StreamProtocol, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;
}  // namespace rdma_exporter
