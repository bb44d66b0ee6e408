// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The functions of libibverbs that this program calls, found when they are called first. libibverbs can be
// neither static (its providers are plugins of exactly its own version) nor needed (without rdma-core the
// program would not start, though it can do without: the MTU, events and limits are missing, as for a device
// that has no provider).
#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <cerrno>

#undef ibv_query_port
#undef ibv_reg_mr

namespace {

// Stays loaded: its providers have threads and handlers of their own.
void* library() {
  static void* const handle = ::dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  return handle;
}

// The function of that version: a later one may have a different function of that name.
void* find(const char* name, const char* version) {
  void* const handle = library();
  return handle == nullptr ? nullptr : ::dlvsym(handle, name, version);
}

// What a call without the library answers.
template <typename Answer>
Answer missing(Answer answer) {
  errno = ENODEV;
  return answer;
}

}  // namespace

// NOLINTBEGIN(cppcoreguidelines-macro-usage,bugprone-macro-parentheses,bugprone-reserved-identifier): names
// and lists of parameters are what a template cannot take
#define FORWARD(ANSWER, NAME, VERSION, PARAMETERS, ARGUMENTS, MISSING)                               \
  extern "C" ANSWER NAME PARAMETERS {                                                                \
    static const auto function = reinterpret_cast<decltype(&NAME)>(find(#NAME, "IBVERBS_" VERSION)); \
    return function == nullptr ? MISSING : function ARGUMENTS;                                       \
  }

// clang-format off
FORWARD(ibv_device**, ibv_get_device_list, "1.1", (int* count), (count), missing<ibv_device**>(nullptr))
FORWARD(void, ibv_free_device_list, "1.1", (ibv_device** list), (list), void())
FORWARD(const char*, ibv_get_device_name, "1.1", (ibv_device* device), (device), missing(""))
FORWARD(__be64, ibv_get_device_guid, "1.1", (ibv_device* device), (device), missing<__be64>(0))
FORWARD(ibv_context*, ibv_open_device, "1.1", (ibv_device* device), (device), missing<ibv_context*>(nullptr))
FORWARD(int, ibv_close_device, "1.1", (ibv_context* context), (context), missing(-1))
FORWARD(int, ibv_query_device, "1.1", (ibv_context* context, ibv_device_attr* attributes), (context, attributes),
        missing(ENODEV))
FORWARD(int, ibv_query_port, "1.1", (ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* attributes),
        (context, port, attributes), missing(ENODEV))
FORWARD(ssize_t, _ibv_query_gid_table, "1.11",
        (ibv_context* context, ibv_gid_entry* entries, std::size_t count, std::uint32_t flags, std::size_t size),
        (context, entries, count, flags, size), missing<ssize_t>(-ENODEV))
FORWARD(int, ibv_get_async_event, "1.1", (ibv_context* context, ibv_async_event* event), (context, event), missing(-1))
FORWARD(void, ibv_ack_async_event, "1.1", (ibv_async_event* event), (event), void())
FORWARD(ibv_pd*, ibv_alloc_pd, "1.1", (ibv_context* context), (context), missing<ibv_pd*>(nullptr))
FORWARD(int, ibv_dealloc_pd, "1.1", (ibv_pd* domain), (domain), missing(ENODEV))
FORWARD(ibv_mr*, ibv_reg_mr, "1.1", (ibv_pd* domain, void* start, std::size_t size, int access),
        (domain, start, size, access), missing<ibv_mr*>(nullptr))
FORWARD(int, ibv_dereg_mr, "1.1", (ibv_mr* region), (region), missing(ENODEV))
FORWARD(ibv_comp_channel*, ibv_create_comp_channel, "1.0", (ibv_context* context), (context),
        missing<ibv_comp_channel*>(nullptr))
FORWARD(int, ibv_destroy_comp_channel, "1.0", (ibv_comp_channel* channel), (channel), missing(ENODEV))
FORWARD(ibv_cq*, ibv_create_cq, "1.1",
        (ibv_context* context, int size, void* owner, ibv_comp_channel* channel, int vector),
        (context, size, owner, channel, vector), missing<ibv_cq*>(nullptr))
FORWARD(int, ibv_destroy_cq, "1.1", (ibv_cq* queue), (queue), missing(ENODEV))
FORWARD(int, ibv_get_cq_event, "1.1", (ibv_comp_channel* channel, ibv_cq** queue, void** owner),
        (channel, queue, owner), missing(-1))
FORWARD(void, ibv_ack_cq_events, "1.1", (ibv_cq* queue, unsigned count), (queue, count), void())
FORWARD(ibv_qp*, ibv_create_qp, "1.1", (ibv_pd* domain, ibv_qp_init_attr* attributes), (domain, attributes),
        missing<ibv_qp*>(nullptr))
FORWARD(int, ibv_modify_qp, "1.1", (ibv_qp* pair, ibv_qp_attr* attributes, int mask), (pair, attributes, mask),
        missing(ENODEV))
FORWARD(int, ibv_destroy_qp, "1.1", (ibv_qp* pair), (pair), missing(ENODEV))
// clang-format on
// NOLINTEND(cppcoreguidelines-macro-usage,bugprone-macro-parentheses,bugprone-reserved-identifier)
