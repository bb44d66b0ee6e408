// SPDX-License-Identifier: GPL-2.0
/* Copyright the rdma_exporter authors */
/*
 * Names and order of hw_counters: mlx5/counters.c, bnxt_re/hw_counters.c and cxgb4/provider.c in drivers/infiniband/hw of
 * Linux 6.12. Widths of the port counters: InfiniBand Architecture Specification, PortCounters; they stick at their
 * highest value.
 */

#include <rdma/ib_pma.h>

#include "lab_rdma.h"

#define PMA_DATA 40	/* offset of the attribute in the data of a management datagram */

static const struct lab_vendor mlx5 = {
	.prefix = "mlx5_",
	.firmware = "28.39.1002",
	.hca_type = "MT4129",
	.board_id = "MT_0000000838",
	.lane_speed = IB_SPEED_NDR,
	.hw_counters =
		"rx_write_requests rx_read_requests rx_atomic_requests rx_dct_connect out_of_buffer out_of_sequence "
		"duplicate_request rnr_nak_retry_err packet_seq_err implied_nak_seq_err local_ack_timeout_err "
		"resp_local_length_error resp_cqe_error req_cqe_error req_remote_invalid_request "
		"req_remote_access_errors resp_remote_access_errors resp_cqe_flush_error req_cqe_flush_error "
		"req_transport_retries_exceeded req_rnr_retries_exceeded roce_adp_retrans roce_adp_retrans_to "
		"roce_slow_restart roce_slow_restart_cnps roce_slow_restart_trans rp_cnp_ignored rp_cnp_handled "
		"np_ecn_marked_roce_packets np_cnp_sent rx_icrc_encapsulated "
		"cc_rx_ce_pkts? cc_rx_cnp_pkts? cc_tx_cnp_pkts?",
	.port_counters = true,
};

static const struct lab_vendor bnxt_re = {
	.prefix = "bnxt_re",
	.firmware = "230.0.157.0",
	.hca_type = "bnxt_re",
	.lane_speed = IB_SPEED_HDR,
	.hw_counters =
		"active_pds active_ahs active_qps active_rc_qps active_ud_qps active_srqs active_cqs active_mrs "
		"active_mws watermark_pds watermark_ahs watermark_qps watermark_rc_qps watermark_ud_qps "
		"watermark_srqs watermark_cqs watermark_mrs watermark_mws resize_cq_cnt rx_pkts rx_bytes tx_pkts "
		"tx_bytes recoverable_errors tx_roce_errors tx_roce_discards rx_roce_errors rx_roce_discards "
		"to_retransmits seq_err_naks_rcvd max_retry_exceeded rnr_naks_rcvd missing_resp unrecoverable_err "
		"bad_resp_err local_qp_op_err local_protection_err mem_mgmt_op_err remote_invalid_req_err "
		"remote_access_err remote_op_err dup_req res_exceed_max res_length_mismatch res_exceeds_wqe "
		"res_opcode_err res_rx_invalid_rkey res_rx_domain_err res_rx_no_perm res_rx_range_err "
		"res_tx_invalid_rkey res_tx_domain_err res_tx_no_perm res_tx_range_err res_irrq_oflow "
		"res_unsup_opcode res_unaligned_atomic res_rem_inv_err res_mem_err res_srq_err res_cmp_err "
		"res_invalid_dup_rkey res_wqe_format_err res_cq_load_err res_srq_load_err res_tx_pci_err "
		"res_rx_pci_err oos_drop_count tx_atomic_req tx_read_req tx_read_resp tx_write_req tx_send_req "
		"tx_roce_only_pkts tx_roce_only_bytes rx_atomic_req rx_read_req rx_read_resp rx_write_req "
		"rx_send_req rx_roce_only_pkts rx_roce_only_bytes rx_roce_good_pkts rx_roce_good_bytes "
		"rx_out_of_buffer tx_cnp_pkts rx_cnp_pkts rx_ecn_marked_pkts pacing_reschedule pacing_complete "
		"pacing_alerts db_fifo_register",
};

