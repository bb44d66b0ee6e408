// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/infiniband/hw/bnxt_re/hw_counters.c. After one failed firmware query the driver stops querying and
// repeats old values, without an error, until it is reloaded.
#include <array>

#include "collectors/counters/tables/row.h"
#include "collectors/counters/tables/tables.h"

namespace rdma_exporter::collectors::table {
namespace {

constexpr std::array kPort{
    // Current and highest number of objects (gauges, see hw_table.cpp).
    raw_only("active_pds"),
    raw_only("active_ahs"),
    raw_only("active_qps"),
    raw_only("active_rc_qps"),
    raw_only("active_ud_qps"),
    raw_only("active_srqs"),
    raw_only("active_cqs"),
    raw_only("active_mrs"),
    raw_only("active_mws"),
    raw_only("watermark_pds"),
    raw_only("watermark_ahs"),
    raw_only("watermark_qps"),
    raw_only("watermark_rc_qps"),
    raw_only("watermark_ud_qps"),
    raw_only("watermark_srqs"),
    raw_only("watermark_cqs"),
    raw_only("watermark_mrs"),
    raw_only("watermark_mws"),
    raw_only("resize_cq_cnt"),

    // Every chip has these four. The roce_only and roce_good counters of newer chips count the same traffic
    // again; adding them would count it two or three times.
    curated("rx_pkts", kPortPackets, kRx),
    curated("tx_pkts", kPortPackets, kTx),
    curated("rx_bytes", kPortDataBytes, kRx),
    curated("tx_bytes", kPortDataBytes, kTx),
    raw_only("tx_roce_only_pkts"),
    raw_only("tx_roce_only_bytes"),
    raw_only("rx_roce_only_pkts"),
    raw_only("rx_roce_only_bytes"),
    raw_only("rx_roce_good_pkts"),
    raw_only("rx_roce_good_bytes"),

    raw_only("recoverable_errors"),  // the driver fills it from the number of broadcast packets sent
    raw_only("tx_roce_errors"),
    raw_only("tx_roce_discards"),
    raw_only("rx_roce_errors"),
    raw_only("rx_roce_discards"),

    curated("to_retransmits", kPortAckTimeouts),
    curated("seq_err_naks_rcvd", kPortSequenceNaks, kRx),
    curated("max_retry_exceeded", kPortRetriesExceeded, kTransport),
    curated("rnr_naks_rcvd", kPortRnrNaks, kRx),
    raw_only("missing_resp"),  // similar to an implied NAK, but not known to be the same
    raw_only("unrecoverable_err"),
    raw_only("bad_resp_err"),
    curated("local_qp_op_err", kPortAccessErrors, kRequesterLocalOperation),
    curated("local_protection_err", kPortAccessErrors, kRequesterLocalProtection),
    raw_only("mem_mgmt_op_err"),
    curated("remote_invalid_req_err", kPortAccessErrors, kRequesterInvalid),
    curated("remote_access_err", kPortAccessErrors, kRequesterAccess),
    curated("remote_op_err", kPortAccessErrors, kRequesterOperation),
    curated("dup_req", kPortDuplicateRequests),
    curated("oos_drop_count", kPortOutOfSequence),

    // Responder: bad key or no permission, by reason and direction of the memory access (rx: written, tx:
    // read). A request fails for one reason only, so the sum is the number of refused requests.
    curated("res_rx_invalid_rkey", kPortAccessErrors, kResponderAccess),
    curated("res_rx_domain_err", kPortAccessErrors, kResponderAccess),
    curated("res_rx_no_perm", kPortAccessErrors, kResponderAccess),
    curated("res_rx_range_err", kPortAccessErrors, kResponderAccess),
    curated("res_tx_invalid_rkey", kPortAccessErrors, kResponderAccess),
    curated("res_tx_domain_err", kPortAccessErrors, kResponderAccess),
    curated("res_tx_no_perm", kPortAccessErrors, kResponderAccess),
    curated("res_tx_range_err", kPortAccessErrors, kResponderAccess),
    curated("res_invalid_dup_rkey", kPortAccessErrors, kResponderAccess),
    // Responder: an operation code that is unexpected or not supported.
    curated("res_opcode_err", kPortAccessErrors, kResponderInvalid),
    curated("res_unsup_opcode", kPortAccessErrors, kResponderInvalid),
    curated("res_length_mismatch", kPortAccessErrors, kResponderLength),
    // Responder: errors that do not clearly fit one of the kinds.
    raw_only("res_exceed_max"),
    raw_only("res_exceeds_wqe"),
    raw_only("res_unaligned_atomic"),
    raw_only("res_rem_inv_err"),
    raw_only("res_irrq_oflow"),
    raw_only("res_mem_err"),
    raw_only("res_srq_err"),
    raw_only("res_cmp_err"),
    raw_only("res_wqe_format_err"),
    raw_only("res_cq_load_err"),
    raw_only("res_srq_load_err"),
    raw_only("res_tx_pci_err"),
    raw_only("res_rx_pci_err"),

    curated("tx_atomic_req", kPortRequests, kTxAtomic),
    curated("tx_read_req", kPortRequests, kTxRead),
    raw_only("tx_read_resp"),  // answers, not requests
    curated("tx_write_req", kPortRequests, kTxWrite),
    curated("tx_send_req", kPortRequests, kTxSend),
    curated("rx_atomic_req", kPortRequests, kRxAtomic),
    curated("rx_read_req", kPortRequests, kRxRead),
    raw_only("rx_read_resp"),
    curated("rx_write_req", kPortRequests, kRxWrite),
    curated("rx_send_req", kPortRequests, kRxSend),
    curated("rx_out_of_buffer", kPortReceiveBufferMissing),

    curated("tx_cnp_pkts", kPortCnpPackets, kTx),
    curated("rx_cnp_pkts", kPortCnpPackets, kRx),
    curated("rx_ecn_marked_pkts", kPortEcnMarked),
    raw_only("pacing_reschedule"),
    raw_only("pacing_complete"),
    raw_only("pacing_alerts"),
    raw_only("db_fifo_register"),
};
static_assert(all_valid(kPort));
static_assert(count_summed(kPort) == 9 + 2,
              "res_*x_* and res_invalid_dup_rkey; res_opcode_err, res_unsup_opcode");

}  // namespace

std::span<const CounterRow> bnxt_re_port() { return kPort; }

}  // namespace rdma_exporter::collectors::table
