// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/topology/pci.h"

#include <string_view>

namespace rdma_exporter::host {
namespace {

bool all_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

// "DDDD:BB:dd.f"; the domain may have more than four digits (VMD).
bool is_pci_address(std::string_view name) {
  if (name.size() < 12) return false;
  const std::string_view tail = name.substr(name.size() - 8);  // ":BB:dd.f"
  return all_hex(name.substr(0, name.size() - 8)) && tail[0] == ':' && all_hex(tail.substr(1, 2)) &&
         tail[3] == ':' && all_hex(tail.substr(4, 2)) && tail[6] == '.' && all_hex(tail.substr(7));
}

std::vector<std::string> pci_path_to_root(const std::string& path) {
  std::vector<std::string> functions;
  for (std::string rest = path; !rest.empty();) {
    const std::size_t slash = rest.rfind('/');
    if (is_pci_address(slash == std::string::npos ? rest : rest.substr(slash + 1))) functions.push_back(rest);
    rest.resize(slash == std::string::npos ? 0 : slash);
  }
  return functions;
}

PciFunction find_pci_function(HostFs& sysfs, const std::string& device_path) {
  PciFunction pci;
  std::string path = sysfs.canonical(device_path).value_or("");
  while (!path.empty()) {
    const std::size_t slash = path.rfind('/');
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (is_pci_address(name)) {
      pci.path = path;
      pci.address = name;
      pci.physfn = sysfs.link_name(path + "/physfn").value_or("");
      break;
    }
    path.resize(slash == std::string::npos ? 0 : slash);
  }
  return pci;
}

}  // namespace rdma_exporter::host
