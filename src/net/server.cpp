// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "net/server.h"

#include <utility>

#include "net/connection.h"
#include "net/listen_address.h"
#include "net/listener.h"

namespace rdma_exporter::net {

Server::Server(asio::io_context& io, ServerOptions options, Routes& routes, HttpCounters& counters)
    : io_(io),
      options_(std::move(options)),
      context_(std::make_shared<SessionContext>(SessionContext{routes, counters})) {
  context_->limits.read_timeout = options_.read_timeout;
  context_->limits.idle_timeout = options_.idle_timeout;
  context_->limits.write_timeout = options_.write_timeout;
  context_->limits.max_header_bytes = options_.max_header_bytes;
}

Server::~Server() {
  stop();
  context_->refused.close_all();
  context_->serving.close_all();
}

core::Result<void> Server::listen() {
  std::vector<std::shared_ptr<Listener>> listeners;
  for (const std::string& address : options_.listen_addresses) {
    auto endpoints = listen_endpoints(address);
    if (!endpoints) return tl::unexpected(std::move(endpoints.error()));
    auto acceptor = open_listener(io_, address, *endpoints);
    if (!acceptor) return tl::unexpected(std::move(acceptor.error()));
    listeners.push_back(std::make_shared<Listener>(std::move(*acceptor), options_.max_connections, context_));
  }
  listeners_ = std::move(listeners);
  for (const auto& listener : listeners_) listener->start();
  return {};
}

std::vector<std::string> Server::bound_addresses() const {
  std::vector<std::string> addresses;
  for (const auto& listener : listeners_) addresses.push_back(listener->bound_address());
  return addresses;
}

void Server::stop() {
  context_->stopping = true;
  for (const auto& listener : listeners_) listener->stop();
  context_->refused.stop_all();
  context_->serving.stop_all();
}

unsigned Server::open_connections() const { return static_cast<unsigned>(context_->serving.size()); }

}  // namespace rdma_exporter::net
