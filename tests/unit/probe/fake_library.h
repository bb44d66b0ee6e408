// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "tests/unit/probe/fake_objects.h"

namespace rdma_exporter::test {

inline ibv_gid gid_of(const std::string& address) {
  ibv_gid gid{};
  if (::inet_pton(AF_INET6, address.c_str(), gid.raw) == 1) return gid;
  gid.raw[10] = gid.raw[11] = 0xff;
  if (::inet_pton(AF_INET, address.c_str(), gid.raw + 12) != 1) throw std::invalid_argument(address);
  return gid;
}

/// What the library does, with the fabric's mutex held.
struct FakeLibrary {
  static std::recursive_mutex& mutex() { return fabric->mutex_; }
  static auto& adapters() { return fabric->adapters_; }
  static void offence(const std::string& what) { fabric->offences_ += what + "; "; }
  static std::uint64_t stamp(std::uint64_t time) { return time / 1000 * fabric->clock_khz_ / 1000; }

  // Whether the port of `to` has the address that the packets of `from` go to.
  static bool is_addressed(const FakeQp& to, const FakeQp& from) {
    const ibv_ah_attr& path = from.settings().ah_attr;
    const auto far = std::find_if(adapters().begin(), adapters().end(),
                                  [&](const auto& adapter) { return adapter->name == to.record->device; });
    if (far == adapters().end()) return false;
    const FakePort& port = (*far)->ports.at(to.settings().port_num - 1U);
    if (path.is_global == 0) return port.lid == path.dlid;
    return std::any_of(port.gids.begin(), port.gids.end(), [&](const FakeGid& gid) {
      return std::memcmp(gid_of(gid.address).raw, path.grh.dgid.raw, sizeof(path.grh.dgid.raw)) == 0;
    });
  }

  static FakeQp* peer_of(const FakeQp& qp) {
    const auto far = std::find_if(all_qps.begin(), all_qps.end(),
                                  [&](FakeQp* other) { return other->qp_num == qp.settings().dest_qp_num; });
    if (far == all_qps.end()) return nullptr;
    const ibv_qp_attr& there = (*far)->settings();
    // A packet with another number than the one that is expected is dropped.
    const bool answers = (*far)->state >= IBV_QPS_RTR && (*far)->state <= IBV_QPS_RTS &&
                         there.dest_qp_num == qp.qp_num && there.rq_psn == qp.settings().sq_psn &&
                         is_addressed(**far, qp);
    return answers ? *far : nullptr;
  }

  static ibv_wc_status deliver(const FakeQp& from, const ibv_send_wr& work) {
    if (fabric->forced_ != IBV_WC_SUCCESS) return fabric->forced_;
    FakeQp* const to = peer_of(from);
    if (to == nullptr) return IBV_WC_RETRY_EXC_ERR;
    if (work.opcode == IBV_WR_RDMA_WRITE)
      return to->may(IBV_ACCESS_REMOTE_WRITE) ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR;
    if (work.opcode == IBV_WR_RDMA_READ)
      return to->may(IBV_ACCESS_REMOTE_READ) ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR;
    if (fabric->sends_lost_) return IBV_WC_SUCCESS;
    if (to->receives.empty()) return IBV_WC_RNR_RETRY_EXC_ERR;
    const FakeQp::Receive receive = to->receives.front();
    to->receives.pop_front();
    const std::size_t size = std::min(work.sg_list->length, receive.element.length);
    std::memcpy(reinterpret_cast<void*>(receive.element.addr), reinterpret_cast<void*>(work.sg_list->addr),
                size);
    ibv_wc arrived{};
    arrived.wr_id = receive.id;
    arrived.opcode = IBV_WC_RECV;
    arrived.byte_len = static_cast<std::uint32_t>(size);
    arrived.qp_num = to->qp_num;
    cq_of(to->recv_cq)->push(arrived, now_ns() + fabric->round_trip_ns_ / 2);
    return IBV_WC_SUCCESS;
  }

