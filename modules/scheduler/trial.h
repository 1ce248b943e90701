/* SPDX-License-Identifier: Apache-2.0
 *
 * trial.h - a trial to place a job: what place.c, demand.c and explain.c share.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include "place.h"

#define EPSILON 1e-9 /* fractions of float resources */
#define NO_COLUMN UINT32_MAX        /* no vnode has the resource */
#define NOT_COMPARED (NO_COLUMN - 1) /* goes into exec_vnode, and that is all */

/* A chunk in terms of the snapshot. */
struct need {
	uint32_t column;
	double amount;
	const struct keel_resource *res;
};
struct demand {
	const struct keel_chunk *chunk;
	struct need *need; /* counted resources, in the order written */
	uint32_t n_need;
	const struct keel_res_value **other;
	uint32_t n_other;
};

/* Some of a chunk on a vnode. */
struct part {
	uint32_t chunk, node; /* chunk: which parenthesis */
	uint32_t demand;
	double *amount; /* per need of the demand */
};

struct trial {
	struct snapshot *s;
	const struct wish *w;
	struct demand *demand; /* one per chunk of the select */
	uint8_t *may;          /* per vnode: this job may use it */
	uint8_t *used;         /* per vnode: has a chunk */
	uint8_t *host_used;    /* per host: has a chunk */
	uint8_t *host_busy;    /* per host: some vnode has a job */
	struct part *part;
	uint32_t n_part, room;
	bool empty;   /* pretend that no job is anywhere */
	bool failed;  /* out of memory */
	uint32_t stuck; /* the demand that did not fit */
};


/* demand.c */
bool demand_make(struct demand *d, const struct snapshot *s, const struct keel_chunk *chunk);
void demand_fini(struct demand *d);
bool is_checked(const struct snapshot *s, const struct keel_resource *res);
uint32_t column_of(const struct snapshot *s, const struct keel_resource *res);
/* How much of this need the vnode has left; plenty of what is not compared. */
double left(const struct vnode *v, const struct need *k);
/* Counted on the first vnode only: later chunks do not need it. */
bool is_needed(const struct need *k, uint32_t chunk);
/* The first need the vnode cannot meet, NULL: none. */
const struct need *short_of(const struct vnode *v, const struct demand *d, uint32_t chunk);
const struct keel_res_value *other_of(const struct vnode *v, const struct keel_resource *res);
/* The first value of what is not counted that does not match, NULL: all do. */
const struct keel_res_value *mismatch(const struct vnode *v, const struct demand *d);

/* place.c */
/* Would it fit if no job were anywhere? Nothing stays taken. */
bool try_empty(struct trial *t);

/* explain.c */
void explain(struct trial *t, struct reason *ret);

/* again.c */
/* What was taken makes vnodes used, and closes them to others when it is exclusive. */
void settle(struct snapshot *s, uint32_t node, int32_t share);
/* What this part of an exec_vnode (the index-th) takes of its k-th resource; 0: is not counted. */
double in_part(const struct keel_exec_part *p, uint32_t index, uint32_t k);
bool is_busy(const struct snapshot *s, const struct vnode *v);

#endif
