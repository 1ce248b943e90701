/* SPDX-License-Identifier: Apache-2.0
 *
 * keel/service/resv.h - service "resv" (offered by reservations): reservations for modules that bring a kind of them.
 *
 * Objects are of class "resv". reservations owns the order of every state change; others read, and call the steps of
 * this table.
 */
#ifndef KEEL_SERVICE_RESV_H
#define KEEL_SERVICE_RESV_H

#include "keel/types.h"
#include "keel/use.h"

/* Numbers of reserve_state and reserve_substate (spec 11 section 6). */
enum keel_resv_state {
	KEEL_RESV_NONE = 0,
	KEEL_RESV_UNCONFIRMED = 1,
	KEEL_RESV_CONFIRMED = 2,
	KEEL_RESV_RUNNING = 5,
	KEEL_RESV_FINISHED = 6,
	KEEL_RESV_BEING_DELETED = 7,
	KEEL_RESV_DELETED = 8,
	KEEL_RESV_DELETING_JOBS = 9,
	KEEL_RESV_DEGRADED = 10,
	KEEL_RESV_BEING_ALTERED = 11,
};

/* One of the times that are left, the soonest first. */
struct keel_resv_window {
	uint32_t size;
	uint32_t occurrence; /* from 1, as reserve_index */
	int64_t from, till;  /* [from, till) */
	const char *nodes;   /* as resv_nodes; NULL: none. Borrowed until the reservation changes */
};

/* What a reservation loses. */
struct keel_resv_loss {
	uint32_t size;
	int32_t substate;	   /* of a RESV_SUBSTATE row */
	const char *by;		   /* id of the reservation that takes it */
	int64_t from, till;	   /* times that intersect [from, till) lose ... */
	const char *const *vnodes; /* ... each chunk with one of these; sorted by strcmp */
	uint32_t n_vnodes, reserved;
};

/* A reservation made by a module, in the name of somebody. */
struct keel_resv_new {
	uint32_t size, n_attrs;
	const struct keel_attrop *attrs;
	const char *extend;		    /* which kind; NULL: an ordinary one */
	const struct keel_session *session; /* whose permissions count; copied */
};

/* code 0 with the id, or a PBSE code with a text (NULL: table text). Called exactly once. */
typedef void keel_resv_done(struct keel_mod *me, void *arg, int32_t code, const char *text);

struct keel_resv_api {
	uint32_t size, version;
	struct keel_mod *self; /* passed by the functions below: the first argument, where it is a keel_mod */
	int32_t (*state)(struct keel_mod *, struct keel_obj *resv);    /* enum keel_resv_state */
	int32_t (*substate)(struct keel_mod *, struct keel_obj *resv); /* likewise, or of a RESV_SUBSTATE row */
	/* The letter of its kind: R, S, or that of a RESV_KIND row, also when its module is gone. */
	char (*kind)(struct keel_mod *, struct keel_obj *resv);
	/* The i-th of the times that are left, from 0. False: there are no more. */
	bool (*window)(struct keel_mod *, struct keel_obj *resv, uint32_t i, struct keel_resv_window *ret);
	/* It loses those vnodes in those times, in this turn: resv_nodes, queue, what it holds, state, substate, reserve_retry (now),
	 * log and the point resv_conflict (spec 12 section 6.2). An unconfirmed one, or one that ends, loses nothing. True: it lost
	 * something. */
	bool (*lose)(struct keel_mod *, struct keel_obj *resv, const struct keel_resv_loss *);
	/* All that have lost something by `id`, or are in conflict in times of it, are searched a place for in the next cycle. */
	void (*retry)(struct keel_mod *, const char *id);
	/* What resv_submit does: checks, points, log, records. `done` has the id when it is made. */
	void (*make)(struct keel_mod *, const struct keel_resv_new *, struct keel_mod *me, keel_resv_done *done, void *arg);
	/* What resv_delete does, in the name of `who`, without its permission checks. */
	void (*remove)(struct keel_mod *, struct keel_obj *resv, const char *who);
	/* The reservation an operand names: `R12`, `R12.svr`, `R12.svr@svr`; the letter counts. NULL: there is none. */
	struct keel_obj *(*find)(struct keel_mod *, const char *operand);
	/* One with KEEL_RESV_WHATEVER that runs has these vnodes from now on, as a text of resv_nodes, instead of those that it had:
	 * confirmed anew, with log, record Y and the point resv_confirm. Fails with -EINVAL (another one, or no such text). */
	int32_t (*replace)(struct keel_mod *, struct keel_obj *resv, const char *nodes);
};

KEEL_SERVICE(resv);
#define keel_resv_state(...) KEEL_CALL(resv, state, __VA_ARGS__)
#define keel_resv_substate(...) KEEL_CALL(resv, substate, __VA_ARGS__)
#define keel_resv_kind(...) KEEL_CALL(resv, kind, __VA_ARGS__)
#define keel_resv_window(...) KEEL_CALL(resv, window, __VA_ARGS__)
#define keel_resv_lose(...) KEEL_CALL(resv, lose, __VA_ARGS__)
#define keel_resv_retry(...) KEEL_CALL(resv, retry, __VA_ARGS__)
#define keel_resv_make(...) KEEL_CALL(resv, make, __VA_ARGS__)
#define keel_resv_remove(...) KEEL_CALL(resv, remove, __VA_ARGS__)
#define keel_resv_find(...) KEEL_CALL(resv, find, __VA_ARGS__)
#define keel_resv_replace(...) KEEL_CALL(resv, replace, __VA_ARGS__)

#endif
