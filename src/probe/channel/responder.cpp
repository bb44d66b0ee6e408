// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/channel/responder.h"

#include <openssl/rand.h>

#include <algorithm>
#include <utility>

#include "log/log.h"

namespace rdma_exporter::probe {
namespace {

using ErrorCode = boost::system::error_code;

bool random_bytes(LeaseToken& token) {
  return ::RAND_bytes(token.data(), static_cast<int>(token.size())) == 1;
}

}  // namespace

core::Result<void> check_listen(const asio::ip::tcp::endpoint& endpoint, bool open) {
  if (!open || endpoint.address().is_loopback()) return {};
  return core::config_error(
      "the probe's responder does not listen on " + endpoint.address().to_string() +
      " without credentials: configure certificates or a secret, or set probe.insecure: true");
}

// The ends of a lease whose connection broke.
struct Responder::Held {
  std::string peer_name;
  std::string device;
  std::shared_ptr<void> ends;
  Timer until;
};

struct Responder::Shared {
  ResponderOptions options;
  Acceptor& acceptor;
  asio::io_context& io;
  std::shared_ptr<asio::ssl::context> tls{};
  std::set<std::shared_ptr<Session>> open{};
  std::map<std::string, unsigned> by_peer{};  // sessions, and connections that may become one
  std::map<LeaseToken, Held> held{};
  std::map<std::string_view, std::uint64_t> refused{};
  std::uint64_t admitted = 0;
  std::size_t leased = 0;
  bool stopped = false;

