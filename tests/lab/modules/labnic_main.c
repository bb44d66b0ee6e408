// SPDX-License-Identifier: GPL-2.0
/* Copyright the rdma_exporter authors */
/*
 * Ethernet cards for the lab that look like a ConnectX or a NetXtreme-E to whoever reads them. Each sits on one of QEMU's
 * `edu` devices (docs/specs/edu.txt there), whose PCI ids are replaced: slots 0x12 and 0x13 become a NetXtreme-E, 0x10, 0x11
 * and from 0x14 on a ConnectX. The two of a pair of slots are wired to each other. Knobs: /sys/kernel/debug/labnic/NETDEV/.
 */

#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/pci.h>
#include <linux/udp.h>

#include "labnic.h"

#define EDU_VENDOR 0x1234
#define EDU_DEVICE 0x11e8
#define FIRST_SLOT 0x10
#define FIRST_BNXT 0x12
#define CARDS 10
#define ROCE_UDP_PORT 4791

static struct dentry *debugfs_root;
static struct labnic *nics[CARDS];
static DEFINE_MUTEX(nics_lock);

/* Counts a packet as the hardware would: RDMA traffic apart, the priority from the DSCP. */
static void count_packet(struct labnic *nic, const struct lab_moved *moved, const struct sk_buff *skb)
{
	const struct iphdr *ip = (const struct iphdr *)(skb->data + ETH_HLEN);
	const struct udphdr *udp = (const struct udphdr *)(ip + 1);
	struct lab_counters *counters = &nic->counters;
	unsigned int prio = 0;
	bool rdma = false;

	if (skb->protocol == htons(ETH_P_IP) && skb_headlen(skb) >= ETH_HLEN + sizeof(*ip) + sizeof(*udp)) {
		prio = ip->tos >> 5;
		rdma = ip->protocol == IPPROTO_UDP && udp->dest == htons(ROCE_UDP_PORT);
	}
	lab_add(counters, moved->packets, 1);
	lab_add(counters, moved->bytes, skb->len);
	lab_add(counters, moved->prio_packets[prio], 1);
	lab_add(counters, moved->prio_bytes[prio], skb->len);
	lab_add(counters, rdma ? moved->rdma_packets : moved->other_packets, 1);
	lab_add(counters, rdma ? moved->rdma_bytes : moved->other_bytes, skb->len);
}

static netdev_tx_t start_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct labnic *nic = netdev_priv(dev), *peer;
	unsigned int length = skb->len;

	rcu_read_lock();
	peer = rcu_dereference(nic->peer);
	count_packet(nic, &nic->tx, skb);
	dev->stats.tx_packets++;
	dev->stats.tx_bytes += length;
	if (peer && netif_running(peer->dev) && netif_carrier_ok(peer->dev)) {
		count_packet(peer, &peer->rx, skb);
		if (dev_forward_skb(peer->dev, skb) == NET_RX_SUCCESS) {
			peer->dev->stats.rx_packets++;
			peer->dev->stats.rx_bytes += length;
		}
	} else {
		dev->stats.tx_dropped++;
		kfree_skb(skb);
	}
	rcu_read_unlock();
	return NETDEV_TX_OK;
}

static int open(struct net_device *dev)
{
	netif_carrier_on(dev);
	netif_start_queue(dev);
	return 0;
}

static int stop(struct net_device *dev)
{
	netif_stop_queue(dev);
	netif_carrier_off(dev);
	return 0;
}

/* `ip link set DEV carrier off`: the cable is pulled. */
static int change_carrier(struct net_device *dev, bool carrier)
{
	struct labnic *nic = netdev_priv(dev);

	if (carrier == netif_carrier_ok(dev))
		return 0;
	if (carrier) {
		netif_carrier_on(dev);
		return 0;
	}
	netif_carrier_off(dev);
	lab_add(&nic->counters, lab_index(&nic->counters, nic->card == &labnic_mlx5 ? "link_down_events_phy"
										   : "link_down_events"), 1);
	return 0;
}

static const struct net_device_ops netdev_ops = {
	.ndo_open = open,
	.ndo_stop = stop,
	.ndo_start_xmit = start_xmit,
	.ndo_change_carrier = change_carrier,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static void make_debugfs(struct labnic *nic)
{
	nic->debugfs = debugfs_create_dir(nic->dev->name, debugfs_root);
	lab_counters_debugfs(&nic->counters, nic->debugfs);
	debugfs_create_u32("extra", 0600, nic->debugfs, &nic->extra);
	debugfs_create_u32("extra_after_names", 0600, nic->debugfs, &nic->extra_after_names);
	debugfs_create_u32("speed", 0600, nic->debugfs, &nic->speed);
	debugfs_create_u32("ext_state", 0600, nic->debugfs, &nic->ext_state);
	debugfs_create_u32("pcie_generation", 0600, nic->debugfs, &nic->pcie_generation);
	debugfs_create_u32("pcie_lanes", 0600, nic->debugfs, &nic->pcie_lanes);
}

static void setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &netdev_ops;
	dev->ethtool_ops = &labnic_ethtool_ops;
	dev->max_mtu = 9978;
	dev->hw_features = NETIF_F_HW_CSUM | NETIF_F_SG | NETIF_F_HIGHDMA;
	dev->features = dev->hw_features;
}

