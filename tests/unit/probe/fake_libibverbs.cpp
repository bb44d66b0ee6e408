// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The functions of libibverbs that the probe calls.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/unit/probe/fake_library.h"

#undef ibv_query_port
#undef ibv_reg_mr

namespace {

int event_queue() { return ::eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE); }

}  // namespace

using rdma_exporter::test::FakeLibrary;
namespace fake = rdma_exporter::test;

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
  context.async_fd = event_queue();
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
  made->fd = event_queue();
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
