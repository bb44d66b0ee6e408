// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "asio/socket.h"

// The functions that a session needs from a stream in addition to async_read_some and async_write_some. A new
// type of stream brings its own, found through its namespace; TLS is in http/tls/tls_stream.h.
namespace rdma_exporter::http {

/// Calls `done(error)` when requests can be read; for a socket at once.
template <typename Stream, typename Done>
void open_stream(Stream&, Done done) {
  done(boost::system::error_code());
}

/// Tells the peer, in the way of the stream's protocol, that nothing follows, and calls `done()` when that
/// has been sent.
template <typename Stream, typename Done>
void async_shutdown(Stream&, Done done) {
  done();
}

/// The stream to read from if it no longer matters what the peer sends.
template <typename Stream>
Stream& bare_stream(Stream& stream) {
  return stream;
}

/// Signals end of file to the peer after what was written; reading continues.
inline void end_sending(StreamSocket& socket) {
  boost::system::error_code ignored;
  socket.shutdown(StreamSocket::shutdown_send, ignored);
}

/// Closes the stream; the kernel still delivers what was written. Pending operations end with an error.
inline void close_stream(StreamSocket& socket) {
  boost::system::error_code ignored;
  socket.close(ignored);
}

/// Closes the stream and discards what the peer has not received, so that a peer that never reads holds no
/// kernel memory.
inline void abort_stream(StreamSocket& socket) {
  boost::system::error_code ignored;
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

/// The address of the peer without its port; "unix" for a unix socket; empty if the peer has gone or there is
/// none.
std::string peer_address(const StreamSocket& socket);
template <typename Stream>
std::string peer_address(const Stream&) {
  return {};
}

}  // namespace rdma_exporter::http
