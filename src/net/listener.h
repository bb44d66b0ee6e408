// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "asio/tcp.h"
#include "net/connection.h"

namespace rdma_exporter::net {

/// One listening socket: accepts, and starts or refuses a session. An error of accept(2), such as no file
/// descriptor left, is counted, logged at most once a minute and tried again after a pause. Io thread only.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  Listener(TcpAcceptor acceptor, unsigned max_connections, std::shared_ptr<SessionContext> context);

  void start();
  void stop();
  std::string bound_address() const;

 private:
  void accept();
  void on_accept(const boost::system::error_code& error, TcpSocket socket);
  void begin_session(TcpSocket socket);
  void refuse(TcpSocket socket);
  void pause();

  TcpAcceptor acceptor_;
  Timer pause_;
  std::chrono::milliseconds next_pause_;
  unsigned max_connections_;
  std::shared_ptr<SessionContext> context_;
};

}  // namespace rdma_exporter::net
