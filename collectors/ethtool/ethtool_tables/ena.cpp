// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/net/ethernet/amazon/ena/ena_ethtool.c: the Ethernet counterpart of EFA. Traffic that exceeds an
// allowance of the instance is queued or dropped, so these are not discards.
#include <array>

#include "collectors/ethtool/ethtool_tables/row.h"
#include "collectors/ethtool/ethtool_tables/tables.h"

namespace rdma_exporter::collectors::ethtool_table {
namespace {

constexpr std::array kRows{
    raw_only("bw_in_allowance_exceeded"),
    raw_only("bw_out_allowance_exceeded"),
    raw_only("pps_allowance_exceeded"),
    raw_only("conntrack_allowance_exceeded"),
    raw_only("linklocal_allowance_exceeded"),
    raw_only("conntrack_allowance_available"),  // a gauge, like the next two
    raw_only("ena_srd_mode"),
    raw_only("ena_srd_resource_utilization"),
};
static_assert(all_valid(kRows));
static_assert(count_addends(kRows) == 0);

}  // namespace

std::span<const CounterRow> ena() { return kRows; }

}  // namespace rdma_exporter::collectors::ethtool_table
