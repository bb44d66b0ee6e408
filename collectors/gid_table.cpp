// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/gid_table.h"

#include <vector>

#include "core/kernel_text.h"

namespace rdma_exporter::collectors {

GidFacts read_gid_table(host::HostFs& sysfs, const std::string& port_path) {
  GidFacts facts;
  for (const std::string& slot : sysfs.list(port_path + "/gids").value_or(std::vector<std::string>{})) {
    const auto gid = sysfs.read(port_path + "/gids/" + slot);
    if (!gid || core::is_zero_gid(*gid)) continue;
    const auto type = sysfs.read(port_path + "/gid_attrs/types/" + slot);
    if (!type) continue;
    if (*type == "RoCE v2") ++facts.roce_v2;
    if (*type == "IB/RoCE v1") ++facts.ib_or_roce_v1;
    if (facts.netdev.empty()) facts.netdev = sysfs.read(port_path + "/gid_attrs/ndevs/" + slot).value_or("");
  }
  return facts;
}

}  // namespace rdma_exporter::collectors
