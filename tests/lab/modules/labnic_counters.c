// SPDX-License-Identifier: GPL-2.0
/* Copyright the rdma_exporter authors */
/* The counters of a card: every name that it can have, whether listed at the moment or not. */

#include "labnic.h"

static unsigned int repetitions(enum lab_repeat repeat)
{
	switch (repeat) {
	case LAB_PER_PRIO:
	case LAB_PER_PFC_PRIO:
		return LABNIC_PRIOS;
	case LAB_PER_CHANNEL:
		return LABNIC_MAX_CHANNELS;
	default:
		return 1;
	}
}

/* `pattern`, `length` characters of it, with the number in place of `#`. */
static void expand(char *name, const char *prefix, const char *pattern, int length, unsigned int number)
{
	char with_hash[LAB_NAME_LEN], *hash;

	snprintf(with_hash, sizeof(with_hash), "%s%.*s", prefix, length, pattern);
	hash = strchr(with_hash, '#');
	if (hash)
		snprintf(name, LAB_NAME_LEN, "%.*s%u%s", (int)(hash - with_hash), with_hash, number, hash + 1);
	else
		strscpy(name, with_hash, LAB_NAME_LEN);
}

/* Adds the names of a group; with a null `counter` it only counts them. */
static unsigned int add_group(const struct lab_group *group, struct lab_counter *counter, struct lab_place *place)
{
	unsigned int number, n = 0;
	const char *name;
	int length;

	for (number = 0; number < repetitions(group->repeat); number++) {
		for (name = group->names; *name; name += length + strspn(name + length, " "), n++) {
			length = strcspn(name, " ");
			if (!counter)
				continue;
			expand(counter[n].name, group->prefix, name, length, number);
			place[n] = (struct lab_place){ group->repeat, number };
		}
	}
	return n;
}

static int prio_index(struct labnic *nic, const char *pattern, unsigned int prio)
{
	char name[LAB_NAME_LEN];

	if (!pattern)
		return -ENOENT;
	expand(name, "", pattern, strlen(pattern), prio);
	return lab_index(&nic->counters, name);
}

static void find_moved(struct labnic *nic, const struct lab_traffic *names, struct lab_moved *moved)
{
	int prio;

	moved->packets = prio_index(nic, names->packets, 0);
	moved->bytes = prio_index(nic, names->bytes, 0);
	moved->rdma_packets = prio_index(nic, names->rdma_packets, 0);
	moved->rdma_bytes = prio_index(nic, names->rdma_bytes, 0);
	moved->other_packets = prio_index(nic, names->other_packets, 0);
	moved->other_bytes = prio_index(nic, names->other_bytes, 0);
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		moved->prio_packets[prio] = prio_index(nic, names->prio_packets, prio);
		moved->prio_bytes[prio] = prio_index(nic, names->prio_bytes, prio);
	}
}

int labnic_make_counters(struct labnic *nic)
{
	const struct lab_group *group;
	struct lab_counter *counter;
	unsigned int n = 0;

	for (group = nic->card->groups; group->repeat; group++)
		n += add_group(group, NULL, NULL);
	counter = kvcalloc(n, sizeof(*counter), GFP_KERNEL);
	nic->places = kvcalloc(n, sizeof(*nic->places), GFP_KERNEL);
	if (!counter || !nic->places) {
		kvfree(counter);
		kvfree(nic->places);
		return -ENOMEM;
	}
	n = 0;
	for (group = nic->card->groups; group->repeat; group++)
		n += add_group(group, counter + n, nic->places + n);
	lab_counters_init(&nic->counters, counter, n);
	find_moved(nic, &nic->card->tx, &nic->tx);
	find_moved(nic, &nic->card->rx, &nic->rx);
	return 0;
}

u64 labnic_value(struct labnic *nic, const char *name)
{
	int index = lab_index(&nic->counters, name);

	return WARN_ON_ONCE(index < 0) ? 0 : lab_value(&nic->counters, index);
}

u64 labnic_prio_value(struct labnic *nic, const char *pattern, unsigned int prio)
{
	int index = prio_index(nic, pattern, prio);

	return index < 0 ? 0 : lab_value(&nic->counters, index);
}
