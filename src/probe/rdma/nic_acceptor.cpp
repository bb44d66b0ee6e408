// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/nic_acceptor.h"

#include <fcntl.h>

#include <algorithm>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cerrno>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "asio/socket.h"
#include "probe/agent/workers.h"
#include "probe/rdma/cm/cm_connect.h"
#include "probe/rdma/connection/echo_answerer.h"

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;
using ErrorCode = boost::system::error_code;
using Answer = tl::expected<Acceptor::Offer, Reject>;

tl::unexpected<Reject> refused(RejectReason reason, int os_errno = 0) {
  return tl::unexpected(Reject{reason, static_cast<std::uint16_t>(os_errno)});
}

// The place at which a request is accepted.
struct Place {
  std::shared_ptr<Nic> nic;
  std::uint8_t port = 1;
  GidWish gid;
};

bool has_address(std::span<const GidEntry> entries, const std::optional<Gid>& gid) {
  return gid && std::any_of(entries.begin(), entries.end(),
                            [&](const GidEntry& entry) { return entry.usable && entry.gid == *gid; });
}

bool has_netdev(std::span<const GidEntry> entries, std::uint32_t netdev) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const GidEntry& entry) { return netdev != 0 && entry.netdev == netdev; });
}

// Devices of this host and their rails.
struct Own {
  std::vector<std::shared_ptr<Nic>> nics;
  std::map<std::string, Rail> rails;

  // Whether both sides have as many rails, and the device has the peer's place among them.
  bool same_place(const std::string& device, const std::optional<Rail>& place) const {
    const auto own = rails.find(device);
    return place && place->of > 1 && own != rails.end() && own->second == *place;
  }

  // The device of the peer's rail is here and cannot be met now. Any other one would answer for it, and hide
  // that from the peer.
  bool rail_is_down(const Connect& wish) const {
    return std::any_of(nics.begin(), nics.end(), [&wish](const auto& nic) {
      return nic->name() == wish.rail && nic->active_ports().empty();
    });
  }
};

// Prefers the device that has the address to which the peer connected, then that of the peer's rail (by name,
// otherwise by place), then the one whose address is most similar to the peer's. A host's name usually
// resolves to the adapter of its default route, which the peer then did not choose deliberately; all rails
// would meet there.
std::optional<Place> choose_place(const Own& own, const Connect& wish, const GidWish& gid_wish,
                                  std::uint32_t default_route) {
  std::optional<Place> best;
  std::tuple<bool, bool, bool, bool, unsigned> best_merit{};
  for (const auto& nic : own.nics) {
    if (!wish.device.empty() && wish.device != nic->name()) continue;
    const VerbsDevice& device = *nic->loop()->device();
    for (const std::uint8_t port : nic->active_ports()) {
      const auto facts = device.port(port);
      const auto entries = device.gids(port);
      if (!facts || !entries || facts->link != wish.address.link) continue;
      const auto gid = choose_gid(*entries, facts->link, gid_wish);
      if (!gid) continue;
      const bool frontend = has_netdev(*entries, default_route);
      const std::tuple merit(!frontend && has_address(*entries, gid_wish.near_control),
                             wish.rail == nic->name(), own.same_place(nic->name(), wish.place), !frontend,
                             common_prefix(wish.address.gid, gid->gid));
      if (best && merit <= best_merit) continue;
      best = Place{nic, port, gid_wish};
      best_merit = merit;
    }
  }
  const bool called = best && std::get<0>(best_merit);
  if (best && !called && wish.device.empty() && own.rail_is_down(wish)) return std::nullopt;
  return best;
}

/// Waits for a listener's requests on the thread of `io`, so that a silent peer occupies no worker, and has a
/// worker answer them. Waits at most for kMaxListenTime.
class CmWatch : public std::enable_shared_from_this<CmWatch> {
 public:
  /// How long the responder waits for a prober that is connecting.
  static constexpr std::chrono::seconds kMaxListenTime{10};

  CmWatch(asio::io_context& io, Workers& workers, std::shared_ptr<CmListener> listener);
  void start();
  /// Ends the wait; `then` is called on the thread of `io`.
  void stop(std::function<void()> then);

