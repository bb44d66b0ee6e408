// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/archive/extra_files.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace rdma_exporter::record {
namespace {

// Files of a PCI function and of each bridge above it (Documentation/ABI/testing/sysfs-bus-pci).
constexpr std::array kPciFiles{
    "vendor",         "device",         "subsystem_vendor",    "subsystem_device",   "class",
    "revision",       "numa_node",      "local_cpulist",       "current_link_speed", "current_link_width",
    "max_link_speed", "max_link_width", "aer_dev_correctable", "aer_dev_nonfatal",   "aer_dev_fatal",
    "sriov_numvfs",   "power_state"};
// Files of a network interface that the kernel answers by itself. `speed`, `duplex` and `carrier` wait for
// the RTNL lock, which a hanging driver may hold.
constexpr std::array kNetdevFiles{"mtu", "operstate", "flags", "tx_queue_len", "type"};
constexpr std::array kIrqFiles{"smp_affinity_list", "effective_affinity_list", "node"};
constexpr std::array kModules{"ib_core",        "ib_uverbs", "ib_umad",   "rdma_ucm", "rdma_cm",
                              "mlx5_core",      "mlx5_ib",   "mlx4_core", "mlx4_ib",  "bnxt_re",
                              "irdma",          "hfi1",      "qedr",      "efa",      "erdma",
                              "hns_roce_hw_v2", "mana_ib",   "iw_cxgb4",  "rdma_rxe", "siw"};
constexpr std::array kProcFiles{"self/limits", "1/limits", "sys/kernel/numa_balancing", "uptime"};
// One line per vector, one column per processor: 1 MB with 2000 vectors on 64 processors.
constexpr std::size_t kInterruptsBytes = 4UL << 20U;
// Vectors of one function; a ConnectX has slightly more than there are processors.
constexpr std::size_t kMaxVectors = 512;

using Names = std::vector<std::string>;

Names list(host::HostFs& fs, const std::string& path) { return fs.list(path).value_or(Names()); }

template <std::size_t N>
void read_all(host::HostFs& fs, const std::string& folder, const std::array<const char*, N>& names) {
  for (const char* name : names) (void)fs.read(folder + "/" + name);
}

void read_interrupts_of(host::Host& host, const std::string& function) {
  std::size_t vectors = 0;
  for (const std::string& irq : list(*host.sysfs, function + "/msi_irqs")) {
    if (++vectors > kMaxVectors) return;
    read_all(*host.procfs, "irq/" + irq, kIrqFiles);
  }
}

void read_pci_path(host::Host& host, const std::string& device) {
  const auto function = host.sysfs->canonical(device);
  if (!function) return;
  read_interrupts_of(host, *function);
  // "devices/pci0000:00/0000:00:05.0": up to the root, which is not a function.
  for (std::string path = *function; path.find("/pci") < path.rfind('/'); path.erase(path.rfind('/'))) {
    read_all(*host.sysfs, path, kPciFiles);
    (void)host.sysfs->link_name(path + "/driver");
  }
}

void read_large(host::HostFs& fs, const std::string& path) {
  const auto file = fs.open(path);
  if (!file) return;
  std::string buffer(kInterruptsBytes, '\0');
  (void)(*file)->read(buffer);
}

}  // namespace

void read_extra_files(host::Host& host) {
  for (const std::string& name : list(*host.sysfs, "class/infiniband"))
    read_pci_path(host, "class/infiniband/" + name + "/device");
  for (const std::string& name : list(*host.sysfs, "class/net")) {
    // Virtual interfaces have no device; a host full of containers has thousands of them.
    if (!host.sysfs->exists("class/net/" + name + "/device")) continue;
    read_all(*host.sysfs, "class/net/" + name, kNetdevFiles);
  }
  for (const char* module : kModules) {
    const std::string folder = std::string("module/") + module;
    if (!host.sysfs->exists(folder)) continue;
    read_all(*host.sysfs, folder, std::array{"version", "srcversion", "taint"});
    for (const std::string& parameter : list(*host.sysfs, folder + "/parameters"))
      (void)host.sysfs->read(folder + "/parameters/" + parameter);
  }
  for (const char* name : kProcFiles) (void)host.procfs->read(name);
  read_large(*host.procfs, "interrupts");
}

}  // namespace rdma_exporter::record