/* The whole card is counted, not the port. */
static const struct lab_vendor cxgb4 = {
	.prefix = "cxgb4_",
	.firmware = "1.27.5.0",
	.hca_type = "cxgb4",
	.board_id = "1425.6411",
	.lane_speed = IB_SPEED_EDR,
	.hw_counters =
		"ip4InSegs ip4OutSegs ip4RetransSegs ip4OutRsts ip6InSegs ip6OutSegs ip6RetransSegs ip6OutRsts",
	.counts_device = true,
};

/* As the files in ports/N/counters are called. */
static const char agent_counters[] =
	"symbol_error link_error_recovery link_downed port_rcv_errors port_rcv_remote_physical_errors "
	"port_rcv_switch_relay_errors port_xmit_discards port_xmit_constraint_errors port_rcv_constraint_errors "
	"local_link_integrity_errors excessive_buffer_overrun_errors VL15_dropped port_xmit_wait port_xmit_data "
	"port_rcv_data port_xmit_packets port_rcv_packets unicast_xmit_packets unicast_rcv_packets "
	"multicast_xmit_packets multicast_rcv_packets";

static unsigned int split(const char *names, struct lab_counter *counter)
{
	unsigned int n = 0;
	int length;

	for (; *names; names += length + strspn(names + length, " "), n++) {
		length = strcspn(names, " ");
		if (counter)
			snprintf(counter[n].name, LAB_NAME_LEN, "%.*s", length, names);
	}
	return n;
}

