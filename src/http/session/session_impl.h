// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

// The bodies of http/session/session.h; include that.
#include "http/session/session.h"

namespace rdma_exporter::http {

/// The body of a 500.
inline constexpr std::string_view kBroken = "internal error, see the log of the exporter\n";

/// A response is offered to the kernel whole; Asio alone would cut it into pieces of 64 KiB.
struct WholeResponse {
  std::size_t operator()(const boost::system::error_code& error, std::size_t) const {
    return error ? 0 : std::size_t{1} << 30;
  }
};

template <typename Stream>
Session<Stream>::Session(Stream stream, std::shared_ptr<SessionContext> context)
    : stream_(std::move(stream)),
      context_(std::move(context)),
      deadline_(stream_.get_executor(),
                std::min(context_->limits.read_timeout, context_->limits.write_timeout)),
      reader_(context_->limits.max_header_bytes, context_->limits.max_body_bytes) {}

template <typename Stream>
Session<Stream>::~Session() {
  if (registry_ != nullptr) registry_->remove(*this);
}

template <typename Stream>
void Session<Stream>::start() {
  peer_ = peer_address(stream_);
  watch(&context_->serving);
  deadline_.set(context_->limits.read_timeout);
  open_stream(stream_, [self = this->shared_from_this()](const ErrorCode& error) {
    self->guarded([&] { self->on_open(error); });
  });
}

template <typename Stream>
void Session<Stream>::on_open(const ErrorCode& error) {
  if (state_ != State::opening) return;
  if (error) {
    context_->counters.count(Refusal::tls_handshake);
    report_handshake_failure(*context_, stream_, peer_, error);
    return close();
  }
  state_ = State::reading;
  deadline_.set(context_->limits.read_timeout);
  read();
}

template <typename Stream>
void Session<Stream>::refuse() {
  watch(&context_->refused);
  linger_ = true;
  send(text_response(503, "too many connections\n"), true);
}

template <typename Stream>
void Session<Stream>::watch(Connections* registry) {
  registry->add(*this, peer_);
  registry_ = registry;
  deadline_.start([self = this->shared_from_this()] { self->guarded([&self] { self->on_expired(); }); });
}

template <typename Stream>
template <typename Step>
void Session<Stream>::guarded(Step step) {
  try {
    step();
  } catch (const std::exception& exception) {
    close();
    log::caught("a connection was closed after an error", exception);
  }
}

template <typename Stream>
void Session<Stream>::stop() {
  last_ = true;
  if (state_ == State::opening || state_ == State::reading || state_ == State::draining) close();
}

template <typename Stream>
void Session<Stream>::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  deadline_.stop();
  close_stream(stream_);
  std::exchange(registry_, nullptr)->remove(*this);
}

template <typename Stream>
std::size_t Session<Stream>::sending() const {
  return state_ == State::writing && body_ ? body_->size() : 0;
}

template <typename Stream>
void Session<Stream>::give_up_page() {
  context_->counters.count(RefusedRequest::memory);
  abort_stream(stream_);
  close();
}

template <typename Stream>
void Session<Stream>::read() {
  reading_ = true;
  const std::span<char> space = reader_.space();
  stream_.async_read_some(asio::mutable_buffer(space.data(), space.size()),
                          [self = this->shared_from_this()](const ErrorCode& error, std::size_t bytes) {
                            self->guarded([&] { self->on_read(error, bytes); });
                          });
}

template <typename Stream>
void Session<Stream>::on_read(const ErrorCode& error, std::size_t bytes) {
  reading_ = false;
  if (state_ == State::draining) return on_drained(error, bytes);
  if (state_ != State::reading) return;
  if (error) return close();
  reader_.received(bytes);
  advance();
}

template <typename Stream>
void Session<Stream>::advance() {
  switch (reader_.next()) {
    case RequestReader::Progress::request:
      return handle();
    case RequestReader::Progress::bad:
      return refuse_request(reader_.error_status(), reason_of(reader_.error_status()));
    case RequestReader::Progress::need_more:
      break;
  }
  if (reader_.started() && !std::exchange(request_timed_, true)) deadline_.set(context_->limits.read_timeout);
  read();
}

template <typename Stream>
void Session<Stream>::handle() {
  state_ = State::handling;
  deadline_.clear();
  head_only_ = reader_.request().method == Method::head;
  last_ = last_ || !reader_.keep_alive() || ++requests_ >= context_->limits.max_requests;
  context_->serving.move(*this, ConnectionState::busy);
  if (!context_->access) return serve();
  context_->access->admit(reader_.request(), peer_, [weak = this->weak_from_this()](Admission admission) {
    const auto self = weak.lock();
    if (self) self->guarded([&] { self->on_admission(admission); });
  });
}

template <typename Stream>
void Session<Stream>::on_admission(Admission admission) {
  if (state_ != State::handling) return;
  if (admission == Admission::admitted) return serve();
  count_and_log(*context_, admission, peer_);
  answer(refusal_of(admission));
}

template <typename Stream>
void Session<Stream>::serve() {
  admitted_ = true;
  asked_ = std::chrono::steady_clock::now();
  if (!has_room_for_page()) return answer(no_memory());
  ask();
}

