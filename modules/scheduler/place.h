/* SPDX-License-Identifier: Apache-2.0
 *
 * place.h - where a job fits: pure functions over a snapshot of the vnodes.
 *
 * Nothing here knows the kernel or other modules' services: a snapshot is plain data, so that placement
 * can be tested, and run anywhere.
 */
#ifndef PLACE_H
#define PLACE_H

#include "keel/sched_reason.h"
#include "keel/service/resource.h"

#define REASON_MAX 399 /* characters; what is longer ends in "..." */
#define REASON_WHAT 256

/* What a vnode lets on itself, in jobs; 0: any number. */
struct vnode_limits {
	uint32_t jobs, of_user, of_group;
	/* Who is there, when of_user or of_group is set: names and how many jobs. */
	struct headcount {
		char *name; /* owned; "u:al", "g:staff" */
		uint32_t n;
	} *head;
	uint32_t n_head;
};

/* A vnode as of the snapshot. `total` and `free` have one amount per column of the snapshot. */
struct vnode {
	const char *name;     /* owned by the snapshot, as all below */
	uint32_t host;        /* vnodes of one host have the same number */
	uint32_t klass;       /* by snapshot_link(): vnodes that differ only in name and amounts */
	bool usable;          /* its state lets new work in */
	bool in_use;          /* some job is there */
	bool down;            /* its state keeps new work away, in use or not */
	bool alone;           /* a job there, or on its host, is exclusive */
	bool one_host_only;   /* no jobs of more than one host */
	uint32_t jobs;        /* how many are there */
	uint32_t taken_in;    /* the take that counted itself last */
	uint32_t read_in;     /* the refresh that read it last */
	bool unsure;          /* to be read again */
	bool fenced;          /* kept for a job for which others give way there */
	uint32_t promised, closed; /* blocks that cover the snapshot's time; those that close it */
	struct future *future; /* blocks that begin later (least.c); NULL: there are none */
	uint8_t share[4];     /* by what a job says (enum keel_place_share): what it comes to here */
	const char *queue;    /* only jobs of this queue; NULL: any */
	const char *partition; /* only jobs of this partition; NULL: of none */
	int64_t priority, last_used, score;
	double *total, *free;
	uint32_t *via;        /* per column: index + 1 of the vnode whose amount it shares; NULL: none */
	uint32_t *taker, n_taker; /* vnodes that share an amount of this one */
	struct keel_res_value *other; /* what is not counted: strings, booleans, plain numbers */
	uint32_t n_other;
	struct vnode_limits *limits; /* NULL: none */
};

/* How vnodes are ordered: node_sort_key. */
enum sort_by { SORT_PRIORITY, SORT_LAST_USED, SORT_TOTAL, SORT_ASSIGNED, SORT_UNUSED, SORT_TURN };
struct sort_key {
	enum sort_by by;
	bool low_first;
	const struct keel_resource *res; /* of the last but one three */
};
#define SORT_KEYS_MAX 16 /* lines of node_sort_key */

/* Amounts of a queue, or of the server, with which the job-wide amounts of jobs are compared. */
struct pool {
	const char *queue; /* owned; NULL: the server */
	struct pool_amount {
		const struct keel_resource *res;
		double total, free;
		char *text;  /* of words; owned */
		bool counted; /* jobs take of it */
	} *amount;
	uint32_t n;
};

struct order; /* order.c */
struct klasses; /* klass.c */
struct scratch; /* place.c */
struct sets; /* sets.c */
struct spans; /* spans.h, as the next two */
struct future;
struct tenant;

