// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/infiniband/hw/efa/efa_verbs.c: traffic of the function in the port's counters, administration
// commands in the device's.
#include <array>

#include "collectors/counters/tables/row.h"
#include "collectors/counters/tables/tables.h"

namespace rdma_exporter::collectors::table {
namespace {

constexpr std::array kPort{
    curated("tx_bytes", kPortDataBytes, kTx),
    curated("tx_pkts", kPortPackets, kTx),
    curated("rx_bytes", kPortDataBytes, kRx),
    curated("rx_pkts", kPortPackets, kRx),
    raw_only("rx_drops"),
    // Bytes by operation are parts of tx_bytes and rx_bytes.
    raw_only("send_bytes"),
    curated("send_wrs", kPortRequests, kTxSend),
    raw_only("recv_bytes"),
    curated("recv_wrs", kPortRequests, kRxSend),
    curated("rdma_read_wrs", kPortRequests, kTxRead),
    raw_only("rdma_read_bytes"),
    raw_only("rdma_read_wr_err"),  // fails for any reason, so it is no particular kind of access error
    raw_only("rdma_read_resp_bytes"),
    curated("rdma_write_wrs", kPortRequests, kTxWrite),
    raw_only("rdma_write_bytes"),
    raw_only("rdma_write_wr_err"),
    raw_only("rdma_write_recv_bytes"),
    raw_only("retrans_bytes"),
    curated("retrans_pkts", kPortRetransmittedPackets, kAll),
    curated("retrans_timeout_events", kPortAckTimeouts),
    raw_only("unresponsive_remote_events"),  // similar to exceeded retries, but the connection may recover
    raw_only("impaired_remote_conn_events"),
};
static_assert(all_valid(kPort));
static_assert(count_summed(kPort) == 0);

constexpr std::array kDevice{
    raw_only("submitted_cmds"),     raw_only("completed_cmds"),  raw_only("cmds_err"),
    raw_only("no_completion_cmds"), raw_only("keep_alive_rcvd"), raw_only("alloc_pd_err"),
    raw_only("create_qp_err"),      raw_only("create_cq_err"),   raw_only("reg_mr_err"),
    raw_only("alloc_ucontext_err"), raw_only("create_ah_err"),   raw_only("mmap_err"),
};
static_assert(all_valid(kDevice));

}  // namespace

std::span<const CounterRow> efa_port() { return kPort; }
std::span<const CounterRow> efa_device() { return kDevice; }

}  // namespace rdma_exporter::collectors::table
