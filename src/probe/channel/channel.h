// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "asio/ssl.h"
#include "probe/channel/frame.h"
#include "probe/channel/tls.h"
#include "probe/session/operation.h"

namespace rdma_exporter::probe {

using TcpSocket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using TcpAcceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;

/// Frames over one TCP connection, with or without TLS. Everything runs on the thread of the socket's
/// io_context. Bounded: one frame of input, a few frames of output, and a deadline for everything it waits
/// for.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  using FrameHandler = std::function<void(Frame)>;
  /// Called once when the channel ends because of the peer or the network: peer_closed, deadline, an invalid
  /// frame (`protocol`), a failed handshake (`tls`), or the name of an errno.
  using EndHandler = std::function<void(Failure)>;

  /// `socket` must be connected. `tls` null: unencrypted.
  static std::shared_ptr<Channel> make(TcpSocket socket, std::shared_ptr<asio::ssl::context> tls);

  /// Handshake, then frames. `ready` is called between the two.
  void start(TlsRole role, std::function<void()> ready, FrameHandler on_frame, EndHandler on_end);
  void send(const Frame& frame);
  /// The next frame, or the end of the handshake, must arrive within this time; 0: no limit.
  void expect_within(std::chrono::milliseconds time);
  /// Ends the channel from this side without calling a handler. Output that was sent before is still
  /// delivered.
  void close();
  /// The same, but at once and so that the peer can tell it from a regular end: ECONNRESET.
  void abort();

  /// Addresses without ports, "192.0.2.1".
  std::string local_address() const { return local_; }
  std::string remote_address() const { return remote_; }

 private:
  using ErrorCode = boost::system::error_code;
  using TlsStream = asio::ssl::stream<TcpSocket>;

  Channel(TcpSocket socket, std::shared_ptr<asio::ssl::context> tls);
  TcpSocket& socket() { return stream_.next_layer(); }
  void read();
  void on_read(const ErrorCode& error, std::size_t size);
  bool take_frames();
  void write();
  void end(Failure failure);
  void reset_at_close();
  void shut();

  bool encrypted_;
  std::shared_ptr<asio::ssl::context> tls_;
  TlsStream stream_;  // unencrypted channels use only its socket
  Timer deadline_;
  std::string local_;
  std::string remote_;
  FrameHandler on_frame_;
  EndHandler on_end_;
  std::array<std::byte, kMaxFrame> input_{};
  std::size_t filled_ = 0;
  std::deque<std::vector<std::byte>> output_;
  Stage stage_;  // auth until the peer's first frame: a certificate may be refused after the handshake
  bool closing_ = false;
  bool closed_ = false;
};

}  // namespace rdma_exporter::probe
