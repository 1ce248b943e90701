/* SPDX-License-Identifier: Apache-2.0
 *
 * part.h - what a host knows of a job's hosts: from the start message, and from the diary after a restart.
 */
#ifndef EXECUTOR_PART_H
#define EXECUTOR_PART_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "keel/service/part.h"

#define PART_HOSTS_MAX 100000u

struct part {
	struct keel_part view; /* as modules see it; strings and arrays are this one's */
	char *cookie, *tolerate, *user;
	struct keel_part_host *hosts;
	uint32_t *nodes, *slots;
	char *text; /* of the hosts */
	struct elsewhere *elsewhere; /* what other hosts have used; they stay when they are released */
	bool pruned; /* and the server has not noted it */
	char *select; /* then: the new one */
	uint32_t renewed; /* how often its hosts were replaced */
};

/* What a host of the job has used, in all. */
struct elsewhere {
	struct elsewhere *next;
	uint32_t number; /* in the order of their coming */
	uint64_t cput_ms, mem_kb, vmem_kb, cpupercent;
	char host[];
};

/* Of one host alone, as an older server has it. NULL without memory. */
struct part *part_alone(const char *host, int64_t ncpus);
/* Hosts are lines "name address key ncpus vnodes", '-' for an unknown address or key; `nodes` are their indexes, one for
 * each node number, in decimal with blanks between. Replaces what was there. 0; fails with -EPROTO, -E2BIG or -ENOMEM, and
 * nothing is changed. */
int part_set_hosts(struct part *p, const char *const *hosts, uint32_t n, const char *nodes);
/* Such a line; the caller frees it. NULL without memory. */
char *part_host_line(const struct keel_part_host *h);
/* Indexes as above, from the hosts' names in a node file. The caller frees it; NULL without memory. */
char *part_nodes_of_file(const char *const *hosts, uint32_t n, const char *file);
/* The same while the job runs: each host has the slot that it had. Fails likewise; *before, which the caller frees with
 * part_free_hosts(), is what it was. */
int part_replace_hosts(struct part *p, const char *const *hosts, uint32_t n, const char *nodes, struct part *before);
void part_free_hosts(struct part *p);
int part_set_text(char **at, const char *text); /* 0; -ENOMEM */
void part_sync(struct part *p);			/* view, after any of them */
/* Lines for a diary, and what a diary says. */
void part_print_hosts(FILE *f, const struct part *p);
void part_print(FILE *f, const struct part *p);
struct part *part_read(const char *jobs_dir, const char *id, const char *own_host);
void part_free(struct part *p);

/* Adds up: sums in *ret. */
void part_elsewhere_sum(const struct part *p, struct elsewhere *ret);
/* "cput=00:00:01", "mem=1kb" ...: in all. 0; -ENOMEM. */
int part_elsewhere_set(struct part *p, const char *host, const char *const *items, uint32_t n);
int part_elsewhere_put(struct part *p, const char *host, const struct elsewhere *what);
const struct elsewhere *part_elsewhere(const struct part *p, const char *host); /* NULL: it has used nothing */

struct task;
/* weigh.c */
int32_t part_weigh(struct keel_mod *mod, const char *id);
int32_t part_bound(struct keel_mod *mod, const char *id, int64_t mem_kb);
void bound_look(struct keel_mod *mod, const struct task *t); /* has the kernel ended some of it? */
bool part_is_watched(const struct task *t); /* modules may act on what it uses: it is not ending */

#endif
