// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "http/handler.h"
#include "http/http_counters.h"

namespace boost::asio {
class io_context;
}

namespace rdma_exporter::http {

class Listener;
struct SessionContext;

struct ServerOptions {
  std::vector<std::string> listen_addresses{":9400"};  ///< see config/listen_address.h
  bool systemd_sockets = false;  ///< use the sockets that systemd passes instead of the addresses
  unsigned max_connections = 128;
  std::chrono::milliseconds read_timeout{
      10000};  ///< a TLS handshake; from the first byte of a request to its last
  std::chrono::milliseconds idle_timeout{120000};  ///< without a byte between two requests
  std::chrono::milliseconds write_timeout{10000};  ///< for the whole of a response
  unsigned max_header_bytes = 8192;                ///< request line and headers; at least 128
  unsigned max_requests = 1000;                    ///< of one connection
};

/// The HTTP server. Everything happens on the thread that runs `io`; only that thread calls these functions,
/// or any thread if none runs it. `handler` and `counters` outlive the server. The destructor closes every
/// connection.
class Server {
 public:
  Server(boost::asio::io_context& io, ServerOptions options, Handler& handler, HttpCounters& counters,
         std::shared_ptr<AccessControl> access = nullptr);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens on every address and starts accepting. All or nothing: the error is a complete message for a
  /// person that names the address, the reason and the flag, with the os_errno of the reason if it has one.
  core::Result<void> listen();

  /// Applies other options without losing a connection: listens on new addresses, stops listening on removed
  /// ones, and applies the limits on connections and requests from now on. All or nothing; an address fails
  /// as in use if an old address has its port. The kind of sockets, own or systemd's, does not change.
  core::Result<void> reconfigure(ServerOptions options);

  /// "[::]:9400" for each address, with the port that the kernel chose if the configured port is 0.
  std::vector<std::string> bound_addresses() const;

  /// Stops accepting, closes connections without a request at once, and the others after their response. The
  /// event loop runs out of this server's work when the last response has been written; the caller limits
  /// that time.
  void stop();
  /// Closes the connections that stop() has left open. If a thread is stuck in the kernel, the process keeps
  /// its descriptors until that thread returns, unless it has closed them itself.
  void close();

  /// Number of connections being served, including idle ones.
  unsigned open_connections() const;

 private:
  using Listeners = std::vector<std::shared_ptr<Listener>>;
  core::Result<Listeners> open_listeners();
  core::Result<std::shared_ptr<Listener>> listen_on(const std::string& address);
  core::Result<Listeners> listeners_for(const std::vector<std::string>& addresses);
  void replace_listeners(Listeners listeners);
  void take_limits();

  boost::asio::io_context& io_;
  ServerOptions options_;
  std::shared_ptr<SessionContext> context_;
  Listeners listeners_;  ///< one for each address, in their order, or for each socket of systemd
};

}  // namespace rdma_exporter::http
