// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <charconv>

#include "core/text/kernel_text.h"
#include "facts/facts.h"
#include "facts/gather.h"
#include "facts/gather_parts.h"
#include "host/netlink/kept_netlink.h"
#include "host/netlink/netlink.h"
#include "host/netlink/nldev/nldev.h"
#include "host/topology/driver.h"

namespace rdma_exporter::facts {
namespace {

// Classes of include/linux/pci_ids.h: 0x0200 Ethernet, 0x0207 InfiniBand, 0x0208 fabric.
bool is_network_class(std::string_view text) {
  return text.starts_with("0x0200") || text.starts_with("0x0207") || text.starts_with("0x0208");
}

// Drivers whose adapters are all RDMA devices; those of Intel and Broadcom are often plain network cards.
bool is_for_rdma(host::Driver driver) {
  switch (driver) {
    case host::Driver::mlx5:
    case host::Driver::mlx4:
    case host::Driver::efa:
    case host::Driver::erdma:
    case host::Driver::hfi1:
    case host::Driver::qib:
      return true;
    default:
      return false;
  }
}

// Whether an adapter without a driver is one of Mellanox, by its class and vendor.
bool looks_for_rdma(host::HostFs& sysfs, const std::string& path) {
  constexpr std::string_view kMellanox = "0x15b3";
  return is_network_class(sysfs.read(path + "/class").value_or("")) &&
         sysfs.read(path + "/vendor").value_or("") == kMellanox;
}

// Opens no file of a function that has a driver, because its device may be excluded.
std::vector<AdapterFacts> read_adapters(host::HostFs& sysfs) {
  std::vector<AdapterFacts> adapters;
  for (const std::string& address : sysfs.list("bus/pci/devices").value_or(std::vector<std::string>())) {
    const std::string path = "bus/pci/devices/" + address;
    AdapterFacts facts;
    facts.address = address;
    facts.driver = sysfs.link_name(path + "/driver").value_or("");
    facts.is_vf = sysfs.exists(path + "/physfn");
    facts.has_device = sysfs.exists(path + "/infiniband");
    const bool passed_through = is_passed_through(facts.driver);
    const bool for_rdma = facts.driver.empty() || passed_through
                              ? looks_for_rdma(sysfs, path)
                              : is_for_rdma(host::driver_from_parent(facts.driver));
    // A virtual function without a driver is reserved for a virtual machine.
    facts.for_rdma = for_rdma && !facts.is_vf;
    if (facts.for_rdma || facts.has_device) adapters.push_back(std::move(facts));
  }
  return adapters;
}

// "Max locked memory         8388608              8388608              bytes" (fs/proc/base.c
// proc_pid_limits): name, soft limit, hard limit.
core::Result<std::optional<std::uint64_t>> locked_memory(std::string_view text) {
  constexpr std::string_view kName = "Max locked memory";
  const std::size_t at = text.find(kName);
  if (at == std::string_view::npos) return core::parse_error();
  std::string_view rest = text.substr(at + kName.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.starts_with("unlimited")) return std::nullopt;
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), bytes);
  if (error != std::errc{}) return core::parse_error();
  return bytes;
}

// "32768\t60999" (net/ipv4/sysctl_net_ipv4.c ipv4_local_port_range).
core::Result<std::pair<std::uint32_t, std::uint32_t>> port_range(std::string_view text) {
  const std::size_t gap = text.find_first_of("\t ");
  if (gap == std::string_view::npos) return core::parse_error();
  const auto first = core::parse_integer(text.substr(0, gap));
  const auto last = core::parse_integer(text.substr(gap));
  constexpr std::int64_t kMaxPort = 65535;
  if (!first || !last || *first < 0 || *last > kMaxPort || *first > *last) return core::parse_error();
  return std::pair(static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last));
}

core::Result<std::uint64_t> count_of_list(std::string_view text) {
  return core::parse_number_list(text).map([](const core::NumberList& list) { return list.count(); });
}

Fact<std::optional<bool>> read_namespace_mode(host::Host& host) {
  // Opening the socket would load the kernel's RDMA core if that is a module.
  if (!host.sysfs->exists("class/infiniband")) return unread();
  const auto netlink = host::kept_netlink(host, host::NetlinkProtocol::rdma);
  if (!netlink) return no_kernel("RDMA netlink");
  return host::ask<std::optional<bool>>(*netlink, host::nldev::kSysGet, {},
                                        host::nldev::parse_shared_namespaces);
}

Fact<std::vector<host::DeviceNode>> read_nodes(const host::Host& host) {
  if (!host.device_nodes) return no_kernel("device files");
  return host.device_nodes();
}

}  // namespace

SystemFacts gather_system(host::Host& host) {
  SystemFacts facts;
  host::HostFs& procfs = *host.procfs;
  facts.host_name = procfs.read("sys/kernel/hostname");
  facts.kernel_release = procfs.read("sys/kernel/osrelease");
  facts.kernel_version = procfs.read("sys/kernel/version");
  // An ib_core that was built separately from the kernel (OFED) is marked O.
  facts.out_of_tree_core =
      host.sysfs->read("module/ib_core/taint").value_or("").find('O') != std::string::npos;
  facts.numa_nodes = read_fact(*host.sysfs, "devices/system/node/online", count_of_list);
  facts.locked_memory = read_fact(procfs, "self/limits", locked_memory);
  facts.nodes = read_nodes(host);
  facts.shared_namespaces = read_namespace_mode(host);
  facts.local_ports = read_fact(procfs, "sys/net/ipv4/ip_local_port_range", port_range);
  facts.reserved_ports = read_fact(procfs, "sys/net/ipv4/ip_local_reserved_ports", core::parse_number_list);
  facts.adapters = read_adapters(*host.sysfs);
  return facts;
}

}  // namespace rdma_exporter::facts
