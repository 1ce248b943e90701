/* SPDX-License-Identifier: Apache-2.0
 *
 * submit.c - may an entity have one more job in the queue? Of all its jobs, and of those in state Q.
 *
 * A new job is a draft: its project and resources are in the change set of the request. A job that is moved
 * is checked against the limits of the queue it goes to.
 */
#include "entity-limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OPT(queue, max_queuable);
KEEL_ATTR_OPT(job, queue);

#define EPSILON 1e-9

static const enum tally tally_of[FAMILIES] = { [MAX_QUEUED] = TALLY_ALL, [THRESHOLD] = TALLY_WAITS };

struct check {
	struct keel_call *call;
	struct state *st;
	struct keel_obj *job, *queue; /* the queue it goes to */
	enum scope scope;
	struct keel_obj *holder;
	enum family family;
	const struct keel_resource *res; /* NULL: counts */
	double wanted, weight;
	char project[256];
};

static const char *who(const struct check *k, enum kind kind)
{
	return kind == PROJECT ? k->project : name_of(k->job, kind);
}

/* ` in complex`, ` in queue workq` */
static void where(const struct check *k, char *buf, size_t len)
{
	if (k->scope == SERVER)
		snprintf(buf, len, "in complex");
	else
		snprintf(buf, len, "in queue %s", keel_id(k->holder));
}

static const char *const kind_words[KINDS] = { [GROUP] = "group", [PROJECT] = "project",
					       [USER] = "user", [OVERALL] = "" };

static void count_text(const struct check *k, enum kind kind, bool named, char *buf, size_t len)
{
	bool waits = k->family == THRESHOLD;
	char place[300];

	where(k, place, sizeof(place));
	if (kind == OVERALL)
		snprintf(buf, len, "Maximum number of jobs%s already %s", waits ? " in 'Q' state" : "", place);
	else if (named)
		snprintf(buf, len, "Maximum number of jobs%s for %s %s already %s",
			 waits ? " in 'Q' state" : "", kind_words[kind], who(k, kind), place);
	else
		snprintf(buf, len, "would exceed %s's per-%s limit%s", place + strlen("in "), kind_words[kind],
			 waits ? " of jobs in 'Q' state" : "");
}

static void amount_text(const struct check *k, enum kind kind, bool named, char *buf, size_t len)
{
	char place[300], whose[300];

	where(k, place, sizeof(place));
	if (kind == OVERALL)
		snprintf(whose, sizeof(whose), "limit");
	else if (named)
		snprintf(whose, sizeof(whose), "%s %s's limit", kind_words[kind], who(k, kind));
	else
		snprintf(whose, sizeof(whose), "per-%s limit", kind_words[kind]);
	snprintf(buf, len, "would exceed %s on resource %s %s%s", whose, k->res->name, place,
		 k->family == THRESHOLD ? " for jobs in 'Q' state" : "");
}

static keel_verdict check_kinds(const struct check *k)
{
	static const enum kind order[] = { OVERALL, USER, GROUP, PROJECT };
	const enum tally tally = tally_of[k->family];
	struct found found;
	char text[900];

	for (size_t i = 0; i < KEEL_COUNT(order); i++) {
		const char *name = who(k, order[i]);
		const struct counter *c;
		double has;

		if (!limit_of(k->st, k->scope, k->holder, k->family, order[i], name, k->res, &found))
			continue;
		c = counter_find(k->st, k->scope == SERVER ? "" : keel_id(k->queue), order[i], name);
		has = !c ? 0 : k->res ? counter_amount(c, k->res, tally) : c->n[tally];
		if (has + k->wanted <= found.limit + EPSILON)
			continue;
		if (k->res)
			amount_text(k, order[i], found.named, text, sizeof(text));
		else
			count_text(k, order[i], found.named, text, sizeof(text));
		return keel_reject(k->call, k->res ? PBSE_ENTLIMRESC : PBSE_ENTLIMCT, "%s", text);
	}
	return KEEL_NEXT;
}

