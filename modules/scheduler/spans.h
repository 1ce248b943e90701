/* SPDX-License-Identifier: Apache-2.0
 *
 * spans.h - times for which vnodes are promised: the set of them, and what that leaves of a vnode.
 *
 * Pure functions, as place.h: who runs on a vnode is asked of a callback of the snapshot.
 */
#ifndef SPANS_H
#define SPANS_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "keel/service/sched.h"
#include "place.h"

/* A promise: [from, till). Owned by the set and by all that count themselves in. */
struct block {
	char *id; /* owned, as the next two */
	char *queue; /* NULL: none */
	struct keel_exec *exec;
	uint32_t part, flags; /* enum keel_block_flag */
	int64_t from, till;
	uint32_t refs;
	void (*exec_free)(struct keel_exec *);
	struct block *next; /* of the same id */
};
/* Those of one id. */
struct promiser {
	char *id;
	struct block *first;
	UT_hash_handle hh;
};
/* Those that name a vnode; it stays when the last of them has gone. */
struct booked {
	char *vnode;
	struct booking {
		struct block *block;
		uint32_t part; /* of its exec */
	} *list;               /* by begin */
	uint32_t n, room;
	UT_hash_handle hh;
};
struct spans {
	struct promiser *by_id;
	struct booked *by_vnode;
	uint32_t n; /* blocks */
	uint64_t changes; /* moves with each that comes or goes */
};

/* Out of the fields of a caller; `exec` is owned by the block, also when this fails. NULL without memory. */
struct block *block_make(const struct keel_sched_block *b, struct keel_exec *exec, void (*exec_free)(struct keel_exec *));
void block_put(struct block *b); /* one less that counts it; NULL is fine */
bool block_closes(const struct block *b); /* its vnodes, to all others */
bool block_covers(const struct block *b, int64_t at);

struct block *spans_get(const struct spans *x, const char *id, uint32_t part); /* NULL: there is none */
/* Replaces that of the same id and part. False without memory: nothing has changed, and `b` is the caller's. */
bool spans_put(struct spans *x, struct block *b);
void spans_drop(struct spans *x, struct block *b);
void spans_fini(struct spans *x);
const struct booked *spans_of(const struct spans *x, const char *vnode); /* NULL: none */
/* Is a job of this queue inside a block that has begun and has this vnode? Then what it uses is the block's. */
bool spans_inside(const struct spans *x, const char *vnode, const char *queue);
struct block *spans_at_least(const struct spans *x, const char *id, uint32_t from_part); /* any such; NULL */
/* When it begins or ends, if that is between these; else `than`. */
int64_t spans_sooner(const struct block *b, int64_t after, int64_t than);
/* When the next block begins or ends; INT64_MAX: never. */
int64_t spans_next(const struct spans *x, int64_t after);

/* ---- a vnode in time --------------------------------------------------------------------------------------- */

/* A job on a vnode, or what it keeps there while it is suspended. */
struct tenant {
	const struct keel_exec *exec;
	const uint32_t *by_name; /* parts of exec in the order of their vnodes */
	const char *queue;
	int64_t till; /* INT64_MAX: not known */
	int32_t share; /* as its place says; SHARED of a suspended one */
};

uint32_t *exec_by_name(const struct keel_exec *exec); /* the caller frees it; NULL without memory */

/* The caller has read this vnode again: blocks that cover s->at are applied, later ones noted. */
void spans_apply(struct snapshot *s, uint32_t node);
/* As fn for each vnode whose amounts depend on this one's blocks and jobs: it, and those it shares with. */
void spans_touch(struct snapshot *s, uint32_t node, void (*fn)(struct vnode *v));
/* By how much less than now is free of a column at its lowest until `till`: 0 or more. */
double spans_gap(const struct snapshot *s, uint32_t node, uint32_t column, int64_t till);
/* Does a block of this vnode begin before `till`, from now on? *closes: one that closes it. */
bool spans_promised(const struct snapshot *s, uint32_t node, int64_t till, bool *closes);
/* What is free there changes by n; and for good at `till` (INT64_MAX: never), when it would have changed anyway. */
void spans_move(struct snapshot *s, uint32_t node, uint32_t column, double n, int64_t till);
/* A block begins or ends: as time goes on in a copy. */
void spans_begin(struct snapshot *s, const struct block *b, bool begins);
/* The block that begins first before `till` and is in the way of a job there: that is exclusive, or has taken what `need` says by
 * column (NULL: any block is in its way). NULL: none. */
const struct block *spans_first(const struct snapshot *s, uint32_t node, int64_t till, const double *need, bool alone);

struct future *future_share(struct future *f); /* one more that counts it; NULL is fine */
void future_put(struct future *f);

/* The least that is free of a vnode in [from, till), by all blocks and jobs: for what is not a job. */
struct span_ask {
	int64_t from, till;
	const char *except; /* blocks of this id do not count; NULL */
};
struct span_least {
	double *free;  /* the caller's, one per column */
	bool closed;   /* a block, or an exclusive job, has it for itself */
	bool promised; /* some block or job is there */
};
/* False without memory. */
bool spans_least(const struct snapshot *s, uint32_t node, const struct span_ask *ask, struct span_least *ret);

#endif
