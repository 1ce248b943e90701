/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - may one more job of these people start? And: do they run more than a soft limit says?
 *
 * Order of the checks: counts of the queue (group, project, everybody, user), of the server likewise,
 * then amounts in the same order.
 */
#include "entity-limits.h"

#include <stdio.h>
#include <string.h>

#include "keel/sched_reason.h"

#define EPSILON 1e-9 /* fractions of float resources */

/* What a limit that is reached says, and what its %s are: q queue, e who, r resource. */
struct words {
	int32_t code;
	const char *args;
};
static const struct words words[SCOPES][KINDS][2][2] = { /* [of amounts][named] */
	[QUEUE] = {
		[GROUP] = { { { KEEL_WHY_QUEUE_ANY_GROUP, "q" }, { KEEL_WHY_QUEUE_GROUP, "qe" } },
			    { { KEEL_WHY_QUEUE_ANY_GROUP_RES, "qr" }, { KEEL_WHY_QUEUE_GROUP_RES, "erq" } } },
		[PROJECT] = { { { KEEL_WHY_QUEUE_ANY_PROJECT, "q" }, { KEEL_WHY_QUEUE_PROJECT, "qe" } },
			      { { KEEL_WHY_QUEUE_ANY_PROJECT_RES, "qr" },
				{ KEEL_WHY_QUEUE_PROJECT_RES, "erq" } } },
		[OVERALL] = { { { KEEL_WHY_QUEUE_JOBS, "q" }, { KEEL_WHY_QUEUE_JOBS, "q" } },
			      { { KEEL_WHY_QUEUE_RES, "rq" }, { KEEL_WHY_QUEUE_RES, "rq" } } },
		[USER] = { { { KEEL_WHY_QUEUE_ANY_USER, "q" }, { KEEL_WHY_QUEUE_USER, "qe" } },
			   { { KEEL_WHY_QUEUE_ANY_USER_RES, "qr" }, { KEEL_WHY_QUEUE_USER_RES, "erq" } } },
	},
	[SERVER] = {
		[GROUP] = { { { KEEL_WHY_SERVER_ANY_GROUP, "" }, { KEEL_WHY_SERVER_GROUP, "e" } },
			    { { KEEL_WHY_SERVER_ANY_GROUP_RES, "r" }, { KEEL_WHY_SERVER_GROUP_RES, "er" } } },
		[PROJECT] = { { { KEEL_WHY_SERVER_ANY_PROJECT, "" }, { KEEL_WHY_SERVER_PROJECT, "e" } },
			      { { KEEL_WHY_SERVER_ANY_PROJECT_RES, "r" },
				{ KEEL_WHY_SERVER_PROJECT_RES, "er" } } },
		[OVERALL] = { { { KEEL_WHY_SERVER_JOBS, "" }, { KEEL_WHY_SERVER_JOBS, "" } },
			      { { KEEL_WHY_SERVER_RES, "r" }, { KEEL_WHY_SERVER_RES, "r" } } },
		[USER] = { { { KEEL_WHY_SERVER_ANY_USER, "" }, { KEEL_WHY_SERVER_USER, "e" } },
			   { { KEEL_WHY_SERVER_ANY_USER_RES, "r" }, { KEEL_WHY_SERVER_USER_RES, "er" } } },
	},
};

/* One question: this job, these limits. */
struct check {
	struct keel_mod *mod;
	struct state *st;
	struct keel_obj *job;
	const struct counted *j;
	enum scope scope;
	struct keel_obj *holder;
	enum family family;
	const struct item *item; /* NULL: counts */
	bool also_it;
};

static double running(const struct check *k, enum kind kind)
{
	const struct counter *c = counter_of(k->j, k->scope, kind);

	if (!c)
		return 0;
	return k->item ? counter_amount(c, k->item->res, TALLY_RUNS) : c->n[TALLY_RUNS];
}

