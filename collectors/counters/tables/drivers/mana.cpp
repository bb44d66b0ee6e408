// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/infiniband/hw/mana/counters.c (6.15 and later)
#include <array>

#include "collectors/counters/tables/row.h"
#include "collectors/counters/tables/tables.h"

namespace rdma_exporter::collectors::table {
namespace {

constexpr std::array kPort{
    curated("requester_timeout", kPortAckTimeouts),
    curated("requester_oos_nak", kPortSequenceNaks, kRx),
    curated("requester_rnr_nak", kPortRnrNaks, kRx),
    curated("responder_rnr_nak", kPortRnrNaks, kTx),
    curated("responder_oos", kPortOutOfSequence),
    curated("responder_dup_request", kPortDuplicateRequests),
    raw_only("dup_rx_requests"),  // similar to the one above; how the two relate is not documented
    curated("requester_implicit_nak", kPortImpliedNaks),
    raw_only("requester_readresp_psn_mismatch"),
    curated("nak_inv_req", kPortAccessErrors, kRequesterInvalid),
    curated("nak_access_error", kPortAccessErrors, kRequesterAccess),
    curated("nak_opp_error", kPortAccessErrors, kRequesterOperation),
    raw_only("nak_inv_read"),
    curated("responder_local_len_error", kPortAccessErrors, kResponderLength),
    curated("requestor_local_prot_error", kPortAccessErrors, kRequesterLocalProtection),
    curated("responder_rem_access_error", kPortAccessErrors, kResponderAccess),
    curated("responder_local_qp_error", kPortAccessErrors, kResponderLocalOperation),
    raw_only("responder_malformed_wqe"),
    raw_only("general_hw_error"),
    raw_only("total_fatal_error"),
    curated("requester_rnr_nak_retries_exceeded", kPortRetriesExceeded, kRnr),
    curated("requester_retries_exceeded", kPortRetriesExceeded, kTransport),
    curated("received_cnps", kPortCnpPackets, kRx),
    raw_only("num_qps_congested"),  // a gauge, see hw_table.cpp
    raw_only("num_qps_recovered"),
    raw_only("rate_inc_events"),
    raw_only("current_rate"),  // a gauge in a unit of the firmware
    curated("tx_bytes", kPortDataBytes, kTx),
    curated("rx_bytes", kPortDataBytes, kRx),
    curated("tx_packets", kPortPackets, kTx),
    curated("rx_packets", kPortPackets, kRx),
    curated("rx_send_requests", kPortRequests, kRxSend),
    curated("rx_write_requests", kPortRequests, kRxWrite),
    curated("rx_read_requests", kPortRequests, kRxRead),
};
static_assert(all_valid(kPort));
static_assert(count_summed(kPort) == 0);

// Counters of all ports together. received_cnp_count would count the ports' received_cnps again.
constexpr std::array kDevice{
    raw_only("sent_cnps"),           raw_only("received_ecns"),       raw_only("received_cnp_count"),
    raw_only("qp_congested_events"), raw_only("qp_recovered_events"), raw_only("rate_inc_events"),
};
static_assert(all_valid(kDevice));

}  // namespace

std::span<const CounterRow> mana_port() { return kPort; }
std::span<const CounterRow> mana_device() { return kDevice; }

}  // namespace rdma_exporter::collectors::table
