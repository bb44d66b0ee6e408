// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/channel/channel.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/result.h"

namespace rdma_exporter::probe {
namespace {

constexpr std::size_t kMaxOutputFrames = 16;  // a peer that does not read deserves no more
constexpr unsigned kUserTimeout = 5000;       // ms until unacknowledged data ends the connection

std::string address_of(const boost::system::error_code& error, const asio::ip::tcp::endpoint& endpoint) {
  if (error) return {};
  const auto address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  return address.to_string();
}

// The TLS context that an unencrypted channel is constructed with but never uses.
std::shared_ptr<asio::ssl::context> unused_tls() {
  static const auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls);
  return context;
}

std::string_view name_of(const boost::system::error_code& error) {
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) return kPeerClosed;
  if (error.category() == boost::system::system_category()) return core::errno_name(error.value());
  return kUntrusted;
}

}  // namespace

std::shared_ptr<Channel> Channel::make(TcpSocket socket, std::shared_ptr<asio::ssl::context> tls) {
  return std::shared_ptr<Channel>(new Channel(std::move(socket), std::move(tls)));
}

Channel::Channel(TcpSocket socket, std::shared_ptr<asio::ssl::context> tls)
    : encrypted_(tls != nullptr),
      tls_(tls ? std::move(tls) : unused_tls()),
      stream_(std::move(socket), *tls_),
      deadline_(stream_.get_executor()),
      stage_(encrypted_ ? Stage::tls : Stage::exchange) {
  ErrorCode error;
  this->socket().set_option(asio::ip::tcp::no_delay(true), error);
  ::setsockopt(this->socket().native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &kUserTimeout,
               sizeof(kUserTimeout));
  const auto local = this->socket().local_endpoint(error);
  local_ = address_of(error, local);
  const auto remote = this->socket().remote_endpoint(error);
  remote_ = address_of(error, remote);
}

void Channel::start(TlsRole role, std::function<void()> ready, FrameHandler on_frame, EndHandler on_end) {
  on_frame_ = std::move(on_frame);
  on_end_ = std::move(on_end);
  auto begin = [self = shared_from_this(), ready = std::move(ready)](const ErrorCode& error) {
    if (self->closed_) return;
    if (error) return self->end({Stage::tls, name_of(error)});
    ready();
    self->read();
  };
  if (!encrypted_) return asio::post(stream_.get_executor(), [begin = std::move(begin)] { begin({}); });
  stream_.async_handshake(role == TlsRole::client ? TlsStream::client : TlsStream::server, std::move(begin));
}

void Channel::expect_within(std::chrono::milliseconds time) {
  if (time.count() == 0) {
    deadline_.cancel();
    return;
  }
  deadline_.expires_after(time);
  deadline_.async_wait([weak = weak_from_this()](const ErrorCode& error) {
    const auto self = weak.lock();
    if (!error && self) self->end({self->stage_, kDeadline});
  });
}

void Channel::read() {
  const auto space = asio::buffer(input_.data() + filled_, input_.size() - filled_);
  auto done = [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
    self->on_read(error, size);
  };
  if (encrypted_)
    stream_.async_read_some(space, std::move(done));
  else
    socket().async_read_some(space, std::move(done));
}

void Channel::on_read(const ErrorCode& error, std::size_t size) {
  if (closed_ || closing_) return;
  if (error) return end({stage_, name_of(error)});
  filled_ += size;
  if (!take_frames()) return end({Stage::exchange, "protocol"});
  if (!closed_ && !closing_) read();
}

// False if the input is not a frame. A whole frame always fits, so there is always room to continue reading.
bool Channel::take_frames() {
  std::size_t taken = 0;
  bool good = true;
  while (good && !closed_ && !closing_) {
    const auto left = std::span<const std::byte>(input_).subspan(taken, filled_ - taken);
    const auto length = frame_length(left);
    good = length.has_value();
    if (!good || *length == 0 || *length > left.size()) break;
    auto frame = decode(left.first(*length));
    good = frame.has_value();
    taken += *length;
    if (!good) break;
    stage_ = Stage::exchange;
    const FrameHandler handler = on_frame_;  // it may close the channel, which drops the handler
    handler(std::move(*frame));
  }
  std::memmove(input_.data(), input_.data() + taken, filled_ - taken);
  filled_ -= taken;
  return good;
}

void Channel::send(const Frame& frame) {
  if (closed_ || closing_) return;
  if (output_.size() >= kMaxOutputFrames) return end({Stage::exchange, kDeadline});
  output_.push_back(encode(frame));
  if (output_.size() == 1) write();
}

void Channel::write() {
  const auto bytes = asio::buffer(output_.front());
  auto done = [self = shared_from_this()](const ErrorCode& error, std::size_t) {
    if (self->closed_) return;
    if (error) return self->closing_ ? self->shut() : self->end({self->stage_, name_of(error)});
    self->output_.pop_front();
    if (!self->output_.empty()) return self->write();
    if (self->closing_) self->shut();
  };
  if (encrypted_)
    asio::async_write(stream_, bytes, std::move(done));
  else
    asio::async_write(socket(), bytes, std::move(done));
}

void Channel::end(Failure failure) {
  if (closed_) return;
  if (failure.reason == kDeadline) reset_at_close();
  shut();
  if (const auto on_end = std::move(on_end_)) on_end(failure);
}

void Channel::close() {
  if (closed_ || closing_) return;
  closing_ = true;
  on_frame_ = nullptr;
  on_end_ = nullptr;
  if (output_.empty()) return shut();
  expect_within(std::chrono::seconds(1));  // for the rest of the output
}

void Channel::abort() {
  if (closed_) return;
  on_end_ = nullptr;
  reset_at_close();
  shut();
}

void Channel::reset_at_close() {
  ErrorCode ignored;
  socket().set_option(asio::socket_base::linger(true, 0), ignored);
}

void Channel::shut() {
  closed_ = true;
  deadline_.cancel();
  ErrorCode ignored;
  socket().close(ignored);
  on_frame_ = nullptr;
}

}  // namespace rdma_exporter::probe
