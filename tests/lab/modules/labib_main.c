// SPDX-License-Identifier: GPL-2.0
/* Copyright the rdma_exporter authors */
/*
 * RDMA devices without verbs whose counters are set by scripts, and whose reads can be slow, stuck or failing. Each has a
 * /dev/infiniband/uverbsN, which cannot be used: without one the kernel would run modprobe for every program that asks.
 *
 *	echo "mlx5_0 cx0" >/sys/kernel/debug/labib/add	a device with mlx5's counters on a network interface
 *	echo "bnxt_re0 bcm0" >/sys/kernel/debug/labib/add	one with bnxt_re's
 *	echo "cxgb4_0 cx1" >/sys/kernel/debug/labib/add	one with cxgb4's, which are the device's and not the port's
 *	echo mlx5_0 >/sys/kernel/debug/labib/remove	returns when the kernel has let it go
 *
 * Knobs: /sys/kernel/debug/labib/DEVICE/, see lab_counters.h.
 */

#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>

#include "lab_rdma.h"

#define GIDS 16
#define DRIVER RDMA_DRIVER_MLX5	/* of all vendors' devices; no other has it here */

struct labib_ucontext {
	struct ib_ucontext base;
};

struct labib {
	struct ib_device ib;
	struct lab_rdma lab;
	struct net_device *netdev;
};

static struct dentry *debugfs_root;

static struct labib *labib_of(struct ib_device *device)
{
	return container_of(device, struct labib, ib);
}

struct lab_rdma *lab_rdma_of(struct ib_device *device)
{
	return &labib_of(device)->lab;
}

u64 lab_rdma_counted(struct ib_device *device, const char *name)
{
	return 0;
}

static int query_device(struct ib_device *device, struct ib_device_attr *attr, struct ib_udata *udata)
{
	attr->sys_image_guid = device->node_guid;
	attr->max_pkeys = 1;
	return 0;
}

static int query_port(struct ib_device *device, u32 port, struct ib_port_attr *attr)
{
	struct net_device *netdev = labib_of(device)->netdev;
	bool link = netif_running(netdev) && netif_carrier_ok(netdev);

	attr->state = link ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = link ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
	attr->gid_tbl_len = GIDS;
	attr->pkey_tbl_len = 1;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = iboe_get_mtu(netdev->mtu);
	attr->active_speed = lab_rdma_of(device)->vendor->lane_speed;
	attr->active_width = IB_WIDTH_4X;
	return 0;
}

