// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/verbs.h"

#include <infiniband/verbs.h>
#include <unistd.h>

#include <cerrno>

namespace rdma_exporter::host {
namespace {

using core::os_error;

struct ListFree {
  void operator()(ibv_device** list) const { ibv_free_device_list(list); }
};
struct ContextClose {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};
using Context = std::unique_ptr<ibv_context, ContextClose>;

core::Result<Context> open_device(const std::string& name) {
  int count = 0;
  const std::unique_ptr<ibv_device*, ListFree> list(ibv_get_device_list(&count));
  if (!list) return os_error(errno);
  for (int i = 0; i < count; ++i) {
    ibv_device* device = list.get()[i];
    if (name != ibv_get_device_name(device)) continue;
    // Asked first, because libibverbs tries other paths after EACCES and ends with another error.
    const std::string node = std::string("/dev/infiniband/") + device->dev_name;
    if (::access(node.c_str(), R_OK | W_OK) != 0) return os_error(errno, node);
    errno = 0;
    Context context(ibv_open_device(device));
    if (!context) return os_error(errno != 0 ? errno : EIO, node);
    return context;
  }
  return os_error(ENODEV);
}

// enum ibv_mtu 1..5 is 256..4096 bytes; 0 where the driver does not say.
std::uint32_t mtu_bytes(ibv_mtu mtu) { return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128U << mtu : 0U; }

class LibVerbs : public Verbs {
 public:
  core::Result<PortMtu> port_mtu(const std::string& device, std::uint32_t port) override {
    const auto context = open_device(device);
    if (!context) return tl::unexpected(context.error());
    ibv_port_attr attributes{};
    const int error = ibv_query_port(context->get(), static_cast<std::uint8_t>(port), &attributes);
    if (error != 0) return os_error(error);
    return PortMtu{mtu_bytes(attributes.active_mtu), mtu_bytes(attributes.max_mtu)};
  }
};

}  // namespace

std::unique_ptr<Verbs> make_verbs() { return std::make_unique<LibVerbs>(); }

}  // namespace rdma_exporter::host