struct snapshot {
	int64_t at;           /* the time it stands for, seconds since 1970 */
	struct vnode *node;   /* in the order of definition */
	uint32_t n, n_hosts;
	const struct keel_resource **column; /* what is counted */
	uint32_t n_column;
	/* Names of built-in resources that are compared; those of sites and booleans always are. */
	const char *const *checked; /* NULL-terminated; borrowed */
	const char *const *endless; /* host resources of which unset is plenty; likewise; may be NULL */
	bool only_checked;          /* a site's own only when they are named, too */
	bool some_one_host; /* by snapshot_link(): some vnode takes jobs of one host only */
	bool counts_people; /* some vnode limits jobs of a user or group: verdicts are about one owner */
	bool is_room; /* room.c: of a block */
	bool no_span, explicit_sets; /* do_not_span_psets, only_explicit_psets */
	struct sort_key sort[SORT_KEYS_MAX + 1]; /* one more for round_robin */
	uint32_t n_sort;
	struct pool *pool;
	uint32_t n_pool;
	uint32_t *by_name, n_by_name; /* hash: index + 1; NULL: look at all */
	uint32_t takes;  /* jobs settled so far */
	uint32_t reads;  /* refreshes so far */
	double *amounts; /* of a copy: what its vnodes have free */
	uint64_t shape;  /* changes with everything that is not about who is where */
	struct klasses *klasses;
	struct order *order;
	struct scratch *scratch;
	struct sets *sets; /* made when a job first needed them */
	const struct spans *spans; /* what is promised; NULL: nothing. Borrowed */
	uint32_t n_future;	   /* vnodes with blocks that begin later */
	/* Calls fn for the jobs on a vnode that will have ended at `until`, or (INT64_MAX) for all. NULL: there are none. */
	void (*tenants)(void *arg, const char *vnode, int64_t until, void (*fn)(void *to, const struct tenant *),
			void *to);
	void *tenants_arg;
	char **own_checked, **own_endless; /* owned, or NULL */
};

/* Makes order, classes and scratch; the caller calls it when all vnodes are there, and again when many changed. Without
 * memory it fails silently: then no search finds a place. */
void snapshot_link(struct snapshot *s);
bool snapshot_linked(const struct snapshot *s);
/* The caller has changed this vnode: its amounts, its state, its jobs. */
void snapshot_changed(struct snapshot *s, uint32_t node);
/* The caller has changed scores or sort keys of many. Without memory s->order is NULL, and searches fail. */
void order_make(struct snapshot *s);
/* Frees what snapshot_link() made. */
void snapshot_unlink(struct snapshot *s);
/* Makes the hash of names where vnodes are many: after snapshot_link(). */
void snapshot_index(struct snapshot *s);
struct vnode *vnode_named(const struct snapshot *s, const char *name); /* NULL: there is none */

struct wish {
	const struct keel_select *select;
	struct keel_place place;
	const char *queue;
	const char *partition;
	const char *user, *group; /* for limits of vnodes; may be NULL */
	int64_t till; /* it may run from the snapshot's time until then, and keeps off what is promised; 0: whatever is */
	/* Its job-wide amounts. */
	const struct keel_res_value *const *whole;
	uint32_t n_whole;
	/* Resources whose values make placement sets; all of place.group when that is set. */
	const char *const *set_key;
	uint32_t n_set_key;
	/* May this vnode be used at all (taps)? NULL: all. */
	bool (*eligible)(void *arg, const struct vnode *);
	void *arg;
	struct memo *memo; /* may be NULL */
	bool quiet; /* a failure is not explained: its reason is empty */
};

struct reason {
	int32_t code; /* enum keel_why; 0: the text is a tap's or a service's */
	bool never;   /* not even on empty vnodes */
	uint32_t chunk; /* for which of the select's there was no place */
	bool alone;	/* taps refused vnodes to this job: of others nothing is known */
	int64_t from;	/* CONFLICT with a block: when it begins, and `what` is its id; else 0 */
	char text[REASON_MAX + 1];
	char what[REASON_WHAT]; /* the resource, limit or vnode that is missing; "" */
};

/* What was found out about jobs of one wish and holds while the shape of the snapshot does. */
struct memo {
	uint64_t shape; /* 0: nothing yet */
	bool possible;  /* on empty vnodes it would fit */
	struct reason why; /* not */
};

/* Could it ever start, with no other job anywhere? False with the reason, `never` set; without memory true, for a later
 * caller to find out. */
bool place_possible(struct snapshot *s, const struct wish *w, struct reason *ret);

/* The exec_vnode, which the caller frees; what it takes is taken from the snapshot. NULL with the reason, which is also
 * how it fails without memory: the snapshot is as it was. */
char *place_job(struct snapshot *s, const struct wish *w, struct reason *ret);

/* The same; nothing stays taken. */
char *place_find(struct snapshot *s, const struct wish *w, struct reason *ret);

