// SPDX-License-Identifier: GPL-2.0
/* Copyright the rdma_exporter authors */

#include <linux/delay.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/uaccess.h>

#include "lab_counters.h"

static u32 lab_hash(const char *name)
{
	return full_name_hash(NULL, name, strlen(name));
}

/* Of counters with the same name the first is found. */
void lab_counters_init(struct lab_counters *set, struct lab_counter *counter, unsigned int count)
{
	spin_lock_init(&set->lock);
	set->counter = counter;
	set->count = count;
	hash_init(set->by_name);
	while (count--)
		hash_add(set->by_name, &counter[count].same_hash, lab_hash(counter[count].name));
}

static u64 lab_now(const struct lab_counter *c, ktime_t now)
{
	u64 rising = max_t(s64, ktime_us_delta(now, c->since), 0);
	u32 rest;

	if (c->period_us) {
		rising = div_u64_rem(rising, c->period_us, &rest) * c->on_us;
		rising += min(rest, c->on_us);
	}
	return c->value + mul_u64_u64_div_u64(c->per_second, rising, USEC_PER_SEC);
}

u64 lab_value(struct lab_counters *set, unsigned int index)
{
	unsigned long flags;
	u64 value;

	spin_lock_irqsave(&set->lock, flags);
	value = lab_now(&set->counter[index], ktime_get());
	spin_unlock_irqrestore(&set->lock, flags);
	return value;
}

int lab_index(const struct lab_counters *set, const char *name)
{
	const struct lab_counter *c;

	hash_for_each_possible(set->by_name, c, same_hash, lab_hash(name))
		if (!strcmp(c->name, name))
			return c - set->counter;
	return -ENOENT;
}

void lab_add(struct lab_counters *set, int index, u64 amount)
{
	unsigned long flags;

	if (index < 0)
		return;
	spin_lock_irqsave(&set->lock, flags);
	set->counter[index].value += amount;
	spin_unlock_irqrestore(&set->lock, flags);
}

int lab_read_begin(struct lab_counters *set)
{
	set->reads++;
	if (set->delay_ms)
		msleep(set->delay_ms);
	while (READ_ONCE(set->stuck))
		msleep(20);
	return -(int)READ_ONCE(set->errnum);
}

static void lab_set(struct lab_counter *c, char operation, u64 number, ktime_t now)
{
	if (operation == '+') {
		c->value += number;
		return;
	}
	c->value = operation == '=' ? number : lab_now(c, now);
	c->per_second = operation == '@' ? number : 0;
	c->on_us = c->period_us = 0;
	c->since = now;
}

/* RATE:ON:PERIOD, in milliseconds. Begins with the next period since 1970. */
static int lab_wave(struct lab_counter *c, const char *text, ktime_t now)
{
	unsigned int on, period;
	u64 rate;
	u32 rest;

	if (sscanf(text, "%llu:%u:%u", &rate, &on, &period) != 3 || !period || on > period || period > 60000)
		return -EINVAL;
	div_u64_rem(ktime_get_real_ns() / NSEC_PER_USEC, period * USEC_PER_MSEC, &rest);
	c->value = lab_now(c, now);
	c->per_second = rate;
	c->on_us = on * USEC_PER_MSEC;
	c->period_us = period * USEC_PER_MSEC;
	c->since = ktime_add_us(now, c->period_us - rest);
	return 0;
}

/* One assignment; `word` is changed. */
static int lab_assign(struct lab_counters *set, char *word)
{
	char *at = strpbrk(word, "+=@~"), operation;
	ktime_t now = ktime_get();
	u64 number, i;
	int index;

	if (!at)
		return -EINVAL;
	operation = *at;
	*at = 0;
	at += operation == '+' ? 2 : 1;
	if (operation == '~') {
		index = lab_index(set, word);
		return index < 0 ? index : lab_wave(&set->counter[index], at, now);
	}
	if (kstrtou64(at, 0, &number))
		return -EINVAL;
	if (!strcmp(word, "*")) {
		for (i = 0; i < set->count; i++)
			lab_set(&set->counter[i], operation, number + i, now);
		return 0;
	}
	index = lab_index(set, word);
	if (index < 0)
		return index;
	lab_set(&set->counter[index], operation, number, now);
	return 0;
}

static ssize_t lab_ctl_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	struct lab_counters *set = ((struct seq_file *)file->private_data)->private;
	char *text, *rest, *word;
	unsigned long flags;
	int err = 0;

	text = memdup_user_nul(from, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	rest = text;
	spin_lock_irqsave(&set->lock, flags);
	while (!err && (word = strsep(&rest, " \n")))
		if (*word)
			err = lab_assign(set, word);
	spin_unlock_irqrestore(&set->lock, flags);
	kfree(text);
	return err ?: size;
}

static int lab_ctl_show(struct seq_file *file, void *unused)
{
	struct lab_counters *set = file->private;
	unsigned int i;

	for (i = 0; i < set->count; i++)
		seq_printf(file, "%s %llu\n", set->counter[i].name, lab_value(set, i));
	return 0;
}

static int lab_ctl_open(struct inode *inode, struct file *file)
{
	return single_open(file, lab_ctl_show, inode->i_private);
}

static const struct file_operations lab_ctl_fops = {
	.owner = THIS_MODULE,
	.open = lab_ctl_open,
	.read = seq_read,
	.write = lab_ctl_write,
	.llseek = seq_lseek,
	.release = single_release,
};

void lab_counters_debugfs(struct lab_counters *set, struct dentry *dir)
{
	debugfs_create_file("ctl", 0600, dir, set, &lab_ctl_fops);
	debugfs_create_u32("delay_ms", 0600, dir, &set->delay_ms);
	debugfs_create_u32("errno", 0600, dir, &set->errnum);
	debugfs_create_bool("stuck", 0600, dir, &set->stuck);
	debugfs_create_u32("reads", 0400, dir, &set->reads);
}
