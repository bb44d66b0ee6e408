// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "tests/unit/probe/fake_verbs.h"

#include <arpa/inet.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>

#undef ibv_query_port
#undef ibv_reg_mr

namespace rdma_exporter::test {
namespace {

FakeFabric* fabric = nullptr;

void set_name(char (&to)[IBV_SYSFS_NAME_MAX], const std::string& name) { name.copy(to, sizeof(to) - 1); }

ibv_gid gid_of(const std::string& address) {
  ibv_gid gid{};
  if (::inet_pton(AF_INET6, address.c_str(), gid.raw) == 1) return gid;
  gid.raw[10] = gid.raw[11] = 0xff;
  if (::inet_pton(AF_INET, address.c_str(), gid.raw + 12) != 1) throw std::invalid_argument(address);
  return gid;
}

int event_queue() { return ::eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE); }

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

class FakeAdapter : public ibv_device {
 public:
  FakeAdapter(const std::string& called, std::vector<FakePort> at) : ibv_device{}, ports(std::move(at)) {
    set_name(name, called);
    set_name(dev_name, "uverbs_of_" + called);
    node_type = IBV_NODE_CA;
    transport_type = IBV_TRANSPORT_IB;
  }
  std::vector<FakePort> ports;
  bool listed = true;
  bool broken = false;
  unsigned polls = 0;
  unsigned contexts = 0;
  unsigned unacknowledged = 0;
  std::deque<ibv_async_event> events{};
  std::set<int> event_fds{};
};

namespace {

struct FakeContext {
  verbs_context extended{};
  FakeAdapter* adapter = nullptr;
};

FakeAdapter& adapter_of(ibv_context* context) { return *static_cast<FakeAdapter*>(context->device); }

struct FakeCq : ibv_cq_ex {
  struct Entry {
    ibv_wc completion;
    std::uint64_t stamp;
  };
  FakeCq() : ibv_cq_ex{} {}
  std::deque<Entry> entries{};
  bool armed = false;
  unsigned delivered = 0;
  unsigned acknowledged = 0;

  void push(const ibv_wc& completion, std::uint64_t stamp) {
    entries.push_back({completion, stamp});
    if (armed) ::eventfd_write(channel->fd, 1);
    armed = false;
  }
};

FakeCq* cq_of(ibv_cq* cq) { return static_cast<FakeCq*>(reinterpret_cast<ibv_cq_ex*>(cq)); }

struct FakeQp : ibv_qp {
  FakeQp() : ibv_qp{} {}
  std::shared_ptr<FakeQpRecord> record{};
  struct Receive {
    std::uint64_t id;
    ibv_sge element;
  };
  std::deque<Receive> receives{};

  ibv_qp_attr& settings() const { return record->attributes; }
  bool may(unsigned access) const { return (settings().qp_access_flags & access) != 0; }
};

struct FakeChannel : ibv_comp_channel {
  FakeChannel() : ibv_comp_channel{} {}
  std::vector<FakeCq*> queues{};
};

std::vector<FakeQp*> all_qps;  // that exist; with the fabric's mutex held

}  // namespace

// What the library does, with the fabric's mutex held.
struct FakeLibrary {
  static std::recursive_mutex& mutex() { return fabric->mutex_; }
  static auto& adapters() { return fabric->adapters_; }
  static void offence(const std::string& what) { fabric->offences_ += what + "; "; }
  static std::uint64_t stamp() { return now_ns() / 1000 * fabric->clock_khz_ / 1000; }

  static FakeQp* peer_of(const FakeQp& qp) {
    const auto far = std::find_if(all_qps.begin(), all_qps.end(),
                                  [&](FakeQp* other) { return other->qp_num == qp.settings().dest_qp_num; });
    if (far == all_qps.end()) return nullptr;
    const ibv_qp_attr& there = (*far)->settings();
    // A packet with another number than the one that is expected is dropped.
    const bool answers = (*far)->state >= IBV_QPS_RTR && (*far)->state <= IBV_QPS_RTS &&
                         there.dest_qp_num == qp.qp_num && there.rq_psn == qp.settings().sq_psn;
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
    cq_of(to->recv_cq)->push(arrived, stamp());
    return IBV_WC_SUCCESS;
  }