  void hold(const LeaseToken& token, std::string peer_name, std::string device, std::shared_ptr<void> ends,
            std::chrono::milliseconds time) {
    const auto placed = held.insert_or_assign(
        token, Held{std::move(peer_name), std::move(device), std::move(ends), Timer(io)});
    end_after(placed.first->first, placed.first->second, time);
  }
  void end_after(const LeaseToken& token, Held& lease, std::chrono::milliseconds time) {
    lease.until.expires_after(time);
    lease.until.async_wait([this, token, life = std::weak_ptr<void>(lease.ends)](const ErrorCode& error) {
      if (!error && !life.expired()) held.erase(token);
    });
  }
  void heard_of(const std::string& peer_name);
  // A peer that asks for a new session needs the room more than one that may never return.
  void release_first_held() {
    const auto first = std::min_element(held.begin(), held.end(), [](const auto& a, const auto& b) {
      return a.second.until.expiry() < b.second.until.expiry();
    });
    if (first != held.end()) held.erase(first);
  }
};

// One peer's connection, from its first byte to the end of its lease.
class Responder::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<Shared> shared, std::shared_ptr<Channel> channel)
      : shared_(std::move(shared)),
        channel_(std::move(channel)),
        peer_(channel_->remote_address()),
        number_(++shared_->admitted) {}

  void start() {
    ++shared_->by_peer[peer_];
    channel_->expect_within(shared_->options.message_time);
    channel_->start(
        TlsRole::server, [] {}, [self = shared_from_this()](const Frame& frame) { self->on_frame(frame); },
        [self = shared_from_this()](const Failure& failure) { self->on_end(failure); });
  }

  void refuse(RejectReason reason, std::uint16_t os_errno = 0) {
    if (reason != RejectReason::shutdown) ++shared_->refused[rejected_name(reason)];
    channel_->send(Reject{reason, os_errno});
    finish();
  }

  /// Closes a connection that has not become a session, without an answer.
  void displace() {
    ++shared_->refused[rejected_name(RejectReason::limit)];
    finish();
  }

  /// The peer has resumed its lease over another connection, so this one is no longer needed.
  std::shared_ptr<void> hand_over() {
    auto ends = std::exchange(held_, nullptr);
    finish();
    return ends;
  }

  /// How long the ends are held if the connection breaks without another word of the peer over it.
  void hold_for(std::chrono::milliseconds time) { hold_time_ = time; }

  const LeaseToken* token() const { return pending() ? nullptr : &token_; }
  const std::string& peer_name() const { return peer_name_; }
  const std::string& device() const { return device_; }
  const std::string& peer() const { return peer_; }
  bool pending() const { return step_ != Step::leased; }
  std::uint64_t number() const { return number_; }

 private:
  enum class Step : unsigned char { hello, connect, making, ready, leased, over };

  void on_frame(const Frame& frame) {
    if (step_ == Step::hello && std::holds_alternative<Hello>(frame)) return on_hello(std::get<Hello>(frame));
    if (step_ == Step::connect && std::holds_alternative<Connect>(frame))
      return on_connect(std::get<Connect>(frame));
    if (step_ == Step::connect && std::holds_alternative<Resume>(frame))
      return on_resume(std::get<Resume>(frame));
    if (step_ == Step::ready && std::holds_alternative<Ready>(frame)) return on_ready();
    if (step_ == Step::leased && std::holds_alternative<Ping>(frame)) return on_ping(std::get<Ping>(frame));
    refuse(RejectReason::protocol);
  }

  void on_hello(const Hello& hello) {
    const ResponderOptions& options = shared_->options;
    if (hello.cluster != options.cluster) return refuse(RejectReason::cluster);
    peer_name_ = hello.host;
    shared_->heard_of(peer_name_);
    version_ = std::min(hello.version, kProtocolVersion);
    step_ = Step::connect;
    channel_->send(Welcome{version_, options.host});
    // The peer creates its queue pairs first, which takes its firmware a while.
    channel_->expect_within(2 * options.message_time);
  }

  void on_connect(const Connect& wish) {
    step_ = Step::making;
    channel_->expect_within(std::chrono::milliseconds(0));  // this side has to answer
    shared_->acceptor.accept(wish, {channel_->local_address(), peer_},
                             [self = shared_from_this()](tl::expected<Acceptor::Offer, Reject> made) {
                               asio::post(self->shared_->io,
                                          [self, made = std::move(made)] { self->on_made(made); });
                             });
  }

  void on_made(const tl::expected<Acceptor::Offer, Reject>& made) {
    if (step_ != Step::making) return;  // the peer has disconnected; the ends are released
    if (!made && made.error().reason == RejectReason::limit) shared_->release_first_held();
    if (!made) return refuse(made.error().reason, made.error().os_errno);
    held_ = made->held;
    device_ = made->accept.device;
    step_ = Step::ready;
    Accept accept = made->accept;
    if (version_ >= kResumeVersion && random_bytes(token_)) accept.token = token_;
    resumable_ = accept.token.has_value();
    channel_->send(accept);
    // The peer resolves its neighbour now, which can take its kernel seconds.
    channel_->expect_within(5 * shared_->options.message_time);
  }

  // The peer may notice the broken connection before this side does.
  void on_resume(const Resume& resume) {
    std::shared_ptr<void> ends;
    if (const auto held = shared_->held.find(resume.token);
        held != shared_->held.end() && held->second.peer_name == peer_name_) {
      ends = std::move(held->second.ends);
      device_ = held->second.device;
      shared_->held.erase(held);
    } else {
      const auto open = std::find_if(shared_->open.begin(), shared_->open.end(), [&](const auto& other) {
        return other->token() != nullptr && *other->token() == resume.token &&
               other->peer_name() == peer_name_;
      });
      if (open == shared_->open.end()) return refuse(RejectReason::lease);
      device_ = (*open)->device();
      ends = std::shared_ptr<Session>(*open)->hand_over();
    }
    held_ = std::move(ends);
    token_ = resume.token;
    resumable_ = true;
    on_ready();
    channel_->send(Ready{});
  }

  void on_ready() {
    step_ = Step::leased;
    hold_for(shared_->options.hold_time);
    ++shared_->leased;
    channel_->expect_within(shared_->options.lease_time);
    log::debug("probe session accepted", {{"peer", peer_}, {"name", peer_name_}});
  }

  void on_ping(const Ping& ping) {
    if (ping.answer) return;
    hold_for(shared_->options.hold_time);
    channel_->expect_within(shared_->options.lease_time);
    channel_->send(Ping{ping.number, true});
  }

  void on_end(const Failure& failure) {
    if (step_ != Step::leased) ++shared_->refused[failure.reason];
    if (step_ == Step::leased && resumable_ && failure.reason != kPeerClosed && !shared_->stopped)
      shared_->hold(token_, peer_name_, device_, held_, hold_time_);
    finish();
  }

  void finish() {
    if (step_ == Step::over) return;
    if (step_ == Step::leased) --shared_->leased;
    step_ = Step::over;
    held_.reset();
    const auto count = shared_->by_peer.find(peer_);
    if (--count->second == 0) shared_->by_peer.erase(count);
    channel_->close();
    shared_->open.erase(shared_from_this());
  }

  std::shared_ptr<Shared> shared_;
  std::shared_ptr<Channel> channel_;
  std::string peer_;
  std::uint64_t number_;  // of admitted connections; older ones have lower numbers
  std::string peer_name_;
  std::string device_;  // this host's device that it uses
  std::shared_ptr<void> held_;
  LeaseToken token_{};
  bool resumable_ = false;
  std::chrono::milliseconds hold_time_{0};
  std::uint8_t version_ = 1;
  Step step_ = Step::hello;
};

// A peer that can connect can resume: it does not need the leases that it does not resume. Those whose
// connection still seems open are held as briefly if that breaks.
void Responder::Shared::heard_of(const std::string& peer_name) {
  const auto latest = Clock::now() + options.resume_time;
  for (auto& [token, lease] : held)
    if (lease.peer_name == peer_name && lease.until.expiry() > latest)
      end_after(token, lease, options.resume_time);
  for (const auto& session : open)
    if (session->peer_name() == peer_name) session->hold_for(options.resume_time);
}

Responder::Responder(asio::io_context& io, ResponderOptions options, Acceptor& acceptor)
    : shared_(std::make_shared<Shared>(Shared{std::move(options), acceptor, io})), pause_(io), io_(io) {}

