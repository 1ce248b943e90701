/* SPDX-License-Identifier: Apache-2.0
 *
 * search.c - in a cycle of the scheduler: vnodes for reservations that are not confirmed, are altered, or have lost some.
 *
 * One search at a time: the next one sees what the last one got. A search is a find() for each of the reservation's times that
 * needs one; all find their vnodes, or nothing changes. A reservation that changed meanwhile is dropped, and is due again in
 * the next cycle.
 */
#include "reservations.h"

#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(resv, reserve_rules, reserve_duration, schedselect, Resource_List, partition);
KEEL_ATTR_OF(node, resv_enable);

#define HOSTS_REPORT 60 /* seconds */
#define DEFAULT_PARTITION "pbs-default"

/* The reservations of this cycle that are due, and the one that is being searched. */
struct search {
	char **ids;
	uint32_t n, at;
	struct keel_obj *resv; /* NULL: none */
	struct resv *r;
	int32_t state;
	uint32_t i;	       /* which of its times */
	char **nodes;	       /* of its times, n_spans; those before i are decided */
	uint32_t n_nodes;
	const char *had;       /* the vnodes of time i, as they were when its find() began */
	int64_t from, till;    /* likewise */
	struct keep keep;      /* of a running time */
	bool keeps;
	int64_t soon;	       /* when it begins, of one without a time */
};

static void search_go(struct keel_mod *mod);

/* ---- what is due ---------------------------------------------------------------------------------------- */

static bool is_due(struct keel_mod *mod, struct keel_obj *resv)
{
	const int64_t rules = keel_get_int(resv, resv_reserve_rules);

	if (rules & RULE_WHATEVER)
		return false;
	switch (resv_state(resv)) {
	case KEEL_RESV_UNCONFIRMED:
	case KEEL_RESV_BEING_ALTERED:
		return true;
	case KEEL_RESV_CONFIRMED:
	case KEEL_RESV_RUNNING:
	case KEEL_RESV_DEGRADED:
		return (resv_substate(resv) == KEEL_RESV_DEGRADED || (rules & RULE_LOST)) && retry_is_due(mod, resv);
	default:
		return false;
	}
}

struct gather {
	struct search *s;
	uint32_t altered; /* they come first */
	bool failed;
};

/* False: no memory. */
static bool id_put(struct search *s, const char *id)
{
	char **more;

	if ((s->n & (s->n + 1)) == 0) { /* 0, 1, 3, 7 ...: full */
		more = realloc(s->ids, (2 * (size_t)s->n + 2) * sizeof(*more));
		if (!more)
			return false;
		s->ids = more;
	}
	s->ids[s->n] = strdup(id);
	if (!s->ids[s->n])
		return false;
	s->n++;
	return true;
}

static void gather(struct keel_mod *mod, struct keel_obj *resv, void *arg)
{
	struct gather *g = arg;
	char **ids, *last;

	if (g->failed || !is_due(mod, resv))
		return;
	g->failed = !id_put(g->s, keel_id(resv));
	if (g->failed || resv_state(resv) != KEEL_RESV_BEING_ALTERED)
		return;
	ids = g->s->ids;
	last = ids[g->s->n - 1];
	memmove(ids + g->altered + 1, ids + g->altered, (g->s->n - 1 - g->altered) * sizeof(*ids));
	ids[g->altered++] = last;
}

/* ---- one reservation ------------------------------------------------------------------------------------- */

static void one_over(struct search *s)
{
	if (s->resv)
		s->r->searching = false;
	for (uint32_t i = 0; i < s->n_nodes; i++)
		free(s->nodes[i]);
	free(s->nodes);
	s->nodes = NULL;
	s->n_nodes = 0;
	keep_fini(&s->keep);
	s->keeps = false;
	s->resv = NULL;
}

static void all_over(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct search *s = st->search;

	st->search = NULL;
	for (uint32_t i = 0; i < s->n; i++)
		free(s->ids[i]);
	free(s->ids);
	free(s);
}

static void log_line(struct keel_mod *mod, struct keel_obj *resv, const char *line, const char *why)
{
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "%s%s%s", line, why ? ": " : "", why ? why : "");
}

/* Is a host still to report to the server, which has just started? Then nothing is denied for want of vnodes. */
static bool hosts_are_awaited(struct keel_mod *mod)
{
	const struct state *st = mod->state;
	struct keel_cursor *walk = keel_time(mod) < st->began + HOSTS_REPORT ? keel_cursor(mod, "node") : NULL;
	struct keel_obj *node;
	bool awaited = false;

	while (walk && !awaited && (node = keel_next(walk))) {
		const int64_t lost = keel_node_lost_at(node);

		awaited = lost && lost >= st->began - HOSTS_REPORT && lost <= st->began + 1;
	}
	if (walk)
		keel_cursor_close(walk);
	return awaited;
}

static void look_again(struct keel_mod *mod, void *arg)
{
	(void)mod, (void)arg;
	keel_sched_reconsider();
}

