// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/verbs/qp.h"

#include <infiniband/verbs.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>

namespace rdma_exporter::probe {
namespace {

using core::os_error;

// Unpredictable, so that an attacker who can send packets has to guess it.
core::Result<std::uint32_t> random_psn() {
  std::uint32_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != sizeof(number)) return os_error(errno, "getrandom");
  return number & 0xffffff;
}

// Within an InfiniBand subnet the LID is enough, except on ports that share one, such as those of virtual
// functions. A peer without a LID is behind a router.
bool needs_grh(const PortFacts& own, const QpPairAddress& peer) {
  return own.grh_required || peer.link == LinkLayer::ethernet || peer.lid == 0;
}

ibv_ah_attr address(const PortFacts& own, const QpPairAddress& peer, const PathSettings& path) {
  ibv_ah_attr ah{};
  ah.port_num = path.port;
  ah.sl = path.service_level;
  ah.dlid = peer.lid;
  if (!needs_grh(own, peer)) return ah;
  ah.is_global = 1;
  ah.grh.sgid_index = static_cast<std::uint8_t>(path.gid_index);
  std::copy(peer.gid.bytes.begin(), peer.gid.bytes.end(), ah.grh.dgid.raw);
  ah.grh.traffic_class = path.traffic_class;
  ah.grh.flow_label = path.flow_label;
  ah.grh.hop_limit = 64;
  return ah;
}

// No scatter element: some adapters refuse one of length 0.
ibv_send_wr empty_send(ibv_wr_opcode opcode, std::uint64_t id) {
  ibv_send_wr request{};
  request.wr_id = id;
  request.opcode = opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  return request;
}

}  // namespace

core::Result<std::unique_ptr<VerbsQp>> VerbsQp::make(std::shared_ptr<VerbsDevice> device,
                                                     std::shared_ptr<VerbsCq> cq, Kind kind,
                                                     std::uint8_t port, std::uint8_t remote) {
  std::unique_ptr<VerbsQp> made(new VerbsQp(std::move(device), std::move(cq)));
  const auto psn = random_psn();
  if (!psn) return tl::unexpected(psn.error());
  made->psn_ = *psn;
  if (const auto created = made->create(kind); !created) return tl::unexpected(created.error());
  if (const auto ready = made->to_init(kind, port, remote); !ready) return tl::unexpected(ready.error());
  return made;
}

VerbsQp::~VerbsQp() {
  if (qp_ != nullptr) ibv_destroy_qp(qp_);
  if (mr_ != nullptr) ibv_dereg_mr(mr_);
}

QpNumbers VerbsQp::numbers() const { return {qp_->qp_num, psn_}; }

core::Result<void> VerbsQp::create(Kind kind) {
  const bool echo = kind == Kind::echo || kind == Kind::echo_responder;
  const bool inbound = kind == Kind::responder || kind == Kind::echo_responder;
  ibv_pd* domain = inbound ? device_->responder_domain() : device_->requester_domain();
  ibv_qp_init_attr attributes{};
  attributes.qp_type = IBV_QPT_RC;
  attributes.send_cq = attributes.recv_cq = cq_->get();
  attributes.sq_sig_all = 1;
  attributes.cap.max_send_wr = kReceives;
  attributes.cap.max_recv_wr = echo ? kReceives : 1;
  attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
  attributes.cap.max_inline_data = echo ? kEchoSize : 0;
  errno = 0;
  qp_ = ibv_create_qp(domain, &attributes);
  if (qp_ == nullptr) return os_error(errno != 0 ? errno : ENOMEM, "queue pair (RLIMIT_MEMLOCK?)");
  if (!echo) return {};
  inline_ = attributes.cap.max_inline_data >= kEchoSize;
  buffer_ = std::make_unique<Buffer>();
  constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE;  // the macro would mix enumerations
  mr_ = ibv_reg_mr(domain, buffer_.get(), sizeof(Buffer), kAccess);
  if (mr_ == nullptr) return os_error(errno != 0 ? errno : ENOMEM, "receive buffer (RLIMIT_MEMLOCK?)");
  return {};
}

core::Result<void> VerbsQp::to_init(Kind kind, std::uint8_t port, std::uint8_t remote) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = port;
  unsigned access = 0;
  if (kind == Kind::responder && (remote & kGrantWrite) != 0) access |= IBV_ACCESS_REMOTE_WRITE;
  if (kind == Kind::responder && (remote & kGrantRead) != 0) access |= IBV_ACCESS_REMOTE_READ;
  attributes.qp_access_flags = access;
  int mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;
  if (!device_->iwarp()) mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  const int error = ibv_modify_qp(qp_, &attributes, mask);
  if (error != 0) return os_error(error, "INIT");
  return {};
}

