// SPDX-License-Identifier: GPL-2.0
/* Copyright the rdma_exporter authors */
/* Data centre bridging of a card. The table of APP entries is the kernel's own. Every function runs under RTNL. */

#include "labnic.h"

#define BUFFER_BYTES (128 * 1024)

/* PFC on priority 3, as RoCE fabrics have it; every priority its own traffic class. */
void labnic_dcb_defaults(struct labnic *nic)
{
	int i;

	nic->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
	nic->pfc.pfc_cap = LABNIC_PRIOS;
	nic->pfc.pfc_en = BIT(3);
	nic->ets.ets_cap = LABNIC_PRIOS;
	for (i = 0; i < LABNIC_PRIOS; i++) {
		nic->ets.prio_tc[i] = i;
		nic->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_STRICT;
		nic->buffer.prio2buffer[i] = i == 3;
	}
	nic->buffer.buffer_size[0] = BUFFER_BYTES;
	nic->buffer.buffer_size[1] = 2 * BUFFER_BYTES;
	nic->buffer.total_size = 4 * BUFFER_BYTES;
}

void labnic_read_pfc_counts(struct labnic *nic)
{
	int i;

	for (i = 0; i < LABNIC_PRIOS; i++) {
		nic->pfc.requests[i] = labnic_prio_value(nic, nic->card->pfc_sent, i);
		nic->pfc.indications[i] = labnic_prio_value(nic, nic->card->pfc_received, i);
	}
}

static int getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct labnic *nic = netdev_priv(dev);
	int err = lab_read_begin(&nic->counters);

	if (err)
		return err;
	if (!nic->card->pfc_counts_are_cached)
		labnic_read_pfc_counts(nic);
	*pfc = nic->pfc;
	return 0;
}

static int setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct labnic *nic = netdev_priv(dev);

	nic->pfc.pfc_en = pfc->pfc_en;
	nic->pfc.mbc = pfc->mbc;
	nic->pfc.delay = pfc->delay;
	return 0;
}

static int getets(struct net_device *dev, struct ieee_ets *ets)
{
	struct labnic *nic = netdev_priv(dev);

	*ets = nic->ets;
	return -(int)READ_ONCE(nic->counters.errnum);
}

static int setets(struct net_device *dev, struct ieee_ets *ets)
{
	struct labnic *nic = netdev_priv(dev);
	u8 capability = nic->ets.ets_cap;

	nic->ets = *ets;
	nic->ets.ets_cap = capability;
	return 0;
}

static int getmaxrate(struct net_device *dev, struct ieee_maxrate *rate)
{
	*rate = ((struct labnic *)netdev_priv(dev))->maxrate;
	return 0;
}

static int setmaxrate(struct net_device *dev, struct ieee_maxrate *rate)
{
	((struct labnic *)netdev_priv(dev))->maxrate = *rate;
	return 0;
}

static int getbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	*buffer = ((struct labnic *)netdev_priv(dev))->buffer;
	return 0;
}

static int setbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct labnic *nic = netdev_priv(dev);

	memcpy(nic->buffer.prio2buffer, buffer->prio2buffer, sizeof(buffer->prio2buffer));
	memcpy(nic->buffer.buffer_size, buffer->buffer_size, sizeof(buffer->buffer_size));
	return 0;
}

static u8 getdcbx(struct net_device *dev)
{
	return ((struct labnic *)netdev_priv(dev))->dcbx;
}

static u8 setdcbx(struct net_device *dev, u8 mode)
{
	((struct labnic *)netdev_priv(dev))->dcbx = mode;
	return 0;
}

const struct dcbnl_rtnl_ops labnic_mlx5_dcbnl_ops = {
	.ieee_getets = getets,
	.ieee_setets = setets,
	.ieee_getmaxrate = getmaxrate,
	.ieee_setmaxrate = setmaxrate,
	.ieee_getpfc = getpfc,
	.ieee_setpfc = setpfc,
	.getdcbx = getdcbx,
	.setdcbx = setdcbx,
	.dcbnl_getbuffer = getbuffer,
	.dcbnl_setbuffer = setbuffer,
};

const struct dcbnl_rtnl_ops labnic_bnxt_dcbnl_ops = {
	.ieee_getets = getets,
	.ieee_setets = setets,
	.ieee_getpfc = getpfc,
	.ieee_setpfc = setpfc,
	.getdcbx = getdcbx,
	.setdcbx = setdcbx,
};
