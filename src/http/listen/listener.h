// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "asio/socket.h"
#include "http/listen/unix_socket.h"
#include "http/session/connection.h"

namespace rdma_exporter::http {

/// One listening socket: accepts connections, and starts or refuses a session for each. An error of
/// accept(2), such as a lack of file descriptors, is counted, logged at most once a minute, and retried after
/// a pause. Io thread only.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  /// `file` is that of a unix socket, otherwise null.
  Listener(StreamAcceptor acceptor, std::unique_ptr<SocketFile> file,
           std::shared_ptr<SessionContext> context);

  void start();
  void stop();
  std::string bound_address() const;

 private:
  void accept();
  void on_accept(const boost::system::error_code& error, StreamSocket socket);
  void begin_session(StreamSocket socket);
  bool make_room();
  void refuse(StreamSocket socket);
  void pause();

  StreamAcceptor acceptor_;
  std::unique_ptr<SocketFile> file_;
  Timer pause_;
  std::chrono::milliseconds next_pause_;
  std::shared_ptr<SessionContext> context_;
};

}  // namespace rdma_exporter::http