 private:
  using Descriptor = asio::posix::basic_stream_descriptor<Executor>;
  void wait();
  void work(void (CmListener::*task)());
  void end();

  asio::io_context& io_;
  Workers& workers_;
  std::shared_ptr<CmListener> listener_;
  Descriptor readable_;
  Timer timer_;
  bool busy_ = false;  // a worker uses the listener
  bool late_ = false;
};

CmWatch::CmWatch(asio::io_context& io, Workers& workers, std::shared_ptr<CmListener> listener)
    : io_(io), workers_(workers), listener_(std::move(listener)), readable_(io), timer_(io) {}

void CmWatch::start() {
  asio::post(io_, [self = shared_from_this()] {
    if (!self->listener_) return;
    // A duplicate, because the destructor of the listener closes the original.
    const int fd = ::fcntl(self->listener_->fd(), F_DUPFD_CLOEXEC, 0);
    ErrorCode error;
    if (fd >= 0) self->readable_.assign(fd, error);
    self->timer_.expires_after(kMaxListenTime);
    self->timer_.async_wait([self](const ErrorCode& cancelled) {
      if (cancelled) return;
      self->late_ = true;
      if (!self->busy_) self->work(&CmListener::close);
    });
    self->wait();
  });
}

void CmWatch::wait() {
  if (!readable_.is_open()) return;
  readable_.async_wait(Descriptor::wait_read, [self = shared_from_this()](const ErrorCode& error) {
    if (!error && !self->busy_) self->work(&CmListener::answer);
  });
}

void CmWatch::work(void (CmListener::*task)()) {
  if (!listener_) return;
  busy_ = true;
  workers_.post([self = shared_from_this(), listener = listener_, task] {
    (*listener.*task)();
    asio::post(self->io_, [self, done = listener->done()] {
      self->busy_ = false;
      if (done) return self->end();
      self->late_ ? self->work(&CmListener::close) : self->wait();
    });
  });
}

void CmWatch::end() {
  ErrorCode ignored;
  timer_.cancel();
  readable_.close(ignored);
}

void CmWatch::stop(std::function<void()> then) {
  asio::post(io_, [self = shared_from_this(), then = std::move(then)] {
    self->end();
    self->listener_.reset();
    then();
  });
}

// A peer's session. It is removed from the loop first, then destroyed where that may block.
struct Inbound {
  std::shared_ptr<Nic> nic;
  std::shared_ptr<QpPair> pair;
  std::unique_ptr<EchoAnswerer> answerer;
  std::shared_ptr<CmWatch> watch;  // with Transport::rdma_cm

  Inbound(std::shared_ptr<Nic> on, std::shared_ptr<QpPair> made) : nic(std::move(on)), pair(std::move(made)) {
    ++nic->stats()->inbound_sessions;
  }
  ~Inbound() { --nic->stats()->inbound_sessions; }
};

void give_back(Workers& workers, std::shared_ptr<Inbound> inbound) {
  DeviceLoop& loop = *inbound->nic->loop();
  loop.post([&workers, inbound = std::move(inbound)]() mutable {
    inbound->answerer.reset();
    const auto watch = std::move(inbound->watch);
    const auto owner = inbound->nic->loop()->owner();
    const auto destroy = [&workers, owner, inbound = std::move(inbound)] {
      workers.post([inbound] {}, owner);
    };
    if (watch) return watch->stop(destroy);
    destroy();
  });
}

// Must be set up before the peer can send: an echo whose completion nobody handles would be lost.
bool answer_echoes(const std::shared_ptr<Inbound>& inbound) {
  auto done = std::make_shared<std::promise<void>>();
  auto ready = done->get_future();
  inbound->nic->loop()->post([inbound, done] {
    inbound->answerer = std::make_unique<EchoAnswerer>(*inbound->nic->loop(), inbound->pair,
                                                       inbound->nic->stats()->echo_replies);
    done->set_value();
  });
  return ready.wait_for(1s) == std::future_status::ready;
}

