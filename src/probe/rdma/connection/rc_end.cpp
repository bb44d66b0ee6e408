// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/connection/rc_end.h"

#include <cerrno>
#include <utility>

namespace rdma_exporter::probe {
namespace {

// What frames contain about queue pairs that connection managers connect: only that they exist. Their numbers
// concern only the managers, and those of iWARP may be outside InfiniBand's range (Soft-iWARP starts with 1).
constexpr QpEnd kManagedOneSided{2, 0};
constexpr QpEnd kManagedEcho{3, 0};

tl::unexpected<SetUpError> failed(Stage stage, core::Error error) {
  return tl::unexpected(SetUpError{stage, std::move(error)});
}

core::Result<std::unique_ptr<VerbsQp>> make_echo(DeviceLoop& loop, const RcEnd& end, bool responder) {
  const auto kind = responder ? VerbsQp::Kind::echo_responder : VerbsQp::Kind::echo;
  auto qp = VerbsQp::make(loop.device(), loop.cq(), kind, end.port, 0);
  if (!qp) return qp;
  for (unsigned slot = 0; slot < VerbsQp::kReceives; ++slot) {
    const auto work = static_cast<std::uint8_t>(kReceiveWork + slot);
    if (const int error = (*qp)->post_receive(slot, DeviceLoop::work_id(end.serial, work)); error != 0)
      return core::os_error(error, "receive");
  }
  return qp;
}

SetUp<void> find_address(const VerbsDevice& device, const EndRequest& request, RcEnd& end) {
  const auto port = device.port(request.port);
  if (!port) return failed(Stage::gid, port.error());
  if (!port->active) return failed(Stage::gid, {core::Errc::os, ENETDOWN, "port not active"});
  const auto entries = device.gids(request.port);
  if (!entries) return failed(Stage::gid, entries.error());
  const auto chosen = choose_gid(*entries, port->link, request.gid);
  if (!chosen) return failed(Stage::gid, chosen.error());
  end.port = request.port;
  end.gid_index = chosen->index;
  end.local.link = port->link;
  end.local.gid = chosen->gid;
  end.local.lid = port->lid;
  end.netdev = chosen->netdev;
  end.local.mtu = port->mtu;
  return {};
}

SetUp<void> choose_way(TransportChoice wish, RcEnd& end) {
  const bool iwarp = end.local.link == LinkLayer::iwarp;
  const bool managed = wish == TransportChoice::rdma_cm || (wish == TransportChoice::automatic && iwarp);
  if (!managed && iwarp) return failed(Stage::gid, {core::Errc::os, EOPNOTSUPP, "iWARP needs rdma_cm"});
  // On InfiniBand it would need IP addresses, which belong to other interfaces, and the subnet manager's
  // paths.
  if (managed && end.local.link == LinkLayer::infiniband)
    return failed(Stage::gid, {core::Errc::os, EAFNOSUPPORT, "rdma_cm is for Ethernet here"});
  end.transport = managed ? Transport::rdma_cm : Transport::verbs;
  return {};
}

}  // namespace

SetUp<std::shared_ptr<RcEnd>> make_end(DeviceLoop& loop, const EndRequest& request) {
  auto end = std::make_shared<RcEnd>();
  end->serial = loop.new_serial();
  if (const auto found = find_address(*loop.device(), request, *end); !found)
    return tl::unexpected(found.error());
  if (const auto chosen = choose_way(request.transport, *end); !chosen) return tl::unexpected(chosen.error());
  const bool managed = end->transport == Transport::rdma_cm;
  if (request.one_sided) {
    const auto kind = request.responder ? VerbsQp::Kind::responder : VerbsQp::Kind::requester;
    std::shared_ptr<VerbsCq> cq = request.stamps ? loop.stamped_cq() : nullptr;
    if (!cq) cq = loop.cq();
    auto qp = VerbsQp::make(loop.device(), std::move(cq), kind, request.port, request.remote);
    if (!qp) return failed(Stage::local, qp.error());
    end->one_sided = std::move(*qp);
    end->local.one_sided = managed ? kManagedOneSided : end->one_sided->end();
  }
  if (request.echo) {
    auto qp = make_echo(loop, *end, request.responder);
    if (!qp) return failed(Stage::local, qp.error());
    end->echo = std::move(*qp);
    end->local.echo = managed ? kManagedEcho : end->echo->end();
  }
  return end;
}

SetUp<void> connect_end(RcEnd& end, const PathEnd& peer, PathSettings path) {
  path.port = end.port;
  path.gid_index = end.gid_index;
  for (const auto& [qp, far] :
       {std::pair(end.one_sided.get(), &peer.one_sided), std::pair(end.echo.get(), &peer.echo)}) {
    if (qp == nullptr) continue;
    if (far->number == 0)
      return failed(Stage::exchange, {core::Errc::parse, 0, "the peer made no queue pair"});
    if (const auto connected = qp->connect(peer, *far, path); !connected)
      return failed(Stage::modify, connected.error());
  }
  return {};
}

}  // namespace rdma_exporter::probe