/* Would place_job() find a place? False with the reason; nothing stays taken. */
bool place_fits(struct snapshot *s, const struct wish *w, struct reason *ret);

/* Why a vnode does not take a chunk of the wish: for listings. */
struct vnode_word {
	uint32_t chunk, node;
	struct reason why; /* not; code NODE_STATE: its state, whatever that is */
};
struct vnode_words {
	struct vnode_word *word; /* room for `room`; those that fit are only counted */
	uint32_t n, room;
	uint32_t fits, others; /* vnodes that fit; that do not and found no room */
};
bool place_words(struct snapshot *s, const struct wish *w, struct vnode_words *ret);

/* Can a job that has been there go on at this exec_vnode, until `till` (as a wish has it)? Takes what it needs; false with
 * the reason, nothing taken. */
bool place_again(struct snapshot *s, const struct keel_exec *exec, int32_t share, int64_t till,
		 struct reason *ret);
/* Takes what a start that the caller has made, or will make, takes. */
void place_take(struct snapshot *s, const struct keel_exec *exec, bool anew);
/* The same on vnodes of the last refresh only: the others have it. */

/* Counts one more job of this user and group (may.c); without memory it is not counted. */
void limits_count(struct vnode_limits *l, const char *user, const char *group);
/* May one more be there? 0, or the limit that is reached (enum keel_why). */
int32_t limits_say(const struct vnode *v, const char *user, const char *group);
/* A job of this user and group comes (sign 1) to its vnodes, or leaves them (-1). */
void limits_move(struct snapshot *s, const struct keel_exec *exec, const char *user,
		 const char *group, int sign);

bool is_endless(const struct snapshot *s, const struct keel_resource *res); /* demand.c */

/* pool.c */
/* A job takes (sign 1) of its queue's amounts and the server's, or gives back (-1); only: comma list. */
void pools_move(struct snapshot *s, const char *queue, const struct keel_res_value *const *whole,
		uint32_t n, const char *only, int sign);
void pools_free(struct pool *pool, uint32_t n);
uint32_t pools_sum(const struct snapshot *s); /* of names and totals: the same while those are */
struct pool *pools_copy(const struct snapshot *s);
void sets_free(struct sets *sets); /* sets.c */
void limits_free(struct vnode_limits *l);
bool limits_copy(struct snapshot *copy, uint32_t node); /* copy.c: those of this vnode become the copy's own */

/* copy.c: a copy for what-ifs, which shares what does not change with its original: the caller frees it before the
 * original. NULL without memory. */
struct snapshot *snapshot_copy(const struct snapshot *s);
void snapshot_copy_free(struct snapshot *s);
/* A job there gives back what it has, which it would have had until `till` (INT64_MAX: nothing is known of its end); only:
 * comma list of resource names, the rest stays with it. */
void place_vacate(struct snapshot *s, const struct keel_exec *exec, int32_t share, const char *only, int64_t till);
/* The exact reverse. */
void place_occupy(struct snapshot *s, const struct keel_exec *exec, int32_t share, const char *only, int64_t till);
/* A suspended job needs again what it gave back, the names; NULL: everything. */
void exec_only(struct keel_exec *exec, const char *names);

struct block;

/* reason.c: texts of reasons. */
/* A text without a code: a tap's, or a service's. `code` and `what` are cleared. */
void reason_set(struct reason *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The table's text for `code` (enum keel_why); the arguments are its words, all const char *. */
void reason_why(struct reason *r, int32_t code, ...);
/* `ncpus (R: 4 A: 1 T: 4)`; code: RESOURCE, QUEUE_RESOURCE or SERVER_RESOURCE */
void reason_amount(struct reason *r, int32_t code, const struct keel_resource *res, double wanted,
		   double have, double total);
/* `arch (sun != linux)`; `have` NULL: there is none */
void reason_differs(struct reason *r, int32_t code, const struct keel_res_value *wanted,
		    const struct keel_res_value *have);
/* A conflict with this block; NULL: it is not known with which. */
void reason_block(struct reason *r, const struct block *b);
/* Without detail. */
void reason_short(struct reason *r, int32_t code, const struct keel_resource *res);

#endif
