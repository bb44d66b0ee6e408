// SPDX-License-Identifier: GPL-2.0
/* Copyright the rdma_exporter authors */
/*
 * The PCIe link of a card, in the files that the kernel gives to PCIe functions (drivers/pci/pci-sysfs.c). QEMU's
 * device is a conventional one without them; what the link has come down to is set by the knobs pcie_generation and
 * pcie_lanes.
 */

#include <linux/pci.h>

#include "labnic.h"

#define MAX_GENERATION 5
#define MAX_LANES 16

static struct labnic *nic_of(struct device *dev)
{
	return pci_get_drvdata(to_pci_dev(dev));
}

static ssize_t print_speed(char *buf, u32 generation)
{
	static const char *const speeds[] = { "2.5", "5.0", "8.0", "16.0", "32.0" };

	return sysfs_emit(buf, "%s GT/s PCIe\n", speeds[clamp(generation, 1U, 5U) - 1]);
}

static ssize_t current_link_speed_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return print_speed(buf, READ_ONCE(nic_of(dev)->pcie_generation));
}
static DEVICE_ATTR_RO(current_link_speed);

static ssize_t max_link_speed_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return print_speed(buf, MAX_GENERATION);
}
static DEVICE_ATTR_RO(max_link_speed);

static ssize_t current_link_width_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(nic_of(dev)->pcie_lanes));
}
static DEVICE_ATTR_RO(current_link_width);

static ssize_t max_link_width_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", MAX_LANES);
}
static DEVICE_ATTR_RO(max_link_width);

static struct attribute *attributes[] = {
	&dev_attr_current_link_speed.attr, &dev_attr_max_link_speed.attr,
	&dev_attr_current_link_width.attr, &dev_attr_max_link_width.attr,
	NULL
};

static const struct attribute_group group = { .attrs = attributes };

int labnic_add_pcie(struct labnic *nic)
{
	nic->pcie_generation = MAX_GENERATION;
	nic->pcie_lanes = MAX_LANES;
	return sysfs_create_group(&nic->pdev->dev.kobj, &group);
}

void labnic_remove_pcie(struct labnic *nic)
{
	sysfs_remove_group(&nic->pdev->dev.kobj, &group);
}