template <typename Stream>
void Session<Stream>::ask() {
  try {
    context_->handler.handle(reader_.request(), [weak = this->weak_from_this()](Response response) {
      const auto self = weak.lock();
      if (self) self->guarded([&] { self->answer(std::move(response)); });
    });
  } catch (const std::bad_alloc& exception) {
    log::caught("a request was refused", exception);
    answer(no_memory());
  } catch (const std::exception& exception) {
    log::error("a request failed",
               {{"path", std::string(reader_.request().path())}, {"error", exception.what()}});
    answer(text_response(500, kBroken));
  }
}

// Who is sent more than others waits for what it has, and everybody else is given the room.
template <typename Stream>
bool Session<Stream>::has_room_for_page() {
  const std::size_t missing = context_->handler.missing_room(reader_.request());
  return missing == 0 || context_->serving.free_pages(*this, missing);
}

template <typename Stream>
void Session<Stream>::answer(Response response) {
  if (state_ != State::handling) return;
  // Others have taken the room while this page was collected. Their pages are made all the time, so that it
  // may happen again to the one that is asked for now. A page that takes long to collect is not asked for
  // twice.
  if (response.refused == RefusedRequest::memory && std::chrono::steady_clock::now() - asked_ < kRepeatFor) {
    const std::size_t missing = context_->handler.missing_room(reader_.request());
    if (missing > 0 && context_->serving.free_pages(*this, missing)) return ask();
  }
  context_->counters.count(response.status);
  if (response.refused) context_->counters.count(*response.refused);
  send(std::move(response), last_);
}

template <typename Stream>
void Session<Stream>::refuse_request(unsigned status, RefusedRequest reason) {
  linger_ = true;
  head_only_ = false;
  context_->counters.count(reason);
  context_->counters.count(status);
  send(text_response(status, std::string(reason_phrase(status)) + "\n"), true);
}

template <typename Stream>
Persistence Session<Stream>::persistence() const {
  if (last_) return Persistence::close;
  return reader_.is_http_1_0() ? Persistence::keep_alive : Persistence::implied;
}

template <typename Stream>
void Session<Stream>::send(Response response, bool last) {
  state_ = State::writing;
  last_ = last;
  body_ = std::move(response.body);
  response.body = body_;
  const std::string_view configured =
      context_->access ? context_->access->response_headers() : std::string_view();
  write_head(head_, response, context_->date.line(), configured, persistence());
  deadline_.set(context_->limits.write_timeout);
  const bool with_body = body_ && !head_only_;
  const std::array<asio::const_buffer, 2> whole{asio::buffer(head_),
                                                with_body ? asio::buffer(*body_) : asio::const_buffer()};
  asio::async_write(stream_, whole, WholeResponse(),
                    [self = this->shared_from_this()](const ErrorCode& error, std::size_t) {
                      self->guarded([&] { self->on_written(error); });
                    });
}

template <typename Stream>
void Session<Stream>::on_written(const ErrorCode& error) {
  body_.reset();
  if (state_ != State::writing) return;
  if (error) return close();
  if (connection_state() == ConnectionState::busy)
    context_->serving.move(*this, admitted_ ? ConnectionState::idle : ConnectionState::fresh);
  if (last_) return finish();
  reader_.next_message();
  state_ = State::reading;
  request_timed_ = false;
  deadline_.set(context_->limits.idle_timeout);
  if (reader_.started()) return advance();
  read();
}

template <typename Stream>
void Session<Stream>::finish() {
  const bool drains = !context_->stopping && (linger_ || reader_.has_unread());
  state_ = State::draining;
  deadline_.set(context_->limits.linger);
  async_shutdown(stream_, [self = this->shared_from_this(), drains] {
    self->guarded([&] { self->on_shutdown(drains); });
  });
}

template <typename Stream>
void Session<Stream>::on_shutdown(bool drains) {
  if (state_ != State::draining) return;
  if (!drains) return close();
  end_sending(stream_);
  drain();
}

template <typename Stream>
void Session<Stream>::drain() {
  if (reading_) return;  // the read under way when a timeout came goes on for us
  reader_.clear();
  const std::span<char> space = reader_.space();
  bare_stream(stream_).async_read_some(
      asio::mutable_buffer(space.data(), space.size()),
      [self = this->shared_from_this()](const ErrorCode& error, std::size_t bytes) {
        self->guarded([&] { self->on_drained(error, bytes); });
      });
}

template <typename Stream>
void Session<Stream>::on_drained(const ErrorCode& error, std::size_t bytes) {
  if (state_ != State::draining) return;
  drained_ += bytes;
  if (error || drained_ > kMaxDrainedBytes) return close();
  drain();
}

template <typename Stream>
void Session<Stream>::on_expired() {
  if (state_ == State::opening) context_->counters.count(Refusal::tls_timeout);
  if (state_ == State::reading && reader_.started()) {
    return refuse_request(
        408, reader_.header_done() ? RefusedRequest::body_timeout : RefusedRequest::header_timeout);
  }
  if (state_ == State::writing) {
    context_->counters.count(RefusedRequest::write_timeout);
    abort_stream(stream_);
  }
  close();
}

}  // namespace rdma_exporter::http
