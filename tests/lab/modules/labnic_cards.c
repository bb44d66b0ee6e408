// SPDX-License-Identifier: GPL-2.0
/* Copyright the rdma_exporter authors */
/*
 * The two cards: a ConnectX-7 as mlx5_core shows it, a BCM57508 as bnxt_en shows it. Which counter a standard statistic
 * comes from follows mlx5e_stats_*_get and bnxt_get_*_stats of Linux 6.12.
 */

#include "bnxt_names.h"
#include "labnic.h"
#include "mlx5_names.h"

#define PAUSE(member, counter) { offsetof(struct ethtool_pause_stats, member), counter }
#define PHY(member, counter) { offsetof(struct ethtool_eth_phy_stats, member), counter }
#define MAC(member, counter) { offsetof(struct ethtool_eth_mac_stats, member), counter }
#define CTRL(member, counter) { offsetof(struct ethtool_eth_ctrl_stats, member), counter }
#define RMON(member, counter) { offsetof(struct ethtool_rmon_stats, member), counter }
#define FEC(member, counter) { offsetof(struct ethtool_fec_stats, member), counter }

static const struct lab_field mlx5_pause[] = {
	PAUSE(tx_pause_frames, "tx_pause_ctrl_phy"),
	PAUSE(rx_pause_frames, "rx_pause_ctrl_phy"),
	{}
};

static const struct lab_field mlx5_phy[] = {
	PHY(SymbolErrorDuringCarrier, "rx_symbol_err_phy"),
	{}
};

static const struct lab_field mlx5_mac[] = {
	MAC(FramesTransmittedOK, "tx_packets_phy"),
	MAC(FramesReceivedOK, "rx_packets_phy"),
	MAC(FrameCheckSequenceErrors, "rx_crc_errors_phy"),
	MAC(OctetsTransmittedOK, "tx_bytes_phy"),
	MAC(OctetsReceivedOK, "rx_bytes_phy"),
	MAC(MulticastFramesXmittedOK, "tx_multicast_phy"),
	MAC(BroadcastFramesXmittedOK, "tx_broadcast_phy"),
	MAC(MulticastFramesReceivedOK, "rx_multicast_phy"),
	MAC(BroadcastFramesReceivedOK, "rx_broadcast_phy"),
	MAC(InRangeLengthErrors, "rx_in_range_len_errors_phy"),
	MAC(OutOfRangeLengthField, "rx_out_of_range_len_phy"),
	MAC(FrameTooLongErrors, "rx_oversize_pkts_phy"),
	{}
};

static const struct lab_field mlx5_ctrl[] = {
	CTRL(MACControlFramesTransmitted, "tx_mac_control_phy"),
	CTRL(MACControlFramesReceived, "rx_mac_control_phy"),
	CTRL(UnsupportedOpcodesReceived, "rx_unsupported_op_phy"),
	{}
};

static const struct lab_field mlx5_rmon[] = {
	RMON(undersize_pkts, "rx_undersize_pkts_phy"),
	RMON(fragments, "rx_fragments_phy"),
	RMON(jabbers, "rx_jabbers_phy"),
	RMON(hist[0], "rx_64_bytes_phy"),
	RMON(hist[1], "rx_65_to_127_bytes_phy"),
	RMON(hist[2], "rx_128_to_255_bytes_phy"),
	RMON(hist[3], "rx_256_to_511_bytes_phy"),
	RMON(hist[4], "rx_512_to_1023_bytes_phy"),
	RMON(hist[5], "rx_1024_to_1518_bytes_phy"),
	RMON(hist[6], "rx_1519_to_2047_bytes_phy"),
	RMON(hist[7], "rx_2048_to_4095_bytes_phy"),
	RMON(hist[8], "rx_4096_to_8191_bytes_phy"),
	RMON(hist[9], "rx_8192_to_10239_bytes_phy"),
	{}
};

