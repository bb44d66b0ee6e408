// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/nic_acceptor.h"

#include <cerrno>
#include <future>
#include <optional>
#include <tuple>
#include <utility>

#include "probe/rdma/cm/cm_watch.h"
#include "probe/rdma/connection/echo_answerer.h"

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;
using Answer = tl::expected<Acceptor::Offer, Reject>;

tl::unexpected<Reject> refused(RejectReason reason, int os_errno = 0) {
  return tl::unexpected(Reject{reason, static_cast<std::uint16_t>(os_errno)});
}

// Where a wish is to be met.
struct Place {
  std::shared_ptr<Nic> nic;
  std::uint8_t port = 1;
  GidWish gid;
};

// The device that has the address which the peer called, then that of the peer's name (its rail), then the
// one whose address is most like the peer's.
std::optional<Place> choose_place(const std::vector<std::shared_ptr<Nic>>& nics, const Connect& wish,
                                  const GidWish& gid_wish) {
  std::optional<Place> best;
  std::tuple<bool, bool, unsigned> best_merit{};
  for (const auto& nic : nics) {
    if (!wish.device.empty() && wish.device != nic->name()) continue;
    const VerbsDevice& device = *nic->loop()->device();
    for (const std::uint8_t port : nic->active_ports()) {
      const auto facts = device.port(port);
      const auto entries = device.gids(port);
      if (!facts || !entries || facts->link != wish.end.link) continue;
      const auto gid = choose_gid(*entries, facts->link, gid_wish);
      if (!gid) continue;
      const std::tuple merit(gid_wish.near_control == gid->gid, wish.rail == nic->name(),
                             common_prefix(wish.end.gid, gid->gid));
      if (best && merit <= best_merit) continue;
      best = Place{nic, port, gid_wish};
      best_merit = merit;
    }
  }
  return best;
}

// A peer's session: gone from the loop first, then destroyed where that may block.
struct Inbound {
  std::shared_ptr<Nic> nic;
  std::shared_ptr<RcEnd> end;
  std::unique_ptr<EchoAnswerer> answerer;
  std::shared_ptr<CmWatch> watch;  // with Transport::rdma_cm

  Inbound(std::shared_ptr<Nic> on, std::shared_ptr<RcEnd> made) : nic(std::move(on)), end(std::move(made)) {
    ++nic->stats()->inbound_sessions;
  }
  ~Inbound() { --nic->stats()->inbound_sessions; }
};

void give_back(Workers& workers, std::shared_ptr<Inbound> inbound) {
  DeviceLoop& loop = *inbound->nic->loop();
  loop.post([&workers, inbound = std::move(inbound)]() mutable {
    inbound->answerer.reset();
    const auto watch = std::move(inbound->watch);
    const auto destroy = [&workers, inbound = std::move(inbound)] { workers.post([inbound] {}); };
    if (watch) return watch->stop(destroy);
    destroy();
  });
}

// Before the peer can send: an echo whose completion nobody takes would be lost.
bool answer_echoes(const std::shared_ptr<Inbound>& inbound) {
  auto done = std::make_shared<std::promise<void>>();
  auto ready = done->get_future();
  inbound->nic->loop()->post([inbound, done] {
    inbound->answerer = std::make_unique<EchoAnswerer>(*inbound->nic->loop(), inbound->end,
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

// By verbs the end is connected when this returns; with rdma_cm it waits for the peer behind the listener.
SetUp<std::optional<CmAddress>> await(Workers& workers, asio::io_context& io, Inbound& inbound,
                                      const Connect& wish) {
  const PathSettings path = path_of(wish);
  if (wish.transport == Transport::verbs) {
    const auto connected = connect_end(*inbound.end, wish.end, path);
    if (!connected) return tl::unexpected(connected.error());
    return std::nullopt;
  }
  auto listener = CmListener::open(inbound.end, *inbound.nic->loop()->device(), path);
  if (!listener) return tl::unexpected(listener.error());
  const CmAddress cm_address = (*listener)->cm_address();
  inbound.watch = std::make_shared<CmWatch>(io, workers, std::move(*listener));
  inbound.watch->start();
  return cm_address;
}

Answer accept_connection(Workers& workers, asio::io_context& io,
                         const std::vector<std::shared_ptr<Nic>>& nics, const Connect& wish,
                         const std::string& control_address) {
  GidWish gid_wish;
  if (const auto own = gid_of_address(control_address)) gid_wish.near_control = *own;
  gid_wish.peer = wish.end.gid;
  const auto place = choose_place(nics, wish, gid_wish);
  if (!place) return refused(RejectReason::no_device);

  EndRequest request;
  request.responder = true;
  request.one_sided = wish.end.one_sided.number != 0;
  request.echo = wish.end.echo.number != 0;
  request.remote = wish.wanted & (kGrantWrite | kGrantRead);
  request.port = place->port;
  request.transport =
      wish.transport == Transport::rdma_cm ? TransportChoice::rdma_cm : TransportChoice::verbs;
  request.gid = place->gid;
  auto end = make_counted_end(*place->nic->loop(), request, place->nic->stats()->queue_pairs,
                              place->nic->most_of_a_role());
  if (!end) {
    const bool full = end.error().error.os_errno == EDQUOT;
    return full ? refused(RejectReason::limit) : refused(RejectReason::set_up, end.error().error.os_errno);
  }

  auto inbound = std::make_shared<Inbound>(place->nic, *end);
  Acceptor::Offer offer;
  offer.held = std::shared_ptr<void>(
      inbound.get(), [&workers, inbound](void*) mutable { give_back(workers, std::move(inbound)); });
  if (request.echo && !answer_echoes(inbound)) return refused(RejectReason::set_up, ETIMEDOUT);
  const auto cm_address = await(workers, io, *inbound, wish);
  if (!cm_address) return refused(RejectReason::set_up, cm_address.error().error.os_errno);
  offer.accept = Accept{place->nic->name(), place->port, (*end)->local, wish.wanted, *cm_address};
  return offer;
}

}  // namespace

void NicAcceptor::accept(const Connect& wish, const std::string& control_address, Done done) {
  workers_.post(
      [&workers = workers_, &io = io_, nics = nics(), wish, control_address, done = std::move(done)] {
        done(accept_connection(workers, io, nics, wish, control_address));
      });
}

void NicAcceptor::use(std::vector<std::shared_ptr<Nic>> nics) {
  const std::lock_guard lock(mutex_);
  nics_ = std::move(nics);
}

std::vector<std::shared_ptr<Nic>> NicAcceptor::nics() const {
  const std::lock_guard lock(mutex_);
  return nics_;
}

}  // namespace rdma_exporter::probe