PathSettings path_of(const Connect& wish) {
  PathSettings path;
  path.traffic_class = wish.traffic_class;
  path.service_level = wish.service_level;
  path.flow_label = wish.flow_label;
  path.timing.timeout = wish.timeout;
  path.timing.retry = wish.retry;
  return path;
}

// With verbs, the end is connected on return; with rdma_cm, it waits for the peer on the listener.
SetUp<std::optional<CmAddress>> await(Workers& workers, asio::io_context& io, Inbound& inbound,
                                      const Connect& wish) {
  const PathSettings path = path_of(wish);
  if (wish.transport == Transport::verbs) {
    const auto connected = connect_qp_pair(*inbound.pair, wish.address, path);
    if (!connected) return tl::unexpected(connected.error());
    return std::nullopt;
  }
  auto listener = CmListener::open(inbound.pair, *inbound.nic->loop()->device(), path);
  if (!listener) return tl::unexpected(listener.error());
  const CmAddress cm_address = (*listener)->cm_address();
  inbound.watch = std::make_shared<CmWatch>(io, workers, std::move(*listener));
  inbound.watch->start();
  return cm_address;
}

GidWish gid_wish_of(const Connect& wish, const ControlAddresses& control) {
  GidWish gid_wish;
  if (const auto called = gid_of_address(control.own)) gid_wish.near_control = *called;
  if (const auto calling = gid_of_address(control.peer)) gid_wish.far_control = *calling;
  gid_wish.peer = wish.address.gid;
  return gid_wish;
}

Answer accept_connection(Workers& workers, asio::io_context& io, const Connect& wish, const Place& place) {
  QpPairRequest request;
  request.responder = true;
  request.one_sided = wish.address.one_sided.number != 0;
  request.echo = wish.address.echo.number != 0;
  request.remote = wish.wanted & (kGrantWrite | kGrantRead);
  request.port = place.port;
  request.transport =
      wish.transport == Transport::rdma_cm ? TransportChoice::rdma_cm : TransportChoice::verbs;
  request.gid = place.gid;
  auto pair = make_counted_qp_pair(*place.nic->loop(), request, place.nic->stats()->queue_pairs,
                                   place.nic->max_per_role());
  if (!pair) {
    const bool full = pair.error().error.os_errno == EDQUOT;
    return full ? refused(RejectReason::limit) : refused(RejectReason::set_up, pair.error().error.os_errno);
  }

  auto inbound = std::make_shared<Inbound>(place.nic, *pair);
  Acceptor::Offer offer;
  offer.held = std::shared_ptr<void>(
      inbound.get(), [&workers, inbound](void*) mutable { give_back(workers, std::move(inbound)); });
  if (request.echo && !answer_echoes(inbound)) return refused(RejectReason::set_up, ETIMEDOUT);
  const auto cm_address = await(workers, io, *inbound, wish);
  if (!cm_address) return refused(RejectReason::set_up, cm_address.error().error.os_errno);
  offer.accept = Accept{place.nic->name(), place.port, (*pair)->local, wish.wanted, *cm_address};
  return offer;
}

}  // namespace

void NicAcceptor::accept(const Connect& wish, const ControlAddresses& control, Done done) {
  Own own;
  {
    const std::lock_guard lock(mutex_);
    own = {nics_, rails_};
  }
  workers_.post(
      [&workers = workers_, &io = io_, own = std::move(own), wish, control, done = std::move(done),
       default_route = default_route_]() mutable {
        auto place = choose_place(own, wish, gid_wish_of(wish, control), default_route());
        if (!place) return done(refused(RejectReason::no_device));
        const auto owner = place->nic->loop()->owner();
        own.nics.clear();
        workers.post([&workers, &io, wish, place = std::move(place),
                      done = std::move(done)] { done(accept_connection(workers, io, wish, *place)); },
                     owner);
      },
      owner_);
}

void NicAcceptor::use(std::vector<std::shared_ptr<Nic>> nics, std::map<std::string, Rail> rails) {
  const std::lock_guard lock(mutex_);
  nics_ = std::move(nics);
  rails_ = std::move(rails);
}

}  // namespace rdma_exporter::probe
