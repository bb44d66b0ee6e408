// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/gid_table.h"

#include "collectors/attr_text.h"
#include "core/kernel_text.h"

namespace rdma_exporter::collectors {

GidFacts read_gid_table(host::HostFs& sysfs, const std::string& port_path, core::JobRun& run) {
  GidFacts facts;
  GidFacts::Counts counts;
  bool whole = true;
  const auto failed = [&](const core::Error& error) {
    whole = whole && means_absent(error);
    count_unless_absent(error, run);
  };
  const auto slots = sysfs.list(port_path + "/gids");
  if (!slots) {
    failed(slots.error());
    return facts;
  }
  for (const std::string& slot : *slots) {
    const auto gid = sysfs.read(port_path + "/gids/" + slot);
    if (!gid) failed(gid.error());
    if (!gid || core::is_zero_gid(*gid)) continue;
    const auto type = sysfs.read(port_path + "/gid_attrs/types/" + slot);
    if (!type) failed(type.error());
    if (!type) continue;
    if (*type == "RoCE v2") ++counts.roce_v2;
    if (*type == "IB/RoCE v1") ++counts.ib_or_roce_v1;
    if (facts.netdev.empty()) facts.netdev = attr_text(sysfs, port_path + "/gid_attrs/ndevs/" + slot, run);
  }
  if (whole) facts.counts = counts;
  return facts;
}

}  // namespace rdma_exporter::collectors