/* How much of a resource the draft requests; false: nothing. */
static bool wants(struct check *k, const struct keel_resource *res)
{
	struct keel_res_value v;
	char text[128];
	int32_t len = keel_call_get(k->call, k->job, "Resource_List", res->name, text, sizeof(text));

	if (len <= 0 || len >= (int32_t)sizeof(text) ||
	    keel_resource_value_parse(res, text, &v, NULL))
		return false;
	k->res = res;
	k->wanted = v.n * k->weight;
	keel_resource_value_fini(&v);
	return true;
}

static keel_verdict check_holder(struct check *k)
{
	const struct resource_limits *all =
		keel_get_ptr(k->holder, k->st->amount[k->scope][k->family]);
	keel_verdict verdict = KEEL_NEXT;

	k->res = NULL;
	k->wanted = k->weight;
	if (keel_is_set(k->holder, k->st->count[k->scope][k->family]))
		verdict = check_kinds(k);
	for (uint32_t i = 0; all && i < all->n && verdict == KEEL_NEXT; i++)
		if (wants(k, all->v[i].res))
			verdict = check_kinds(k);
	return verdict;
}

/* One more job, or as many as an array has, in this queue; `server`: and in the server. */
static keel_verdict check_entry(struct keel_call *c, struct keel_obj *job, struct keel_obj *queue,
				bool server)
{
	struct check k = { .call = c, .st = keel_state(c), .job = job, .queue = queue, .weight = 1 };
	long first = 0, last = 0, step = 1;
	keel_verdict verdict = KEEL_NEXT;
	const struct counter *all;
	char text[128];

	/* How many jobs an array is: `1-10:2`. */
	if (keel_attr_find(c->mod, "job", "array_indices_submitted") &&
	    keel_call_get(c, job, "array_indices_submitted", NULL, text, sizeof(text)) > 0 &&
	    sscanf(text, "%ld-%ld:%ld", &first, &last, &step) >= 2 && step >= 1 && last >= first)
		k.weight = (double)((last - first) / step + 1);
	/* Old style: the queue is full for all users. */
	if (queue_max_queuable && keel_is_set(queue, queue_max_queuable)) {
		all = counter_find(k.st, keel_id(queue), OVERALL, "PBS_ALL");
		if ((all ? all->n[TALLY_ALL] : 0) + k.weight > (double)keel_get_int(queue, queue_max_queuable))
			return keel_reject(c, PBSE_MAXQUED, NULL);
	}
	if (keel_call_get(c, job, "project", NULL, k.project, sizeof(k.project)) <= 0)
		k.project[0] = '\0';
	for (int family = MAX_QUEUED; family <= THRESHOLD; family++)
		for (int scope = 0; scope < SCOPES && verdict == KEEL_NEXT; scope++) {
			k.family = (enum family)family;
			k.scope = (enum scope)scope;
			k.holder = scope == QUEUE ? queue : server ? holder_of(c->mod, SERVER, job) : NULL;
			if (k.holder)
				verdict = check_holder(&k);
		}
	return verdict;
}

/* The event's queue, or that which a tap before this one has chosen. */
static struct keel_obj *queue_chosen(struct keel_call *c, struct keel_obj *job, struct keel_obj *queue)
{
	char name[64];
	const char *had = job_queue && job ? keel_get_str(job, job_queue) : NULL;
	struct keel_obj *chosen = NULL;

	if (job && keel_call_get(c, job, "queue", NULL, name, sizeof(name)) > 0 && (!had || strcmp(name, had) != 0))
		chosen = keel_find(c->mod, "queue", name);
	return chosen ? chosen : queue;
}

keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	return check_entry(c, ev->job, queue_chosen(c, ev->job, ev->queue), true);
}

/* The server has it already. */
keel_verdict on_move(struct keel_call *c, const struct keel_ev_job_move *ev)
{
	return check_entry(c, ev->job, queue_chosen(c, ev->job, ev->queue), false);
}
