/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h - what the files of the checks share: sums, and what is read to make them.
 */
#ifndef CHECK_H
#define CHECK_H

#include "keel/service/resv.h"
#include "model.h"

#define RESOURCES 24

/* Amounts by resource. */
struct bag {
	struct {
		const struct keel_resource *res;
		double n;
	} of[RESOURCES];
	uint32_t n;
};

/* A vnode, a queue, or the server. */
struct place {
	char *name;
	struct bag want, forced; /* forced: the part that was placed without looking for room */
	struct holding *holdings; /* of a vnode: promise.c */
	uint32_t letters[8], jobs, marked;
	UT_hash_handle hh;
};

/* exec_vnode of a job, read once. */
struct reading {
	char *id, *exec;
	uint32_t n;
	struct {
		struct place *vnode;
		const struct keel_resource *res;
		double n;
	} *part;
	UT_hash_handle hh;
};

/* What a job was when it was looked at last. */
struct past {
	char *id;
	bool rested, marked, forced;
	int64_t run; /* whose start was looked at; 0: none so far */
	int64_t due; /* when it was to have ended, as its walltime said */
	UT_hash_handle hh;
};

struct acknowledged {
	char *id;
	bool known;      /* the answer said so */
	bool over;       /* reported as ended, or deleted on request */
	uint32_t asked; /* delete requests without a reply */
	UT_hash_handle hh;
};

struct attrs {
	const struct keel_attr *state, *ending, *exec_vnode, *given_up, *given_up_list, *shrunk, *queue, *list, *released, *released_list, *mark, *node_assigned, *node_available,
		*node_jobs, *node_state, *maintenance, *server_assigned, *server_available, *server_counts,
		*server_total, *queue_assigned, *queue_available, *queue_counts, *queue_total;
	const struct keel_attr *run, *stime, *inside; /* of jobs */
};

struct checker {
	struct sim *sim;
	struct attrs a;
	struct place *vnodes, *queues, server;
	struct reading *readings;
	struct past *past;
	struct acknowledged *jobs;
	struct promises *promises;
	uint64_t checks, idle;
};

struct place *place_get(struct place **all, const char *name);
void bag_add(struct bag *b, const struct keel_resource *res, double n);
double amount_in(const struct bag *b, const struct keel_resource *res);
/* NULL: the text cannot be read. Kept by `id` until it is another text. */
struct reading *reading_of(struct checker *c, const char *id, const char *text);
struct past *past_of(struct checker *c, const char *id);

/* ---- promise.c: reservations ----------------------------------------------------------------------------------- */
void promises_up(struct checker *c);	/* the server has started */
void promises_read(struct checker *c);	/* before jobs are looked at */
/* The job uses this of a vnode. False: it is in no reservation. */
bool promises_charge(struct checker *c, struct keel_obj *job, struct place *vnode, const struct keel_resource *res, double n,
		     bool forced);
void promises_sum(struct checker *c);	  /* behind all jobs: what reservations hold of vnodes */
void promises_compare(struct checker *c); /* what must hold of them */

#endif
