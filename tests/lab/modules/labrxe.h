/* SPDX-License-Identifier: GPL-2.0 */
/* Copyright the rdma_exporter authors */
/* What derive_labrxe.py puts calls of into Soft-RoCE. */
#ifndef LABRXE_H
#define LABRXE_H

#include "lab_rdma.h"

struct rxe_dev;
struct rxe_pkt_info;

int labrxe_register(struct rxe_dev *rxe, const char *name, struct net_device *netdev);
void labrxe_sent(struct rxe_dev *rxe, const struct rxe_pkt_info *packet);
void labrxe_received(struct rxe_dev *rxe, const struct rxe_pkt_info *packet);
void labrxe_exit(void);

#endif
