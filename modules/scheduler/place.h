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

#define REASON_MAX 400
#define REASON_WHAT 64

/* A vnode as of the snapshot. `total` and `free` have one amount per column of the snapshot. */
struct vnode {
	const char *name;     /* owned by the snapshot, as all below */
	uint32_t host;        /* vnodes of one host have the same number */
	uint32_t next_of_host; /* by snapshot_link(): index, or n */
	bool leads_host;       /* likewise: the first vnode of its host */
	bool usable;          /* its state lets new work in */
	bool in_use;          /* some job is there */
	bool down;            /* its state keeps new work away, whoever is there */
	bool alone;           /* somebody there, or on its host, wants nobody beside him */
	uint32_t jobs;        /* how many are there */
	uint32_t taken_in;    /* the take that counted itself last */
	uint8_t share[4];     /* by what a job says (enum keel_place_share): what it comes to here */
	const char *queue;    /* only jobs of this queue; NULL: any */
	double *total, *free;
	struct keel_res_value *other; /* what is not counted: strings, booleans, plain numbers */
	uint32_t n_other;
};

struct snapshot {
	struct vnode *node;   /* in the order they are tried */
	uint32_t n, n_hosts;
	const struct keel_resource **column; /* what is counted */
	uint32_t n_column;
	/* Names of built-in resources that are compared; those of sites and booleans always are. */
	const char *const *checked; /* NULL-terminated; borrowed */
	uint32_t *by_name, n_by_name; /* hash: index + 1; NULL: look at all */
	uint32_t takes;  /* jobs settled so far */
	double *amounts; /* of a copy: what its vnodes have free */
};

/* To be called once all vnodes are there, in their order. */
void snapshot_link(struct snapshot *s);
/* And of their names, where vnodes are many: after snapshot_link(). */
void snapshot_index(struct snapshot *s);
struct vnode *vnode_named(const struct snapshot *s, const char *name);

struct wish {
	const struct keel_select *select;
	struct keel_place place;
	const char *queue;
	/* May this vnode be used at all (taps)? NULL: all. */
	bool (*eligible)(void *arg, const struct vnode *);
	void *arg;
};

struct reason {
	int32_t code; /* enum keel_why; 0: said by somebody else */
	bool never;   /* not even on empty vnodes */
	char text[REASON_MAX];
	char what[REASON_WHAT]; /* the resource, limit or vnode that is missing; "" */
};

/* The exec_vnode (malloc'ed), and what it takes is taken from the snapshot; or NULL with the reason. */
char *place_job(struct snapshot *s, const struct wish *w, struct reason *ret);

/* Would it fit? Nothing stays taken. */
bool place_fits(struct snapshot *s, const struct wish *w, struct reason *ret);

/* Can a job that has been there go on at this exec_vnode? Takes what it needs, or says why not. */
bool place_again(struct snapshot *s, const struct keel_exec *exec, int32_t share,
		 struct reason *ret);
/* Somebody has taken, or will take this. */
void place_take(struct snapshot *s, const struct keel_exec *exec);

/* copy.c: a copy for what-ifs, which shares what does not change with its original. */
struct snapshot *snapshot_copy(const struct snapshot *s);
void snapshot_copy_free(struct snapshot *s);
/* A job there gives back what it has; only: comma list of resource names, the rest stays with it. */
void place_vacate(struct snapshot *s, const struct keel_exec *exec, int32_t share, const char *only);
/* The exact reverse. */
void place_occupy(struct snapshot *s, const struct keel_exec *exec, int32_t share, const char *only);

/* reason.c: texts of reasons. */
/* A text of somebody else; code and what are cleared. */
void reason_set(struct reason *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The table's text for `code` (enum keel_why); the arguments are its words, all const char *. */
void reason_why(struct reason *r, int32_t code, ...);
/* `ncpus (R: 4 A: 1 T: 4)`; code: RESOURCE, QUEUE_RESOURCE or SERVER_RESOURCE */
void reason_amount(struct reason *r, int32_t code, const struct keel_resource *res, double wanted,
		   double have, double total);
/* `arch (sun != linux)`; `have` NULL: there is none */
void reason_differs(struct reason *r, int32_t code, const struct keel_res_value *wanted,
		    const struct keel_res_value *have);
/* Without detail. */
void reason_short(struct reason *r, int32_t code, const struct keel_resource *res);

#endif
