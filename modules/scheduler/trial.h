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
#define NO_NODE UINT32_MAX
#define ANY_HOST UINT32_MAX
#define NO_HOST (ANY_HOST - 1)
#define NO_SET UINT32_MAX

/* A place in the order of vnodes. */
struct cursor {
	uint32_t span, slot;
};

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
	uint8_t *klass_ok; /* per class of vnodes: what is not counted matches */
	uint64_t klasses;  /* the same as bits, several classes to a bit */
	uint32_t host;     /* it names this host or a vnode of it; ANY_HOST, NO_HOST */
	bool first_differs; /* the first chunk needs more than others */
	struct cursor at, spread_at; /* nothing before fits */
};

/* Some of a chunk on a vnode. */
struct part {
	uint32_t chunk, node; /* chunk: which parenthesis */
	uint32_t demand;
	uint32_t amount; /* where in the trial's amounts: one per need of the demand */
};

struct trial {
	struct snapshot *s;
	const struct wish *w;
	struct demand *demand; /* one per chunk of the select */
	struct part *part;
	uint32_t n_part, room;
	double *amount; /* of the parts, in their order */
	uint32_t n_amount, amount_room;
	double *empty_left; /* while `empty`: amounts as if no job were there */
	struct sets *sets;  /* borrowed of the snapshot */
	uint32_t set;       /* the one in force (sets.c); NO_SET */
	bool has_queue_nodes; /* the job's queue has vnodes of its own */
	bool many_hosts; /* keep off vnodes that take jobs of one host only */
	bool empty;   /* pretend that no job is anywhere */
	int64_t till; /* off what is promised until then; 0: whatever is promised */
	bool refused; /* taps have refused a vnode that it would have used */
	bool untapped; /* they have not, and are of no more interest */
	uint32_t unplaced; /* the chunk of the select for which there was no place */
	bool failed;  /* out of memory */
};

/* Marks of the trial at hand; a mark counts when it is the current number, so nothing is cleared. */
struct scratch {
	uint32_t round;    /* of putting all chunks */
	uint32_t *used;    /* per vnode: has a chunk */
	uint32_t *host_used; /* per host: has a chunk */
	uint32_t *host_tried; /* per host */
	uint32_t spread;      /* of spreading chunks of one kind */
	uint32_t *host_short; /* per host: had no room for one of them; later ones find no more there */
	uint32_t trial;
	uint32_t *tapped;  /* per vnode: taps have decided in this trial: 2 * trial, and 1 when they let it */
};

/* demand.c */
/* False without memory; the caller frees its arrays in any case. */
bool demand_make(struct demand *d, const struct snapshot *s, const struct keel_chunk *chunk);
bool is_checked(const struct snapshot *s, const struct keel_resource *res);
uint32_t column_of(const struct snapshot *s, const struct keel_resource *res);
/* Counted on the first vnode only: later chunks do not need it. */
bool is_needed(const struct need *k, uint32_t chunk);
const struct keel_res_value *other_of(const struct vnode *v, const struct keel_resource *res);
/* Does what there is (NULL: unset) meet what is wanted, of what is not counted? */
bool value_matches(const struct keel_res_value *have, const struct keel_res_value *want);
/* The first value of what is not counted that does not match, NULL: all do. */
const struct keel_res_value *mismatch(const struct snapshot *s, const struct vnode *v,
				      const struct demand *d);

/* What the vnode, or the one it shares with, has of a column. */
double *amount_at(const struct snapshot *s, uint32_t node, uint32_t column);
double total_at(const struct snapshot *s, uint32_t node, uint32_t column);

/* klass.c: vnodes that are the same but for their names and amounts. */
void klasses_make(struct snapshot *s);
void klasses_free(struct klasses *k);
uint32_t klasses_count(const struct snapshot *s);
const struct vnode *klass_like(const struct snapshot *s, uint32_t klass); /* one of them */
uint32_t host_named(const struct snapshot *s, const char *host); /* NO_HOST: unknown */

