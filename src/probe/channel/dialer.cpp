// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/channel/dialer.h"

#include <boost/asio/connect.hpp>
#include <utility>

#include "core/result.h"
#include "probe/mesh/flow_label.h"

namespace rdma_exporter::probe {
namespace {

using ErrorCode = boost::system::error_code;
using Resolver = asio::ip::basic_resolver<asio::ip::tcp, Executor>;

constexpr std::string_view kProtocol = "protocol";
constexpr std::string_view kRefused = "ECONNREFUSED";
constexpr std::chrono::milliseconds kLongestPause{30'000};

std::string_view reason_of(const ErrorCode& error) {
  return error.category() == boost::system::system_category() ? core::errno_name(error.value())
                                                              : "no_such_host";
}

std::uint8_t wanted(std::optional<Op> one_sided, bool echo) {
  const unsigned grants = (echo ? kGrantEcho : 0U) | (one_sided == Op::write ? kGrantWrite : 0U) |
                          (one_sided == Op::read ? kGrantRead : 0U);
  return static_cast<std::uint8_t>(grants);
}

std::optional<Gid> gid_of(const std::string& address) {
  const auto gid = gid_of_address(address);
  return gid ? std::optional(*gid) : std::nullopt;
}

// Some failures persist until a person intervenes. Every other refusal ends by itself: sessions end, an
// address or a driver appears.
std::chrono::seconds pause_cap(const Failure& failure) {
  bool lasts = failure.stage == Stage::tls && failure.reason == kUntrusted;
  for (const auto reason : {RejectReason::version, RejectReason::cluster, RejectReason::not_granted})
    lasts = lasts || failure.reason == rejected_name(reason);
  return lasts ? JitteredBackoff::kLongCap : JitteredBackoff::kCap;
}

}  // namespace

// One attempt, and the lease that results from it. Its pending operations keep it alive.
class Dialer::Call : public std::enable_shared_from_this<Call> {
 public:
  Call(asio::io_context& io, std::shared_ptr<const DialerOptions> options, std::shared_ptr<QpPairs> near,
       std::optional<Op> one_sided, Done done, Lease lease)
      : io_(io),
        options_(std::move(options)),
        near_(std::move(near)),
        one_sided_(one_sided),
        done_(std::move(done)),
        lease_(std::move(lease)),
        resolver_(io),
        socket_(io),
        timer_(io) {}

  void start() {
    if (over_) return;
    step_ = Step::welcome;
    step_began_ = Clock::now();
    ErrorCode no_address;
    const auto address = asio::ip::make_address(options_->address, no_address);
    if (!no_address) return connect(address);  // the resolver has one thread, which a name can block
    limit(Stage::resolve);
    resolver_.async_resolve(options_->address, std::to_string(options_->port),
                            [self = shared_from_this(), dial = dial_](const ErrorCode& error,
                                                                      const Resolver::results_type& found) {
                              if (dial == self->dial_) self->on_resolved(error, found);
                            });
  }

  /// The holder of the connection has released it.
  void release() {
    asio::post(io_, [self = shared_from_this()] { self->finish(); });
  }

 private:
  // Applies until there is a channel, which has a deadline of its own.
  void limit(Stage stage) {
    timer_.expires_after(options_->message_time);
    timer_.async_wait([self = shared_from_this(), stage](const ErrorCode& error) {
      if (error) return;
      self->resolver_.cancel();
      self->fail({stage, kDeadline});
    });
  }

  void stepped(ConnectStep step) {
    const Clock::time_point now = Clock::now();
    times_[static_cast<std::size_t>(step)] = now - std::exchange(step_began_, now);
  }

  void connect(const asio::ip::address& address) {
    limit(Stage::tcp);
    socket_.async_connect({address, options_->port},
                          [self = shared_from_this(), dial = dial_](const ErrorCode& error) {
                            if (dial == self->dial_) self->on_connected(error);
                          });
  }

  void on_resolved(const ErrorCode& error, const Resolver::results_type& found) {
    if (over_) return;
    if (error) return fail({Stage::resolve, reason_of(error)});
    limit(Stage::tcp);
    asio::async_connect(
        socket_, found,
        [self = shared_from_this(), dial = dial_](const ErrorCode& failed, const asio::ip::tcp::endpoint&) {
          if (dial == self->dial_) self->on_connected(failed);
        });
  }

