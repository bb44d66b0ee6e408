// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/net/ethernet/microsoft/mana/mana_ethtool.c: a function of a cloud host's adapter, without pauses,
// which only the cloud provider sees. While the interface is down the driver returns zeros.
#include <array>

#include "collectors/ethtool/ethtool_tables/row.h"
#include "collectors/ethtool/ethtool_tables/tables.h"

namespace rdma_exporter::collectors::ethtool_table {
namespace {

constexpr std::array kRows{
    curated("hc_rx_discards_no_wqe", kNetdevDiscards, kRxNoReceiveBuffer),
};
static_assert(all_valid(kRows));
static_assert(count_addends(kRows) == 0);

}  // namespace

std::span<const CounterRow> mana() { return kRows; }

}  // namespace rdma_exporter::collectors::ethtool_table