/* order.c: vnodes in the order they are tried, with bounds that let a search skip most of them. */
struct probe {
	uint64_t klasses;     /* any of these bits */
	uint32_t share;       /* enum keel_place_share: open to such a job */
	bool whole_host;      /* the amounts may come from the whole host */
	bool empty;           /* as if no job were anywhere */
	bool timeless;        /* whatever is promised */
	const struct need *need;
	uint32_t n_need;
};
struct order *order_copy(const struct snapshot *s); /* the caller frees it with order_free(); NULL without memory */
void order_free(struct order *o);
/* The vnode changed: its place; bounds follow with order_settle(), which is due before the next trial. */
void order_update(struct snapshot *s, uint32_t node);
void order_settle(struct snapshot *s);
/* Bounds are for jobs until `till` or longer from now on: due before a trial with such a time. 0: for all. */
void order_until(struct snapshot *s, int64_t till);
/* The next vnode that may do, at or after the cursor, which then stands on it; NO_NODE. */
uint32_t order_next(const struct snapshot *s, const struct probe *p, struct cursor *c);
void cursor_step(struct cursor *c);
/* All vnodes in their order; room for as many. 0 when there is no order. */
uint32_t order_list(const struct snapshot *s, uint32_t *ret);
/* Vnodes of a host, best first: *ret_n of them. */
const uint32_t *order_of_host(const struct snapshot *s, uint32_t host, uint32_t *ret_n);
bool host_in_use(const struct snapshot *s, uint32_t host);

/* may.c */
/* May this job use the vnode at all, whatever jobs are there and taps say? */
bool may_use(const struct trial *t, uint32_t node);
/* And what do taps say? Asked last: what they refuse is about this job alone, and nothing else is. */
bool taps_let(struct trial *t, uint32_t node);
/* And is it open to it now, whatever the amounts? */
bool is_open(const struct trial *t, uint32_t node);
/* The limit of the vnode that keeps the job off (enum keel_why); 0: none. */
int32_t limit_of(const struct trial *t, uint32_t node);
bool queue_has_nodes(const struct trial *t);

/* put.c */
/* Would it fit if no job were anywhere? Nothing stays taken. */
bool try_empty(struct trial *t, bool (*fn)(struct trial *));
double left(const struct trial *t, uint32_t node, const struct need *k);
/* The first need the vnode cannot meet, NULL: none. */
const struct need *short_of(const struct trial *t, uint32_t node, const struct demand *d,
			    uint32_t chunk);
/* Finds places for all chunks on the vnodes of the set in force. True: the parts are taken; false: nothing is, and t->failed
 * says whether that was for lack of memory. */
bool try_all(struct trial *t);
/* All on one host, whichever. */
bool try_hosts(struct trial *t);
void parts_drop(struct trial *t, uint32_t down_to);

/* place.c */
struct scratch *scratch_make(const struct snapshot *s); /* the caller frees it; NULL without memory */

/* sets.c: placement sets. */
/* As try_all(), set by set when the wish has sets; with the reason on failure when sets are why. */
bool try_sets(struct trial *t, struct reason *ret);
bool in_set(const struct trial *t, uint32_t node);
uint64_t set_klasses(const struct trial *t);

/* pool.c: amounts of the server and of queues. */
bool is_listed(const char *list, const char *word); /* comma list */
bool pools_possible(const struct snapshot *s, const struct wish *w, struct reason *ret);
bool pools_fit(const struct snapshot *s, const struct wish *w, struct reason *ret);

/* explain.c */
bool explain_never(struct trial *t, struct reason *ret);
void explain(struct trial *t, struct reason *ret);
void words_find(struct trial *t, struct vnode_words *ret);

/* The block that is in the way of this job, which has taken its parts; NULL: none. */
const struct block *block_in_way(const struct trial *t, int64_t till);

/* again.c */
/* What was taken makes vnodes used, and closes them to others when it is exclusive. */
void settle(struct snapshot *s, uint32_t node, int32_t share);
/* What this part of an exec_vnode (the index-th) takes of its k-th resource; 0: is not counted. */
double in_part(const struct keel_exec_part *p, uint32_t index, uint32_t k);
bool is_busy(const struct snapshot *s, const struct vnode *v);
/* Is it usable and in use, by what is known of it? */
void vnode_judge(const struct snapshot *s, struct vnode *v);

#endif
