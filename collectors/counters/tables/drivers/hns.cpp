// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/infiniband/hw/hns/hns_roce_main.c: HIP09 and later, physical functions only.
#include <array>

#include "collectors/counters/tables/row.h"
#include "collectors/counters/tables/tables.h"

namespace rdma_exporter::collectors::table {
namespace {

constexpr std::array kPort{
    curated("rx_pkt", kPortPackets, kRx),
    curated("tx_pkt", kPortPackets, kTx),
    // Parts of the two above, by transport.
    raw_only("rx_rc_pkt"),
    raw_only("rx_uc_pkt"),
    raw_only("rx_ud_pkt"),
    raw_only("rx_xrc_pkt"),
    raw_only("tx_rc_pkt"),
    raw_only("tx_uc_pkt"),
    raw_only("tx_ud_pkt"),
    raw_only("tx_xrc_pkt"),
    raw_only("rx_err_pkt"),
    raw_only("tx_err_pkt"),
    curated("rx_cnp_pkt", kPortCnpPackets, kRx),
    curated("tx_cnp_pkt", kPortCnpPackets, kTx),
    // Failed look-ups of memory keys and inbound reads, in packets; the cause is unknown.
    raw_only("trp_get_mpt_err_pkt"),
    raw_only("trp_get_irrl_err_pkt"),
    raw_only("ecn_doorbell"),
    raw_only("rx_buffer"),
    raw_only("trp_rx_sof"),
    raw_only("cq_cqe"),
    raw_only("cq_poe"),
    raw_only("cq_notify"),
};
static_assert(all_valid(kPort));
static_assert(count_summed(kPort) == 0);

}  // namespace

std::span<const CounterRow> hns_port() { return kPort; }

}  // namespace rdma_exporter::collectors::table
