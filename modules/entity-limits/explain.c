/* SPDX-License-Identifier: Apache-2.0
 *
 * explain.c - the limits that hold for a job's people, and how near they are: lines of `keelson explain`.
 *
 *   limit        max_run of user alice in queue workq: 3 of 5
 */
#include "entity-limits.h"

#include <stdio.h>
#include <string.h>

static const char *const family_words[FAMILIES] = { "max_queued", "queued_jobs_threshold", "max_run",
						    "max_run_soft" };
static const enum tally tally_of[FAMILIES] = { TALLY_ALL, TALLY_WAITS, TALLY_RUNS, TALLY_RUNS };
static const char *const kind_words[KINDS] = { [GROUP] = "group ", [PROJECT] = "project ",
					       [OVERALL] = "everybody", [USER] = "user " };

struct subject {
	struct keel_call *call;
	struct state *st;
	struct keel_obj *job, *holder;
	const struct counted *j;
	enum scope scope;
	enum family family;
	const struct keel_resource *res; /* NULL: counts */
};

static void amount_text(const struct subject *s, double n, char *buf, uint32_t len)
{
	struct keel_res_value v = { .res = s->res, .n = n };

	if (!s->res)
		snprintf(buf, len, "%.0f", n);
	else
		keel_resource_value_text(&v, s->res->type == KEEL_RES_SIZE, buf, len);
}

static void explain_kinds(const struct subject *s)
{
	const enum tally tally = tally_of[s->family];

	for (enum kind kind = 0; kind < KINDS; kind++) {
		const char *name = name_of(s->job, kind);
		const struct counter *c = counter_of(s->j, s->scope, kind);
		char has[64], most[64];
		struct keel_text line;
		struct found found;

		if (!limit_of(s->st, s->scope, s->holder, s->family, kind, name, s->res, &found))
			continue;
		amount_text(s, !c ? 0 : s->res ? counter_amount(c, s->res, tally) : c->n[tally], has, sizeof(has));
		amount_text(s, found.limit, most, sizeof(most));
		keel_text_init(&line);
		keel_text_printf(&line, "limit        %s%s%s of %s%s %s%s: %s of %s\n",
				 family_words[s->family], s->res ? "_res." : "", s->res ? s->res->name : "",
				 kind_words[kind], kind == OVERALL ? "" : name,
				 s->scope == SERVER ? "in complex" : "in queue ",
				 s->scope == SERVER ? "" : keel_id(s->holder), has, most);
		keel_append(s->call, line.data);
		keel_text_fini(&line);
	}
}

keel_verdict on_explain(struct keel_call *c, const struct keel_ev_job_explain *ev)
{
	struct subject s = { .call = c, .st = keel_state(c), .job = ev->job };
	uint32_t n, i;

	s.j = counted_of(c->mod, ev->job);
	for (int scope = 0; s.j && scope < SCOPES; scope++) {
		s.scope = (enum scope)scope;
		s.holder = holder_of(c->mod, s.scope, ev->job);
		for (int family = 0; s.holder && family < FAMILIES; family++) {
			s.family = (enum family)family;
			s.res = NULL;
			if (has_limits(s.st, s.scope, s.holder, s.family, false))
				explain_kinds(&s);
			n = has_limits(s.st, s.scope, s.holder, s.family, true) ? items_of(s.j) : 0;
			for (i = 0; i < n; i++) {
				s.res = s.j->wants->item[i].res;
				explain_kinds(&s);
			}
		}
	}
	return KEEL_NEXT;
}