  static int post_send(ibv_qp* qp, ibv_send_wr* work, ibv_send_wr** bad) {
    const std::lock_guard lock(mutex());
    auto& from = *static_cast<FakeQp*>(qp);
    *bad = work;
    if (from.state != IBV_QPS_RTS) return EINVAL;
    std::uint64_t last = 0;
    for (; work != nullptr; work = work->next) {
      ibv_wc done{};
      done.wr_id = work->wr_id;
      done.qp_num = qp->qp_num;
      done.status = deliver(from, *work);
      // Without a fence a READ begins with the one before it, and ends with it.
      const bool waits = last == 0 || (work->send_flags & IBV_SEND_FENCE) != 0;
      const std::uint64_t begin = now_ns();
      while (waits && now_ns() - begin < 20'000) {
      }
      last = waits ? stamp() : last;
      cq_of(qp->send_cq)->push(done, last);
      if (done.status != IBV_WC_SUCCESS) {
        fail(from);
        return 0;
      }
    }
    return 0;
  }

  static void fail(FakeQp& qp) {
    qp.state = IBV_QPS_ERR;
    for (const auto& receive : qp.receives) {
      ibv_wc flushed{};
      flushed.wr_id = receive.id;
      flushed.status = IBV_WC_WR_FLUSH_ERR;
      cq_of(qp.recv_cq)->push(flushed, 0);
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
    auto& entries = cq_of(queue)->entries;
    int count = 0;
    for (; count < most && !entries.empty(); ++count, entries.pop_front())
      to[count] = entries.front().completion;
    return count;
  }

  static int arm(ibv_cq* queue, int /*solicited*/) {
    const std::lock_guard lock(mutex());
    if (adapter_of(queue->context).broken) return EIO;
    cq_of(queue)->armed = true;
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
      const auto& entries = static_cast<FakeCq*>(cq)->entries;
      if (entries.empty()) return ENOENT;
      cq->wr_id = entries.front().completion.wr_id;
      cq->status = entries.front().completion.status;
      return 0;
    };
    made->end_poll = [](ibv_cq_ex* cq) {
      const std::lock_guard lock(mutex());
      static_cast<FakeCq*>(cq)->entries.pop_front();
    };
    made->read_completion_ts = [](ibv_cq_ex* cq) {
      const std::lock_guard lock(mutex());
      return static_cast<FakeCq*>(cq)->entries.front().stamp;
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

FakeFabric::FakeFabric() { fabric = this; }
FakeFabric::~FakeFabric() { fabric = nullptr; }

void FakeFabric::add(const std::string& name, std::vector<FakePort> ports) {
  const std::lock_guard lock(mutex_);
  adapters_.push_back(std::make_unique<FakeAdapter>(name, std::move(ports)));
}

namespace {

FakeAdapter& find(const std::vector<std::unique_ptr<FakeAdapter>>& adapters, const std::string& name) {
  for (const auto& adapter : adapters)
    if (name == adapter->name) return *adapter;
  throw std::invalid_argument(name);
}

}  // namespace

void FakeFabric::set_port(const std::string& name, std::uint8_t port, const FakePort& settings) {
  const std::lock_guard lock(mutex_);
  find(adapters_, name).ports.at(port - 1U) = settings;
}
void FakeFabric::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  find(adapters_, name).listed = false;
}
void FakeFabric::event(const std::string& name, ibv_event_type type, std::uint8_t port) {
  const std::lock_guard lock(mutex_);
  FakeAdapter& adapter = find(adapters_, name);
  ibv_async_event event{};
  event.event_type = type;
  event.element.port_num = port;
  adapter.events.push_back(event);
  for (const int fd : adapter.event_fds) ::eventfd_write(fd, 1);
}
void FakeFabric::break_adapter(const std::string& name) {
  const std::lock_guard lock(mutex_);
  find(adapters_, name).broken = true;
}
void FakeFabric::fail_with(ibv_wc_status status) {
  const std::lock_guard lock(mutex_);
  forced_ = status;
}
void FakeFabric::lose_sends(bool lost) {
  const std::lock_guard lock(mutex_);
  sends_lost_ = lost;
}
void FakeFabric::set_clock(std::uint64_t khz) {
  const std::lock_guard lock(mutex_);
  clock_khz_ = khz;
}
std::vector<FakeQpRecord> FakeFabric::queue_pairs() const {
  const std::lock_guard lock(mutex_);
  std::vector<FakeQpRecord> all;
  for (const auto& record : records_) all.push_back(*record);
  return all;
}
unsigned FakeFabric::polls(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return find(adapters_, name).polls;
}
unsigned FakeFabric::open_contexts() const {
  const std::lock_guard lock(mutex_);
  unsigned open = 0;
  for (const auto& adapter : adapters_) open += adapter->contexts;
  return open;
}
std::string FakeFabric::offences() const {
  const std::lock_guard lock(mutex_);
  return offences_;
}

}  // namespace rdma_exporter::test

using rdma_exporter::test::FakeLibrary;
namespace fake = rdma_exporter::test;

// The functions of the library that the probe calls.
extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  auto** const list = static_cast<ibv_device**>(std::calloc(64, sizeof(ibv_device*)));
  *count = 0;
  if (fake::fabric == nullptr) return list;
  const std::lock_guard lock(FakeLibrary::mutex());
  for (const auto& adapter : FakeLibrary::adapters())
    if (adapter->listed) list[(*count)++] = adapter.get();
  return list;
}
void ibv_free_device_list(ibv_device** list) { std::free(list); }
const char* ibv_get_device_name(ibv_device* device) { return device->name; }
__be64 ibv_get_device_guid(ibv_device* /*device*/) { return 1; }

ibv_context* ibv_open_device(ibv_device* device) {
  const std::lock_guard lock(FakeLibrary::mutex());
  auto* const made = new fake::FakeContext();
  made->adapter = static_cast<fake::FakeAdapter*>(device);
  verbs_context& extended = made->extended;
  extended.sz = sizeof(extended);
  extended.query_port = FakeLibrary::query_port;
  extended.query_device_ex = FakeLibrary::query_device_ex;
  extended.create_cq_ex = FakeLibrary::create_cq_ex;
  ibv_context& context = extended.context;
  context.device = device;
  context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  context.async_fd = fake::event_queue();
  context.ops.poll_cq = FakeLibrary::poll;
  context.ops.req_notify_cq = FakeLibrary::arm;
  context.ops.post_send = FakeLibrary::post_send;
  context.ops.post_recv = FakeLibrary::post_recv;
  ++made->adapter->contexts;
  made->adapter->event_fds.insert(context.async_fd);
  return &context;
}
int ibv_close_device(ibv_context* context) {
  const std::lock_guard lock(FakeLibrary::mutex());
  auto& adapter = fake::adapter_of(context);
  if (adapter.unacknowledged != 0) FakeLibrary::offence("an event was not acknowledged");
  --adapter.contexts;
  adapter.event_fds.erase(context->async_fd);
  ::close(context->async_fd);
  delete reinterpret_cast<fake::FakeContext*>(verbs_get_ctx(context));
  return 0;
}
int ibv_query_device(ibv_context* context, ibv_device_attr* to) {
  *to = {};
  to->phys_port_cnt = static_cast<std::uint8_t>(fake::adapter_of(context).ports.size());
  return 0;
}
ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* to, std::size_t most,
                             std::uint32_t /*flags*/, std::size_t /*entry_size*/) {
  return FakeLibrary::gid_table(context, to, most);
}
int ibv_get_async_event(ibv_context* context, ibv_async_event* to) {
  eventfd_t one = 0;
  if (::eventfd_read(context->async_fd, &one) != 0) return -1;
  const std::lock_guard lock(FakeLibrary::mutex());
  auto& adapter = fake::adapter_of(context);
  *to = adapter.events.front();
  adapter.events.pop_front();
  ++adapter.unacknowledged;
  return 0;
}
void ibv_ack_async_event(ibv_async_event* /*event*/) {
  const std::lock_guard lock(FakeLibrary::mutex());
  for (const auto& adapter : FakeLibrary::adapters())
    if (adapter->unacknowledged != 0) --adapter->unacknowledged;
}

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  auto* const made = new ibv_pd{};
  made->context = context;
  return made;
}
int ibv_dealloc_pd(ibv_pd* domain) {
  delete domain;
  return 0;
}
ibv_mr* ibv_reg_mr(ibv_pd* domain, void* begin, std::size_t size, int /*access*/) {
  auto* const made = new ibv_mr{};
  made->pd = domain;
  made->addr = begin;
  made->length = size;
  return made;
}
ibv_mr* ibv_reg_mr_iova2(ibv_pd* domain, void* begin, std::size_t size, std::uint64_t /*iova*/,
                         unsigned access) {
  return ibv_reg_mr(domain, begin, size, static_cast<int>(access));
}
int ibv_dereg_mr(ibv_mr* region) {
  delete region;
  return 0;
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  auto* const made = new fake::FakeChannel();
  made->context = context;
  made->fd = fake::event_queue();
  return made;
}
int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  ::close(channel->fd);
  delete static_cast<fake::FakeChannel*>(channel);
  return 0;
}
ibv_cq* ibv_create_cq(ibv_context* context, int /*depth*/, void* /*own*/, ibv_comp_channel* channel,
                      int /*vector*/) {
  return ibv_cq_ex_to_cq(FakeLibrary::make_cq(context, channel));
}
int ibv_destroy_cq(ibv_cq* queue) {
  const std::lock_guard lock(FakeLibrary::mutex());
  fake::FakeCq* const cq = fake::cq_of(queue);
  if (cq->delivered != cq->acknowledged) FakeLibrary::offence("a completion event was not acknowledged");
  std::erase(static_cast<fake::FakeChannel*>(cq->channel)->queues, cq);
  delete cq;
  return 0;
}
int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** queue, void** own) {
  eventfd_t one = 0;
  if (::eventfd_read(channel->fd, &one) != 0) return -1;
  const std::lock_guard lock(FakeLibrary::mutex());
  fake::FakeCq* const cq = static_cast<fake::FakeChannel*>(channel)->queues.front();
  ++cq->delivered;
  *queue = ibv_cq_ex_to_cq(cq);
  *own = nullptr;
  return 0;
}
void ibv_ack_cq_events(ibv_cq* queue, unsigned count) {
  const std::lock_guard lock(FakeLibrary::mutex());
  fake::cq_of(queue)->acknowledged += count;
}

ibv_qp* ibv_create_qp(ibv_pd* domain, ibv_qp_init_attr* wanted) {
  return FakeLibrary::create_qp(domain, *wanted);
}
int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* to, int mask) {
  return FakeLibrary::modify_qp(*static_cast<fake::FakeQp*>(qp), *to, mask);
}
int ibv_destroy_qp(ibv_qp* qp) {
  const std::lock_guard lock(FakeLibrary::mutex());
  auto* const gone = static_cast<fake::FakeQp*>(qp);
  gone->record->exists = false;
  std::erase(fake::all_qps, gone);
  delete gone;
  return 0;
}

}  // extern "C"
