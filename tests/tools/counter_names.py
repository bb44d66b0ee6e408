# SPDX-License-Identifier: Apache-2.0
# Copyright the rdma_exporter authors
"""Names of the kernel's RDMA counters by driver, as the drivers of Linux 6.1, 6.12 and 6.18 spell them.

Sources are the files of drivers/infiniband named beside each list.
"""

import os

# core/sysfs.c, extended table (PortCounters + PortCountersExtended); value = width in bits.
PMA_WIDTHS = {
    "symbol_error": 16, "link_error_recovery": 8, "link_downed": 8, "port_rcv_errors": 16,
    "port_rcv_remote_physical_errors": 16, "port_rcv_switch_relay_errors": 16, "port_xmit_discards": 16,
    "port_xmit_constraint_errors": 8, "port_rcv_constraint_errors": 8, "local_link_integrity_errors": 4,
    "excessive_buffer_overrun_errors": 4, "VL15_dropped": 16, "port_xmit_wait": 32, "port_xmit_data": 64,
    "port_rcv_data": 64, "port_xmit_packets": 64, "port_rcv_packets": 64, "unicast_xmit_packets": 64,
    "unicast_rcv_packets": 64, "multicast_xmit_packets": 64, "multicast_rcv_packets": 64,
}
PMA = tuple(PMA_WIDTHS)
PMA_WORDS = ("port_xmit_data", "port_rcv_data")  # counted in units of 4 octets

# hw/mlx5/counters.c. The q counters are 32 bits wide, congestion and PPCNT counters 64.
MLX5_Q = tuple("""
    rx_write_requests rx_read_requests rx_atomic_requests out_of_buffer out_of_sequence duplicate_request
    rnr_nak_retry_err packet_seq_err implied_nak_seq_err local_ack_timeout_err resp_local_length_error
    resp_cqe_error req_cqe_error req_remote_invalid_request req_remote_access_errors resp_remote_access_errors
    resp_cqe_flush_error req_cqe_flush_error roce_adp_retrans roce_adp_retrans_to roce_slow_restart
    roce_slow_restart_cnps roce_slow_restart_trans""".split())
MLX5_Q_6_12 = ("rx_dct_connect", "req_transport_retries_exceeded", "req_rnr_retries_exceeded")
MLX5_64 = ("rp_cnp_ignored", "rp_cnp_handled", "np_ecn_marked_roce_packets", "np_cnp_sent", "rx_icrc_encapsulated")


def mlx5(kernel):
    """Port names of mlx5 in kernel "6.1" or "6.12"."""
    return MLX5_Q + (() if kernel == "6.1" else MLX5_Q_6_12) + MLX5_64


# hw/mlx4/main.c; the last two exist at device level only.
MLX4_PORT = tuple("""
    rq_num_lle sq_num_lle rq_num_lqpoe sq_num_lqpoe rq_num_lpe sq_num_lpe rq_num_wrfe sq_num_wrfe sq_num_mwbe
    sq_num_bre sq_num_rire rq_num_rire sq_num_rae rq_num_rae sq_num_roe sq_num_tree sq_num_rree rq_num_rnr
    sq_num_rnr rq_num_oos sq_num_oos rq_num_dup sq_num_to""".split())
MLX4_DEVICE = MLX4_PORT + ("num_cqovf", "rq_num_udsdprd")

# hw/bnxt_re/hw_counters.c
BNXT_RE = tuple("""
    active_pds active_ahs active_qps active_srqs active_cqs active_mrs active_mws active_rc_qps active_ud_qps
    watermark_pds watermark_ahs watermark_qps watermark_rc_qps watermark_ud_qps watermark_srqs watermark_cqs
    watermark_mrs watermark_mws resize_cq_cnt rx_pkts tx_pkts rx_bytes tx_bytes recoverable_errors tx_roce_errors
    tx_roce_discards rx_roce_errors rx_roce_discards to_retransmits seq_err_naks_rcvd max_retry_exceeded
    rnr_naks_rcvd missing_resp unrecoverable_err bad_resp_err local_qp_op_err local_protection_err mem_mgmt_op_err
    remote_invalid_req_err remote_access_err remote_op_err dup_req res_exceed_max res_length_mismatch
    res_exceeds_wqe res_opcode_err res_unsup_opcode res_unaligned_atomic res_rem_inv_err res_rx_invalid_rkey
    res_rx_domain_err res_rx_no_perm res_rx_range_err res_tx_invalid_rkey res_tx_domain_err res_tx_no_perm
    res_tx_range_err res_invalid_dup_rkey res_irrq_oflow res_mem_err res_srq_err res_cmp_err res_wqe_format_err
    res_cq_load_err res_srq_load_err res_tx_pci_err res_rx_pci_err oos_drop_count tx_atomic_req tx_read_req
    tx_read_resp tx_write_req tx_send_req rx_atomic_req rx_read_req rx_read_resp rx_write_req rx_send_req
    tx_roce_only_pkts tx_roce_only_bytes rx_roce_only_pkts rx_roce_only_bytes rx_roce_good_pkts
    rx_roce_good_bytes rx_out_of_buffer tx_cnp_pkts rx_cnp_pkts rx_ecn_marked_pkts pacing_reschedule
    pacing_complete pacing_alerts db_fifo_register""".split())

