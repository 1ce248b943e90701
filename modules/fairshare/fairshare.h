/* SPDX-License-Identifier: Apache-2.0
 *
 * fairshare.h - what the files of this module share.
 */
#ifndef FAIRSHARE_H
#define FAIRSHARE_H

#include "keel/file.h"
#include "keel/keel.h"
#include "keel/service/fairshare.h"
#include "keel/service/job.h"
#include "keel/service/resource.h"
#include "keel/service/sched.h"
#include "keel/setting.h"
#include "pbs_error.h"
#include "tree.h"

#define ENTITY_SIZE 600

struct conf {
	const char *resource_group; /* file, from PBS_HOME */
	bool fair_share, fairshare_enforce_no_shares;
	const char *fairshare_usage_res, *fairshare_entity, *fairshare_decay_time,
		*fairshare_decay_factor, *unknown_shares;
	int64_t usage_interval; /* ms */
};

enum entity { BY_USER, BY_GROUP, BY_GROUP_USER, BY_ACCOUNT, BY_QUEUE };

/* What holds now: the configuration, or what sched_config says over it. */
struct rules {
	bool on, enforce;
	enum entity entity;
	char *usage_res; /* cput, or a product: ncpus*walltime; owned; NULL: there was no memory */
	int64_t decay_time;	   /* seconds; 0: never */
	double decay_factor, unknown_shares;
};

/* Private memory on each job: on the list while it runs. */
struct running {
	struct keel_obj *job; /* NULL: not on the list */
	struct running *next, *prev;
	double charged; /* of this run */
};

struct state {
	struct tree tree;
	double unit;	 /* what one raw unit of usage is worth today */
	int64_t decayed; /* when usage decayed last */
	struct rules rules;
	struct keel_file file;
	struct running *first, *round; /* who runs; where a round of charging is */
	struct keel_timer *charge_timer, *decay_timer;
};

/* rules.c */
void rules_read(struct keel_mod *mod);
/* A file that cannot be read, or a line with an error, is logged: the shares of before, or of the other lines, hold. */
void file_read(struct keel_mod *mod, bool anew); /* resource_group, when it has changed or `anew` */

/* entity.c */
/* The entity's share; never NULL: without a name, or without memory, it is that of the unknown. */
struct share *share_of(struct keel_mod *mod, struct keel_obj *job);
/* What a job has used of what is counted. */
double amount_of(struct state *st, struct keel_obj *job);

/* stock.c: usage in the store */
void stock_load(struct keel_mod *mod);
void stock_put(struct keel_mod *mod, struct share *s);

/* usage.c: charging what runs */
void usage_start(struct keel_mod *mod);
void usage_stop(struct keel_mod *mod);
void usage_now(struct keel_mod *mod); /* of who runs */
void job_enter(struct keel_mod *mod, struct keel_obj *job, bool from_nothing);
void job_charge(struct keel_mod *mod, struct keel_obj *job);
keel_verdict on_purged(struct keel_call *c, const struct keel_ev_job_purged *ev);
void running_fini(struct keel_mod *mod, void *slot);
void decay_plan(struct keel_mod *mod);
void decay_now(struct keel_mod *mod);

/* keys.c: numbers about jobs */
#define JOB_KEYS 5
extern const struct keel_job_key_def job_keys[JOB_KEYS];
bool over_share(struct keel_mod *mod, struct keel_obj *job);
keel_verdict on_start_group(struct keel_call *c, const struct keel_ev_start_group *ev);
keel_verdict on_explain(struct keel_call *c, const struct keel_ev_job_explain *ev);

/* verb.c: for pbsfs */
extern const struct keel_request_def fairshare_request;

#endif
