/* SPDX-License-Identifier: GPL-2.0 */
/* Copyright the rdma_exporter authors */
/*
 * What an RDMA device of the lab shows of a vendor's: hw_counters, the port counters of the performance management
 * agent, firmware version, board. Shared by labib (no verbs) and labrxe (Soft-RoCE with a vendor's face).
 */
#ifndef LAB_RDMA_H
#define LAB_RDMA_H

#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "lab_counters.h"

/* A vendor's device. */
struct lab_vendor {
	const char *prefix;	/* of device names: "mlx5_" */
	const char *firmware, *hca_type, *board_id;
	const char *hw_counters;	/* separated by blanks; with `?` behind: off until somebody switches it on */
	enum ib_port_speed lane_speed;	/* of four lanes */
	bool counts_device;	/* hw_counters are the device's, not the port's */
	bool port_counters;	/* answers the performance management agent */
};

struct lab_rdma {
	const struct lab_vendor *vendor;
	struct lab_counters counters;	/* hw_counters first, then those of the agent */
	struct rdma_stat_desc *descs;
	unsigned int hw_count, always_count;	/* with and without optional ones */
	struct dentry *debugfs;
};

/* Chooses the vendor by the device's name. `root`: where its knobs appear. Zero or a negative errno. */
int lab_rdma_init(struct lab_rdma *lab, const char *device, struct dentry *root);
void lab_rdma_exit(struct lab_rdma *lab);

/* Before other operations are set: the kernel keeps the first of each. */
void lab_rdma_set_ops(struct ib_device *device);

/* For the module to define: the state of a device, and what it has really counted under a name. */
struct lab_rdma *lab_rdma_of(struct ib_device *device);
u64 lab_rdma_counted(struct ib_device *device, const char *name);

#endif
