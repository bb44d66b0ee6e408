/* SPDX-License-Identifier: GPL-2.0 */
/* Copyright the rdma_exporter authors */
#ifndef LABNIC_H
#define LABNIC_H

#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <net/dcbnl.h>

#include "lab_counters.h"

#define LABNIC_PRIOS IEEE_8021QAZ_MAX_TCS
#define LABNIC_MAX_CHANNELS 16

/* How often the names of a group are there; `#` in them is the number of the priority or channel. */
enum lab_repeat {
  LAB_ONCE = 1,
  LAB_PER_PRIO,
  LAB_PER_PFC_PRIO, /* listed while PFC is on for the priority */
  LAB_GLOBAL_PAUSE, /* listed while global pause is on */
  LAB_PER_CHANNEL,
  LAB_HIDDEN, /* never listed: the standard statistics alone show them */
};

struct lab_group {
  enum lab_repeat repeat;
  const char* prefix;
  const char* names; /* separated by blanks */
};

/* Where a driver puts one of its counters in a structure of standard statistics. */
struct lab_field {
  size_t offset;
  const char* counter;
};

/* Counters that real packets move; `#` is the priority. */
struct lab_traffic {
  const char *packets, *bytes, *prio_packets, *prio_bytes;
  const char *rdma_packets, *rdma_bytes, *other_packets, *other_bytes;
};

/* Where they are; negative: the card has no such counter. */
struct lab_moved {
  int packets, bytes, prio_packets[LABNIC_PRIOS], prio_bytes[LABNIC_PRIOS];
  int rdma_packets, rdma_bytes, other_packets, other_bytes;
};

/* What makes the difference between the cards that are imitated. */
struct lab_card {
  const char *driver, *netdev, *firmware;
  u16 vendor, device;
  u32 speed; /* Mb/s */
  const struct lab_group* groups;
  const struct lab_field *pause, *phy, *mac, *ctrl, *rmon, *fec, *fec_rs, *fec_baser;
  const struct ethtool_rmon_hist_range* rmon_ranges;
  struct lab_traffic tx, rx;
  const char *pfc_sent, *pfc_received; /* `#` is the priority */
  bool pfc_counts_are_cached;          /* dcbnl shows what the last `ethtool -S` has read */
  const struct dcbnl_rtnl_ops* dcbnl_ops;
};

/* What a listed or hidden counter belongs to. */
struct lab_place {
  u8 repeat;
  u8 number;
};

struct labnic {
  struct net_device* dev;
  struct labnic __rcu* peer; /* at the other end of the wire */
  const struct lab_card* card;
  struct pci_dev* pdev;
  struct dentry* debugfs;
  struct devlink* devlink;
  struct labnic_module* module;
  struct lab_counters counters;
  struct lab_place* places; /* of each counter */
  struct lab_moved tx, rx;

  /* knobs and settings, under RTNL but for those of debugfs */
  u32 extra;             /* names added to the end of the list */
  u32 extra_after_names; /* becomes `extra` when the names have been read once more */
  u32 speed;
  u32 ext_state; /* enum ethtool_link_ext_state while there is no carrier */
  u32 channels;
  u32 pcie_generation, pcie_lanes; /* what the link has now */
  u32 fec;                         /* ETHTOOL_FEC_* */
  bool pause_rx, pause_tx;
  u8 dcbx;
  struct ieee_pfc pfc;
  struct ieee_ets ets;
  struct ieee_maxrate maxrate;
  struct dcbnl_buffer buffer;
};

extern const struct lab_card labnic_mlx5, labnic_bnxt;
extern const struct ethtool_ops labnic_ethtool_ops;
extern const struct dcbnl_rtnl_ops labnic_mlx5_dcbnl_ops, labnic_bnxt_dcbnl_ops;

int labnic_make_counters(struct labnic* nic);
u64 labnic_value(struct labnic* nic, const char* name);
u64 labnic_prio_value(struct labnic* nic, const char* pattern, unsigned int prio);
void labnic_dcb_defaults(struct labnic* nic);
void labnic_read_pfc_counts(struct labnic* nic);
int labnic_add_pcie(struct labnic* nic);
void labnic_remove_pcie(struct labnic* nic);
int labnic_get_module_eeprom_by_page(struct net_device* dev, const struct ethtool_module_eeprom* wanted,
                                     struct netlink_ext_ack* extack);
int labnic_add_module(struct labnic* nic);
void labnic_show_module(struct labnic* nic);
void labnic_remove_module(struct labnic* nic);
int labnic_add_devlink(struct labnic* nic);
void labnic_show_devlink(struct labnic* nic);
void labnic_hide_devlink(struct labnic* nic);
void labnic_remove_devlink(struct labnic* nic);

#endif
