// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/topology/gid_table.h"

#include "core/text/kernel_text.h"

namespace rdma_exporter::host {

core::Result<std::vector<Gid>> read_gids(HostFs& sysfs, const std::string& port_path,
                                         const std::function<void(const core::Error&)>& on_error) {
  std::vector<Gid> table;
  const auto slots = sysfs.list(port_path + "/gids");
  if (!slots) return tl::unexpected(slots.error());
  for (const std::string& slot : *slots) {
    auto gid = sysfs.read(port_path + "/gids/" + slot);
    if (!gid) on_error(gid.error());
    if (!gid || core::is_zero_gid(*gid)) continue;
    auto type = sysfs.read(port_path + "/gid_attrs/types/" + slot);
    if (!type) on_error(type.error());
    if (type) table.push_back({slot, std::move(*gid), std::move(*type)});
  }
  return table;
}

}  // namespace rdma_exporter::host
