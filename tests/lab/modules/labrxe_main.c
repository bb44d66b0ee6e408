// SPDX-License-Identifier: GPL-2.0
/* Copyright the rdma_exporter authors */
/*
 * Soft-RoCE with the face of a ConnectX: real verbs, and the hardware's names of counters. Their values are what
 * Soft-RoCE counts plus what a script has set in /sys/kernel/debug/labrxe/DEVICE/ctl.
 */

#include <linux/netdevice.h>

#include "rxe/rxe.h"

/* Which of Soft-RoCE's counters is nearest to one of mlx5's. */
static const struct {
	const char *name;
	enum rxe_counters counter;
} counted[] = {
	{ "duplicate_request", RXE_CNT_DUP_REQ },
	{ "out_of_sequence", RXE_CNT_OUT_OF_SEQ_REQ },
	{ "rnr_nak_retry_err", RXE_CNT_RCV_RNR },
	{ "out_of_buffer", RXE_CNT_SND_RNR },
	{ "packet_seq_err", RXE_CNT_RCV_SEQ_ERR },
	{ "local_ack_timeout_err", RXE_CNT_COMP_RETRY },
	{ "req_transport_retries_exceeded", RXE_CNT_RETRY_EXCEEDED },
	{ "req_rnr_retries_exceeded", RXE_CNT_RNR_RETRY_EXCEEDED },
	{ "link_downed", RXE_CNT_LINK_DOWNED },
	{ "port_xmit_packets", RXE_CNT_SENT_PKTS },
	{ "port_rcv_packets", RXE_CNT_RCVD_PKTS },
	{ "unicast_xmit_packets", RXE_CNT_SENT_PKTS },
	{ "unicast_rcv_packets", RXE_CNT_RCVD_PKTS },
};

static struct dentry *debugfs_root;

struct lab_rdma *lab_rdma_of(struct ib_device *device)
{
	return &to_rdev(device)->lab;
}

u64 lab_rdma_counted(struct ib_device *device, const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counted); i++)
		if (!strcmp(counted[i].name, name))
			return atomic64_read(&to_rdev(device)->stats_counters[counted[i].counter]);
	return 0;
}

static void count(struct rxe_dev *rxe, const char *name, u64 amount)
{
	lab_add(&rxe->lab.counters, lab_index(&rxe->lab.counters, name), amount);
}

/* The performance management agent counts data in units of four octets. */
void labrxe_sent(struct rxe_dev *rxe, const struct rxe_pkt_info *packet)
{
	count(rxe, "port_xmit_data", packet->paylen / 4);
}

void labrxe_received(struct rxe_dev *rxe, const struct rxe_pkt_info *packet)
{
	count(rxe, "port_rcv_data", packet->paylen / 4);
	if (!(packet->mask & RXE_REQ_MASK) || !(packet->mask & RXE_START_MASK))
		return;
	if (packet->mask & RXE_WRITE_MASK)
		count(rxe, "rx_write_requests", 1);
	else if (packet->mask & RXE_READ_MASK)
		count(rxe, "rx_read_requests", 1);
	else if (packet->mask & RXE_ATOMIC_MASK)
		count(rxe, "rx_atomic_requests", 1);
}

int labrxe_register(struct rxe_dev *rxe, const char *name, struct net_device *netdev)
{
	int err;

	if (!debugfs_root)
		debugfs_root = debugfs_create_dir("labrxe", NULL);
	err = lab_rdma_init(&rxe->lab, name, debugfs_root);
	if (err)
		return err;
	rxe->ib_dev.dev.parent = netdev->dev.parent;
	lab_rdma_set_ops(&rxe->ib_dev);
	return 0;
}

void labrxe_exit(void)
{
	debugfs_remove_recursive(debugfs_root);
}
