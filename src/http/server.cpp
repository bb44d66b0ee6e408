// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/server.h"

#include <algorithm>
#include <utility>

#include "http/listen/listen_address.h"
#include "http/listen/listener.h"
#include "http/listen/systemd_sockets.h"
#include "http/listen/unix_socket.h"
#include "http/response.h"
#include "http/session/connection.h"

namespace rdma_exporter::http {
namespace {

core::Result<OpenListener> open_listener(asio::io_context& io, const std::string& address) {
  if (address.starts_with("unix:/")) return open_unix_listener(io, address.substr(5));
  const auto endpoints = listen_endpoints(address);
  if (!endpoints) return tl::unexpected(endpoints.error());
  auto acceptor = open_tcp_listener(io, address, *endpoints);
  if (!acceptor) return tl::unexpected(std::move(acceptor.error()));
  return OpenListener{std::move(*acceptor), nullptr};
}

}  // namespace

Server::Server(asio::io_context& io, ServerOptions options, Handler& handler, HttpCounters& counters,
               std::shared_ptr<AccessControl> access)
    : io_(io),
      options_(std::move(options)),
      context_(std::make_shared<SessionContext>(SessionContext{handler, counters})) {
  context_->access = std::move(access);
  take_limits();
  no_memory();  // while there is some
}

void Server::take_limits() {
  context_->limits.read_timeout = options_.read_timeout;
  context_->limits.idle_timeout = options_.idle_timeout;
  context_->limits.write_timeout = options_.write_timeout;
  context_->limits.max_header_bytes = options_.max_header_bytes;
  context_->limits.max_requests = options_.max_requests;
  context_->limits.max_connections = options_.max_connections;
}

Server::~Server() {
  stop();
  close();
}

void Server::close() {
  context_->refused.close_all();
  context_->serving.close_all();
}

core::Result<void> Server::listen() {
  auto listeners = open_listeners();
  if (!listeners) return tl::unexpected(std::move(listeners.error()));
  listeners_ = std::move(*listeners);
  for (const auto& listener : listeners_) listener->start();
  return {};
}

core::Result<std::shared_ptr<Listener>> Server::listen_on(const std::string& address) {
  auto opened = open_listener(io_, address);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  return std::make_shared<Listener>(std::move(opened->acceptor), std::move(opened->file), context_);
}

core::Result<Server::Listeners> Server::open_listeners() {
  Listeners listeners;
  if (options_.systemd_sockets) {
    auto acceptors = systemd_listeners(io_);
    if (!acceptors) return tl::unexpected(std::move(acceptors.error()));
    for (StreamAcceptor& acceptor : *acceptors)
      listeners.push_back(std::make_shared<Listener>(std::move(acceptor), nullptr, context_));
    return listeners;
  }
  for (const std::string& address : options_.listen_addresses) {
    auto listener = listen_on(address);
    if (!listener) return tl::unexpected(std::move(listener.error()));
    listeners.push_back(std::move(*listener));
  }
  return listeners;
}

core::Result<Server::Listeners> Server::listeners_for(const std::vector<std::string>& addresses) {
  const auto& old = options_.listen_addresses;
  Listeners listeners;
  for (const std::string& address : addresses) {
    const auto known = static_cast<std::size_t>(std::find(old.begin(), old.end(), address) - old.begin());
    auto listener = known == old.size() ? listen_on(address) : listeners_[known];
    if (!listener) return tl::unexpected(std::move(listener.error()));
    listeners.push_back(std::move(*listener));
  }
  return listeners;
}

core::Result<void> Server::reconfigure(ServerOptions options) {
  if (options.systemd_sockets != options_.systemd_sockets)
    return core::config_error("--web.systemd-socket: a change requires a restart");
  if (!options.systemd_sockets && options.listen_addresses != options_.listen_addresses) {
    auto listeners = listeners_for(options.listen_addresses);
    if (!listeners) return tl::unexpected(std::move(listeners.error()));
    replace_listeners(std::move(*listeners));
  }
  options_ = std::move(options);
  take_limits();
  return {};
}

void Server::replace_listeners(Listeners listeners) {
  const auto without = [](const Listeners& all, const auto& listener) {
    return std::find(all.begin(), all.end(), listener) == all.end();
  };
  for (const auto& listener : listeners_)
    if (without(listeners, listener)) listener->stop();
  for (const auto& listener : listeners)
    if (without(listeners_, listener)) listener->start();
  listeners_ = std::move(listeners);
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

}  // namespace rdma_exporter::http