# hw/irdma/verbs.c; IRDMA_GEN3 are the additions and spellings of 6.18.
_IRDMA_IP = tuple(f"ip{v}{n}" for v in (4, 6) for n in (
    "InDiscards", "InTruncatedPkts", "OutNoRoutes", "InOctets", "OutOctets", "InPkts", "OutPkts", "InReasmRqd",
    "OutSegRqd", "InMcastPkts", "OutMcastPkts", "InMcastOctets", "OutMcastOctets"))
_IRDMA_TCP = ("RetransSegs", "InOptErrors", "InProtoErrors", "InSegs", "OutSegs")
_IRDMA_IW = ("InRdmaReads", "InRdmaSends", "InRdmaWrites", "OutRdmaReads", "OutRdmaSends", "OutRdmaWrites",
             "RdmaBnd", "RdmaInv")
_IRDMA_ROCE = ("rxVlanErrors", "RxUDP", "TxUDP", "RxECNMrkd", "cnpHandled", "cnpIgnored", "cnpSent")
IRDMA = (_IRDMA_IP + tuple("tcp" + n for n in _IRDMA_TCP) + tuple("iw" + n for n in _IRDMA_IW) + _IRDMA_ROCE)
IRDMA_GEN3 = _IRDMA_IP + _IRDMA_TCP + _IRDMA_IW + _IRDMA_ROCE + (
    "RNR sent", "RNR received", "ord limit count", "ird limit count", "Rx atomics", "Tx atomics",
    "Nak Sequence Error", "Nak Sequence Error Implied", "RTO", "Rcvd Out of order packets", "CRC errors")

# hw/efa/efa_verbs.c
EFA_DEVICE = tuple("""
    submitted_cmds completed_cmds cmds_err no_completion_cmds keep_alive_rcvd alloc_pd_err create_qp_err
    create_cq_err reg_mr_err alloc_ucontext_err create_ah_err mmap_err""".split())
EFA_PORT = tuple("""
    tx_bytes tx_pkts rx_bytes rx_pkts rx_drops send_bytes send_wrs recv_bytes recv_wrs rdma_read_wrs
    rdma_read_bytes rdma_read_wr_err rdma_read_resp_bytes rdma_write_wrs rdma_write_bytes rdma_write_wr_err
    rdma_write_recv_bytes retrans_bytes retrans_pkts retrans_timeout_events unresponsive_remote_events
    impaired_remote_conn_events""".split())

# sw/rxe/rxe_hw_counters.c
RXE = tuple("""
    sent_pkts rcvd_pkts duplicate_request out_of_seq_request rcvd_rnr_err send_rnr_err rcvd_seq_err ack_deferred
    retry_exceeded_err retry_rnr_exceeded_err completer_retry_err send_err link_downed rdma_sends
    rdma_recvs""".split())

# hw/mana/counters.c
MANA_PORT = tuple("""
    requester_timeout requester_oos_nak requester_rnr_nak responder_rnr_nak responder_oos responder_dup_request
    requester_implicit_nak requester_readresp_psn_mismatch nak_inv_req nak_access_error nak_opp_error nak_inv_read
    responder_local_len_error requestor_local_prot_error responder_rem_access_error responder_local_qp_error
    responder_malformed_wqe general_hw_error total_fatal_error requester_rnr_nak_retries_exceeded
    requester_retries_exceeded received_cnps num_qps_congested num_qps_recovered rate_inc_events current_rate
    dup_rx_requests tx_bytes rx_bytes tx_packets rx_packets rx_send_requests rx_write_requests
    rx_read_requests""".split())
MANA_DEVICE = tuple("""
    sent_cnps received_ecns received_cnp_count qp_congested_events qp_recovered_events rate_inc_events""".split())

# Names of hw counters that are levels, not counts.
GAUGES = frozenset(n for n in BNXT_RE if n.startswith(("active_", "watermark_"))) | {
    "db_fifo_register", "current_rate", "num_qps_congested", "DRIVER_CtxtsOpen"}


def _expand(name):
    for mark, numbers in (("+VL", (*range(8), 15)), ("+SDMA", range(16))):
        if mark in name:
            return [name.replace(mark, str(n)) for n in numbers]
    return [name]


def _from_file(file):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "names", file)
    with open(path, encoding="ascii") as lines:
        names = [line.rstrip("\n") for line in lines if not line.startswith("#")]
    return tuple(full for name in names for full in _expand(name))


def hfi1_device():
    """Device names of hfi1, with spaces and commas (hw/hfi1/chip.c, verbs.c)."""
    return _from_file("hfi1_device.txt")


def hfi1_port():
    """Port names of hfi1, with one receive-header-overflow counter for each of 160 contexts."""
    return _from_file("hfi1_port.txt") + tuple(f"RcvHdrOvr{n}" for n in range(160))
