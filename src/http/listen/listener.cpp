// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/listen/listener.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "http/listen/listen_address.h"
#include "http/session/session.h"
#include "http/tls/tls_stream.h"
#include "log/caught.h"
#include "log/log.h"

namespace rdma_exporter::http {
namespace {

using ErrorCode = boost::system::error_code;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{50};
constexpr milliseconds kMaxPause{1000};
/// Connections that are being refused at one time; beyond it they are closed without a word.
constexpr std::size_t kMaxRefused = 32;

}  // namespace

Listener::Listener(StreamAcceptor acceptor, std::unique_ptr<SocketFile> file,
                   std::shared_ptr<SessionContext> context)
    : acceptor_(std::move(acceptor)),
      file_(std::move(file)),
      pause_(acceptor_.get_executor()),
      next_pause_(kFirstPause),
      context_(std::move(context)) {}

void Listener::start() { accept(); }

void Listener::stop() {
  ErrorCode ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  file_.reset();
}

std::string Listener::bound_address() const {
  ErrorCode error;
  const auto endpoint = acceptor_.local_endpoint(error);
  return error ? std::string() : to_string(endpoint);
}

void Listener::accept() try {
  acceptor_.async_accept([self = shared_from_this()](const ErrorCode& error, StreamSocket socket) {
    self->on_accept(error, std::move(socket));
  });
} catch (const std::bad_alloc&) {
  pause();
}

void Listener::on_accept(const ErrorCode& error, StreamSocket socket) {
  if (!acceptor_.is_open()) return;
  if (error) {
    context_->counters.count(Refusal::accept_error);
    if (context_->accept_errors.should_log())
      log::error("cannot accept connections", {{"error", error.message()}});
    return pause();
  }
  next_pause_ = kFirstPause;
  accept();  // first: it takes the memory that the operation before has left
  try {
    begin_session(std::move(socket));
  } catch (const std::exception& exception) {
    log::caught("a connection could not be served", exception);
  }
}

void Listener::begin_session(StreamSocket socket) {
  if (context_->serving.size() >= context_->limits.max_connections && !make_room())
    return refuse(std::move(socket));
  ErrorCode ignored;
  // A response is one write; Nagle's algorithm would hold back its last segment.
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  const auto tls = context_->access ? context_->access->tls() : nullptr;
  if (tls) {
    std::make_shared<Session<TlsStream>>(TlsStream(std::move(socket), tls), context_)->start();
  } else {
    std::make_shared<Session<StreamSocket>>(std::move(socket), context_)->start();
  }
}

bool Listener::make_room() {
  if (context_->limits_reached.should_log()) {
    log::warn("too many connections", {{"limit", std::to_string(context_->limits.max_connections)},
                                       {"flag", "--web.max-connections"}});
  }
  const bool made = context_->serving.evict_one();
  context_->counters.count(made ? Refusal::displaced : Refusal::connection_limit);
  return made;
}

void Listener::refuse(StreamSocket socket) {
  const bool tls = context_->access && context_->access->tls();
  if (tls || context_->refused.size() >= kMaxRefused) return;  // a handshake only to say no costs too much
  std::make_shared<Session<StreamSocket>>(std::move(socket), context_)->refuse();
}

void Listener::pause() {
  pause_.expires_after(next_pause_);
  next_pause_ = std::min(next_pause_ * 2, kMaxPause);
  pause_.async_wait([self = shared_from_this()](const ErrorCode&) {
    if (self->acceptor_.is_open()) self->accept();
  });
}

}  // namespace rdma_exporter::http
