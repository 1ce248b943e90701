/* SPDX-License-Identifier: Apache-2.0
 *
 * maintenance.h - what the files of this module share.
 *
 * A window is a reservation of kind M. What is stored of one is kept by reservations; private memory is derived from it.
 */
#ifndef MAINTENANCE_H
#define MAINTENANCE_H

#include <errno.h>

#include "keel/alarm.h"
#include "keel/keel.h"
#include "keel/service/job.h"
#include "keel/service/node.h"
#include "keel/service/resource.h"
#include "keel/service/resv.h"
#include "keel/text.h"
#include "pbs_error.h"

#define KIND 'M'
#define IN_CONFLICT 12 /* reserve_substate of those that have lost vnodes to a window */
#define NOT_FOUND "Host with resources not found: %.200s"

/* Private memory on each window. */
struct window {
	struct keel_obj *resv;	 /* NULL: not on the list */
	struct window *next;	 /* conflict.c: confirmed ones */
	const char **vnodes;	 /* sorted; owned, with the names behind it */
	uint32_t n_vnodes;
	int64_t from, till;
	struct keel_alarm alone; /* place.c: an unconfirmed one goes */
	struct keel_alarm health; /* rolling.c: the next look at its hosts */
	struct keel_run *run;	 /* likewise: the program that looks; NULL */
	uint32_t well;		 /* so many of those that are closed now were well */
};

struct conf {
	int64_t health_interval, health_timeout; /* ms */
	const char *health_user;
};

struct act;
struct state {
	struct window *windows; /* confirmed ones */
	struct act *acts;	/* action.c: under way */
	struct keel_alarm left; /* likewise: the next look for jobs whose window is gone */
};

/* ---- hosts.c: which vnodes hosts have ------------------------------------------------------------------------- */
struct host {
	char *name; /* owned */
	double ncpus;
};
struct part {
	uint32_t host; /* its number */
	const char *vnode; /* borrowed: until vnodes change */
	double ncpus;
};
struct hosts {
	struct host *host; /* in the order of the request */
	struct part *part; /* in that of their hosts, those of one in the order of the server */
	uint32_t n, n_parts;
};
/* The hosts that a select of the form `host=a:ncpus=1+host=b:ncpus=2` names. 0, or a PBSE code with *err. */
int32_t hosts_of_select(struct keel_mod *mod, const char *select, struct hosts *h, struct keel_err *err);
/* The vnodes with cpus of each; names are compared exactly. 0 or -ENOMEM. */
int32_t hosts_resolve(struct keel_mod *mod, struct hosts *h);
const char *hosts_missing(const struct hosts *h); /* the first without cpus; NULL: there is none */
/* Of the hosts from `first` on, at most n: as `select` and as resv_nodes. The caller frees them; NULL without memory. */
char *hosts_select(const struct hosts *h, uint32_t first, uint32_t n);
char *hosts_nodes(const struct hosts *h, uint32_t first, uint32_t n);
void hosts_fini(struct hosts *h);

/* ---- place.c: place() of the row ------------------------------------------------------------------------------- */
extern const struct keel_resv_kind_def kind_row;

/* ---- options.c: attributes ---------------------------------------------------------------------------------------- */
extern const struct keel_attr_def attr_action, attr_rolling, attr_health, attr_at, attr_comment, attr_acted;
int32_t options_check(struct keel_changes *ch, struct keel_obj *draft, struct keel_err *err); /* 0, or a PBSE code with *err */
uint32_t options_at_a_time(struct keel_changes *ch, struct keel_obj *draft, uint32_t all); /* hosts */
keel_verdict on_resv_submit(struct keel_call *c, const struct keel_ev_resv_submit *ev);

/* ---- action.c: jobs on its hosts ------------------------------------------------------------------------------------ */
bool action_can_suspend(void);
void action_begin(struct keel_mod *mod, struct keel_obj *resv, bool again); /* again: with other hosts than before */
void action_end(struct keel_mod *mod, struct keel_obj *resv); /* it still knows its vnodes */
void actions_left_later(struct keel_mod *mod, int64_t ms); /* looks then for jobs that are suspended for windows that are gone */
void actions_drop(struct keel_mod *mod);

/* ---- rolling.c: hosts in turn ------------------------------------------------------------------------------------------ */
bool rolling_can_look(void);
void rolling_begin(struct keel_mod *mod, struct keel_obj *resv); /* it runs */
void rolling_end(struct window *w);

/* ---- preview.c: `--dry-run` ------------------------------------------------------------------------------------- */
char *preview(struct keel_mod *mod, const struct keel_resv_window *w);

/* ---- conflict.c: what others lose -------------------------------------------------------------------------------- */
keel_verdict on_resv_confirm(struct keel_call *c, const struct keel_ev_resv_confirm *ev);
keel_verdict on_resv_begin(struct keel_call *c, const struct keel_ev_resv_begin *ev);
keel_verdict on_resv_end(struct keel_call *c, const struct keel_ev_resv_end *ev);
/* Sorted names of the vnodes in a text, in one piece, which the caller frees. 0, -EINVAL or -ENOMEM. */
int32_t vnodes_of(const char *nodes, const char ***ret, uint32_t *ret_n);
int32_t conflicts_again(struct keel_mod *mod, struct keel_err *err); /* start(): all windows against all others */
void window_fini(struct keel_mod *mod, void *slot);
#endif
