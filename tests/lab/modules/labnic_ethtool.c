// SPDX-License-Identifier: GPL-2.0
/* Copyright the rdma_exporter authors */
/* What ethtool asks of a card. Every function runs under RTNL. */

#include <linux/pci.h>
#include <linux/version.h>

#include "labnic.h"

static bool listed(const struct labnic *nic, struct lab_place place)
{
	switch (place.repeat) {
	case LAB_PER_PFC_PRIO:
		return nic->pfc.pfc_en & BIT(place.number);
	case LAB_GLOBAL_PAUSE:
		return nic->pause_rx || nic->pause_tx;
	case LAB_PER_CHANNEL:
		return place.number < nic->channels;
	case LAB_HIDDEN:
		return false;
	default:
		return true;
	}
}

static int get_sset_count(struct net_device *dev, int set)
{
	struct labnic *nic = netdev_priv(dev);
	unsigned int i, count = 0;
	int err;

	if (set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	err = -(int)READ_ONCE(nic->counters.errnum);
	if (err)
		return err;
	for (i = 0; i < nic->counters.count; i++)
		count += listed(nic, nic->places[i]);
	return count + nic->extra;
}

static void get_strings(struct net_device *dev, u32 set, u8 *strings)
{
	struct labnic *nic = netdev_priv(dev);
	unsigned int i;

	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < nic->counters.count; i++)
		if (listed(nic, nic->places[i]))
			ethtool_sprintf(&strings, "%s", nic->counters.counter[i].name);
	for (i = 0; i < nic->extra; i++)
		ethtool_sprintf(&strings, "lab_extra_%u", i);
	if (nic->extra_after_names) {
		nic->extra = nic->extra_after_names;
		nic->extra_after_names = 0;
	}
}

static void get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *values)
{
	struct labnic *nic = netdev_priv(dev);
	unsigned int i;

	if (lab_read_begin(&nic->counters))
		return;
	for (i = 0; i < nic->counters.count; i++)
		if (listed(nic, nic->places[i]))
			*values++ = lab_value(&nic->counters, i);
	for (i = 0; i < nic->extra; i++)
		*values++ = i;
	labnic_read_pfc_counts(nic);
}

/* As in a driver whose register read fails: the statistics stay unset. */
static void fill(struct net_device *dev, const struct lab_field *field, void *structure)
{
	struct labnic *nic = netdev_priv(dev);

	if (lab_read_begin(&nic->counters))
		return;
	for (; field->counter; field++)
		*(u64 *)(structure + field->offset) = labnic_value(nic, field->counter);
}

static void get_pause_stats(struct net_device *dev, struct ethtool_pause_stats *stats)
{
	fill(dev, ((struct labnic *)netdev_priv(dev))->card->pause, stats);
}

static void get_eth_phy_stats(struct net_device *dev, struct ethtool_eth_phy_stats *stats)
{
	fill(dev, ((struct labnic *)netdev_priv(dev))->card->phy, stats);
}

static void get_eth_mac_stats(struct net_device *dev, struct ethtool_eth_mac_stats *stats)
{
	fill(dev, ((struct labnic *)netdev_priv(dev))->card->mac, stats);
}

static void get_eth_ctrl_stats(struct net_device *dev, struct ethtool_eth_ctrl_stats *stats)
{
	fill(dev, ((struct labnic *)netdev_priv(dev))->card->ctrl, stats);
}

static void get_rmon_stats(struct net_device *dev, struct ethtool_rmon_stats *stats,
			   const struct ethtool_rmon_hist_range **ranges)
{
	const struct lab_card *card = ((struct labnic *)netdev_priv(dev))->card;

	fill(dev, card->rmon, stats);
	*ranges = card->rmon_ranges;
}

static void get_fec_stats(struct net_device *dev, struct ethtool_fec_stats *stats)
{
	struct labnic *nic = netdev_priv(dev);

	fill(dev, nic->card->fec, stats);
	if (nic->fec == ETHTOOL_FEC_RS)
		fill(dev, nic->card->fec_rs, stats);
	if (nic->fec == ETHTOOL_FEC_BASER)
		fill(dev, nic->card->fec_baser, stats);
}

static int get_fecparam(struct net_device *dev, struct ethtool_fecparam *param)
{
	struct labnic *nic = netdev_priv(dev);

	param->fec = nic->fec;
	param->active_fec = nic->fec;
	return -(int)READ_ONCE(nic->counters.errnum);
}

static int set_fecparam(struct net_device *dev, struct ethtool_fecparam *param)
{
	if (param->fec != ETHTOOL_FEC_RS && param->fec != ETHTOOL_FEC_BASER && param->fec != ETHTOOL_FEC_OFF)
		return -EOPNOTSUPP;
	((struct labnic *)netdev_priv(dev))->fec = param->fec;
	return 0;
}