  void on_connected(const ErrorCode& error) {
    if (over_) return;
    timer_.cancel();
    if (error) return fail({Stage::tcp, reason_of(error)});
    stepped(ConnectStep::tcp);
    channel_ = Channel::make(std::move(socket_), options_->tls);
    channel_->expect_within(options_->message_time);
    channel_->start(
        TlsRole::client,
        [self = shared_from_this()] {
          self->stepped(ConnectStep::tls);
          self->channel_->send(Hello{kProtocolVersion, self->options_->cluster, self->options_->host});
        },
        [self = shared_from_this()](const Frame& frame) { self->on_frame(frame); },
        [self = shared_from_this()](const Failure& failure) { self->on_end(failure); });
  }

  void on_frame(const Frame& frame) {
    if (const auto* reject = std::get_if<Reject>(&frame)) return on_reject(*reject);
    if (step_ == Step::welcome && std::holds_alternative<Welcome>(frame)) {
      version_ = std::get<Welcome>(frame).version;
      return suspended_since_ ? resume() : make_near();
    }
    if (step_ == Step::resuming && std::holds_alternative<Ready>(frame)) return on_resumed();
    if (step_ == Step::accept && std::holds_alternative<Accept>(frame))
      return connect_near(std::get<Accept>(frame));
    if (step_ == Step::leased && std::holds_alternative<Ping>(frame)) return on_ping(std::get<Ping>(frame));
    fail({Stage::exchange, kProtocol});
  }

  void on_reject(const Reject& reject) {
    if (step_ == Step::leased || reject.reason == RejectReason::shutdown)
      return end({Stage::tcp, kPeerClosed});
    const Failure failure{Stage::exchange, rejected_name(reject.reason)};
    reject.reason == RejectReason::lease ? end(failure) : fail(failure);
  }

  void make_near() {
    step_ = Step::making;
    channel_->expect_within(std::chrono::milliseconds(0));
    QpPairRequest request = options_->pair;
    request.one_sided = one_sided_.has_value();
    request.stamps = one_sided_ == Op::read;
    request.gid.near_control = gid_of(channel_->local_address());
    request.gid.toward = gid_of(channel_->remote_address());
    near_->make(request, [self = shared_from_this()](SetUp<std::shared_ptr<QpPair>> made) {
      asio::post(self->io_, [self, made = std::move(made)] { self->on_made(made); });
    });
  }

  void on_made(const SetUp<std::shared_ptr<QpPair>>& made) {
    if (made && over_) return near_->dispose(*made);
    if (over_) return;
    if (!made) return fail(made.error().failure());
    pair_ = *made;
    // An older peer would not understand the request.
    if (pair_->transport == Transport::rdma_cm && version_ < kManagedVersion)
      return fail({Stage::exchange, rejected_name(RejectReason::version)});
    path_ = options_->path;
    path_.flow_label =
        flow_label(pair_->local.gid, gid_of(channel_->remote_address()).value_or(Gid{}), options_->flow);
    Connect wish;
    wish.device = options_->device;
    wish.rail = options_->rail;
    wish.address = pair_->local;
    wish.wanted = wanted(one_sided_, options_->pair.echo);
    wish.traffic_class = path_.traffic_class;
    wish.service_level = path_.service_level;
    wish.flow_label = path_.flow_label;
    wish.timeout = static_cast<std::uint8_t>(options_->path.timing.timeout);
    wish.retry = static_cast<std::uint8_t>(options_->path.timing.retry);
    wish.transport = pair_->transport;
    if (version_ >= kResumeVersion) wish.place = options_->place.value_or(Rail{});
    step_ = Step::accept;
    channel_->send(wish);
    channel_->expect_within(5 * options_->message_time);  // the peer's kernel resolves its neighbour
  }

  void connect_near(const Accept& accept) {
    step_ = Step::connecting;
    channel_->expect_within(std::chrono::milliseconds(0));
    accept_ = accept;
    stepped(ConnectStep::exchange);
    near_->connect(pair_, accept, path_, [self = shared_from_this()](SetUp<void> connected) {
      asio::post(self->io_, [self, connected = std::move(connected)] { self->on_established(connected); });
    });
  }

  void on_established(const SetUp<void>& connected) {
    if (over_) return;
    if (!connected) return fail(connected.error().failure());
    stepped(ConnectStep::modify);
    channel_->send(Ready{});
    step_ = Step::leased;
    ping();
    // The lease keeps the call alive; when it is released, the channel ends.
    const auto release = [self = shared_from_this()](void*) { self->release(); };
    Connection connection;
    connection.pair = std::exchange(pair_, nullptr);
    connection.lease = std::shared_ptr<void>(this, release);
    connection.peer = accept_.address;
    connection.peer_device = accept_.device;
    connection.flow_label = path_.flow_label;
    connection.times = times_;
    std::exchange(done_, nullptr)(std::move(connection));
  }