/* A host that reports begins a cycle; so does the end of that time. */
static bool postponed(struct keel_mod *mod, const struct search *s)
{
	struct state *st = mod->state;

	if ((s->state != KEEL_RESV_UNCONFIRMED && s->state != KEEL_RESV_BEING_ALTERED) || !hosts_are_awaited(mod))
		return false;
	return keel_alarm_is_set(&st->hosts) ||
	       keel_alarm_set(mod, &st->hosts, (st->began + HOSTS_REPORT - keel_time(mod)) * 1000, look_again, NULL) == 0;
}

static void failed(struct keel_mod *mod, struct search *s, const char *why)
{
	struct keel_obj *resv = s->resv;
	const int32_t state = s->state;
	const bool later = postponed(mod, s);

	one_over(s);
	if (later)
		return;
	if (state != KEEL_RESV_UNCONFIRMED && state != KEEL_RESV_BEING_ALTERED)
		log_line(mod, resv, "Reservation Failed to Reconfirm", why);
	log_line(mod, resv, "PBS Failed to confirm resv", why);
	if (state == KEEL_RESV_UNCONFIRMED)
		resv_denied(mod, resv, why);
	else if (state == KEEL_RESV_BEING_ALTERED)
		alter_denied(mod, resv, why);
	else
		reconfirm_failed(mod, resv, why);
}

static void done(struct keel_mod *mod, struct search *s)
{
	struct keel_obj *resv = s->resv;
	char **nodes = s->nodes;
	const uint32_t n = s->n_nodes;
	char who[300];

	s->nodes = NULL;
	s->n_nodes = 0;
	if (s->soon)
		span_move(mod, resv, s->soon, s->soon + keel_get_int(resv, resv_reserve_duration));
	one_over(s);
	snprintf(who, sizeof(who), "Scheduler@%s", keel_host_name(mod));
	keel_log(mod, KEEL_LOG_RESV, "Resv", keel_id(resv), "Confirming %u Occurrences", (unsigned)n);
	log_line(mod, resv, "Reservation Confirmed", NULL);
	resv_confirmed(mod, resv, who, (const char *const *)nodes, n);
	for (uint32_t i = 0; i < n; i++)
		free(nodes[i]);
	free(nodes);
}

/* ---- one time of it ------------------------------------------------------------------------------------------ */

/* Has it a group for each chunk of the select? */
static bool is_complete(struct keel_obj *resv, const char *nodes)
{
	const char *select = keel_get_str(resv, resv_schedselect);
	struct keel_select *parsed;
	struct keel_exec *exec;
	bool complete = true;

	if (!nodes || !select || keel_resource_exec_parse(nodes, &exec, NULL))
		return false;
	if (keel_resource_select_parse(select, &parsed, NULL) == 0) {
		complete = exec->chunks >= parsed->chunks;
		keel_resource_select_free(parsed);
	}
	keel_resource_exec_free(exec);
	return complete;
}

static bool is_searched(struct keel_mod *mod, const struct search *s, const struct span *span)
{
	if (s->state == KEEL_RESV_UNCONFIRMED)
		return true;
	if (s->state == KEEL_RESV_BEING_ALTERED && s->i == 0)
		return true;
	return !is_complete(s->resv, span->nodes) || span_is_broken(mod, s->resv, s->i);
}

static bool usable(struct keel_mod *mod, void *arg, struct keel_obj *node)
{
	(void)mod, (void)arg;
	return keel_get_int(node, node_resv_enable);
}

static bool has_changed(const struct search *s)
{
	const struct resv *r = s->r;
	const struct span *span = s->i < r->n_spans ? &r->span[s->i] : NULL;

	return !span || r->n_spans != s->n_nodes || resv_state(s->resv) != s->state || span->nodes != s->had ||
	       span->from != s->from || span->till != s->till;
}

static void found(struct keel_mod *mod, void *arg, const struct keel_sched_place *place)
{
	struct state *st = mod->state;
	struct search *s = st->search;
	char why[512];

	(void)arg;
	if (!s || !s->resv)
		return;
	if (has_changed(s)) {
		one_over(s);
	} else if (!place->exec_vnode) {
		snprintf(why, sizeof(why), "%s", place->why ? place->why : keel_pbse_text(place->code));
		failed(mod, s, why);
	} else {
		s->nodes[s->i] = s->keeps && *s->keep.beside ? keep_merge(&s->keep, place->exec_vnode)
							     : strdup(place->exec_vnode);
		if (keel_get_int(s->resv, resv_reserve_rules) & RULE_SOON && s->state == KEEL_RESV_UNCONFIRMED)
			s->soon = place->from;
		if (!s->nodes[s->i])
			failed(mod, s, "no memory for its vnodes");
		else if (s->keeps && keep_loses_jobs(mod, s->resv, s->had, s->nodes[s->i]))
			failed(mod, s, "Reservation has running jobs in it");
		else
			s->i++;
	}
	search_go(mod);
}

static const char *partition_of(struct keel_obj *resv)
{
	const char *name = keel_get_str(resv, resv_partition);

	return name && strcmp(name, DEFAULT_PARTITION) != 0 ? name : NULL;
}

