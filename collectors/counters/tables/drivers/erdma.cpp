// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/infiniband/hw/erdma/erdma_verbs.c
#include <array>

#include "collectors/counters/tables/row.h"
#include "collectors/counters/tables/tables.h"

namespace rdma_exporter::collectors::table {
namespace {

constexpr std::array kPort{
    raw_only("tx_reqs_cnt"),  // requests of all operations
    curated("tx_packets_cnt", kPortPackets, kTx),
    curated("tx_bytes_cnt", kPortDataBytes, kTx),
    curated("rx_packets_cnt", kPortPackets, kRx),
    curated("rx_bytes_cnt", kPortDataBytes, kRx),
    // Drops because the function was disabled, or because of the cloud instance's rate limit.
    raw_only("tx_disable_drop_cnt"),
    raw_only("tx_bps_limit_drop_cnt"),
    raw_only("tx_pps_limit_drop_cnt"),
    raw_only("rx_disable_drop_cnt"),
    raw_only("rx_bps_limit_drop_cnt"),
    raw_only("rx_pps_limit_drop_cnt"),
};
static_assert(all_valid(kPort));
static_assert(count_summed(kPort) == 0);

}  // namespace

std::span<const CounterRow> erdma_port() { return kPort; }

}  // namespace rdma_exporter::collectors::table