Responder::~Responder() { stop(); }

core::Result<void> Responder::start() {
  const ResponderOptions& options = shared_->options;
  auto tls = make_tls(options.credentials, TlsRole::server);
  if (!tls) return tl::unexpected(tls.error());
  shared_->tls = *tls;
  for (const auto& alternatives : options.listen)
    if (auto opened = open(alternatives); !opened) return opened;
  for (TcpAcceptor& acceptor : acceptors_) listen(acceptor);
  return {};
}

core::Result<void> Responder::renew_secrets() {
  if (!shared_->tls) return {};
  return probe::renew_secrets(*shared_->tls, shared_->options.credentials.secret_file);
}

core::Result<void> Responder::open(const std::vector<asio::ip::tcp::endpoint>& alternatives) {
  core::Result<void> result = core::config_error("the probe's responder has no address to listen on");
  for (const auto& endpoint : alternatives) {
    const std::string address = endpoint.address().to_string();
    if (auto allowed = check_listen(endpoint, !shared_->tls && !shared_->options.insecure); !allowed)
      return allowed;
    ErrorCode error;
    TcpAcceptor acceptor(io_);
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (!error) {
      acceptors_.push_back(std::move(acceptor));
      return {};
    }
    result = core::os_error(error.value(), "the probe's responder cannot listen on " + address + " port " +
                                               std::to_string(endpoint.port()));
  }
  return result;
}

void Responder::listen(TcpAcceptor& acceptor) {
  acceptor.async_accept([this, shared = shared_, &acceptor](const ErrorCode& error, TcpSocket socket) {
    if (shared->stopped) return;
    if (!error) {
      admit(Channel::make(std::move(socket), shared->tls));
      return listen(acceptor);
    }
    // Without free descriptors the connection stays in the queue and would be reported again immediately.
    ++shared->refused["accept"];
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this, shared, &acceptor](const ErrorCode& cancelled) {
      if (!cancelled && !shared->stopped) listen(acceptor);
    });
  });
}

// The oldest connection without a session, from the address that has most of them, if it has more than
// `peer`. nullptr if none has to make room.
std::shared_ptr<Responder::Session> Responder::to_displace(const std::string& peer) const {
  std::map<std::string_view, std::vector<std::shared_ptr<Session>>> pending;
  for (const auto& session : shared_->open)
    if (session->pending()) pending[session->peer()].push_back(session);
  const auto most = std::max_element(pending.begin(), pending.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  if (most == pending.end() || most->second.size() <= pending[peer].size() + 1) return nullptr;
  const auto& [address, sessions] = *most;
  return *std::min_element(sessions.begin(), sessions.end(),
                           [](const auto& a, const auto& b) { return a->number() < b->number(); });
}

// Beyond the limits a connection is closed without an answer, because a handshake is the work that an
// attacker wants us to do. One address cannot take the room that others need.
void Responder::admit(const std::shared_ptr<Channel>& channel) {
  const auto of_peer = shared_->by_peer.find(channel->remote_address());
  const bool peer_full =
      of_peer != shared_->by_peer.end() && of_peer->second >= shared_->options.max_sessions_per_peer;
  const bool full = pending() >= shared_->options.max_pending;
  const auto displaced = full && !peer_full ? to_displace(channel->remote_address()) : nullptr;
  if (peer_full || (full && !displaced)) {
    ++shared_->refused[rejected_name(RejectReason::limit)];
    return channel->close();
  }
  if (displaced) displaced->displace();
  auto session = std::make_shared<Session>(shared_, channel);
  shared_->open.insert(session);
  session->start();
}

void Responder::stop() {
  if (std::exchange(shared_->stopped, true)) return;
  ErrorCode ignored;
  pause_.cancel();
  for (TcpAcceptor& acceptor : acceptors_) acceptor.close(ignored);
  const auto open = shared_->open;
  for (const auto& session : open) session->refuse(RejectReason::shutdown);
  shared_->held.clear();
}

void Responder::set_max_sessions_per_peer(unsigned most) { shared_->options.max_sessions_per_peer = most; }

void Responder::end_sessions_of(const std::string& device) {
  const auto open = shared_->open;
  for (const auto& session : open)
    if (session->device() == device) session->refuse(RejectReason::shutdown);
  std::erase_if(shared_->held, [&](const auto& held) { return held.second.device == device; });
}

std::vector<asio::ip::tcp::endpoint> Responder::bound() const {
  std::vector<asio::ip::tcp::endpoint> bound;
  for (const TcpAcceptor& acceptor : acceptors_) bound.push_back(acceptor.local_endpoint());
  return bound;
}

std::size_t Responder::sessions() const { return shared_->leased + shared_->held.size(); }

std::size_t Responder::held() const { return shared_->held.size(); }

std::size_t Responder::pending() const { return shared_->open.size() - shared_->leased; }

const std::map<std::string_view, std::uint64_t>& Responder::refused() const { return shared_->refused; }

}  // namespace rdma_exporter::probe
