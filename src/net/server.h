// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "net/http_counters.h"
#include "net/routes.h"

namespace boost::asio {
class io_context;
}

namespace rdma_exporter::net {

class Listener;
struct SessionContext;

struct ServerOptions {
  std::vector<std::string> listen_addresses{":9400"};  ///< see net/listen_address.h
  unsigned max_connections = 128;
  std::chrono::milliseconds read_timeout{10000};   ///< from the first byte of a request to its last
  std::chrono::milliseconds idle_timeout{120000};  ///< without a byte between two requests
  std::chrono::milliseconds write_timeout{10000};  ///< for the whole of a response
  unsigned max_header_bytes = 8192;                ///< request line and headers; at least 128
};

/// The HTTP server. Everything happens on the thread that runs `io`; it is that thread, or no thread, that
/// calls these functions. `routes` and `counters` outlive the server. The destructor closes every connection.
class Server {
 public:
  Server(boost::asio::io_context& io, ServerOptions options, Routes& routes, HttpCounters& counters);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens on every address and begins to accept. All or nothing: the error is a whole message for a person
  /// that names the address, the reason and the flag, with the os_errno of the reason where it has one.
  core::Result<void> listen();

  /// "[::]:9400" for each address, with the port that the kernel chose where 0 was asked for.
  std::vector<std::string> bound_addresses() const;

  /// Accepts no more, closes connections without a request at once, and the others after their response. The
  /// event loop runs out of this server's work when the last response is written: the caller bounds that
  /// time.
  void stop();

  /// Connections being served, idle ones included.
  unsigned open_connections() const;

 private:
  boost::asio::io_context& io_;
  ServerOptions options_;
  std::shared_ptr<SessionContext> context_;
  std::vector<std::shared_ptr<Listener>> listeners_;
};

}  // namespace rdma_exporter::net
