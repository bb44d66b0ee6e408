// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/infiniband/hw/mlx5/counters.c: queue counters of this function (32 bits, a big-endian word of
// QUERY_Q_COUNTER), congestion counters of the port (64 bits, summed over the ports of a LAG), PPCNT (64
// bits).
#include <algorithm>
#include <array>
#include <cstddef>

#include "collectors/counters/tables/row.h"
#include "collectors/counters/tables/tables.h"

namespace rdma_exporter::collectors::table {
namespace {

constexpr CounterRow q(std::string_view raw, const core::MetricDesc& family, std::string_view labels = {}) {
  return curated(raw, family, labels, 32);
}
constexpr CounterRow q_raw(std::string_view raw) { return raw_only(raw, 32); }

constexpr std::string_view kSlowRestart = R"(kind="restart")";
constexpr std::string_view kSlowRestartCnp = R"(kind="cnp")";
constexpr std::string_view kSlowRestartTransition = R"(kind="transition")";

// In switchdev mode the ports are representors, which have only these counters, spelled vport_*.
constexpr bool is_other_spelling(std::string_view raw) { return raw.starts_with("vport_"); }

constexpr std::array kPort{
    q("rx_write_requests", kPortRequests, kRxWrite),
    q("rx_read_requests", kPortRequests, kRxRead),
    q("rx_atomic_requests", kPortRequests, kRxAtomic),
    q_raw("rx_dct_connect"),
    q("out_of_buffer", kPortReceiveBufferMissing),
    q("out_of_sequence", kPortOutOfSequence),
    q("duplicate_request", kPortDuplicateRequests),
    q("rnr_nak_retry_err", kPortRnrNaks, kRx),
    q("packet_seq_err", kPortSequenceNaks, kRx),
    q("implied_nak_seq_err", kPortImpliedNaks),
    q("local_ack_timeout_err", kPortAckTimeouts),
    q("resp_local_length_error", kPortAccessErrors, kResponderLength),
    // Adapters report *_cqe_error as flushed completions plus the others. As a label of one family, flushed
    // ones would count twice in a sum, so they have a family of their own.
    q("resp_cqe_error", kPortCqeErrors, kResponder),
    q("req_cqe_error", kPortCqeErrors, kRequester),
    q("req_remote_invalid_request", kPortAccessErrors, kRequesterInvalid),
    q("req_remote_access_errors", kPortAccessErrors, kRequesterAccess),
    q("resp_remote_access_errors", kPortAccessErrors, kResponderAccess),
    q("resp_cqe_flush_error", kPortCqeFlushErrors, kResponder),
    q("req_cqe_flush_error", kPortCqeFlushErrors, kRequester),
    q("req_transport_retries_exceeded", kPortRetriesExceeded, kTransport),
    q("req_rnr_retries_exceeded", kPortRetriesExceeded, kRnr),
    q("roce_adp_retrans", kPortRetransmittedPackets, kAdaptive),
    q_raw("roce_adp_retrans_to"),  // timeouts within adaptive retransmission, not those of
                                   // local_ack_timeout_err
    q("roce_slow_restart", kPortSlowRestarts, kSlowRestart),
    q("roce_slow_restart_cnps", kPortSlowRestarts, kSlowRestartCnp),
    q("roce_slow_restart_trans", kPortSlowRestarts, kSlowRestartTransition),

    // A received CNP is either handled or ignored; their sum is all received CNPs.
    curated("rp_cnp_handled", kPortCnpPackets, kRx),
    curated("rp_cnp_ignored", kPortCnpPackets, kRx),
    curated("rp_cnp_ignored", kPortCnpIgnored),
    curated("np_cnp_sent", kPortCnpPackets, kTx),
    curated("np_ecn_marked_roce_packets", kPortEcnMarked),
    curated("rx_icrc_encapsulated", kPortIcrcErrors),

    // Optional counters, available only over netlink and only after somebody has enabled them. np_*, rp_* and
    // the PMA traffic files already count the same.
    raw_only("cc_rx_ce_pkts"),
    raw_only("cc_rx_cnp_pkts"),
    raw_only("cc_tx_cnp_pkts"),
    raw_only("rdma_tx_packets"),
    raw_only("rdma_rx_packets"),
    raw_only("rdma_tx_bytes"),
    raw_only("rdma_rx_bytes"),

    q("vport_rx_write_requests", kPortRequests, kRxWrite),
    q("vport_rx_read_requests", kPortRequests, kRxRead),
    q("vport_rx_atomic_requests", kPortRequests, kRxAtomic),
    q_raw("vport_rx_dct_connect"),
    q("vport_out_of_buffer", kPortReceiveBufferMissing),
    q("vport_out_of_sequence", kPortOutOfSequence),
    q("vport_duplicate_request", kPortDuplicateRequests),
    q("vport_rnr_nak_retry_err", kPortRnrNaks, kRx),
    q("vport_packet_seq_err", kPortSequenceNaks, kRx),
    q("vport_implied_nak_seq_err", kPortImpliedNaks),
    q("vport_local_ack_timeout_err", kPortAckTimeouts),
    q("vport_resp_local_length_error", kPortAccessErrors, kResponderLength),
    q("vport_resp_cqe_error", kPortCqeErrors, kResponder),
    q("vport_req_cqe_error", kPortCqeErrors, kRequester),
    q("vport_req_remote_invalid_request", kPortAccessErrors, kRequesterInvalid),
    q("vport_req_remote_access_errors", kPortAccessErrors, kRequesterAccess),
    q("vport_resp_remote_access_errors", kPortAccessErrors, kResponderAccess),
    q("vport_resp_cqe_flush_error", kPortCqeFlushErrors, kResponder),
    q("vport_req_cqe_flush_error", kPortCqeFlushErrors, kRequester),
    q("vport_req_transport_retries_exceeded", kPortRetriesExceeded, kTransport),
    q("vport_req_rnr_retries_exceeded", kPortRetriesExceeded, kRnr),
    q("vport_roce_adp_retrans", kPortRetransmittedPackets, kAdaptive),
    q_raw("vport_roce_adp_retrans_to"),
    q("vport_roce_slow_restart", kPortSlowRestarts, kSlowRestart),
    q("vport_roce_slow_restart_cnps", kPortSlowRestarts, kSlowRestartCnp),
    q("vport_roce_slow_restart_trans", kPortSlowRestarts, kSlowRestartTransition),
};
static_assert(all_valid(kPort));
static_assert(count_summed(kPort, is_other_spelling) == 2, "rp_cnp_handled + rp_cnp_ignored");
static_assert(other_spellings_have_twin(kPort, is_other_spelling));

// In switchdev mode the same names appear at the device, for the function that owns the E-switch. All are
// raw, because curated families are per port and that function has no port counters of its own there; these
// rows define the widths.
constexpr bool is_device_row(const CounterRow& row) { return row.bits == 32 && !is_other_spelling(row.raw); }
constexpr auto kDevice = [] {
  constexpr auto kCount = std::count_if(kPort.begin(), kPort.end(), is_device_row);
  std::array<CounterRow, static_cast<std::size_t>(kCount)> rows;
  std::size_t next = 0;
  for (const CounterRow& row : kPort)
    if (is_device_row(row)) rows[next++] = raw_only(row.raw, row.bits);
  return rows;
}();
static_assert(all_valid(kDevice));

}  // namespace

std::span<const CounterRow> mlx5_port() { return kPort; }
std::span<const CounterRow> mlx5_device() { return kDevice; }
bool mlx5_other_spelling(std::string_view raw) { return is_other_spelling(raw); }

}  // namespace rdma_exporter::collectors::table
