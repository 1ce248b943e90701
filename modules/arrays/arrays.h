/* SPDX-License-Identifier: Apache-2.0
 *
 * arrays.h - what the files of this module share.
 */
#ifndef ARRAYS_H
#define ARRAYS_H

#include "ended.h"
#include "keel/jobid.h"
#include "keel/keel.h"
#include "keel/service/acct.h"
#include "keel/service/job.h"
#include "keel/sized.h"
#include "pbs_error.h"

/* Subjobs that were started before and wait again. */
struct again {
	uint32_t ordinal;
	int64_t runs, version; /* run_count, run_version */
};

struct array {
	struct keel_obj *whole; /* it owns this */
	struct indices x;
	struct runs runs;
	uint32_t n[KINDS];
	uint32_t n_suspended; /* of those that live: they leave room for others */
	uint32_t hint; /* none before it waits */
	struct again *again;
	uint32_t n_again;
	uint32_t failed; /* so many did not end with 0 */
	uint32_t deleting; /* so many requests are: nothing starts, and it is not over, until they are answered */
	bool deleted;	 /* nothing starts any more */
	bool coarse;	 /* too many ways to end to keep apart */
};

/* Private memory on each array, and on each subjob. */
struct slot {
	struct array *a;
	bool suspended; /* a subjob that its array counts as such */
};

struct conf {
	bool requeue_subjobs_at_restart;
};

struct state {
	uint64_t walks;                        /* listings so far */
	uint32_t open_fans;                    /* requests and sweeps under way */
	struct todo *todo;                     /* ids found at replay, for start() */
};

/* array.c: one array */
struct array *array_of(struct keel_mod *mod, struct keel_obj *whole); /* NULL: it is none */
void array_fini(struct keel_mod *mod, void *slot);
void on_submitted(struct keel_mod *mod, struct keel_obj *whole, const struct keel_attr *attr);
void on_limit(struct keel_mod *mod, struct keel_obj *whole, const struct keel_attr *attr);
void array_mark(struct array *a, uint32_t ordinal, int32_t value);
/* `n` more did not end with 0; saved. */
void array_failed(struct array *a, uint32_t n);
/* Those of `s` that wait are over, terminated. Returns how many. */
uint32_t array_terminate(struct keel_mod *mod, struct array *a, const struct selection *s, bool force);
/* Stores on the object what no other object says. Without memory the log has the error. */
void array_save_ended(struct keel_mod *mod, struct array *a);
void array_save_again(struct array *a);
/* It is over when nothing waits and nothing lives. */
void array_check_end(struct keel_mod *mod, struct array *a);

/* names.c: ids and operands */
/* `7[]`, `7[3]`, `7[1-9:2].svr@host`: the array, and what stands between the brackets. NULL: no such operand, or no such
 * array. */
struct array *named_array(struct keel_mod *mod, const char *operand, const char **ret_range,
			  size_t *ret_len);
/* The array of a subjob's object, and the subjob's ordinal. NULL: it is no subjob, or its array is gone. */
struct array *array_of_part(struct keel_mod *mod, struct keel_obj *part, uint32_t *ret_ordinal);
bool is_subjob(struct keel_mod *mod, struct keel_obj *job); /* by its id */
void part_id(const struct array *a, uint32_t ordinal, char *buf, size_t len);
struct keel_obj *part_find(struct keel_mod *mod, const struct array *a, uint32_t ordinal); /* NULL: it is no object */

/* part.c: subjobs as objects */
/* A draft like the array, for its subjobs; the caller destroys or publishes it. NULL with *err. */
/* Its array counts it as suspended, or no more. */
void part_suspended(struct keel_mod *mod, struct keel_obj *part, bool suspended);
void part_paths(struct array *a, struct keel_obj *part, uint32_t index);
/* Copies what its array has now of `attr[.resource],...`. False: subjobs have none of these. */
bool part_alter(struct keel_mod *mod, struct array *a, struct keel_obj *part, uint32_t ordinal, const char *names);
/* Makes the subjob's object: published, adopted, queued. NULL with *err, and it waits as before. */
struct keel_obj *part_make(struct keel_mod *mod, struct array *a, uint32_t ordinal,
			   struct keel_err *err);
extern const struct keel_job_form_def form;

/* ask.c: requests about arrays and ranges */
/* False: the operand names nothing in an array, and `done` is left to the caller. Else `done` is called once, with 0 or
 * the first error. */
bool on_ask(struct keel_mod *mod, const char *operand, const struct keel_job_ask *ask,
	    struct keel_mod *me, void (*done)(struct keel_mod *, void *, int32_t, const char *),
	    void *arg);
bool on_has(struct keel_mod *mod, const char *operand);
char on_letter(struct keel_mod *mod, const char *operand);

/* listing.c */
extern const struct keel_parts_def parts;

/* after.c: what is left of an array that is over; restart */
void after_end(struct keel_mod *mod, const char *whole_id, const struct indices *x, bool erase);
keel_verdict on_job_known(struct keel_call *c, const struct keel_ev_job_known *ev);
keel_verdict on_server_start(struct keel_call *c, const struct keel_ev_server_start *ev);
int32_t after_replay(struct keel_mod *mod, struct keel_err *err);
void todo_drop(struct keel_mod *mod);

#endif
