// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "net/listener.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "log/log.h"
#include "net/listen_address.h"
#include "net/session.h"

namespace rdma_exporter::net {
namespace {

using ErrorCode = boost::system::error_code;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLongestPause{1000};
/// Connections that are being refused at one time; beyond it they are closed without a word.
constexpr std::size_t kMaxRefused = 32;

/// True at most once a minute for each `last`.
bool due(std::chrono::steady_clock::time_point& last) {
  const auto now = std::chrono::steady_clock::now();
  if (last.time_since_epoch().count() != 0 && now - last < std::chrono::minutes(1)) return false;
  last = now;
  return true;
}

}  // namespace

Listener::Listener(TcpAcceptor acceptor, unsigned max_connections, std::shared_ptr<SessionContext> context)
    : acceptor_(std::move(acceptor)),
      pause_(acceptor_.get_executor()),
      next_pause_(kFirstPause),
      max_connections_(max_connections),
      context_(std::move(context)) {}

void Listener::start() { accept(); }

void Listener::stop() {
  ErrorCode ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

std::string Listener::bound_address() const {
  ErrorCode error;
  const Endpoint endpoint = acceptor_.local_endpoint(error);
  return error ? std::string() : to_string(endpoint);
}

void Listener::accept() {
  acceptor_.async_accept([self = shared_from_this()](const ErrorCode& error, TcpSocket socket) {
    self->on_accept(error, std::move(socket));
  });
}

void Listener::on_accept(const ErrorCode& error, TcpSocket socket) {
  if (!acceptor_.is_open()) return;
  if (error) {
    context_->counters.count(Refusal::accept_error);
    if (due(context_->accept_error_logged))
      log::error("cannot accept connections", {{"error", error.message()}});
    return pause();
  }
  next_pause_ = kFirstPause;
  try {
    begin_session(std::move(socket));
  } catch (const std::exception& exception) {
    log::error("a connection could not be served", {{"error", exception.what()}});
  }
  accept();
}

void Listener::begin_session(TcpSocket socket) {
  if (context_->serving.size() >= max_connections_) return refuse(std::move(socket));
  ErrorCode ignored;
  // A response is one write; Nagle's algorithm would hold back its last segment.
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  std::make_shared<Session<TcpSocket>>(std::move(socket), context_)->start();
}

void Listener::refuse(TcpSocket socket) {
  context_->counters.count(Refusal::connection_limit);
  if (due(context_->limit_logged)) {
    log::warn("too many connections",
              {{"limit", std::to_string(max_connections_)}, {"flag", "--web.max-connections"}});
  }
  if (context_->refused.size() >= kMaxRefused) return;
  std::make_shared<Session<TcpSocket>>(std::move(socket), context_)->refuse();
}

void Listener::pause() {
  pause_.expires_after(next_pause_);
  next_pause_ = std::min(next_pause_ * 2, kLongestPause);
  pause_.async_wait([self = shared_from_this()](const ErrorCode&) {
    if (self->acceptor_.is_open()) self->accept();
  });
}

}  // namespace rdma_exporter::net
