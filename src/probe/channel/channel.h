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

/// Frames over one TCP connection, with or without TLS. Everything happens on the thread of the socket's
/// io_context. Bounded: one frame of input, a few frames of output, and a deadline for whatever is waited
/// for.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  using FrameHandler = std::function<void(Frame)>;
  /// Called once, when the channel has ended for a reason of the peer or the network: peer_closed, deadline,
  /// a frame that is none (`protocol`), a failed handshake (`tls`), or an errno name.
  using EndHandler = std::function<void(Failure)>;

  /// `socket` is connected. `tls` null: in clear.
  static std::shared_ptr<Channel> make(TcpSocket socket, std::shared_ptr<asio::ssl::context> tls);

  /// Handshake, then frames. `ready` is called between the two.
  void start(TlsRole role, std::function<void()> ready, FrameHandler on_frame, EndHandler on_end);
  void send(const Frame& frame);
  /// The next frame, or the end of the handshake, has to come within this time; 0: whenever it likes.
  void expect_within(std::chrono::milliseconds time);
  /// Ends it from this side, without calling anybody. What was sent before is still delivered.
  void close();

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
  void shut();

  bool encrypted_;
  std::shared_ptr<asio::ssl::context> tls_;
  TlsStream stream_;  // in clear only its socket is used
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