  static int post_send(ibv_qp* qp, ibv_send_wr* work, ibv_send_wr** bad) {
    const std::lock_guard lock(mutex());
    auto& from = *static_cast<FakeQp*>(qp);
    *bad = work;
    if (from.state != IBV_QPS_RTS) return EINVAL;
    std::uint64_t end = now_ns();
    bool first = true;
    for (; work != nullptr; work = work->next) {
      ibv_wc done{};
      done.wr_id = work->wr_id;
      done.qp_num = qp->qp_num;
      done.status = deliver(from, *work);
      // Without a fence a READ begins with the one before it, and ends with it.
      if (std::exchange(first, false) || (work->send_flags & IBV_SEND_FENCE) != 0)
        end += fabric->round_trip_ns_;
      cq_of(qp->send_cq)->push(done, end);
      if (done.status != IBV_WC_SUCCESS) {
        fail(from, end);
        return 0;
      }
    }
    return 0;
  }

  static void fail(FakeQp& qp, std::uint64_t time) {
    qp.state = IBV_QPS_ERR;
    for (const auto& receive : qp.receives) {
      ibv_wc flushed{};
      flushed.wr_id = receive.id;
      flushed.status = IBV_WC_WR_FLUSH_ERR;
      cq_of(qp.recv_cq)->push(flushed, time);
    }
    qp.receives.clear();
  }

  static int post_recv(ibv_qp* qp, ibv_recv_wr* work, ibv_recv_wr** bad) {
    const std::lock_guard lock(mutex());
    auto& to = *static_cast<FakeQp*>(qp);
    *bad = work;
    if (to.state == IBV_QPS_RESET) return EINVAL;
    if (to.receives.size() >= to.record->made.cap.max_recv_wr) return ENOMEM;
    to.receives.push_back({work->wr_id, *work->sg_list});
    return 0;
  }

  static int poll(ibv_cq* queue, int most, ibv_wc* to) {
    const std::lock_guard lock(mutex());
    FakeAdapter& adapter = adapter_of(queue->context);
    ++adapter.polls;
    if (adapter.broken) return -1;
    FakeCq& cq = *cq_of(queue);
    int count = 0;
    for (; count < most && cq.ready(); ++count, cq.entries.pop_front())
      to[count] = cq.entries.front().completion;
    return count;
  }

  static int arm(ibv_cq* queue, int /*solicited*/) {
    const std::lock_guard lock(mutex());
    if (adapter_of(queue->context).broken) return EIO;
    cq_of(queue)->arm();
    return 0;
  }

  static int query_port(ibv_context* context, std::uint8_t number, ibv_port_attr* to, std::size_t size) {
    const std::lock_guard lock(mutex());
    const FakeAdapter& adapter = adapter_of(context);
    if (number == 0 || number > adapter.ports.size()) return EINVAL;
    const FakePort& port = adapter.ports[number - 1U];
    ibv_port_attr attributes{};
    attributes.state = port.state;
    attributes.max_mtu = IBV_MTU_4096;
    attributes.active_mtu = port.mtu;
    attributes.link_layer = port.link_layer;
    attributes.lid = port.lid;
    attributes.flags = port.flags;
    std::memcpy(to, &attributes, std::min(size, sizeof(attributes)));
    return 0;
  }

  static int query_device_ex(ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex* to,
                             std::size_t) {
    const std::lock_guard lock(mutex());
    to->completion_timestamp_mask = fabric->clock_khz_ == 0 ? 0 : ~std::uint64_t{0};
    to->hca_core_clock = fabric->clock_khz_;
    return 0;
  }

  static FakeCq* make_cq(ibv_context* context, ibv_comp_channel* channel) {
    auto* const made = new FakeCq();
    made->context = context;
    made->channel = channel;
    const std::lock_guard lock(mutex());
    static_cast<FakeChannel*>(channel)->queues.push_back(made);
    return made;
  }

