// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/nic_acceptor.h"

#include <cerrno>
#include <future>
#include <optional>
#include <tuple>
#include <utility>

#include "probe/echo_answerer.h"

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

  Inbound(std::shared_ptr<Nic> on, std::shared_ptr<RcEnd> made) : nic(std::move(on)), end(std::move(made)) {
    ++nic->stats()->inbound_sessions;
  }
  ~Inbound() { --nic->stats()->inbound_sessions; }
};

void give_back(Workers& workers, std::shared_ptr<Inbound> inbound) {
  DeviceLoop& loop = *inbound->nic->loop();
  loop.post([&workers, inbound = std::move(inbound)]() mutable {
    inbound->answerer.reset();
    workers.post([inbound = std::move(inbound)] {});
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

Answer meet(Workers& workers, const std::vector<std::shared_ptr<Nic>>& nics, const Connect& wish,
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
  PathSettings path;
  path.traffic_class = wish.traffic_class;
  path.service_level = wish.service_level;
  path.flow_label = wish.flow_label;
  path.timing.timeout = wish.timeout;
  path.timing.retry = wish.retry;
  if (request.echo && !answer_echoes(inbound)) return refused(RejectReason::set_up, ETIMEDOUT);
  if (const auto connected = connect_end(**end, wish.end, path); !connected)
    return refused(RejectReason::set_up, connected.error().error.os_errno);
  offer.accept = Accept{place->nic->name(), place->port, (*end)->local, wish.wanted};
  return offer;
}

}  // namespace

void NicAcceptor::accept(const Connect& wish, const std::string& control_address, Done done) {
  workers_.post([&workers = workers_, nics = nics(), wish, control_address, done = std::move(done)] {
    done(meet(workers, nics, wish, control_address));
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
