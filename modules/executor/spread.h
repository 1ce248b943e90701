/* SPDX-License-Identifier: Apache-2.0
 *
 * spread.h - over which hosts a run is spread, and what each has of it: worked out of exec_host, exec_vnode and the select.
 */
#ifndef EXECUTOR_SPREAD_H
#define EXECUTOR_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "keel/text.h"
#include "keel/types.h"

#define NODES_MAX 1000000 /* node numbers of a job */

struct spread_host {
	char *name;		 /* owned */
	struct keel_text vnodes; /* its share of exec_vnode: "(n1:ncpus=1+n2:ncpus=1)+(n3:ncpus=2)" */
	int64_t ncpus;		 /* of all its vnodes */
	int64_t chunk_ncpus, ompthreads; /* of its first chunk; 0 none */
	uint32_t index, first_chunk, last_chunk; /* chunks count from 1 */
	UT_hash_handle hh;
};

struct spread {
	uint32_t n_hosts, n_nodes;
	struct spread_host **host; /* in the order of exec_host: [0] is the primary */
	uint32_t *node;		   /* of each node number the index of its host */
	struct spread_host *by_name;
};

struct spread_of {
	const char *exec_host, *exec_vnode, *select; /* each may be NULL */
	const char *(*host_of)(struct keel_mod *me, const char *vnode); /* NULL: vnodes are named as in exec_host */
	struct keel_mod *me;
	bool no_nodes; /* only the names of the hosts are wanted */
};

/* The caller calls spread_fini(). Fails with -ENOMEM, or -E2BIG: more node numbers than NODES_MAX. */
int32_t spread_make(const struct spread_of *of, struct spread *ret);
void spread_fini(struct spread *s);
void spread_cut(struct spread *s); /* only its first host is left */

/* The lines of the node file, which the caller frees: a host's name for each node number. NULL without memory. */
char *spread_nodes_text(const struct spread *s);

#endif