static int port_immutable(struct ib_device *device, u32 port, struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = GIDS;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE | RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer link_layer(struct ib_device *device, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int query_pkey(struct ib_device *device, u32 port, u16 index, u16 *pkey)
{
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

/* The kernel keeps the table itself. */
/* As an adapter whose table is full: the address has no GID then. */
static bool refuse_gids;

static int add_gid(const struct ib_gid_attr *attr, void **context)
{
	return READ_ONCE(refuse_gids) ? -ENOSPC : 0;
}

static int del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	return -EOPNOTSUPP;
}

static void dealloc_ucontext(struct ib_ucontext *context)
{
}

/* A program that has the device open does not keep it. */
static void disassociate_ucontext(struct ib_ucontext *context)
{
}

static void dealloc(struct ib_device *device)
{
	lab_rdma_exit(lab_rdma_of(device));
}

static const struct ib_device_ops ops = {
	.owner = THIS_MODULE,
	.driver_id = DRIVER,
	.uverbs_abi_ver = 1,
	.add_gid = add_gid,
	.alloc_ucontext = alloc_ucontext,
	.dealloc_driver = dealloc,
	.dealloc_ucontext = dealloc_ucontext,
	.del_gid = del_gid,
	.disassociate_ucontext = disassociate_ucontext,
	.get_link_layer = link_layer,
	.get_port_immutable = port_immutable,
	.query_device = query_device,
	.query_pkey = query_pkey,
	.query_port = query_port,
	INIT_RDMA_OBJ_SIZE(ib_ucontext, labib_ucontext, base),
};

static int add_device(const char *name, struct net_device *netdev)
{
	struct labib *labib = ib_alloc_device(labib, ib);
	int err;

	if (!labib)
		return -ENOMEM;
	err = lab_rdma_init(&labib->lab, name, debugfs_root);
	if (err)
		goto dealloc;
	labib->netdev = netdev;
	labib->ib.node_type = RDMA_NODE_IB_CA;
	labib->ib.phys_port_cnt = 1;
	labib->ib.num_comp_vectors = 1;
	labib->ib.dev.parent = netdev->dev.parent;
	strscpy(labib->ib.node_desc, name, sizeof(labib->ib.node_desc));
	addrconf_addr_eui48((u8 *)&labib->ib.node_guid, netdev->dev_addr);
	lab_rdma_set_ops(&labib->ib);
	ib_set_device_ops(&labib->ib, &ops);
	err = ib_device_set_netdev(&labib->ib, netdev, 1);
	if (!err)
		err = ib_register_device(&labib->ib, name, NULL);
	if (!err)
		return 0;
dealloc:
	ib_dealloc_device(&labib->ib);
	return err;
}

static ssize_t add_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	char name[IB_DEVICE_NAME_MAX], netdev_name[IFNAMSIZ], text[80] = {};
	struct net_device *netdev;
	int err;

	if (size >= sizeof(text) || copy_from_user(text, from, size))
		return -EINVAL;
	if (sscanf(text, "%63s %15s", name, netdev_name) != 2)
		return -EINVAL;
	netdev = dev_get_by_name(&init_net, netdev_name);
	if (!netdev)
		return -ENODEV;
	err = add_device(name, netdev);
	dev_put(netdev);
	return err ?: size;
}

static const struct file_operations add_fops = {
	.owner = THIS_MODULE,
	.write = add_write,
};

static ssize_t remove_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	char name[IB_DEVICE_NAME_MAX], text[80] = {};
	struct ib_device *device;

	if (size >= sizeof(text) || copy_from_user(text, from, size) || sscanf(text, "%63s", name) != 1)
		return -EINVAL;
	device = ib_device_get_by_name(name, DRIVER);
	if (!device)
		return -ENODEV;
	ib_unregister_device_and_put(device);
	return size;
}

static const struct file_operations remove_fops = {
	.owner = THIS_MODULE,
	.write = remove_write,
};

static void dispatch(struct ib_device *device, enum ib_event_type type)
{
	struct ib_event event = { .device = device, .element.port_num = 1, .event = type };

	ib_dispatch_event(&event);
}

static int netdev_event(struct notifier_block *block, unsigned long type, void *info)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(info);
	struct ib_device *device = ib_device_get_by_netdev(netdev, DRIVER);

	if (!device)
		return NOTIFY_DONE;
	if (type == NETDEV_UNREGISTER)
		ib_unregister_device_queued(device);
	else if (type == NETDEV_CHANGE || type == NETDEV_UP || type == NETDEV_DOWN)
		dispatch(device, netif_running(netdev) && netif_carrier_ok(netdev) ? IB_EVENT_PORT_ACTIVE
										   : IB_EVENT_PORT_ERR);
	ib_device_put(device);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = { .notifier_call = netdev_event };

static int __init labib_init(void)
{
	debugfs_root = debugfs_create_dir("labib", NULL);
	debugfs_create_file("add", 0200, debugfs_root, NULL, &add_fops);
	debugfs_create_file("remove", 0200, debugfs_root, NULL, &remove_fops);
	debugfs_create_bool("refuse_gids", 0600, debugfs_root, &refuse_gids);
	return register_netdevice_notifier(&netdev_notifier);
}

static void __exit labib_exit(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
	ib_unregister_driver(DRIVER);
	debugfs_remove_recursive(debugfs_root);
}

module_init(labib_init);
module_exit(labib_exit);
MODULE_DESCRIPTION("RDMA devices whose counters are set by scripts");
MODULE_LICENSE("GPL");
