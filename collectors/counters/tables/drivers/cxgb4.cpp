// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/infiniband/hw/cxgb4/provider.c: TCP statistics of the whole adapter, all ports together, including
// other TCP offload. Raw, because the curated families are per port.
#include <array>

#include "collectors/counters/tables/row.h"
#include "collectors/counters/tables/tables.h"

namespace rdma_exporter::collectors::table {
namespace {

constexpr std::array kDevice{
    raw_only("ip4InSegs"),      raw_only("ip4OutSegs"),     raw_only("ip6InSegs"),  raw_only("ip6OutSegs"),
    raw_only("ip4RetransSegs"), raw_only("ip6RetransSegs"), raw_only("ip4OutRsts"), raw_only("ip6OutRsts"),
};
static_assert(all_valid(kDevice));

}  // namespace

std::span<const CounterRow> cxgb4_device() { return kDevice; }

}  // namespace rdma_exporter::collectors::table
