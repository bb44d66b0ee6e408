// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/device/gid_summary.h"

#include "collectors/attr_text.h"

namespace rdma_exporter::collectors {

GidSummary read_gid_summary(host::HostFs& sysfs, const std::string& port_path, host::GidTable& table,
                            core::JobRun& run) {
  bool whole = true;
  const auto gids = table.read(sysfs, [&](const core::Error& error) {
    whole = whole && means_absent(error);
    count_unless_absent(error, run);
  });
  GidSummary summary;
  if (!gids) {
    count_unless_absent(gids.error(), run);
    return summary;
  }
  GidSummary::Counts counts;
  for (const host::Gid& gid : *gids) {
    if (gid.type == "RoCE v2") ++counts.roce_v2;
    if (gid.type == "IB/RoCE v1") ++counts.ib_or_roce_v1;
    if (summary.netdev.empty())
      summary.netdev = attr_text(sysfs, port_path + "/gid_attrs/ndevs/" + gid.slot, run);
  }
  if (whole) summary.counts = counts;
  return summary;
}

}  // namespace rdma_exporter::collectors
