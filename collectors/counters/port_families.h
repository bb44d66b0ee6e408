// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The families that kernel counters of a port or a device become. Directions are those of this host: rx is
// what it received, tx is what it sent. Which driver's counter feeds which family: pma_table.cpp and
// hw_tables/.
#pragma once

#include <span>
#include <vector>

#include "collectors/counters/counter_row.h"
#include "core/metric.h"

namespace rdma_exporter::collectors {

// A family is one line of name, type, labels and unit, then its help, then its source.
// clang-format off

// Traffic.

inline constexpr core::MetricDesc kPortDataBytes{
    "rdma_port_data_bytes_total", core::MetricType::counter, "device,port,direction", "bytes",
    "RDMA bytes received (rx) or sent (tx). InfiniBand: all virtual lanes, without link packets. RoCE on "
    "mlx5: RDMA unicast and multicast of this function only, neither Ethernet nor its VFs. bnxt_re: "
    "unicast of the RoCE context. irdma: IPv4 plus IPv6",
    "sysfs ports/N/counters/port_{rcv,xmit}_data (4-octet words); bnxt_re, irdma, efa, erdma, mana: "
    "ports/N/hw_counters"};
inline constexpr core::MetricDesc kPortPackets{
    "rdma_port_packets_total", core::MetricType::counter, "device,port,direction", "packets",
    "RDMA packets received (rx) or sent (tx), counted over the same traffic as rdma_port_data_bytes_total",
    "sysfs ports/N/counters/port_{rcv,xmit}_packets; bnxt_re, irdma, efa, erdma, hns, mana, rxe: "
    "ports/N/hw_counters"};
inline constexpr core::MetricDesc kPortUnicastPackets{
    "rdma_port_unicast_packets_total", core::MetricType::counter, "device,port,direction", "packets",
    "Unicast packets received (rx) or sent (tx), a part of rdma_port_packets_total",
    "sysfs ports/N/counters/unicast_{rcv,xmit}_packets"};
inline constexpr core::MetricDesc kPortMulticastPackets{
    "rdma_port_multicast_packets_total", core::MetricType::counter, "device,port,direction", "packets",
    "Multicast packets received (rx) or sent (tx). irdma: IPv4 plus IPv6",
    "sysfs ports/N/counters/multicast_{rcv,xmit}_packets; irdma: ports/N/hw_counters"};
inline constexpr core::MetricDesc kPortRequests{
    "rdma_port_requests_total", core::MetricType::counter, "device,port,direction,operation", "requests",
    "Requests a peer made of this host (rx) or this host made of peers (tx), by operation read, write, "
    "send or atomic. mlx5 counts rx only. efa and rxe: work requests; for rx send the receive work "
    "requests consumed",
    "sysfs ports/N/hw_counters of mlx5, bnxt_re, irdma, efa, mana, rxe"};

// Congestion.

inline constexpr core::MetricDesc kPortCnpPackets{
    "rdma_port_cnp_packets_total", core::MetricType::counter, "device,port,direction", "packets",
    "Congestion notification packets. tx: this host told senders that what they send it crosses a "
    "congested point. rx: this host was told to slow down (mlx5, irdma: handled plus ignored)",
    "sysfs ports/N/hw_counters of mlx5, bnxt_re, irdma, hns, mana"};
inline constexpr core::MetricDesc kPortCnpIgnored{
    "rdma_port_cnp_ignored_total", core::MetricType::counter, "device,port", "packets",
    "Congestion notification packets received and ignored: this host should slow down but its ECN reaction "
    "is off for that priority or port. A part of rdma_port_cnp_packets_total{direction=\"rx\"}",
    "sysfs ports/N/hw_counters of mlx5 (rp_cnp_ignored), irdma (cnpIgnored)"};
inline constexpr core::MetricDesc kPortEcnMarked{
    "rdma_port_ecn_marked_packets_total", core::MetricType::counter, "device,port", "packets",
    "RoCE v2 packets received with the ECN mark congestion experienced: a switch on the way to this host "
    "is congested",
    "sysfs ports/N/hw_counters of mlx5, bnxt_re, irdma"};
inline constexpr core::MetricDesc kPortSlowRestarts{
    "rdma_port_slow_restarts_total", core::MetricType::counter, "device,port,kind", "events",
    "RoCE slow restart of this host's senders. kind restart: times used; transition: times entered; cnp: "
    "congestion notification packets it generated. Kinds are not to be added up",
    "sysfs ports/N/hw_counters of mlx5 (roce_slow_restart*)"};

// Loss, reordering, retransmission.

inline constexpr core::MetricDesc kPortOutOfSequence{
    "rdma_port_out_of_sequence_total", core::MetricType::counter, "device,port", "packets",
    "Packets this host received ahead of the expected sequence number: loss or reordering on the way to "
    "it. Not a count of lost packets: mlx5 counts every packet after a gap, hfi1 each gap once",
    "sysfs ports/N/hw_counters of mlx5, mlx4, bnxt_re, irdma, hfi1, mana, rxe"};
inline constexpr core::MetricDesc kPortSequenceNaks{
    "rdma_port_sequence_naks_total", core::MetricType::counter, "device,port,direction", "NAKs",
    "Sequence error NAKs received (rx): the peer saw a gap in what this host sent, so packets were lost or "
    "reordered on the way to the peer",
    "sysfs ports/N/hw_counters of mlx5, mlx4, bnxt_re, irdma, hfi1, mana, rxe"};
inline constexpr core::MetricDesc kPortImpliedNaks{
    "rdma_port_implied_naks_total", core::MetricType::counter, "device,port", "events",
    "READ or atomic responses this host received with a later sequence number than expected: responses "
    "were lost on the way to it",
    "sysfs ports/N/hw_counters of mlx5, irdma, mana"};
inline constexpr core::MetricDesc kPortDuplicateRequests{
    "rdma_port_duplicate_requests_total", core::MetricType::counter, "device,port", "requests",
    "Requests this host received again after it had executed them: the peer retransmitted because "
    "acknowledgements of this host were lost or late",
    "sysfs ports/N/hw_counters of mlx5, mlx4, bnxt_re, hfi1, mana, rxe"};
inline constexpr core::MetricDesc kPortAckTimeouts{
    "rdma_port_ack_timeouts_total", core::MetricType::counter, "device,port", "timeouts",
    "Times this host waited for an acknowledgement until the transport timer expired and tried again: "
    "packets or acknowledgements lost, or the peer stalled or gone",
    "sysfs ports/N/hw_counters of mlx5, mlx4, bnxt_re, irdma, efa, hfi1, mana"};
inline constexpr core::MetricDesc kPortRetransmittedPackets{
    "rdma_port_retransmitted_packets_total", core::MetricType::counter, "device,port,scope", "packets",
    "Packets this host sent again. scope all: all of them. scope adaptive: only what adaptive "
    "retransmission sent again, in events (mlx5, which has no count of all)",
    "sysfs ports/N/hw_counters of mlx5, irdma, efa, hfi1"};
inline constexpr core::MetricDesc kPortRetriesExceeded{
    "rdma_port_retries_exceeded_total", core::MetricType::counter, "device,port,kind", "events",
    "Requests this host gave up after the last retry; the queue pair is then in error and the connection "
    "lost. kind transport: no answer from the peer. kind rnr: the peer never had a receive buffer",
    "sysfs ports/N/hw_counters of mlx5, mlx4, bnxt_re, mana, rxe"};

// Receivers that are not ready.

inline constexpr core::MetricDesc kPortRnrNaks{
    "rdma_port_rnr_naks_total", core::MetricType::counter, "device,port,direction", "NAKs",
    "Receiver-not-ready NAKs. rx: the peer had no receive buffer posted for what this host sent, which "
    "tries again. tx: this host had none for what a peer sent",
    "sysfs ports/N/hw_counters of mlx5, mlx4, bnxt_re, irdma, hfi1, mana, rxe"};
inline constexpr core::MetricDesc kPortReceiveBufferMissing{
    "rdma_port_receive_buffer_missing_total", core::MetricType::counter, "device,port", "packets",
    "Packets this host dropped because the application had posted no receive buffer. Of RDMA queue pairs "
    "only; the Ethernet receive queues of the same adapter have their own count",
    "sysfs ports/N/hw_counters of mlx5 (out_of_buffer), bnxt_re (rx_out_of_buffer)"};

// Errors of work requests and completions.

inline constexpr core::MetricDesc kPortAccessErrors{
    "rdma_port_access_errors_total", core::MetricType::counter, "device,port,side,kind", "errors",
    "Requests refused or failed, as seen by the side this host had: requester (its own requests) or "
    "responder (those of peers). kind access: bad key or no permission; invalid: request not supported or "
    "malformed; length; operation: the peer failed to execute it; local_operation and local_protection: "
    "the work request of this host was bad",
    "sysfs ports/N/hw_counters of mlx5, mlx4, bnxt_re, mana"};
inline constexpr core::MetricDesc kPortCqeErrors{
    "rdma_port_cqe_errors_total", core::MetricType::counter, "device,port,side", "completions",
    "Work completions with an error status, of requests (side requester) or receives (side responder), "
    "those flushed included: subtract rdma_port_cqe_flush_errors_total to see faults",
    "sysfs ports/N/hw_counters of mlx5 (req_cqe_error, resp_cqe_error)"};
inline constexpr core::MetricDesc kPortCqeFlushErrors{
    "rdma_port_cqe_flush_errors_total", core::MetricType::counter, "device,port,side", "completions",
    "Work requests completed as flushed because their queue pair was in error or being closed. Rises on "
    "every orderly teardown with outstanding work; no fault by itself",
    "sysfs ports/N/hw_counters of mlx5 (req_, resp_cqe_flush_error), mlx4 (sq_, rq_num_wrfe)"};
inline constexpr core::MetricDesc kPortIcrcErrors{
    "rdma_port_icrc_errors_total", core::MetricType::counter, "device,port", "packets",
    "RoCE packets received with a wrong invariant CRC: damaged end to end by memory, a cable or a "
    "middlebox",
    "sysfs ports/N/hw_counters of mlx5 (rx_icrc_encapsulated), irdma (CRC errors)"};

// Link and PMA errors. These fields stick at their maximum, see rdma_counters_saturated. RoCE ports report
// them as 0 or not at all.

inline constexpr core::MetricDesc kPortSymbolErrors{
    "rdma_port_symbol_errors_total", core::MetricType::counter, "device,port", "events",
    "Minor errors on the physical lanes of the link. Sticks at 65535 until reset",
    "sysfs ports/N/counters/symbol_error"};
inline constexpr core::MetricDesc kPortLinkRecoveries{
    "rdma_port_link_recoveries_total", core::MetricType::counter, "device,port", "events",
    "Times the link had errors, trained again and recovered by itself; each one is a short pause. Sticks "
    "at 255 until reset",
    "sysfs ports/N/counters/link_error_recovery"};
inline constexpr core::MetricDesc kPortLinkDowned{
    "rdma_port_link_downed_total", core::MetricType::counter, "device,port", "events",
    "Times error recovery failed and the link went down. Sticks at 255 until reset",
    "sysfs ports/N/counters/link_downed"};
inline constexpr core::MetricDesc kPortReceiveErrors{
    "rdma_port_receive_errors_total", core::MetricType::counter, "device,port", "packets",
    "Packets received with an error. Sticks at 65535 until reset",
    "sysfs ports/N/counters/port_rcv_errors"};
inline constexpr core::MetricDesc kPortReceiveRemotePhysicalErrors{
    "rdma_port_receive_remote_physical_errors_total", core::MetricType::counter, "device,port", "packets",
    "Packets received that an earlier hop had already marked as bad: the fault lies further away than this "
    "link. Sticks at 65535 until reset",
    "sysfs ports/N/counters/port_rcv_remote_physical_errors"};
inline constexpr core::MetricDesc kPortReceiveSwitchRelayErrors{
    "rdma_port_receive_switch_relay_errors_total", core::MetricType::counter, "device,port", "packets",
    "Packets received that a switch could not forward; meaningful on switch ports only. Sticks at 65535 "
    "until reset",
    "sysfs ports/N/counters/port_rcv_switch_relay_errors"};
inline constexpr core::MetricDesc kPortTransmitDiscards{
    "rdma_port_transmit_discards_total", core::MetricType::counter, "device,port", "packets",
    "Packets this host did not send because the port was down or congested. Sticks at 65535 until reset",
    "sysfs ports/N/counters/port_xmit_discards"};
inline constexpr core::MetricDesc kPortConstraintErrors{
    "rdma_port_constraint_errors_total", core::MetricType::counter, "device,port,direction", "packets",
    "Packets dropped by a partition key or filter check on receiving (rx) or sending (tx). Sticks at 255 "
    "until reset",
    "sysfs ports/N/counters/port_{rcv,xmit}_constraint_errors"};
inline constexpr core::MetricDesc kPortLocalLinkIntegrityErrors{
    "rdma_port_local_link_integrity_errors_total", core::MetricType::counter, "device,port", "events",
    "Times physical errors on this end of the link crossed the threshold. Sticks at 15 until reset",
    "sysfs ports/N/counters/local_link_integrity_errors"};
inline constexpr core::MetricDesc kPortExcessiveBufferOverrunErrors{
    "rdma_port_excessive_buffer_overrun_errors_total", core::MetricType::counter, "device,port", "events",
    "Times the input buffer of the port overran. Sticks at 15 until reset",
    "sysfs ports/N/counters/excessive_buffer_overrun_errors"};
inline constexpr core::MetricDesc kPortVl15Dropped{
    "rdma_port_vl15_dropped_total", core::MetricType::counter, "device,port", "packets",
    "Subnet management packets (virtual lane 15) received and dropped for lack of buffers. Sticks at 65535 "
    "until reset",
    "sysfs ports/N/counters/VL15_dropped"};
inline constexpr core::MetricDesc kPortTransmitWaitTicks{
    "rdma_port_transmit_wait_ticks_total", core::MetricType::counter, "device,port", "ticks",
    "Ticks in which the port had data but could not send for lack of credits: the fabric holds this host "
    "back. The length of a tick depends on the adapter, so compare a port with itself only. Sticks at "
    "4294967295 until reset",
    "sysfs ports/N/counters/port_xmit_wait"};

// What has no curated name, under the name the kernel gives it; and the state of narrow fields.

inline constexpr core::MetricDesc kPortCounter{
    "rdma_port_counters_total", core::MetricType::counter, "device,port,counter", "",
    "Port counter by its file name, in the unit of the file (port_rcv_data and port_xmit_data: 4-octet "
    "words)",
    "sysfs ports/N/counters"};
inline constexpr core::MetricDesc kPortHwCounter{
    "rdma_port_hw_counters_total", core::MetricType::counter, "device,port,counter", "",
    "Driver counter of a port by the driver's name, in the driver's unit",
    "RDMA netlink STAT_GET; sysfs ports/N/hw_counters"};
inline constexpr core::MetricDesc kPortHwValue{
    "rdma_port_hw_value", core::MetricType::gauge, "device,port,counter", "",
    "Driver value of a port that is no count: objects now (active_*), highest so far (watermark_*), rates, "
    "registers",
    "RDMA netlink STAT_GET; sysfs ports/N/hw_counters"};
inline constexpr core::MetricDesc kDeviceHwCounter{
    "rdma_device_hw_counters_total", core::MetricType::counter, "device,counter", "",
    "Driver counter of a whole device by the driver's name, in the driver's unit; may contain what its "
    "ports count too",
    "sysfs hw_counters of the device"};
inline constexpr core::MetricDesc kDeviceHwValue{
    "rdma_device_hw_value", core::MetricType::gauge, "device,counter", "",
    "Driver value of a whole device that is no count, by the driver's name",
    "sysfs hw_counters of the device"};
inline constexpr core::MetricDesc kCounterSaturated{
    "rdma_counters_saturated", core::MetricType::gauge, "device,port,counter", "",
    "1 if a field narrower than 64 bits stands at its maximum: the true count is higher and no longer "
    "rises until somebody resets it",
    "sysfs ports/N/counters"};

// clang-format on

/// All families above with a vendor-neutral name, not the raw ones and not rdma_counters_saturated.
std::span<const core::MetricDesc* const> curated_port_families();

/// Of curated_port_families(), in their order, those that `rows` name.
std::vector<const core::MetricDesc*> families_of(std::span<const CounterRow> rows);

}  // namespace rdma_exporter::collectors
