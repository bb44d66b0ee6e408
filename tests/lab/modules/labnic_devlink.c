// SPDX-License-Identifier: GPL-2.0
/* Copyright the rdma_exporter authors */
/*
 * The devlink instance of a card: health reporters fw and fw_fatal, tx and rx of its port, firmware that runs and is
 * stored. Knob `devlink`: "break REPORTER" reports an error, from which all but fw recover; "store VERSION" leaves another
 * firmware in flash.
 */

#include <linux/debugfs.h>
#include <linux/pci.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <net/devlink.h>

#include "labnic.h"

struct labnic_devlink {
	struct labnic *nic;
	struct devlink_port port;
	struct devlink_health_reporter *reporters[4];
	char running[32], stored[32];
};

static int recover(struct devlink_health_reporter *reporter, void *context, struct netlink_ext_ack *extack)
{
	return 0;
}

static int dump(struct devlink_health_reporter *reporter, struct devlink_fmsg *fmsg, void *context,
		struct netlink_ext_ack *extack)
{
	return 0;
}

/* As mlx5's: the one for firmware cannot recover. */
static const struct devlink_health_reporter_ops reporter_ops[] = {
	{ .name = "fw", .dump = dump },
	{ .name = "fw_fatal", .dump = dump, .recover = recover },
	{ .name = "tx", .recover = recover },
	{ .name = "rx", .recover = recover },
};

#define FIRST_OF_PORT 2

static int info_get(struct devlink *devlink, struct devlink_info_req *req, struct netlink_ext_ack *extack)
{
	struct labnic_devlink *priv = devlink_priv(devlink);
	int err;

	err = devlink_info_version_fixed_put(req, "fw.psid", "MT_0000000838");
	if (!err)
		err = devlink_info_version_running_put(req, "fw.version", priv->running);
	if (!err)
		err = devlink_info_version_stored_put(req, "fw.version", priv->stored);
	return err ? err : devlink_info_serial_number_put(req, "MT2243X00000");
}

static const struct devlink_ops devlink_ops = { .info_get = info_get };

static int break_health(struct labnic_devlink *priv, const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reporter_ops); i++) {
		if (strcmp(reporter_ops[i].name, name))
			continue;
		devlink_health_report(priv->reporters[i], "the lab broke it", NULL);
		return 0;
	}
	return -ENOENT;
}

static ssize_t write(struct file *file, const char __user *text, size_t length, loff_t *offset)
{
	struct labnic_devlink *priv = file->private_data;
	char line[64] = {};
	int err = -EINVAL;

	if (length >= sizeof(line) || copy_from_user(line, text, length))
		return -EINVAL;
	strim(line);
	if (!strncmp(line, "break ", 6))
		err = break_health(priv, line + 6);
	if (!strncmp(line, "store ", 6))
		err = strscpy(priv->stored, line + 6, sizeof(priv->stored)) < 0 ? -EINVAL : 0;
	return err ? err : length;
}

static const struct file_operations knob = { .owner = THIS_MODULE, .open = simple_open, .write = write };

static int add_port(struct devlink *devlink, struct labnic_devlink *priv)
{
	struct devlink_port_attrs attrs = { .flavour = DEVLINK_PORT_FLAVOUR_PHYSICAL };
	int err;

	attrs.phys.port_number = PCI_FUNC(priv->nic->pdev->devfn);
	devlink_port_attrs_set(&priv->port, &attrs);
	err = devlink_port_register(devlink, &priv->port, 65535);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	if (!err)
		SET_NETDEV_DEVLINK_PORT(priv->nic->dev, &priv->port);
#endif
	return err;
}

static void destroy_reporters(struct labnic_devlink *priv)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reporter_ops); i++)
		if (!IS_ERR_OR_NULL(priv->reporters[i])) {
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
			if (i >= FIRST_OF_PORT) {
				devlink_port_health_reporter_destroy(priv->reporters[i]);
				continue;
			}
#endif
			devlink_health_reporter_destroy(priv->reporters[i]);
		}
}

/* Before the network device is registered. */
int labnic_add_devlink(struct labnic *nic)
{
	struct devlink *devlink = devlink_alloc(&devlink_ops, sizeof(struct labnic_devlink), &nic->pdev->dev);
	struct labnic_devlink *priv;
	unsigned int i;
	int err;

	if (!devlink)
		return -ENOMEM;
	priv = devlink_priv(devlink);
	priv->nic = nic;
	strscpy(priv->running, nic->card->firmware, sizeof(priv->running));
	priv->running[strcspn(priv->running, " ")] = 0;
	strscpy(priv->stored, priv->running, sizeof(priv->stored));
	err = add_port(devlink, priv);
	if (err)
		goto free;
	for (i = 0; i < ARRAY_SIZE(reporter_ops); i++) {
		priv->reporters[i] = i < FIRST_OF_PORT ?
			devlink_health_reporter_create(devlink, &reporter_ops[i], 0, priv) :
			devlink_port_health_reporter_create(&priv->port, &reporter_ops[i], 0, priv);
		err = PTR_ERR_OR_ZERO(priv->reporters[i]);
		if (err)
			goto destroy;
	}
	devlink_register(devlink);
	nic->devlink = devlink;
	return 0;

destroy:
	destroy_reporters(priv);
	devlink_port_unregister(&priv->port);
free:
	devlink_free(devlink);
	return err;
}

/* Once it is registered, and has its directory of knobs. */
void labnic_show_devlink(struct labnic *nic)
{
	struct labnic_devlink *priv = devlink_priv(nic->devlink);

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	devlink_port_type_eth_set(&priv->port, nic->dev);
#endif
	debugfs_create_file("devlink", 0200, nic->debugfs, priv, &knob);
}

/* Before the network device is gone. */
void labnic_hide_devlink(struct labnic *nic)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	struct labnic_devlink *priv = devlink_priv(nic->devlink);

	devlink_port_type_clear(&priv->port);
#endif
}

void labnic_remove_devlink(struct labnic *nic)
{
	struct labnic_devlink *priv = devlink_priv(nic->devlink);

	devlink_unregister(nic->devlink);
	destroy_reporters(priv);
	devlink_port_unregister(&priv->port);
	devlink_free(nic->devlink);
}