static keel_verdict refuse(struct keel_call *call, const struct check *k, enum kind kind, bool named)
{
	const struct words *w = &words[k->scope][kind][k->item != NULL][named];
	const char *arg[3] = { "", "", "" };
	char text[512];

	for (int i = 0; w->args[i]; i++)
		arg[i] = w->args[i] == 'q'   ? keel_id(k->holder)
			 : w->args[i] == 'e' ? name_of(k->job, kind)
					     : k->item->res->name;
	snprintf(text, sizeof(text), keel_why_text(w->code), arg[0], arg[1], arg[2]);
	return keel_reject(call, w->code, "%s", text);
}

static double of_one(const struct check *k)
{
	return k->item ? k->item->n : 1;
}

/* One more of this job: the limits of every kind. */
static keel_verdict check_kinds(struct keel_call *call, const struct check *k)
{
	double wanted = of_one(k);
	struct found found;

	for (int kind = 0; kind < KINDS; kind++)
		if (limit_of(k->st, k->scope, k->holder, k->family, (enum kind)kind,
			     name_of(k->job, (enum kind)kind), k->item ? k->item->res : NULL,
			     &found) &&
		    running(k, (enum kind)kind) + wanted > found.limit + EPSILON)
			return refuse(call, k, (enum kind)kind, found.named);
	return KEEL_NEXT;
}

keel_verdict on_start_group(struct keel_call *c, const struct keel_ev_start_group *ev)
{
	struct check k = { .mod = c->mod, .st = keel_state(c), .job = ev->job, .family = MAX_RUN };
	keel_verdict verdict = KEEL_NEXT;

	k.j = counted_of(c->mod, ev->job);
	for (int pass = 0; k.j && pass < 2; pass++)
		for (int scope = 0; scope < SCOPES && verdict == KEEL_NEXT; scope++) {
			k.scope = (enum scope)scope;
			k.holder = holder_of(c->mod, k.scope, ev->job);
			k.item = NULL;
			if (!k.holder || !has_limits(k.st, k.scope, k.holder, MAX_RUN, pass == 1))
				continue;
			if (pass == 0)
				verdict = check_kinds(c, &k);
			for (uint32_t i = 0; pass == 1 && i < items_of(k.j) && verdict == KEEL_NEXT; i++) {
				k.item = &k.j->wants->item[i];
				verdict = check_kinds(c, &k);
			}
		}
	return verdict;
}

/* ---- soft limits ------------------------------------------------------------------------------------- */

static bool kinds_are_over(const struct check *k)
{
	double more = k->also_it ? of_one(k) : 0;
	struct found found;

	for (int kind = 0; kind < KINDS; kind++)
		if (limit_of(k->st, k->scope, k->holder, k->family, (enum kind)kind,
			     name_of(k->job, (enum kind)kind), k->item ? k->item->res : NULL,
			     &found) &&
		    running(k, (enum kind)kind) + more > found.limit + EPSILON)
			return true;
	return false;
}

static bool is_over(struct check *k)
{
	if (has_limits(k->st, k->scope, k->holder, k->family, false) && kinds_are_over(k))
		return true;
	if (!has_limits(k->st, k->scope, k->holder, k->family, true))
		return false;
	for (uint32_t i = 0; i < items_of(k->j); i++) {
		k->item = &k->j->wants->item[i];
		if (kinds_are_over(k))
			return true;
	}
	return false;
}

bool over_soft(struct keel_mod *mod, struct keel_obj *job, uint32_t of)
{
	static const uint32_t bit[SCOPES] = { KEEL_LIMITS_QUEUE, KEEL_LIMITS_SERVER };
	struct check k = { .mod = mod, .st = mod->state, .job = job, .family = MAX_RUN_SOFT,
			   .also_it = of & KEEL_LIMITS_ALSO_IT };

	k.j = counted_of(mod, job);
	for (int scope = 0; k.j && scope < SCOPES; scope++) {
		if (!(of & bit[scope]))
			continue;
		k.scope = (enum scope)scope;
		k.holder = holder_of(mod, k.scope, job);
		k.item = NULL;
		if (k.holder && is_over(&k))
			return true;
	}
	return false;
}
