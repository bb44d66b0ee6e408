// SPDX-License-Identifier: GPL-2.0
/* Copyright the rdma_exporter authors */
/*
 * The pluggable module in the cage of a card, of which ethtool reads the memory. Knobs in `module/`: `memory` takes
 * "PAGE OFFSET HEX" (numbers in hexadecimal; offsets below 80 are the lower half, the same for all pages; page 100 is the
 * second memory of SFF-8472, at the address 51) or "remove"; `errno`, `delay_ms`, `stuck` and `reads` are as those of counters. Until something is written there is no module.
 */

#include <linux/debugfs.h>
#include <linux/ethtool.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "labnic.h"

#define HALF 128
#define PAGES 256
#define SECOND_MEMORY PAGES
#define LONGEST_LINE 300

struct labnic_module {
	struct lab_counters reads; /* of none: what a read costs */
	bool present;
	u8 lower[HALF];
	u8 upper[PAGES][HALF];
	u8 second[2 * HALF];
};

static u8 *place(struct labnic_module *module, unsigned int page, unsigned int offset, unsigned int length)
{
	unsigned int half_end = offset < HALF ? HALF : 2 * HALF;

	if (page > SECOND_MEMORY || !length || offset + length > half_end)
		return NULL;
	if (page == SECOND_MEMORY)
		return module->second + offset;
	return offset < HALF ? module->lower + offset : module->upper[page] + offset - HALF;
}

/* drivers/net/ethernet/mellanox/mlx5/core/en_ethtool.c mlx5e_get_module_eeprom_by_page() answers likewise. */
int labnic_get_module_eeprom_by_page(struct net_device *dev, const struct ethtool_module_eeprom *wanted,
				     struct netlink_ext_ack *extack)
{
	struct labnic_module *module = ((struct labnic *)netdev_priv(dev))->module;
	unsigned int page = wanted->i2c_address == 0x51 ? SECOND_MEMORY : wanted->page;
	const u8 *from;
	int err = lab_read_begin(&module->reads);

	if (err)
		return err;
	if (!module->present || (wanted->i2c_address != 0x50 && wanted->i2c_address != 0x51))
		return -EINVAL;
	from = place(module, page, wanted->offset, wanted->length);
	if (!from)
		return -EINVAL;
	memcpy(wanted->data, from, wanted->length);
	return wanted->length;
}

static int take(struct labnic_module *module, char *line)
{
	unsigned int page, offset, length;
	char hex[2 * HALF + 1];
	u8 *to;

	if (!strcmp(line, "remove")) {
		memset(module->lower, 0, sizeof(module->lower));
		memset(module->upper, 0, sizeof(module->upper));
		memset(module->second, 0, sizeof(module->second));
		module->present = false;
		return 0;
	}
	if (sscanf(line, "%x %x %256s", &page, &offset, hex) != 3)
		return -EINVAL;
	length = strlen(hex) / 2;
	to = place(module, page, offset, length);
	if (!to || hex2bin(to, hex, length))
		return -EINVAL;
	module->present = true;
	return 0;
}

static ssize_t write(struct file *file, const char __user *text, size_t length, loff_t *offset)
{
	char line[LONGEST_LINE] = {};
	int err;

	if (length >= sizeof(line) || copy_from_user(line, text, length))
		return -EINVAL;
	strim(line);
	err = take(file->private_data, line);
	return err ? err : length;
}

static const struct file_operations memory = { .owner = THIS_MODULE, .open = simple_open, .write = write };

int labnic_add_module(struct labnic *nic)
{
	nic->module = kvzalloc(sizeof(*nic->module), GFP_KERNEL);
	if (!nic->module)
		return -ENOMEM;
	lab_counters_init(&nic->module->reads, NULL, 0);
	return 0;
}

void labnic_show_module(struct labnic *nic)
{
	struct dentry *dir = debugfs_create_dir("module", nic->debugfs);

	lab_counters_debugfs(&nic->module->reads, dir);
	debugfs_create_file("memory", 0200, dir, nic->module, &memory);
}

void labnic_remove_module(struct labnic *nic)
{
	kvfree(nic->module);
}
