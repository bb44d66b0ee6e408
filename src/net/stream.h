// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "asio/tcp.h"

// What a session needs of a stream beyond async_read_some and async_write_some. A new kind of stream brings
// its own three functions, found by its namespace.
namespace rdma_exporter::net {

/// The peer reads end of file behind what was written; reading goes on.
inline void end_sending(TcpSocket& socket) {
  boost::system::error_code ignored;
  socket.shutdown(TcpSocket::shutdown_send, ignored);
}

/// Closes; the kernel still delivers what was written. Pending operations end with an error.
inline void close_stream(TcpSocket& socket) {
  boost::system::error_code ignored;
  socket.close(ignored);
}

/// Closes and throws away what the peer has not taken, so that a peer that never reads holds no kernel
/// memory.
inline void abort_stream(TcpSocket& socket) {
  boost::system::error_code ignored;
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

}  // namespace rdma_exporter::net