static void connect(unsigned int index, struct labnic *nic)
{
	struct labnic *peer;

	mutex_lock(&nics_lock);
	nics[index] = nic;
	peer = nics[index ^ 1];
	if (peer) {
		rcu_assign_pointer(peer->peer, nic);
		rcu_assign_pointer(nic->peer, peer);
	}
	mutex_unlock(&nics_lock);
}

static void disconnect(unsigned int index)
{
	mutex_lock(&nics_lock);
	nics[index] = NULL;
	if (nics[index ^ 1])
		RCU_INIT_POINTER(nics[index ^ 1]->peer, NULL);
	mutex_unlock(&nics_lock);
	synchronize_net();
}

static int probe(struct pci_dev *pdev, const struct lab_card *card)
{
	unsigned int index = PCI_SLOT(pdev->devfn) - FIRST_SLOT;
	u8 address[ETH_ALEN] = { 0x02, 0x15, 0xb3, 0, 0, index };
	struct net_device *dev;
	struct labnic *nic;
	int err;

	dev = alloc_netdev(sizeof(*nic), card->netdev, NET_NAME_ENUM, setup);
	if (!dev)
		return -ENOMEM;
	SET_NETDEV_DEV(dev, &pdev->dev);
	eth_hw_addr_set(dev, address);
	dev->dcbnl_ops = card->dcbnl_ops;
	nic = netdev_priv(dev);
	nic->dev = dev;
	nic->pdev = pdev;
	nic->card = card;
	nic->speed = card->speed;
	nic->fec = ETHTOOL_FEC_RS;
	nic->ext_state = ETHTOOL_LINK_EXT_STATE_NO_CABLE;
	nic->channels = 4;
	labnic_dcb_defaults(nic);
	err = labnic_make_counters(nic);
	if (err)
		goto free;
	pdev->vendor = card->vendor;
	pdev->device = card->device;
	pci_set_drvdata(pdev, nic);
	err = labnic_add_pcie(nic);
	if (err)
		goto free_counters;
	err = labnic_add_module(nic);
	if (err)
		goto remove_pcie;
	err = labnic_add_devlink(nic);
	if (err)
		goto remove_module;
	err = register_netdev(dev);
	if (err)
		goto remove_devlink;
	netif_carrier_off(dev);
	make_debugfs(nic);
	labnic_show_devlink(nic);
	labnic_show_module(nic);
	connect(index, nic);
	return 0;

remove_devlink:
	labnic_remove_devlink(nic);
remove_module:
	labnic_remove_module(nic);
remove_pcie:
	labnic_remove_pcie(nic);
free_counters:
	kvfree(nic->counters.counter);
	kvfree(nic->places);
free:
	free_netdev(dev);
	return err;
}

static void unplug(struct pci_dev *pdev)
{
	struct labnic *nic = pci_get_drvdata(pdev);

	disconnect(PCI_SLOT(pdev->devfn) - FIRST_SLOT);
	debugfs_remove_recursive(nic->debugfs);
	labnic_hide_devlink(nic);
	unregister_netdev(nic->dev);
	labnic_remove_devlink(nic);
	labnic_remove_module(nic);
	labnic_remove_pcie(nic);
	pdev->vendor = EDU_VENDOR;
	pdev->device = EDU_DEVICE;
	kvfree(nic->counters.counter);
	kvfree(nic->places);
	free_netdev(nic->dev);
}

static bool is_card(const struct pci_dev *pdev)
{
	unsigned int slot = PCI_SLOT(pdev->devfn);

	return slot >= FIRST_SLOT && slot < FIRST_SLOT + CARDS;
}

static bool is_bnxt(const struct pci_dev *pdev)
{
	return PCI_SLOT(pdev->devfn) / 2 == FIRST_BNXT / 2;
}

static int probe_mlx5(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return is_card(pdev) && !is_bnxt(pdev) ? probe(pdev, &labnic_mlx5) : -ENODEV;
}

static int probe_bnxt(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return is_bnxt(pdev) ? probe(pdev, &labnic_bnxt) : -ENODEV;
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(EDU_VENDOR, EDU_DEVICE) },
	{}
};

static struct pci_driver mlx5_driver = {
	.name = "mlx5_core",
	.id_table = ids,
	.probe = probe_mlx5,
	.remove = unplug,
};

static struct pci_driver bnxt_driver = {
	.name = "bnxt_en",
	.id_table = ids,
	.probe = probe_bnxt,
	.remove = unplug,
};

static int __init labnic_init(void)
{
	int err;

	debugfs_root = debugfs_create_dir("labnic", NULL);
	err = pci_register_driver(&mlx5_driver);
	if (err)
		goto remove;
	err = pci_register_driver(&bnxt_driver);
	if (!err)
		return 0;
	pci_unregister_driver(&mlx5_driver);
remove:
	debugfs_remove_recursive(debugfs_root);
	return err;
}

static void __exit labnic_exit(void)
{
	pci_unregister_driver(&bnxt_driver);
	pci_unregister_driver(&mlx5_driver);
	debugfs_remove_recursive(debugfs_root);
}

module_init(labnic_init);
module_exit(labnic_exit);
MODULE_DESCRIPTION("Ethernet cards whose counters are set by scripts");
MODULE_LICENSE("GPL");
