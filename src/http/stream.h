// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "asio/socket.h"

// What a session needs of a stream beyond async_read_some and async_write_some. A new kind of stream brings
// its own functions, found by its namespace; TLS is http/tls/tls_stream.h.
namespace rdma_exporter::http {

/// Calls `done(error)` when requests can be read: here at once.
template <typename Stream, typename Done>
void open_stream(Stream&, Done done) {
  done(boost::system::error_code());
}

/// Tells the peer, as the stream's protocol has it, that nothing follows what was written, and calls `done()`
/// when that is on its way.
template <typename Stream, typename Done>
void async_shutdown(Stream&, Done done) {
  done();
}

/// What to read from when it does not matter any more what the peer sends.
template <typename Stream>
Stream& bare_stream(Stream& stream) {
  return stream;
}

/// The peer reads end of file behind what was written; reading goes on.
inline void end_sending(StreamSocket& socket) {
  boost::system::error_code ignored;
  socket.shutdown(StreamSocket::shutdown_send, ignored);
}

/// Closes; the kernel still delivers what was written. Pending operations end with an error.
inline void close_stream(StreamSocket& socket) {
  boost::system::error_code ignored;
  socket.close(ignored);
}

/// Closes and throws away what the peer has not taken, so that a peer that never reads holds no kernel
/// memory.
inline void abort_stream(StreamSocket& socket) {
  boost::system::error_code ignored;
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

/// The address of the peer without its port; "unix" for a unix socket, empty when it has gone or there is
/// none.
std::string peer_address(const StreamSocket& socket);
template <typename Stream>
std::string peer_address(const Stream&) {
  return {};
}

}  // namespace rdma_exporter::http
