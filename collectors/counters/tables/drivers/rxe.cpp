// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/infiniband/sw/rxe/rxe_hw_counters.c (Soft-RoCE)
#include <array>

#include "collectors/counters/tables/row.h"
#include "collectors/counters/tables/tables.h"

namespace rdma_exporter::collectors::table {
namespace {

constexpr std::array kPort{
    curated("sent_pkts", kPortPackets, kTx),
    curated("rcvd_pkts", kPortPackets, kRx),
    curated("duplicate_request", kPortDuplicateRequests),
    curated("out_of_seq_request", kPortOutOfSequence),
    curated("rcvd_rnr_err", kPortRnrNaks, kRx),
    curated("send_rnr_err", kPortRnrNaks, kTx),
    curated("rcvd_seq_err", kPortSequenceNaks, kRx),
    raw_only("ack_deferred"),
    curated("retry_exceeded_err", kPortRetriesExceeded, kTransport),
    curated("retry_rnr_exceeded_err", kPortRetriesExceeded, kRnr),
    raw_only("completer_retry_err"),  // retries started, for any reason; neither packets nor timeouts
    raw_only("send_err"),
    // Counts each time the port went down, for any reason; the PMA field of that name counts failed link
    // recoveries.
    raw_only("link_downed"),
    curated("rdma_sends", kPortRequests, kTxSend),
    curated("rdma_recvs", kPortRequests, kRxSend),
};
static_assert(all_valid(kPort));
static_assert(count_summed(kPort) == 0);

}  // namespace

std::span<const CounterRow> rxe_port() { return kPort; }

}  // namespace rdma_exporter::collectors::table
