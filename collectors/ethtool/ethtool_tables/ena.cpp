// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/net/ethernet/amazon/ena/ena_ethtool.c: the Ethernet sibling of EFA. What exceeds an allowance of
// the instance is queued or dropped, so that these are no discards.
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
    raw_only("conntrack_allowance_available"),  // a gauge, as the next two
    raw_only("ena_srd_mode"),
    raw_only("ena_srd_resource_utilization"),
};
static_assert(all_valid(kRows));
static_assert(count_addends(kRows) == 0);

}  // namespace

std::span<const CounterRow> ena() { return kRows; }

}  // namespace rdma_exporter::collectors::ethtool_table