core::Result<void> VerbsQp::connect(const QpPairAddress& peer, const QpNumbers& end,
                                    const PathSettings& path) {
  const auto ready = to_rtr(peer, end, path);
  return ready ? to_rts(path.timing) : ready;
}

core::Result<void> VerbsQp::to_rtr(const QpPairAddress& peer, const QpNumbers& end,
                                   const PathSettings& path) {
  const auto own = device_->port(path.port);
  if (!own) return tl::unexpected(own.error());
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.ah_attr = address(*own, peer, path);
  attributes.path_mtu = static_cast<ibv_mtu>(std::min(own->mtu, peer.mtu));
  attributes.dest_qp_num = end.number;
  attributes.rq_psn = end.psn;
  attributes.max_dest_rd_atomic = 1;
  attributes.min_rnr_timer = static_cast<std::uint8_t>(path.timing.min_rnr_timer);
  const int error = ibv_modify_qp(qp_, &attributes,
                                  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error != 0) return os_error(error, "RTR to " + address_text(peer.gid));
  return {};
}

core::Result<void> VerbsQp::to_rts(const RcTiming& timing) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = static_cast<std::uint8_t>(timing.timeout);
  attributes.retry_cnt = static_cast<std::uint8_t>(timing.retry);
  attributes.rnr_retry = static_cast<std::uint8_t>(timing.rnr_retry);
  attributes.sq_psn = psn_;
  attributes.max_rd_atomic = 1;
  const int error = ibv_modify_qp(qp_, &attributes,
                                  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  if (error != 0) return os_error(error, "RTS");
  return {};
}

core::Result<void> VerbsQp::connect_managed(CmChannel& cm, CmChannel::Id id, const PathSettings& path) {
  // The device does this by itself. The kernel's proposal for RTR would allow every remote access
  // (drivers/infiniband/core/iwcm.c).
  if (device_->iwarp()) return {};
  for (const ibv_qp_state state : {IBV_QPS_RTR, IBV_QPS_RTS}) {
    ibv_qp_attr attributes{};
    const auto mask = cm.attributes(id, state, attributes);
    if (!mask) return tl::unexpected(mask.error());
    attributes.ah_attr.grh.traffic_class = path.traffic_class;
    attributes.ah_attr.grh.flow_label = path.flow_label;
    attributes.min_rnr_timer = static_cast<std::uint8_t>(path.timing.min_rnr_timer);
    attributes.timeout = static_cast<std::uint8_t>(path.timing.timeout);
    attributes.retry_cnt = static_cast<std::uint8_t>(path.timing.retry);
    attributes.rnr_retry = static_cast<std::uint8_t>(path.timing.rnr_retry);
    if (const int error = ibv_modify_qp(qp_, &attributes, *mask); error != 0)
      return os_error(error, state == IBV_QPS_RTR ? "RTR by rdma_cm" : "RTS by rdma_cm");
  }
  return {};
}

int VerbsQp::post_one_sided(bool read, std::uint64_t id) {
  ibv_send_wr request = empty_send(read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, id);
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp_, &request, &bad);
}

// A fence waits for earlier READs, and max_rd_atomic of 1 allows one at a time. It would not wait for a
// WRITE.
int VerbsQp::post_read_pair(std::uint64_t first_id, std::uint64_t second_id) {
  ibv_send_wr second = empty_send(IBV_WR_RDMA_READ, second_id);
  second.send_flags |= IBV_SEND_FENCE;
  ibv_send_wr first = empty_send(IBV_WR_RDMA_READ, first_id);
  first.next = &second;
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp_, &first, &bad);
}

int VerbsQp::post_send(const EchoBytes& bytes, std::uint64_t id) {
  std::copy(bytes.begin(), bytes.end(), buffer_->send);
  ibv_sge element{reinterpret_cast<std::uintptr_t>(buffer_->send), kEchoSize, mr_->lkey};
  ibv_send_wr request{};
  request.wr_id = id;
  request.sg_list = &element;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  if (inline_) request.send_flags |= IBV_SEND_INLINE;
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp_, &request, &bad);
}

int VerbsQp::post_receive(unsigned slot, std::uint64_t id) {
  ibv_sge element{reinterpret_cast<std::uintptr_t>(buffer_->receive[slot]), kEchoSize, mr_->lkey};
  ibv_recv_wr request{};
  request.wr_id = id;
  request.sg_list = &element;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(qp_, &request, &bad);
}

std::span<const std::uint8_t> VerbsQp::received(unsigned slot) const { return buffer_->receive[slot]; }

}  // namespace rdma_exporter::probe
