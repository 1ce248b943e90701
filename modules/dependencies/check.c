/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - what a job may depend on, and what is done already when it is submitted or altered.
 */
#include "dependencies.h"

#include <stdlib.h>
#include <string.h>

#include "keel/acl.h"

KEEL_ATTRS_OF(job, stime, depend_dropped, Exit_status, euser);
KEEL_ATTR_OPT(job, Job_Owner);
KEEL_ATTR_OPT(server, flatuid);

bool fate_of(struct keel_mod *mod, const char *id, struct fate *ret)
{
	struct keel_obj *job = keel_find(mod, "job", id);
	char letter;

	if (!job)
		return false;
	letter = keel_job_state(job);
	ret->over = strchr("FXM", letter) != NULL;
	ret->started = keel_is_set(job, job_stime) || strchr("REB", letter);
	ret->dropped = keel_get_int(job, job_depend_dropped) != 0;
	ret->exit = keel_get_int(job, job_Exit_status);
	return true;
}

/* What is requested, and what is known of the job that an item names. */
struct wish {
	struct keel_obj *job;
	const struct keel_session *who;
	bool fresh; /* it is submitted */
	const struct item *item;
	char id[ID_MAX];
};

static void log_satisfied(struct keel_mod *mod, const struct wish *a)
{
	keel_log(mod, KEEL_LOG_JOB, "Job", keel_id(a->job),
		 "%s Job has finished, dependency satisfied", a->id);
}

/* An after... item: stays (WAITS), is left out (DONE), or is refused. */
static int32_t check_after(struct keel_mod *mod, const struct wish *a, enum verdict *ret)
{
	enum type type = (enum type)a->item->type;
	struct fate fate = { 0 };

	if (!fate_of(mod, a->id, &fate)) {
		*ret = WAITS; /* it may come one day, if its number has not come yet */
		return a->item->n < keel_job_next_number() ? PBSE_BADDEPEND : 0;
	}
	*ret = type_judge(type, &fate);
	if (*ret == DONE && fate.over)
		log_satisfied(mod, a);
	if (*ret == DONE || !fate.over)
		return 0;
	*ret = WAITS; /* it was deleted, or news_too_late() */
	return a->fresh && type == AFTER_NOT_OK ? 0 : PBSE_HISTDEPEND;
}

/* Does the other job belong to the owner of this one, by the rules for requests from the host of this one? */
static bool same_owner(struct keel_mod *mod, struct keel_obj *job, struct keel_obj *other, const struct keel_session *who)
{
	struct keel_obj *server = keel_find(mod, "server", keel_server_name(mod));
	const struct keel_attr *owner = job_Job_Owner ? job_Job_Owner : job_euser;
	const char *own = keel_get_str(job, owner), *theirs = keel_get_str(other, owner);
	const char *at = own ? strchr(own, '@') : NULL, *user = keel_get_str(job, job_euser);

	return (who && (who->roles & KEEL_OPERATORS)) ||
	       (user && theirs && keel_acl_is_owner(theirs, user, at ? at + 1 : "", keel_host_name(mod),
						    server && server_flatuid && keel_get_int(server, server_flatuid)));
}

/* The named job must wait for reports, or be over, and belong to the one who sends them. */
static int32_t check_before(struct keel_mod *mod, const struct wish *a)
{
	struct state *st = mod->state;
	const struct child *c = child_find(st, a->id);
	struct fate fate = { 0 };
	bool counts = false;

	for (uint32_t i = 0; c && i < c->clause.n; i++)
		counts |= c->clause.item[i].type == ON;
	if (!fate_of(mod, a->id, &fate) || !(counts || (a->fresh && fate.over)))
		return PBSE_BADDEPEND;
	return same_owner(mod, a->job, keel_find(mod, "job", a->id), a->who) ? 0 : PBSE_PERM;
}

/* The named job must belong to the same owner; with one that is over there is no set. */
static int32_t check_runone(struct keel_mod *mod, const struct wish *a, enum verdict *ret)
{
	struct fate fate = { 0 };

	if (!fate_of(mod, a->id, &fate))
		return PBSE_BADDEPEND;
	if (!same_owner(mod, a->job, keel_find(mod, "job", a->id), a->who))
		return PBSE_PERM;
	*ret = fate.over ? DONE : WAITS;
	if (fate.over)
		log_satisfied(mod, a);
	return 0;
}

static int32_t check_item(struct keel_mod *mod, struct wish *a, enum verdict *ret)
{
	struct state *st = mod->state;

	*ret = WAITS;
	if (a->item->type == ON)
		return 0;
	item_id(a->item, st->server, a->id);
	if (job_key(a->id) == job_key(keel_id(a->job)))
		return PBSE_IVALREQ;
	if (a->item->type == RUN_ONE)
		return check_runone(mod, a, ret);
	return type_is_before((enum type)a->item->type) ? check_before(mod, a) : check_after(mod, a, ret);
}

int32_t check_clause(struct keel_mod *mod, struct keel_obj *job, const struct keel_session *who, bool fresh,
		     struct clause *c)
{
	struct wish a = { .job = job, .who = who, .fresh = fresh };
	uint32_t i, left = 0, counters = 0;

	for (i = 0; i < c->n; i++) {
		enum verdict verdict;
		int32_t code;

		a.item = &c->item[i];
		code = check_item(mod, &a, &verdict);

		counters += c->item[i].type == ON;
		if (code || counters > 1)
			return code ? code : PBSE_BADDEPEND;
		if (verdict == WAITS)
			c->item[left++] = c->item[i];
	}
	c->n = left;
	return runone_join(mod->state, c);
}
