// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/config/gid_table.h"

#include "collectors/attr_text.h"
#include "host/topology/gid_table.h"

namespace rdma_exporter::collectors {

GidFacts read_gid_table(host::HostFs& sysfs, const std::string& port_path, core::JobRun& run) {
  bool whole = true;
  const auto gids = host::read_gids(sysfs, port_path, [&](const core::Error& error) {
    whole = whole && means_absent(error);
    count_unless_absent(error, run);
  });
  GidFacts facts;
  if (!gids) {
    count_unless_absent(gids.error(), run);
    return facts;
  }
  GidFacts::Counts counts;
  for (const host::Gid& gid : *gids) {
    if (gid.type == "RoCE v2") ++counts.roce_v2;
    if (gid.type == "IB/RoCE v1") ++counts.ib_or_roce_v1;
    if (facts.netdev.empty())
      facts.netdev = attr_text(sysfs, port_path + "/gid_attrs/ndevs/" + gid.slot, run);
  }
  if (whole) facts.counts = counts;
  return facts;
}

}  // namespace rdma_exporter::collectors