static void get_pauseparam(struct net_device *dev, struct ethtool_pauseparam *param)
{
	struct labnic *nic = netdev_priv(dev);

	param->rx_pause = nic->pause_rx;
	param->tx_pause = nic->pause_tx;
}

static int set_pauseparam(struct net_device *dev, struct ethtool_pauseparam *param)
{
	struct labnic *nic = netdev_priv(dev);

	if (param->autoneg)
		return -EINVAL;
	nic->pause_rx = param->rx_pause;
	nic->pause_tx = param->tx_pause;
	return 0;
}

static void get_channels(struct net_device *dev, struct ethtool_channels *channels)
{
	channels->max_combined = LABNIC_MAX_CHANNELS;
	channels->combined_count = ((struct labnic *)netdev_priv(dev))->channels;
}

static int set_channels(struct net_device *dev, struct ethtool_channels *channels)
{
	((struct labnic *)netdev_priv(dev))->channels = channels->combined_count;
	return 0;
}

static void get_ringparam(struct net_device *dev, struct ethtool_ringparam *ring,
			  struct kernel_ethtool_ringparam *kernel_ring, struct netlink_ext_ack *extack)
{
	ring->rx_max_pending = 8192;
	ring->tx_max_pending = 8192;
	ring->rx_pending = 1024;
	ring->tx_pending = 2048;
}

static int get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	struct labnic *nic = netdev_priv(dev);
	bool link = netif_carrier_ok(dev);

	ethtool_link_ksettings_zero_link_mode(settings, supported);
	ethtool_link_ksettings_add_link_mode(settings, supported, FIBRE);
	ethtool_link_ksettings_add_link_mode(settings, supported, Pause);
	ethtool_link_ksettings_add_link_mode(settings, supported, FEC_RS);
	ethtool_link_ksettings_add_link_mode(settings, supported, FEC_BASER);
	ethtool_link_ksettings_add_link_mode(settings, supported, 100000baseCR4_Full);
	ethtool_link_ksettings_add_link_mode(settings, supported, 200000baseCR4_Full);
	if (nic->card->speed == SPEED_400000)
		ethtool_link_ksettings_add_link_mode(settings, supported, 400000baseCR4_Full);
	settings->base.port = PORT_FIBRE;
	settings->base.autoneg = AUTONEG_DISABLE;
	settings->base.speed = link ? READ_ONCE(nic->speed) : SPEED_UNKNOWN;
	settings->base.duplex = link ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	settings->lanes = link ? 4 : 0;
	return 0;
}

static int get_link_ext_state(struct net_device *dev, struct ethtool_link_ext_state_info *info)
{
	u32 state = READ_ONCE(((struct labnic *)netdev_priv(dev))->ext_state);

	if (netif_carrier_ok(dev) || state > ETHTOOL_LINK_EXT_STATE_MODULE)
		return -ENODATA;
	info->link_ext_state = state;
	return 0;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
static void get_link_ext_stats(struct net_device *dev, struct ethtool_link_ext_stats *stats)
{
	struct labnic *nic = netdev_priv(dev);

	stats->link_down_events = labnic_value(nic, nic->card == &labnic_mlx5 ? "link_down_events_phy"
									      : "link_down_events");
}
#endif

static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	struct labnic *nic = netdev_priv(dev);

	strscpy(info->driver, nic->card->driver, sizeof(info->driver));
	strscpy(info->fw_version, nic->card->firmware, sizeof(info->fw_version));
	strscpy(info->bus_info, pci_name(nic->pdev), sizeof(info->bus_info));
}

const struct ethtool_ops labnic_ethtool_ops = {
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ext_state = get_link_ext_state,
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	.get_link_ext_stats = get_link_ext_stats,
#endif
	.get_link_ksettings = get_link_ksettings,
	.get_ringparam = get_ringparam,
	.get_channels = get_channels,
	.set_channels = set_channels,
	.get_pauseparam = get_pauseparam,
	.set_pauseparam = set_pauseparam,
	.get_pause_stats = get_pause_stats,
	.get_fecparam = get_fecparam,
	.set_fecparam = set_fecparam,
	.get_fec_stats = get_fec_stats,
	.get_eth_phy_stats = get_eth_phy_stats,
	.get_eth_mac_stats = get_eth_mac_stats,
	.get_eth_ctrl_stats = get_eth_ctrl_stats,
	.get_rmon_stats = get_rmon_stats,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.get_ethtool_stats = get_ethtool_stats,
	.get_module_eeprom_by_page = labnic_get_module_eeprom_by_page,
};
