// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <charconv>

#include "core/text/kernel_text.h"
#include "facts/gather_parts.h"
#include "host/topology/pci.h"

namespace rdma_exporter::facts {
namespace {

constexpr std::size_t kMaxVectors = 4096;

void read_speed(host::HostFs& sysfs, const std::string& path, PcieEnd& end) {
  end.speed = read_fact(sysfs, path + "/current_link_speed", core::parse_pci_speed).value_or(std::nullopt);
  end.width = read_fact(sysfs, path + "/current_link_width", core::parse_pci_width).value_or(std::nullopt);
}

PcieEnd read_end(host::HostFs& sysfs, const std::string& path) {
  PcieEnd end;
  end.address = path.substr(path.rfind('/') + 1);
  read_speed(sysfs, path, end);
  end.max_speed = read_fact(sysfs, path + "/max_link_speed", core::parse_pci_speed).value_or(std::nullopt);
  end.max_width = read_fact(sysfs, path + "/max_link_width", core::parse_pci_width).value_or(std::nullopt);
  return end;
}

// Functions on the path come in pairs, one for each end of a link: the adapter and the port above it; then,
// if there is a switch, its upstream port and the port above that. Between the two ports of a switch there is
// no link.
std::vector<PcieLink> read_links(host::HostFs& sysfs, const std::vector<std::string>& functions,
                                 const PcieEnd& adapter) {
  std::vector<PcieLink> links;
  for (std::size_t i = 0; i < functions.size(); i += 2) {
    PcieLink& link =
        links.emplace_back(PcieLink{i == 0 ? adapter : read_end(sysfs, functions[i]), std::nullopt});
    if (i + 1 < functions.size()) link.above = read_end(sysfs, functions[i + 1]);
  }
  return links;
}

// The effective affinity says where the vector goes now (since Linux 4.13); it is empty until the vector is
// used.
Fact<core::NumberList> read_affinity(host::HostFs& procfs, const std::string& irq) {
  const auto effective =
      read_fact(procfs, "irq/" + irq + "/effective_affinity_list", core::parse_number_list);
  if (effective && !effective->empty()) return effective;
  return read_fact(procfs, "irq/" + irq + "/smp_affinity_list", core::parse_number_list);
}

Fact<std::vector<Vector>> read_vectors(host::Host& host, const std::string& path) {
  const auto names = host.sysfs->list(path + "/msi_irqs");
  if (!names) return tl::unexpected(names.error());
  std::vector<Vector> vectors;
  for (const std::string& name : *names) {
    Vector vector;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), vector.irq);
    if (error != std::errc{} || end != name.data() + name.size()) continue;
    const auto cpus = read_affinity(*host.procfs, name);
    if (!cpus && core::is_errno(cpus.error(), ENOENT)) continue;  // the driver has not requested it
    if (!cpus) return tl::unexpected(cpus.error());
    vector.cpus = *cpus;
    vectors.push_back(std::move(vector));
    if (vectors.size() == kMaxVectors) break;
  }
  return vectors;
}

void read_place(host::Host& host, const std::string& path, DeviceCache& cache, const Wanted& wanted,
                PciFacts& facts) {
  facts.numa_node = cache.numa_node(wanted).and_then(core::parse_integer);
  if (!facts.numa_node) facts.numa_node.error().context = path + "/numa_node";
  facts.local_cpus = read_fact(*host.sysfs, path + "/local_cpulist", core::parse_number_list);
  facts.vectors = read_vectors(host, path);
}

}  // namespace

std::optional<KnownPci> gather_pci(host::Host& host, DeviceCache& cache, const AdapterEnd& adapter,
                                   const Wanted& wanted) {
  const host::PciFunction& function = adapter.function;
  if (function.path.empty()) return std::nullopt;
  KnownPci pci{.facts = {}, .path = function.path, .path_to_root = host::pci_path_to_root(adapter.path)};
  PciFacts facts;
  facts.address = function.address;
  facts.is_vf = function.is_vf();
  facts.links = read_links(*host.sysfs, pci.path_to_root, adapter.link);
  read_place(host, function.path, cache, wanted, facts);
  pci.facts = std::make_shared<const PciFacts>(std::move(facts));
  return pci;
}

void refresh_pci(host::Host& host, DeviceCache& cache, const AdapterEnd& adapter, const Wanted& wanted,
                 KnownPci& pci) {
  PciFacts facts = *pci.facts;
  auto function = pci.path_to_root.begin();
  for (PcieLink& link : facts.links) {
    if (function == pci.path_to_root.begin()) {
      link.below = adapter.link;
    } else {
      read_speed(*host.sysfs, *function, link.below);
    }
    ++function;
    if (link.above) read_speed(*host.sysfs, *function++, *link.above);
  }
  read_place(host, pci.path, cache, wanted, facts);
  pci.facts = std::make_shared<const PciFacts>(std::move(facts));
}

}  // namespace rdma_exporter::facts