/* What it keeps, if it runs. NULL, or why there is no search. */
static const char *keep(struct keel_mod *mod, struct search *s)
{
	const char *why;

	keep_fini(&s->keep);
	s->keeps = s->i == 0 && resv_is_running(s->resv);
	if (!s->keeps)
		return NULL;
	why = keep_make(mod, s->resv, s->had, s->state == KEEL_RESV_BEING_ALTERED, &s->keep);
	if (why && strstr(why, "running jobs"))
		log_line(mod, s->resv, why, NULL);
	return why;
}

/* 0: it is on its way. Else *why. */
static int32_t find(struct keel_mod *mod, struct search *s, struct keel_err *err)
{
	const bool soon = s->state == KEEL_RESV_UNCONFIRMED && keel_get_int(s->resv, resv_reserve_rules) & RULE_SOON;
	const int64_t now = keel_time(mod), from = s->from > now && !soon ? s->from : now;
	char place[256] = "";

	if (!soon && s->till <= from)
		return keel_error(err, PBSE_BADTSPEC, "%s", keel_pbse_text(PBSE_BADTSPEC));
	keel_get_text(s->resv, resv_Resource_List, "place", place, sizeof(place));
	return keel_sched_find(&(struct keel_sched_wish){
				       .size = sizeof(struct keel_sched_wish),
				       .select = s->keeps ? s->keep.select : keel_get_str(s->resv, resv_schedselect),
				       .place = *place ? place : "free",
				       .from = from,
				       .till = s->till,
				       .duration = soon ? keel_get_int(s->resv, resv_reserve_duration) : 0,
				       .except = keel_id(s->resv),
				       .beside = s->keeps && *s->keep.beside ? s->keep.beside : NULL,
				       .partition = partition_of(s->resv),
				       .usable = usable,
			       },
			       mod, found, s, err);
}

/* To the next of its times that needs a search; those before it keep what they have. False: there is none. */
static bool time_seek(struct keel_mod *mod, struct search *s)
{
	for (; s->i < s->n_nodes; s->i++) {
		const struct span *span = &s->r->span[s->i];

		s->had = span->nodes;
		s->from = span->from;
		s->till = span->till;
		if (is_searched(mod, s, span))
			return true;
		s->nodes[s->i] = span->nodes ? strdup(span->nodes) : NULL;
		if (span->nodes && !s->nodes[s->i])
			return true;
	}
	return false;
}

/* True: a find() is on its way. */
static bool time_next(struct keel_mod *mod, struct search *s)
{
	struct keel_err err = { 0 };
	const char *why;

	if (!time_seek(mod, s)) {
		done(mod, s);
		return false;
	}
	why = keep(mod, s);
	if (!why && s->keeps && !*s->keep.select && (s->nodes[s->i] = strdup(s->keep.beside))) { /* all of it stays */
		s->i++;
		return time_next(mod, s);
	}
	if (!why && find(mod, s, &err) == 0)
		return true;
	failed(mod, s, why ? why : err.text);
	return false;
}

static bool begin_one(struct keel_mod *mod, struct search *s, struct keel_obj *resv)
{
	struct resv *r = resv_slot(mod, resv);

	s->nodes = r && r->n_spans ? calloc(r->n_spans, sizeof(*s->nodes)) : NULL;
	if (!s->nodes)
		return false;
	s->n_nodes = r->n_spans;
	s->resv = resv;
	s->r = r;
	s->state = resv_state(resv);
	s->i = 0;
	s->soon = 0;
	r->searching = true;
	if (resv_substate(resv) == KEEL_RESV_DEGRADED)
		log_line(mod, resv, "Reservation is in degraded mode", NULL);
	return true;
}

static void search_go(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct search *s = st->search;

	for (;;) {
		struct keel_obj *resv;

		if (s->resv && time_next(mod, s))
			return;
		if (s->resv)
			continue;
		if (s->at == s->n)
			break;
		resv = keel_find(mod, "resv", s->ids[s->at++]);
		if (resv && is_due(mod, resv))
			begin_one(mod, s, resv);
	}
	all_over(mod);
}

/* ---- a cycle ------------------------------------------------------------------------------------------------- */

void search_begin(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct gather g = { 0 };

	st->cycle++;
	if (st->search || st->stopping || !(g.s = calloc(1, sizeof(*g.s))))
		return;
	clock_end_others(mod);
	st->search = g.s;
	each_resv(mod, gather, &g);
	search_go(mod);
}

/* It goes, or is another one from now on: what is being found for it is not for this. */
void search_forget(struct keel_mod *mod, struct keel_obj *resv)
{
	struct state *st = mod->state;
	struct search *s = st->search;

	if (!s || s->resv != resv)
		return;
	keel_sched_find_drop(mod, s);
	one_over(s);
	if (!st->stopping)
		search_go(mod);
}

void search_drop(struct keel_mod *mod)
{
	struct state *st = mod->state;

	keel_alarm_end(&st->hosts);
	if (!st->search)
		return;
	keel_sched_find_drop(mod, st->search);
	one_over(st->search);
	all_over(mod);
}
