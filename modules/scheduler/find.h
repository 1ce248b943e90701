/* SPDX-License-Identifier: Apache-2.0
 *
 * find.h - a search for a place in time: what find.c and moment.c share.
 */
#ifndef FIND_H
#define FIND_H

#include "scheduler.h"

enum { KEPT = 1, BARRED = 2 /* by the arrangement of its chunks */ };

struct find {
	struct keel_mod *me;
	keel_sched_found *done;
	void *arg;
	bool (*usable)(struct keel_mod *me, void *arg, struct keel_obj *node);
	struct keel_select *select;
	struct keel_place place;
	char *except, *partition;
	struct keel_exec *beside; /* NULL: it keeps nothing */
	int64_t from, till, duration;

	enum { MAKING, FILLING, PEEKING, GATHERING, MOVING, TRYING } at;
	struct keel_mod *mod;
	struct snapshot *s; /* of the searches; borrowed */
	int64_t moment;
	uint32_t filled; /* vnodes that have been looked at */
	uint32_t peek; /* when so many vnodes have been looked at it tries, before it looks at more */
	uint8_t *kept;	 /* per vnode, when it keeps something: enum bits */
	struct heap endings;
	struct memo memo;
	struct find *next;
};

/* moment.c */
void find_init(struct find *f);
void endings_free(struct find *f);
bool find_make(struct keel_mod *mod, struct find *f);	     /* what its vnodes are filled in; false: no memory */
bool find_fill_more(struct keel_mod *mod, struct find *f); /* looks at one more vnode; false: no memory */
void find_copy_drop(struct state *st);
/* What has been looked at once more. True: there is less than there seemed to be, or no memory. */
bool find_refill(struct find *f, const struct keel_exec *exec);
bool find_gather(struct keel_mod *mod, struct find *f); /* the end of one running job; false: all are there */
bool find_move_on(struct keel_mod *mod, struct find *f); /* to the next moment at which something comes free; false: there is none */
bool find_move_step(struct find *f); /* what one job has had that has ended by then; false: there is no more of them */

#endif