  static ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* wanted) {
    FakeCq* const made = make_cq(context, wanted->channel);
    made->start_poll = [](ibv_cq_ex* cq, ibv_poll_cq_attr*) {
      const std::lock_guard lock(mutex());
      const auto& fake = *static_cast<FakeCq*>(cq);
      if (!fake.ready()) return ENOENT;
      cq->wr_id = fake.entries.front().completion.wr_id;
      cq->status = fake.entries.front().completion.status;
      return 0;
    };
    made->end_poll = [](ibv_cq_ex* cq) {
      const std::lock_guard lock(mutex());
      static_cast<FakeCq*>(cq)->entries.pop_front();
    };
    made->read_completion_ts = [](ibv_cq_ex* cq) {
      const std::lock_guard lock(mutex());
      return stamp(static_cast<FakeCq*>(cq)->entries.front().time);
    };
    made->read_vendor_err = [](ibv_cq_ex*) { return std::uint32_t{0}; };
    return made;
  }

  static ibv_qp* create_qp(ibv_pd* domain, const ibv_qp_init_attr& wanted) {
    const std::lock_guard lock(mutex());
    auto* const made = new FakeQp();
    made->context = domain->context;
    made->send_cq = wanted.send_cq;
    made->recv_cq = wanted.recv_cq;
    made->state = IBV_QPS_RESET;
    made->qp_num = ++fabric->next_qp_;
    made->record = std::make_shared<FakeQpRecord>();
    made->record->device = adapter_of(domain->context).name;
    made->record->made = wanted;
    made->record->domain = domain;
    made->record->number = made->qp_num;
    fabric->records_.push_back(made->record);
    all_qps.push_back(made);
    return made;
  }

  static int modify_qp(FakeQp& qp, const ibv_qp_attr& to, int mask) {
    if ((mask & IBV_QP_AV) != 0) adapter_of(qp.context).connects_blocked.wait(true);
    const std::lock_guard lock(mutex());
    ibv_qp_attr& now = qp.settings();
    if ((mask & IBV_QP_STATE) != 0) qp.state = now.qp_state = to.qp_state;
    if ((mask & IBV_QP_ACCESS_FLAGS) != 0) now.qp_access_flags = to.qp_access_flags;
    if ((mask & IBV_QP_PORT) != 0) now.port_num = to.port_num;
    if ((mask & IBV_QP_AV) != 0) now.ah_attr = to.ah_attr;
    if ((mask & IBV_QP_PATH_MTU) != 0) now.path_mtu = to.path_mtu;
    if ((mask & IBV_QP_DEST_QPN) != 0) now.dest_qp_num = to.dest_qp_num;
    if ((mask & IBV_QP_RQ_PSN) != 0) now.rq_psn = to.rq_psn;
    if ((mask & IBV_QP_SQ_PSN) != 0) now.sq_psn = to.sq_psn;
    if ((mask & IBV_QP_TIMEOUT) != 0) now.timeout = to.timeout;
    if ((mask & IBV_QP_RETRY_CNT) != 0) now.retry_cnt = to.retry_cnt;
    if ((mask & IBV_QP_RNR_RETRY) != 0) now.rnr_retry = to.rnr_retry;
    if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) now.min_rnr_timer = to.min_rnr_timer;
    if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) now.max_rd_atomic = to.max_rd_atomic;
    if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0) now.max_dest_rd_atomic = to.max_dest_rd_atomic;
    return 0;
  }

  static int gid_table(ibv_context* context, ibv_gid_entry* to, std::size_t most) {
    const std::lock_guard lock(mutex());
    const auto& ports = adapter_of(context).ports;
    int count = 0;
    for (std::size_t port = 0; port < ports.size(); ++port)
      for (const FakeGid& gid : ports[port].gids) {
        if (static_cast<std::size_t>(count) == most) return -EINVAL;
        to[count++] = {gid_of(gid.address), gid.index, static_cast<std::uint32_t>(port + 1), gid.type,
                       gid.netdev};
      }
    return count;
  }
};

}  // namespace rdma_exporter::test
