// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/verbs/verbs.h"

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <limits>

#include "host/fs/host_fs.h"

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

// The kernel's name of it now: libibverbs goes on with the one that it saw first, also after a rename (44.0,
// same_sysfs_dev() goes by the index alone).
std::string current_name(const ibv_device& device) {
  std::ifstream file(std::string(device.dev_path) + "/ibdev");
  std::string name;
  return std::getline(file, name) ? name : std::string(device.name);
}

core::Result<Context> open_device(const std::string& name) {
  int count = 0;
  const std::unique_ptr<ibv_device*, ListFree> list(ibv_get_device_list(&count));
  if (!list) return os_error(errno);
  for (int i = 0; i < count; ++i) {
    ibv_device* device = list.get()[i];
    if (name != current_name(*device)) continue;
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

AsyncEvent async_event(const ibv_async_event& event) {
  const auto port = static_cast<std::uint32_t>(event.element.port_num);
  switch (event.event_type) {
    case IBV_EVENT_PORT_ACTIVE:
      return {AsyncEventType::port_active, port};
    case IBV_EVENT_PORT_ERR:
      return {AsyncEventType::port_err, port};
    case IBV_EVENT_GID_CHANGE:
      return {AsyncEventType::gid_change, port};
    case IBV_EVENT_LID_CHANGE:
      return {AsyncEventType::lid_change, port};
    case IBV_EVENT_PKEY_CHANGE:
      return {AsyncEventType::pkey_change, port};
    case IBV_EVENT_SM_CHANGE:
      return {AsyncEventType::sm_change, port};
    case IBV_EVENT_CLIENT_REREGISTER:
      return {AsyncEventType::client_reregister, port};
    case IBV_EVENT_DEVICE_FATAL:
      return {AsyncEventType::device_fatal, 0};
    default:
      return {AsyncEventType::other, 0};  // newer than this list
  }
}

class LibAsyncEvents : public AsyncEvents {
 public:
  explicit LibAsyncEvents(Context context)
      : context_(std::move(context)), node_(context_->device->dev_name) {}

  int fd() const override { return context_->async_fd; }
  const std::string& node() const override { return node_; }

  core::Result<std::optional<AsyncEvent>> next() override {
    ibv_async_event event;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by the call
    errno = 0;
    if (ibv_get_async_event(context_.get(), &event) != 0) {
      if (errno == EAGAIN || errno == EINTR) return std::nullopt;
      return os_error(errno != 0 ? errno : EIO);
    }
    ibv_ack_async_event(&event);
    return async_event(event);
  }

 private:
  Context context_;
  std::string node_;
};

// The fields are int; a driver that has no limit may say -1.
std::uint32_t limit(int value) { return value > 0 ? static_cast<std::uint32_t>(value) : 0U; }

class LibVerbs : public Verbs {
 public:
  core::Result<PortMtu> port_mtu(const std::string& device, std::uint32_t port) override {
    // ibv_query_port takes eight bits, and would tell of another port.
    if (port > std::numeric_limits<std::uint8_t>::max()) return os_error(EOVERFLOW);
    const auto context = open_device(device);
    if (!context) return tl::unexpected(context.error());
    ibv_port_attr attributes{};
    const int error = ibv_query_port(context->get(), static_cast<std::uint8_t>(port), &attributes);
    if (error != 0) return os_error(error);
    return PortMtu{mtu_bytes(attributes.active_mtu), mtu_bytes(attributes.max_mtu)};
  }

  core::Result<std::unique_ptr<AsyncEvents>> async_events(const std::string& device) override {
    auto context = open_device(device);
    if (!context) return tl::unexpected(context.error());
    const int flags = ::fcntl((*context)->async_fd, F_GETFL);
    if (flags < 0 || ::fcntl((*context)->async_fd, F_SETFL, flags | O_NONBLOCK) != 0) return os_error(errno);
    return std::make_unique<LibAsyncEvents>(std::move(*context));
  }

  core::Result<DeviceLimits> device_limits(const std::string& device) override {
    const auto context = open_device(device);
    if (!context) return tl::unexpected(context.error());
    ibv_device_attr attributes{};
    if (const int error = ibv_query_device(context->get(), &attributes); error != 0) return os_error(error);
    return DeviceLimits{limit(attributes.max_qp), limit(attributes.max_cq), limit(attributes.max_mr),
                        limit(attributes.max_pd), limit(attributes.max_srq)};
  }
};

}  // namespace

bool means_no_verbs(const core::Error& error) {
  return core::is_errno(error, ENODEV) || core::is_errno(error, EOPNOTSUPP);
}

std::unique_ptr<Verbs> make_verbs() { return std::make_unique<LibVerbs>(); }

core::Result<std::vector<DeviceNode>> device_nodes() {
  const std::string folder = "/dev/infiniband";
  struct ::stat info {};
  if (::stat(folder.c_str(), &info) != 0) return core::os_error(errno, folder);
  const bool open_to_all = (info.st_mode & S_IXOTH) != 0;
  const auto names = make_host_fs(folder)->list(".");
  if (!names) return tl::unexpected(names.error());
  std::vector<DeviceNode> nodes;
  for (const std::string& name : *names) {
    if (name != "rdma_cm" && !name.starts_with("uverbs")) continue;
    if (::stat((folder + "/" + name).c_str(), &info) != 0) continue;  // went in between
    const auto may = [&](mode_t bits) { return (info.st_mode & bits) == bits; };
    nodes.push_back({name, open_to_all && may(S_IROTH | S_IWOTH), may(S_IRGRP | S_IWGRP)});
  }
  return nodes;
}

}  // namespace rdma_exporter::host
