// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "asio/ssl.h"
#include "http/stream.h"

namespace rdma_exporter::http {

/// TLS over a socket, as a stream of a session. Io thread only. Uses about 110 kB while open.
class TlsStream {
 public:
  using executor_type = StreamSocket::executor_type;

  TlsStream(StreamSocket socket, std::shared_ptr<asio::ssl::context> context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}

  executor_type get_executor() { return stream_.get_executor(); }
  StreamSocket& socket() { return stream_.next_layer(); }
  const StreamSocket& socket() const { return stream_.next_layer(); }
  SSL* native() { return stream_.native_handle(); }

  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    stream_.async_read_some(buffers, std::forward<Handler>(handler));
  }
  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    stream_.async_write_some(buffers, std::forward<Handler>(handler));
  }
  template <typename Handler>
  void async_handshake(Handler&& handler) {
    stream_.async_handshake(asio::ssl::stream_base::server, std::forward<Handler>(handler));
  }
  template <typename Handler>
  void async_shutdown(Handler&& handler) {
    stream_.async_shutdown(std::forward<Handler>(handler));
  }

 private:
  std::shared_ptr<asio::ssl::context> context_;  // owns the callback that verifies certificates
  asio::ssl::stream<StreamSocket> stream_;
};

template <typename Done>
void open_stream(TlsStream& stream, Done done) {
  stream.async_handshake(std::move(done));
}

/// Sends close_notify and does not wait for the peer's.
template <typename Done>
void async_shutdown(TlsStream& stream, Done done) {
  ::SSL_set_shutdown(stream.native(), SSL_RECEIVED_SHUTDOWN);
  stream.async_shutdown([done = std::move(done)](const boost::system::error_code&) mutable { done(); });
}

inline StreamSocket& bare_stream(TlsStream& stream) { return stream.socket(); }
inline void end_sending(TlsStream& stream) { end_sending(stream.socket()); }
inline void close_stream(TlsStream& stream) { close_stream(stream.socket()); }
inline void abort_stream(TlsStream& stream) { abort_stream(stream.socket()); }
inline std::string peer_address(const TlsStream& stream) { return peer_address(stream.socket()); }

/// Answers in plain HTTP to a client that has sent plain HTTP to a TLS port, which is a common mistake.
void answer_plain_http(TlsStream& stream, const boost::system::error_code& error);

/// The reason for a failed handshake, for a person: the problem with the client's certificate if that is the
/// cause, otherwise OpenSSL's message.
std::string handshake_problem(TlsStream& stream, const boost::system::error_code& error);

}  // namespace rdma_exporter::http