  void ping() {
    timer_.expires_after(options_->ping_every);
    timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
      if (error || self->over_) return;
      self->channel_->send(Ping{++self->pings_, false});
      self->channel_->expect_within(self->options_->message_time);
      self->ping();
    });
  }

  void on_ping(const Ping& ping) {
    if (ping.answer && ping.number == pings_) channel_->expect_within(std::chrono::milliseconds(0));
  }

  void on_end(Failure failure) {
    if (step_ == Step::leased) failure.stage = Stage::tcp;
    fail(failure);
  }

  // While there is a lease that can be resumed, failures of the control connection do not end it, unless they
  // show that the peer's process has ended.
  void fail(const Failure& failure) {
    if (over_) return;
    const bool gone =
        failure.stage == Stage::tcp && (failure.reason == kPeerClosed || failure.reason == kRefused);
    if (done_ || gone || !accept_.token) return end(failure);
    suspend(failure);
  }

  void suspend(const Failure& failure) {
    const Clock::time_point now = Clock::now();
    if (!suspended_since_) {
      suspended_since_ = now;
      pause_ = options_->least_pause;
    }
    if (now - *suspended_since_ >= options_->suspended_at_most) return end({Stage::tcp, kSuspended});
    hang_up();
    if (lease_.interrupted) lease_.interrupted(failure);
    timer_.expires_after(pause_);
    pause_ = std::min(2 * pause_, kLongestPause);
    timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
      if (!error) self->start();
    });
  }

  void resume() {
    if (version_ < kResumeVersion) return end({Stage::exchange, rejected_name(RejectReason::lease)});
    step_ = Step::resuming;
    channel_->send(Resume{*accept_.token});
    channel_->expect_within(options_->message_time);
  }

  void on_resumed() {
    suspended_since_.reset();
    channel_->expect_within(std::chrono::milliseconds(0));
    step_ = Step::leased;
    ping();
  }

  void hang_up() {
    ++dial_;
    timer_.cancel();
    resolver_.cancel();
    ErrorCode ignored;
    socket_.close(ignored);
    if (const auto channel = std::exchange(channel_, nullptr)) channel->abort();
    socket_ = TcpSocket(io_);
  }

  void end(const Failure& failure) {
    if (over_) return;
    finish();
    if (const auto done = std::exchange(done_, nullptr))
      return done(tl::unexpected(ConnectError{failure, pause_cap(failure)}));
    if (lease_.lost) lease_.lost(failure);
  }

  void finish() {
    if (std::exchange(over_, true)) return;
    timer_.cancel();
    ErrorCode ignored;
    socket_.close(ignored);
    if (channel_) channel_->close();
    if (pair_) near_->dispose(std::exchange(pair_, nullptr));
  }

  enum class Step : unsigned char { welcome, making, accept, connecting, leased, resuming };

  asio::io_context& io_;
  std::shared_ptr<const DialerOptions> options_;
  std::shared_ptr<QpPairs> near_;
  std::optional<Op> one_sided_;
  Done done_;
  Lease lease_;
  Resolver resolver_;
  TcpSocket socket_;
  Timer timer_;
  std::shared_ptr<Channel> channel_;
  std::shared_ptr<QpPair> pair_;
  PathSettings path_{};
  Accept accept_{};
  Clock::time_point step_began_;
  ConnectTimes times_{};
  std::uint32_t pings_ = 0;
  unsigned dial_ = 0;  // answers to earlier attempts are outdated
  std::optional<Clock::time_point> suspended_since_;
  std::chrono::milliseconds pause_{};
  std::uint8_t version_ = 1;  // the version that both speak
  Step step_ = Step::welcome;
  bool over_ = false;
};

Dialer::Dialer(asio::io_context& io, DialerOptions options, std::shared_ptr<QpPairs> near)
    : io_(io), options_(std::make_shared<const DialerOptions>(std::move(options))), near_(std::move(near)) {}

void Dialer::connect(std::optional<Op> one_sided, Done done, Lease lease) {
  auto call = std::make_shared<Call>(io_, options_, near_, one_sided, std::move(done), std::move(lease));
  call_ = call;
  asio::post(io_, [call = std::move(call)] { call->start(); });
}

void Dialer::cancel() {
  if (const auto call = call_.lock()) call->release();
}

}  // namespace rdma_exporter::probe