static const struct ethtool_rmon_hist_range mlx5_rmon_ranges[] = {
	{ 0, 64 }, { 65, 127 }, { 128, 255 }, { 256, 511 }, { 512, 1023 },
	{ 1024, 1518 }, { 1519, 2047 }, { 2048, 4095 }, { 4096, 8191 }, { 8192, 10239 },
	{}
};

static const struct lab_field mlx5_fec[] = {
	FEC(corrected_bits.total, "rx_corrected_bits_phy"),
	{}
};

static const struct lab_field mlx5_fec_rs[] = {
	FEC(corrected_blocks.total, "rs_fec_corrected_blocks"),
	FEC(uncorrectable_blocks.total, "rs_fec_uncorrectable_blocks"),
	{}
};

static const struct lab_field mlx5_fec_baser[] = {
	FEC(corrected_blocks.lanes[0], "fc_fec_corrected_blocks_lane0"),
	FEC(corrected_blocks.lanes[1], "fc_fec_corrected_blocks_lane1"),
	FEC(corrected_blocks.lanes[2], "fc_fec_corrected_blocks_lane2"),
	FEC(corrected_blocks.lanes[3], "fc_fec_corrected_blocks_lane3"),
	FEC(uncorrectable_blocks.lanes[0], "fc_fec_uncorrectable_blocks_lane0"),
	FEC(uncorrectable_blocks.lanes[1], "fc_fec_uncorrectable_blocks_lane1"),
	FEC(uncorrectable_blocks.lanes[2], "fc_fec_uncorrectable_blocks_lane2"),
	FEC(uncorrectable_blocks.lanes[3], "fc_fec_uncorrectable_blocks_lane3"),
	{}
};

const struct lab_card labnic_mlx5 = {
	.driver = "mlx5_core",
	.netdev = "cx%d",
	.firmware = "28.39.1002 (MT_0000000838)",
	.vendor = 0x15b3,
	.device = 0x1021,
	.speed = 400000,
	.groups = mlx5_groups,
	.pause = mlx5_pause,
	.phy = mlx5_phy,
	.mac = mlx5_mac,
	.ctrl = mlx5_ctrl,
	.rmon = mlx5_rmon,
	.rmon_ranges = mlx5_rmon_ranges,
	.fec = mlx5_fec,
	.fec_rs = mlx5_fec_rs,
	.fec_baser = mlx5_fec_baser,
	.tx = {
		.packets = "tx_packets_phy", .bytes = "tx_bytes_phy",
		.prio_packets = "tx_prio#_packets", .prio_bytes = "tx_prio#_bytes",
		.rdma_packets = "tx_vport_rdma_unicast_packets", .rdma_bytes = "tx_vport_rdma_unicast_bytes",
		.other_packets = "tx_vport_unicast_packets", .other_bytes = "tx_vport_unicast_bytes",
	},
	.rx = {
		.packets = "rx_packets_phy", .bytes = "rx_bytes_phy",
		.prio_packets = "rx_prio#_packets", .prio_bytes = "rx_prio#_bytes",
		.rdma_packets = "rx_vport_rdma_unicast_packets", .rdma_bytes = "rx_vport_rdma_unicast_bytes",
		.other_packets = "rx_vport_unicast_packets", .other_bytes = "rx_vport_unicast_bytes",
	},
	.pfc_sent = "tx_prio#_pause",
	.pfc_received = "rx_prio#_pause",
	.pfc_counts_are_cached = true,
	.dcbnl_ops = &labnic_mlx5_dcbnl_ops,
};

static const struct lab_field bnxt_pause[] = {
	PAUSE(tx_pause_frames, "tx_pause_frames"),
	PAUSE(rx_pause_frames, "rx_pause_frames"),
	{}
};

static const struct lab_field bnxt_phy[] = {
	PHY(SymbolErrorDuringCarrier, "rx_pcs_symbol_err"),
	{}
};

static const struct lab_field bnxt_mac[] = {
	MAC(FramesReceivedOK, "rx_good_frames"),
	MAC(FramesTransmittedOK, "tx_good_frames"),
	MAC(FrameCheckSequenceErrors, "rx_fcs_err_frames"),
	MAC(AlignmentErrors, "rx_align_err_frames"),
	MAC(OutOfRangeLengthField, "rx_oor_len_frames"),
	{}
};

