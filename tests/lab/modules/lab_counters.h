/* SPDX-License-Identifier: GPL-2.0 */
/* Copyright the rdma_exporter authors */
/*
 * Counters whose values a script sets through a debugfs file, and what a read of them costs.
 *
 *	echo "NAME=77 NAME+=3 NAME@50000" >ctl	set, add, let rise by so much per second
 *	echo "NAME~50000:20:200" >ctl		a square wave: that rate for 20 ms of each 200 ms since 1970
 *	echo "*=1000" >ctl			the first counter is 1000, the next 1001 and so on: all differ
 *	cat ctl					every name and value
 *	echo 700 >delay_ms			every read sleeps that long, uninterruptibly, as in slow firmware
 *	echo 1 >stuck				reads stay in the kernel until somebody writes 0
 *	echo 5 >errno				reads fail with this number (where the kernel's interface lets them)
 *	cat reads				how many there were
 */
#ifndef LAB_COUNTERS_H
#define LAB_COUNTERS_H

#include <linux/debugfs.h>
#include <linux/hashtable.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#define LAB_NAME_LEN 48
#define LAB_HASH_BITS 8

struct lab_counter {
	char name[LAB_NAME_LEN];
	u64 value;		/* at `since` */
	u64 per_second;
	ktime_t since;
	struct hlist_node same_hash;
	u32 on_us, period_us;	/* of each period it rises so long; 0: always */
};

struct lab_counters {
	spinlock_t lock;	/* of the values; the names never change */
	DECLARE_HASHTABLE(by_name, LAB_HASH_BITS);
	unsigned int count;
	struct lab_counter *counter;
	u32 delay_ms;
	u32 errnum;
	bool stuck;
	u32 reads;
};

/* `counter` is filled with names and stays the caller's. */
void lab_counters_init(struct lab_counters *set, struct lab_counter *counter, unsigned int count);
void lab_counters_debugfs(struct lab_counters *set, struct dentry *dir);

/* Negative if there is no such counter, which lab_add() tolerates. */
int lab_index(const struct lab_counters *set, const char *name);
u64 lab_value(struct lab_counters *set, unsigned int index);
void lab_add(struct lab_counters *set, int index, u64 amount);

/* What every read of the device's counters begins with: 0 or a negative errno. May sleep. */
int lab_read_begin(struct lab_counters *set);

#endif
