/* SPDX-License-Identifier: Apache-2.0
 *
 * runs.h - on a host: what is known of runs of which it is the primary.
 */
#ifndef RUNS_H
#define RUNS_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "keel/service/part.h"
#include "tolerate.h"

/* A host of the run that failed, or has not answered. */
struct lost {
	struct lost *next;
	bool silent;   /* it may still answer: neither good nor failed */
	bool reported; /* the server has noted it */
	int32_t code;
	char *host, *vnodes; /* what the job had there; NULL: not known */
	char stage[16], text[TEXT_MAX];
};

struct run {
	UT_hash_handle hh;
	char *id;
	int64_t run;
	bool asked, known; /* the facts below: sent for, here */
	bool pruned;	   /* in this run, and this life of the daemon */
	char *exec_vnode, *schedselect;
	char *keep;	   /* what is kept of a padded job; NULL: nothing is given back by itself */
	char *cray;	   /* the first vnode of a Cray; NULL: none */
	char **words;	   /* resources whose values are words */
	uint32_t n_words;
	struct lost *lost;
	struct keel_hold *hold; /* its start, until the facts are here */
};

struct state {
	struct run *runs;
};

/* The run of a job whose primary this host is; made at need. NULL: it is not, or there is no memory. *ret_part, which may be
 * NULL, is borrowed until the callback returns. */
struct run *run_of(struct keel_mod *mod, const char *id, const struct keel_part **ret_part);
/* Requests the facts from the server, unless they are here. */
void run_ask(struct keel_mod *mod, struct run *r);
struct lost *run_lost(const struct run *r, const char *host);
/* A message about the run; NULL without memory. */
struct keel_out *run_message(struct keel_mod *mod, const struct run *r);
/* May a run with this value lose a host at this stage (KEEL_STAGE_JOIN ...)? */
bool tolerates(const char *value, const char *stage);

int32_t runs_start(struct keel_mod *mod, struct keel_err *err);
void runs_stop(struct keel_mod *mod);

keel_verdict on_task_lost(struct keel_call *c, const struct keel_ev_task_lost *ev);
keel_verdict on_task_prologue(struct keel_call *c, const struct keel_ev_task_prologue *ev);
keel_verdict on_host_peer_up(struct keel_call *c, const struct keel_ev_peer_up *ev);

/* release.c */
keel_verdict on_task_launch(struct keel_call *c, const struct keel_ev_task_launch *ev);
extern const struct keel_service_def tolerance_service;

#endif
