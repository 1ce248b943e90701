/* SPDX-License-Identifier: Apache-2.0
 *
 * routing.h - what the files of this module share.
 */
#ifndef ROUTING_H
#define ROUTING_H

#include "keel/keel.h"
#include "keel/service/job.h"
#include "keel/service/queue.h"
#include "pbs_error.h"

#define ROUTE "Route"

struct entry;

/* Entries of jobs, first come first served. */
struct line {
	struct entry *first;
};

/* Private memory on each queue; a routing queue uses it. */
struct router {
	struct keel_obj *queue;
	struct line due;	   /* to be looked at now */
	struct line parked;	   /* looked at again after route_retry_time, or a change */
	struct keel_timer *work;   /* while something is due */
	struct keel_timer *retry;  /* while something is parked */
};

/* Private memory on each job; one in a routing queue is in a line of it, or under way. */
struct entry {
	struct keel_obj *job;
	struct router *router;	/* NULL: in no line */
	struct line *line;
	struct entry *prev, *next;
	bool under_way; /* an attempt has it */
};

struct conf {
	int64_t hops;
};

/* line.c */
bool is_routing(struct keel_obj *queue);
/* Puts a job where it belongs: due in its routing queue, or in no line. */
void line_consider(struct keel_mod *mod, struct keel_obj *job);
void line_park(struct keel_mod *mod, struct entry *e);
/* All jobs that are parked in the queue become due. */
void line_wake(struct keel_mod *mod, struct keel_obj *queue);
void entry_fini(struct keel_mod *mod, void *slot);
void router_fini(struct keel_mod *mod, void *slot);

/* route.c */
/* Tries the destinations of the job's queue; it is moved, parked or aborted, before the caller gets control back or later.
 * Without memory it is parked. */
void route(struct keel_mod *mod, struct entry *e, struct keel_obj *queue);

/* destinations.c */
/* Is `text` a comma list of queue[@host[:port]]? */
bool destinations_fine(const char *text);
/* Copies the i-th of the list into buf; false: there are not so many, or it is too long. */
bool destinations_at(const char *text, uint32_t i, char *buf, size_t size);

#endif