static const struct lab_field bnxt_ctrl[] = {
	CTRL(MACControlFramesReceived, "rx_ctrl_frames"),
	{}
};

static const struct lab_field bnxt_rmon[] = {
	RMON(jabbers, "rx_jbr_frames"),
	RMON(oversize_pkts, "rx_ovrsz_frames"),
	RMON(undersize_pkts, "rx_undrsz_frames"),
	RMON(hist[0], "rx_64b_frames"),
	RMON(hist[1], "rx_65b_127b_frames"),
	RMON(hist[2], "rx_128b_255b_frames"),
	RMON(hist[3], "rx_256b_511b_frames"),
	RMON(hist[4], "rx_512b_1023b_frames"),
	RMON(hist[5], "rx_1024b_1518b_frames"),
	RMON(hist[6], "rx_1519b_2047b_frames"),
	RMON(hist[7], "rx_2048b_4095b_frames"),
	RMON(hist[8], "rx_4096b_9216b_frames"),
	RMON(hist[9], "rx_9217b_16383b_frames"),
	RMON(hist_tx[0], "tx_64b_frames"),
	RMON(hist_tx[1], "tx_65b_127b_frames"),
	RMON(hist_tx[2], "tx_128b_255b_frames"),
	RMON(hist_tx[3], "tx_256b_511b_frames"),
	RMON(hist_tx[4], "tx_512b_1023b_frames"),
	RMON(hist_tx[5], "tx_1024b_1518b_frames"),
	RMON(hist_tx[6], "tx_1519b_2047b_frames"),
	RMON(hist_tx[7], "tx_2048b_4095b_frames"),
	RMON(hist_tx[8], "tx_4096b_9216b_frames"),
	RMON(hist_tx[9], "tx_9217b_16383b_frames"),
	{}
};

static const struct ethtool_rmon_hist_range bnxt_rmon_ranges[] = {
	{ 0, 64 }, { 65, 127 }, { 128, 255 }, { 256, 511 }, { 512, 1023 },
	{ 1024, 1518 }, { 1519, 2047 }, { 2048, 4095 }, { 4096, 9216 }, { 9217, 16383 },
	{}
};

static const struct lab_field bnxt_fec[] = {
	FEC(corrected_bits.total, "rx_corrected_bits"),
	FEC(corrected_blocks.total, "rx_fec_corrected_blocks"),
	FEC(uncorrectable_blocks.total, "rx_fec_uncorrectable_blocks"),
	{}
};

static const struct lab_field none[] = { {} };

const struct lab_card labnic_bnxt = {
	.driver = "bnxt_en",
	.netdev = "bcm%d",
	.firmware = "230.0.157.0/pkg 230.1.116.0",
	.vendor = 0x14e4,
	.device = 0x1750,
	.speed = 200000,
	.groups = bnxt_groups,
	.pause = bnxt_pause,
	.phy = bnxt_phy,
	.mac = bnxt_mac,
	.ctrl = bnxt_ctrl,
	.rmon = bnxt_rmon,
	.rmon_ranges = bnxt_rmon_ranges,
	.fec = bnxt_fec,
	.fec_rs = none,
	.fec_baser = none,
	.tx = {
		.packets = "tx_total_frames", .bytes = "tx_bytes",
		.prio_packets = "tx_packets_pri#", .prio_bytes = "tx_bytes_pri#",
	},
	.rx = {
		.packets = "rx_total_frames", .bytes = "rx_bytes",
		.prio_packets = "rx_packets_pri#", .prio_bytes = "rx_bytes_pri#",
	},
	.pfc_sent = "tx_pfc_ena_frames_pri#",
	.pfc_received = "rx_pfc_ena_frames_pri#",
	.dcbnl_ops = &labnic_bnxt_dcbnl_ops,
};
