// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/verbs/device.h"

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/text/kernel_text.h"
#include "probe/rdma/cm/verbs_cm.h"

namespace rdma_exporter::probe {
namespace {

using core::os_error;

struct ListFree {
  void operator()(ibv_device** list) const { ibv_free_device_list(list); }
};
using DeviceList = std::unique_ptr<ibv_device*, ListFree>;

int errno_or(int otherwise) { return errno != 0 ? errno : otherwise; }

core::Result<ibv_context*> open_context(const std::string& name) {
  int count = 0;
  const DeviceList list(ibv_get_device_list(&count));
  if (!list) return os_error(errno);
  for (int i = 0; i < count; ++i) {
    ibv_device* device = list.get()[i];
    if (name != ibv_get_device_name(device)) continue;
    errno = 0;
    if (ibv_context* context = ibv_open_device(device)) return context;
    const int error = errno_or(EIO);
    // libibverbs tries other paths after EACCES and then returns another error.
    const std::string node = std::string("/dev/infiniband/") + device->dev_name;
    if (::access(node.c_str(), R_OK | W_OK) != 0) return os_error(errno, node);
    return os_error(error, node);
  }
  return os_error(ENODEV, name);
}

DeviceEvent describe(const ibv_async_event& event) {
  using Kind = DeviceEvent::Kind;
  const auto port = static_cast<std::uint8_t>(event.element.port_num);
  switch (event.event_type) {
    case IBV_EVENT_PORT_ACTIVE:
      return {Kind::port_up, "PORT_ACTIVE", port};
    case IBV_EVENT_PORT_ERR:
      return {Kind::port_down, "PORT_ERR", port};
    case IBV_EVENT_GID_CHANGE:
      return {Kind::address, "GID_CHANGE", port};
    case IBV_EVENT_LID_CHANGE:
      return {Kind::lid, "LID_CHANGE", port};
    case IBV_EVENT_PKEY_CHANGE:
      return {Kind::address, "PKEY_CHANGE", port};
    case IBV_EVENT_SM_CHANGE:
      return {Kind::address, "SM_CHANGE", port};
    case IBV_EVENT_CLIENT_REREGISTER:
      return {Kind::address, "CLIENT_REREGISTER", port};
    case IBV_EVENT_DEVICE_FATAL:
      return {Kind::fatal, "DEVICE_FATAL"};
    case IBV_EVENT_CQ_ERR:
      return {Kind::fatal, "CQ_ERR"};
    case IBV_EVENT_QP_FATAL:
      return {Kind::other, "QP_FATAL"};
    case IBV_EVENT_QP_REQ_ERR:
      return {Kind::other, "QP_REQ_ERR"};
    case IBV_EVENT_QP_ACCESS_ERR:
      return {Kind::other, "QP_ACCESS_ERR"};
    case IBV_EVENT_COMM_EST:
      return {Kind::other, "COMM_EST"};
    default:
      return {Kind::other, "OTHER"};
  }
}

// The device's directory in sysfs links to its function: /sys/devices/pci0000:00/.../0000:0c:00.0.
std::string pci_address_of(const std::filesystem::path& folder) {
  std::error_code error;
  const auto function = std::filesystem::read_symlink(folder / "device", error).filename().string();
  return std::count(function.begin(), function.end(), ':') == 2 ? function : std::string();
}

std::string first_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

}  // namespace

core::Result<std::shared_ptr<VerbsDevice>> VerbsDevice::open(const std::string& name) {
  const auto context = open_context(name);
  if (!context) return tl::unexpected(context.error());
  std::shared_ptr<VerbsDevice> device(new VerbsDevice(name, *context));
  ibv_device_attr attributes{};
  if (const int error = ibv_query_device(*context, &attributes); error != 0) return os_error(error, name);
  device->ports_ = attributes.phys_port_cnt;
  device->pci_address_ = pci_address_of((*context)->device->ibdev_path);
  const int flags = ::fcntl(device->event_fd(), F_GETFL);
  if (flags < 0 || ::fcntl(device->event_fd(), F_SETFL, flags | O_NONBLOCK) < 0) return os_error(errno, name);
  for (ibv_pd** domain : {&device->requester_, &device->responder_}) {
    errno = 0;
    *domain = ibv_alloc_pd(*context);
    if (*domain == nullptr) return os_error(errno_or(ENOMEM), name + ": protection domain");
  }
  return device;
}

VerbsDevice::~VerbsDevice() {
  for (ibv_pd* domain : {requester_, responder_})
    if (domain != nullptr) ibv_dealloc_pd(domain);
  ibv_close_device(context_);
}

core::Result<PortFacts> VerbsDevice::port(std::uint8_t port) const {
  ibv_port_attr attributes{};
  if (const int error = ibv_query_port(context_, port, &attributes); error != 0)
    return os_error(error, name_);
  PortFacts facts;
  const bool infiniband = attributes.link_layer == IBV_LINK_LAYER_INFINIBAND ||
                          (attributes.link_layer == IBV_LINK_LAYER_UNSPECIFIED && attributes.lid != 0);
  facts.link = iwarp() ? LinkLayer::iwarp : infiniband ? LinkLayer::infiniband : LinkLayer::ethernet;
  facts.active = attributes.state == IBV_PORT_ACTIVE;
  facts.lid = infiniband ? attributes.lid : std::uint16_t{0};
  facts.mtu = static_cast<std::uint8_t>(attributes.active_mtu);
  facts.grh_required = (attributes.flags & IBV_QPF_GRH_REQUIRED) != 0;
  return facts;
}

core::Result<std::vector<GidEntry>> VerbsDevice::gids(std::uint8_t port) const {
  if (iwarp()) return iwarp_addresses(port);
  // The kernel counts the bytes of the buffer in 16 bits and answers EINVAL to a larger one.
  constexpr std::size_t kMaxEntries = 0xffff / sizeof(ibv_gid_entry);
  std::vector<ibv_gid_entry> table(kMaxEntries);
  const ssize_t count = ibv_query_gid_table(context_, table.data(), table.size(), 0);
  if (count < 0) return os_error(static_cast<int>(-count), name_);
  std::vector<GidEntry> entries;
  for (ssize_t i = 0; i < count; ++i) {
    const ibv_gid_entry& from = table[static_cast<std::size_t>(i)];
    if (from.port_num != port) continue;
    GidEntry entry;
    std::memcpy(entry.gid.bytes.data(), from.gid.raw, sizeof(from.gid.raw));
    entry.index = from.gid_index;
    // An address vector has 8 bits for the index, but tables may be larger.
    entry.usable =
        (from.gid_type == IBV_GID_TYPE_ROCE_V2 || from.gid_type == IBV_GID_TYPE_IB) && from.gid_index <= 0xff;
    entry.netdev = from.ndev_ifindex;
    entries.push_back(entry);
  }
  return entries;
}

core::Result<std::vector<GidEntry>> VerbsDevice::iwarp_addresses(std::uint8_t port) const {
  const auto addresses = managed_addresses(*this, port);
  if (!addresses) return tl::unexpected(addresses.error());
  std::vector<GidEntry> entries;
  for (const Gid& address : *addresses) entries.push_back({.gid = address, .usable = true});
  return entries;
}

std::optional<AdapterClock> VerbsDevice::clock() const {
  ibv_device_attr_ex attributes{};
  if (ibv_query_device_ex(context_, nullptr, &attributes) != 0) return std::nullopt;
  return usable_clock(attributes.completion_timestamp_mask, attributes.hca_core_clock);
}

core::NumberList VerbsDevice::local_cpus() const {
  const std::filesystem::path folder(context_->device->ibdev_path);
  return core::parse_number_list(first_line(folder / "device/local_cpulist")).value_or(core::NumberList());
}

bool VerbsDevice::iwarp() const { return context_->device->transport_type == IBV_TRANSPORT_IWARP; }

int VerbsDevice::event_fd() const { return context_->async_fd; }

std::optional<DeviceEvent> VerbsDevice::next_event() {
  ibv_async_event event{};
  if (ibv_get_async_event(context_, &event) != 0) return std::nullopt;
  const DeviceEvent described = describe(event);
  ibv_ack_async_event(&event);  // at once, because destroying the queue pair waits for it
  return described;
}

std::vector<std::string> verbs_device_names() {
  int count = 0;
  const DeviceList list(ibv_get_device_list(&count));
  std::vector<std::string> names;
  for (int i = 0; list && i < count; ++i) names.emplace_back(ibv_get_device_name(list.get()[i]));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace rdma_exporter::probe
