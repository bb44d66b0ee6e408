/* SPDX-License-Identifier: GPL-2.0 */
/* Copyright the rdma_exporter authors */
/*
 * Names of `ethtool -S` of a Broadcom NetXtreme-E function in their order, as listed by bnxt_get_strings in
 * drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c of Linux 6.12, for a chip with receive aggregation of version 2 and
 * firmware that reports every extended statistic.
 */
#ifndef BNXT_NAMES_H
#define BNXT_NAMES_H

#include "labnic.h"

static const struct lab_group bnxt_groups[] = {
	{ LAB_PER_CHANNEL, "[#]: ", /* a ring */
	  "rx_ucast_packets rx_mcast_packets rx_bcast_packets rx_discards rx_errors rx_ucast_bytes "
	  "rx_mcast_bytes rx_bcast_bytes tx_ucast_packets tx_mcast_packets tx_bcast_packets tx_errors "
	  "tx_discards tx_ucast_bytes tx_mcast_bytes tx_bcast_bytes rx_tpa_eligible_pkt "
	  "rx_tpa_eligible_bytes rx_tpa_pkt rx_tpa_bytes rx_tpa_errors rx_tpa_events rx_l4_csum_errors "
	  "rx_resets rx_buf_errors missed_irqs" },
	{ LAB_ONCE, "", /* all rings */
	  "rx_total_l4_csum_errors rx_total_resets rx_total_buf_errors rx_total_oom_discards "
	  "rx_total_netpoll_discards rx_total_ring_discards tx_total_resets tx_total_ring_discards "
	  "total_missed_irqs" },
	{ LAB_ONCE, "", /* port */
	  "rx_64b_frames rx_65b_127b_frames rx_128b_255b_frames rx_256b_511b_frames rx_512b_1023b_frames "
	  "rx_1024b_1518b_frames rx_good_vlan_frames rx_1519b_2047b_frames rx_2048b_4095b_frames "
	  "rx_4096b_9216b_frames rx_9217b_16383b_frames rx_total_frames rx_ucast_frames rx_mcast_frames "
	  "rx_bcast_frames rx_fcs_err_frames rx_ctrl_frames rx_pause_frames rx_pfc_frames "
	  "rx_align_err_frames rx_ovrsz_frames rx_jbr_frames rx_mtu_err_frames rx_tagged_frames "
	  "rx_double_tagged_frames rx_good_frames rx_pfc_ena_frames_pri0 rx_pfc_ena_frames_pri1 "
	  "rx_pfc_ena_frames_pri2 rx_pfc_ena_frames_pri3 rx_pfc_ena_frames_pri4 rx_pfc_ena_frames_pri5 "
	  "rx_pfc_ena_frames_pri6 rx_pfc_ena_frames_pri7 rx_undrsz_frames rx_eee_lpi_events "
	  "rx_eee_lpi_duration rx_bytes rx_runt_bytes rx_runt_frames rx_stat_discard rx_stat_err "
	  "tx_64b_frames tx_65b_127b_frames tx_128b_255b_frames tx_256b_511b_frames tx_512b_1023b_frames "
	  "tx_1024b_1518b_frames tx_good_vlan_frames tx_1519b_2047b_frames tx_2048b_4095b_frames "
	  "tx_4096b_9216b_frames tx_9217b_16383b_frames tx_good_frames tx_total_frames tx_ucast_frames "
	  "tx_mcast_frames tx_bcast_frames tx_pause_frames tx_pfc_frames tx_jabber_frames "
	  "tx_fcs_err_frames tx_err tx_fifo_underruns tx_pfc_ena_frames_pri0 tx_pfc_ena_frames_pri1 "
	  "tx_pfc_ena_frames_pri2 tx_pfc_ena_frames_pri3 tx_pfc_ena_frames_pri4 tx_pfc_ena_frames_pri5 "
	  "tx_pfc_ena_frames_pri6 tx_pfc_ena_frames_pri7 tx_eee_lpi_events tx_eee_lpi_duration "
	  "tx_total_collisions tx_bytes tx_xthol_frames tx_stat_discard tx_stat_error" },
	{ LAB_ONCE, "", /* port, extended */
	  "link_down_events continuous_pause_events resume_pause_events continuous_roce_pause_events "
	  "resume_roce_pause_events" },
	{ LAB_PER_PRIO, "", /* queues */
	  "rx_bytes_cos# rx_packets_cos#" },
	{ LAB_PER_PRIO, "", /* PFC */
	  "pfc_pri#_rx_duration_us pfc_pri#_rx_transitions" },
	{ LAB_ONCE, "", /* port, extended */
	  "rx_bits rx_buffer_passed_threshold rx_pcs_symbol_err rx_corrected_bits" },
	{ LAB_PER_PRIO, "", /* queues */
	  "rx_discard_bytes_cos# rx_discard_packets_cos#" },
	{ LAB_ONCE, "", /* port, extended */
	  "rx_fec_corrected_blocks rx_fec_uncorrectable_blocks rx_filter_miss" },
	{ LAB_PER_PRIO, "", /* queues */
	  "tx_bytes_cos# tx_packets_cos#" },
	{ LAB_PER_PRIO, "", /* PFC */
	  "pfc_pri#_tx_duration_us pfc_pri#_tx_transitions" },
	{ LAB_PER_PRIO, "", /* priorities */
	  "rx_bytes_pri#" },
	{ LAB_PER_PRIO, "", /* priorities */
	  "rx_packets_pri#" },
	{ LAB_PER_PRIO, "", /* priorities */
	  "tx_bytes_pri#" },
	{ LAB_PER_PRIO, "", /* priorities */
	  "tx_packets_pri#" },
	{ LAB_HIDDEN, "", /* only the standard statistics show it */
	  "rx_oor_len_frames" },
	{}
};

#endif