static const struct lab_vendor *vendor_of(const char *device)
{
	static const struct lab_vendor *const all[] = { &mlx5, &bnxt_re, &cxgb4 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (!strncmp(device, all[i]->prefix, strlen(all[i]->prefix)))
			return all[i];
	return NULL;
}

static void describe(struct lab_rdma *lab)
{
	struct lab_counter *counter = lab->counters.counter;
	unsigned int i;
	char *mark;

	for (i = 0; i < lab->hw_count; i++) {
		mark = strchr(counter[i].name, '?');
		if (mark) {
			*mark = 0;
			lab->descs[i].flags = IB_STAT_FLAG_OPTIONAL;
		} else {
			lab->always_count++;
		}
		lab->descs[i].name = counter[i].name;
	}
}

int lab_rdma_init(struct lab_rdma *lab, const char *device, struct dentry *root)
{
	struct lab_counter *counter;
	unsigned int count;

	lab->vendor = vendor_of(device);
	if (!lab->vendor)
		return -EINVAL;
	lab->hw_count = split(lab->vendor->hw_counters, NULL);
	count = lab->hw_count + split(agent_counters, NULL);
	counter = kcalloc(count, sizeof(*counter), GFP_KERNEL);
	lab->descs = kcalloc(lab->hw_count, sizeof(*lab->descs), GFP_KERNEL);
	if (!counter || !lab->descs) {
		kfree(counter);
		kfree(lab->descs);
		lab->descs = NULL;
		return -ENOMEM;
	}
	split(lab->vendor->hw_counters, counter);
	split(agent_counters, counter + lab->hw_count);
	lab_counters_init(&lab->counters, counter, count);
	describe(lab);
	lab->debugfs = debugfs_create_dir(device, root);
	lab_counters_debugfs(&lab->counters, lab->debugfs);
	return 0;
}

void lab_rdma_exit(struct lab_rdma *lab)
{
	debugfs_remove_recursive(lab->debugfs);
	kfree(lab->counters.counter);
	kfree(lab->descs);
}

static struct rdma_hw_stats *alloc_hw_device_stats(struct ib_device *device)
{
	struct lab_rdma *lab = lab_rdma_of(device);
	struct rdma_hw_stats *stats;
	unsigned int i;

	stats = rdma_alloc_hw_stats_struct(lab->descs, lab->hw_count, RDMA_HW_STATS_DEFAULT_LIFESPAN);
	for (i = 0; stats && i < lab->hw_count; i++)
		if (lab->descs[i].flags & IB_STAT_FLAG_OPTIONAL)
			set_bit(i, stats->is_disabled);
	/*
	 * A read of counter 0 reads all, which the kernel would then answer from for 10 ms: time in which a fast
	 * machine reads all other files, so that `delay_ms` would cost one delay or one for each, as it happens.
	 * Ends before it begins (core/sysfs.c, update_hw_stats).
	 */
	if (stats)
		stats->lifespan = -1UL;
	return stats;
}

static struct rdma_hw_stats *alloc_hw_port_stats(struct ib_device *device, u32 port)
{
	return alloc_hw_device_stats(device);
}

static u64 value(struct ib_device *device, unsigned int index)
{
	struct lab_rdma *lab = lab_rdma_of(device);

	return lab_value(&lab->counters, index) + lab_rdma_counted(device, lab->counters.counter[index].name);
}

static int get_hw_stats(struct ib_device *device, struct rdma_hw_stats *stats, u32 port, int index)
{
	struct lab_rdma *lab = lab_rdma_of(device);
	int err = lab_read_begin(&lab->counters);
	unsigned int i;

	if (err)
		return err;
	for (i = 0; i < lab->hw_count; i++)
		stats->value[i] = value(device, i);
	/* As in mlx5: a read of one counter reads all but the optional ones, and the kernel does not cache that. */
	return index > 0 && index < lab->hw_count ? lab->always_count : lab->hw_count;
}

/* Optional counters count nothing of their own: on or off is kept by the RDMA core. */
static int modify_hw_stat(struct ib_device *device, u32 port, unsigned int index, bool enable)
{
	return 0;
}

static void get_dev_fw_str(struct ib_device *device, char *text)
{
	snprintf(text, IB_FW_VERSION_NAME_MAX, "%s", lab_rdma_of(device)->vendor->firmware);
}

static u64 agent_value(struct ib_device *device, const char *name)
{
	return value(device, lab_index(&lab_rdma_of(device)->counters, name));
}

static u64 sticking(struct ib_device *device, const char *name, u64 highest)
{
	return min_t(u64, agent_value(device, name), highest);
}

static void port_counters(struct ib_device *device, struct ib_pma_portcounters *p)
{
	p->symbol_error_counter = cpu_to_be16(sticking(device, "symbol_error", U16_MAX));
	p->link_error_recovery_counter = sticking(device, "link_error_recovery", U8_MAX);
	p->link_downed_counter = sticking(device, "link_downed", U8_MAX);
	p->port_rcv_errors = cpu_to_be16(sticking(device, "port_rcv_errors", U16_MAX));
	p->port_rcv_remphys_errors = cpu_to_be16(sticking(device, "port_rcv_remote_physical_errors", U16_MAX));
	p->port_rcv_switch_relay_errors = cpu_to_be16(sticking(device, "port_rcv_switch_relay_errors", U16_MAX));
	p->port_xmit_discards = cpu_to_be16(sticking(device, "port_xmit_discards", U16_MAX));
	p->port_xmit_constraint_errors = sticking(device, "port_xmit_constraint_errors", U8_MAX);
	p->port_rcv_constraint_errors = sticking(device, "port_rcv_constraint_errors", U8_MAX);
	p->link_overrun_errors = sticking(device, "local_link_integrity_errors", 15) << 4 |
				 sticking(device, "excessive_buffer_overrun_errors", 15);
	p->vl15_dropped = cpu_to_be16(sticking(device, "VL15_dropped", U16_MAX));
	p->port_xmit_data = cpu_to_be32(sticking(device, "port_xmit_data", U32_MAX));
	p->port_rcv_data = cpu_to_be32(sticking(device, "port_rcv_data", U32_MAX));
	p->port_xmit_packets = cpu_to_be32(sticking(device, "port_xmit_packets", U32_MAX));
	p->port_rcv_packets = cpu_to_be32(sticking(device, "port_rcv_packets", U32_MAX));
	p->port_xmit_wait = cpu_to_be32(sticking(device, "port_xmit_wait", U32_MAX));
}

static void port_counters_ext(struct ib_device *device, struct ib_pma_portcounters_ext *p)
{
	p->port_xmit_data = cpu_to_be64(agent_value(device, "port_xmit_data"));
	p->port_rcv_data = cpu_to_be64(agent_value(device, "port_rcv_data"));
	p->port_xmit_packets = cpu_to_be64(agent_value(device, "port_xmit_packets"));
	p->port_rcv_packets = cpu_to_be64(agent_value(device, "port_rcv_packets"));
	p->port_unicast_xmit_packets = cpu_to_be64(agent_value(device, "unicast_xmit_packets"));
	p->port_unicast_rcv_packets = cpu_to_be64(agent_value(device, "unicast_rcv_packets"));
	p->port_multicast_xmit_packets = cpu_to_be64(agent_value(device, "multicast_xmit_packets"));
	p->port_multicast_rcv_packets = cpu_to_be64(agent_value(device, "multicast_rcv_packets"));
}

static int process_mad(struct ib_device *device, int flags, u32 port, const struct ib_wc *wc,
		       const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		       size_t *out_size, u16 *out_pkey_index)
{
	struct lab_rdma *lab = lab_rdma_of(device);
	struct ib_class_port_info *info = (struct ib_class_port_info *)(out->data + PMA_DATA);

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return IB_MAD_RESULT_SUCCESS;
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
		break;
	case IB_PMA_PORT_COUNTERS:
		if (lab_read_begin(&lab->counters))
			return IB_MAD_RESULT_FAILURE;
		port_counters(device, (void *)(out->data + PMA_DATA));
		break;
	case IB_PMA_PORT_COUNTERS_EXT:
		if (lab_read_begin(&lab->counters))
			return IB_MAD_RESULT_FAILURE;
		port_counters_ext(device, (void *)(out->data + PMA_DATA));
		break;
	default:
		return IB_MAD_RESULT_SUCCESS;
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

static ssize_t hca_type_show(struct device *device, struct device_attribute *attribute, char *buffer)
{
	return sysfs_emit(buffer, "%s\n", lab_rdma_of(rdma_device_to_ibdev(device))->vendor->hca_type);
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t hw_rev_show(struct device *device, struct device_attribute *attribute, char *buffer)
{
	return sysfs_emit(buffer, "0\n");
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t board_id_show(struct device *device, struct device_attribute *attribute, char *buffer)
{
	return sysfs_emit(buffer, "%s\n", lab_rdma_of(rdma_device_to_ibdev(device))->vendor->board_id);
}
static DEVICE_ATTR_RO(board_id);

static umode_t is_visible(struct kobject *kobj, struct attribute *attribute, int index)
{
	struct ib_device *device = rdma_device_to_ibdev(kobj_to_dev(kobj));

	if (attribute == &dev_attr_board_id.attr && !lab_rdma_of(device)->vendor->board_id)
		return 0;
	return attribute->mode;
}

static struct attribute *attributes[] = {
	&dev_attr_hca_type.attr,
	&dev_attr_hw_rev.attr,
	&dev_attr_board_id.attr,
	NULL
};

static const struct attribute_group device_group = {
	.attrs = attributes,
	.is_visible = is_visible,
};

static const struct ib_device_ops ops = {
	.device_group = &device_group,
	.get_dev_fw_str = get_dev_fw_str,
	.get_hw_stats = get_hw_stats,
	.modify_hw_stat = modify_hw_stat,
};

static const struct ib_device_ops port_stats_ops = {
	.alloc_hw_port_stats = alloc_hw_port_stats,
};

static const struct ib_device_ops device_stats_ops = {
	.alloc_hw_device_stats = alloc_hw_device_stats,
};

static const struct ib_device_ops agent_ops = {
	.process_mad = process_mad,
};

void lab_rdma_set_ops(struct ib_device *device)
{
	ib_set_device_ops(device, &ops);
	ib_set_device_ops(device, lab_rdma_of(device)->vendor->counts_device ? &device_stats_ops : &port_stats_ops);
	if (lab_rdma_of(device)->vendor->port_counters)
		ib_set_device_ops(device, &agent_ops);
}
