// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/connection/qp_pair.h"

#include <cerrno>
#include <utility>

namespace rdma_exporter::probe {
namespace {

// What frames contain about queue pairs that connection managers connect: only that they exist. Their numbers
// concern only the managers, and those of iWARP may be outside InfiniBand's range (Soft-iWARP starts with 1).
constexpr QpNumbers kManagedOneSided{2, 0};
constexpr QpNumbers kManagedEcho{3, 0};

tl::unexpected<SetUpError> failed(Stage stage, core::Error error) {
  return tl::unexpected(SetUpError{stage, std::move(error)});
}

core::Result<std::unique_ptr<VerbsQp>> make_echo(DeviceLoop& loop, const QpPair& pair, bool responder) {
  const auto kind = responder ? VerbsQp::Kind::echo_responder : VerbsQp::Kind::echo;
  auto qp = VerbsQp::make(loop.device(), loop.cq(), kind, pair.port, 0);
  if (!qp) return qp;
  for (unsigned slot = 0; slot < VerbsQp::kReceives; ++slot) {
    const auto work = static_cast<std::uint8_t>(kReceiveWork + slot);
    if (const int error = (*qp)->post_receive(slot, DeviceLoop::work_id(pair.serial, work)); error != 0)
      return core::os_error(error, "receive");
  }
  return qp;
}

SetUp<void> find_address(const VerbsDevice& device, const QpPairRequest& request, QpPair& pair) {
  const auto port = device.port(request.port);
  if (!port) return failed(Stage::gid, port.error());
  if (!port->active) return failed(Stage::gid, {core::Errc::os, ENETDOWN, "port not active"});
  const auto entries = device.gids(request.port);
  if (!entries) return failed(Stage::gid, entries.error());
  const auto chosen = choose_gid(*entries, port->link, request.gid);
  if (!chosen) return failed(Stage::gid, chosen.error());
  pair.port = request.port;
  pair.gid_index = chosen->index;
  pair.local.link = port->link;
  pair.local.gid = chosen->gid;
  pair.local.lid = port->lid;
  pair.netdev = chosen->netdev;
  pair.local.mtu = port->mtu;
  return {};
}

SetUp<void> choose_transport(TransportChoice wish, QpPair& pair) {
  const bool iwarp = pair.local.link == LinkLayer::iwarp;
  const bool managed = wish == TransportChoice::rdma_cm || (wish == TransportChoice::automatic && iwarp);
  if (!managed && iwarp) return failed(Stage::gid, {core::Errc::os, EOPNOTSUPP, "iWARP needs rdma_cm"});
  // On InfiniBand it would need IP addresses, which belong to other interfaces, and the subnet manager's
  // paths.
  if (managed && pair.local.link == LinkLayer::infiniband)
    return failed(Stage::gid, {core::Errc::os, EAFNOSUPPORT, "rdma_cm is for Ethernet here"});
  pair.transport = managed ? Transport::rdma_cm : Transport::verbs;
  return {};
}

}  // namespace

SetUp<std::shared_ptr<QpPair>> make_qp_pair(DeviceLoop& loop, const QpPairRequest& request) {
  auto pair = std::make_shared<QpPair>();
  pair->serial = loop.new_serial();
  if (const auto found = find_address(*loop.device(), request, *pair); !found)
    return tl::unexpected(found.error());
  if (const auto chosen = choose_transport(request.transport, *pair); !chosen)
    return tl::unexpected(chosen.error());
  const bool managed = pair->transport == Transport::rdma_cm;
  if (request.one_sided) {
    const auto kind = request.responder ? VerbsQp::Kind::responder : VerbsQp::Kind::requester;
    std::shared_ptr<VerbsCq> cq = request.stamps ? loop.stamped_cq() : nullptr;
    if (!cq) cq = loop.cq();
    auto qp = VerbsQp::make(loop.device(), std::move(cq), kind, request.port, request.remote);
    if (!qp) return failed(Stage::local, qp.error());
    pair->one_sided = std::move(*qp);
    pair->local.one_sided = managed ? kManagedOneSided : pair->one_sided->numbers();
  }
  if (request.echo) {
    auto qp = make_echo(loop, *pair, request.responder);
    if (!qp) return failed(Stage::local, qp.error());
    pair->echo = std::move(*qp);
    pair->local.echo = managed ? kManagedEcho : pair->echo->numbers();
  }
  return pair;
}

SetUp<void> connect_qp_pair(QpPair& pair, const QpPairAddress& peer, PathSettings path) {
  path.port = pair.port;
  path.gid_index = pair.gid_index;
  for (const auto& [qp, far] :
       {std::pair(pair.one_sided.get(), &peer.one_sided), std::pair(pair.echo.get(), &peer.echo)}) {
    if (qp == nullptr) continue;
    if (far->number == 0)
      return failed(Stage::exchange, {core::Errc::parse, 0, "the peer made no queue pair"});
    if (const auto connected = qp->connect(peer, *far, path); !connected)
      return failed(Stage::modify, connected.error());
  }
  return {};
}

}  // namespace rdma_exporter::probe
