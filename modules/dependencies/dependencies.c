/* SPDX-License-Identifier: Apache-2.0
 *
 * dependencies.c - jobs that wait for other jobs: the attribute depend.
 *
 *   job_submit, job_modify   the text is checked and written in its full form
 *   job_queued               it named a job of the history that can never do what it should have
 *   depend changed,
 *   job_known                who waits for whom is known in memory; the job is held, or not any more
 *   job_started              after, before
 *   job_obit, job_purged     the others: released, or deleted because it can never be
 *   job_step                 runone: the others of the set are held, or let go
 */
#include "dependencies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTR_OF(job, depend);

KEEL_USE(job);

/* ---- the attribute ---------------------------------------------------------------------------------------- */

/* What its text says is known in memory. False: there is none for it. */
static bool learn(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	const char *text = keel_get_str(job, job_depend), *id = keel_id(job);
	struct clause clause = { 0 };
	int32_t code = text && *text ? clause_parse(text, NULL, NULL, &clause) : 0;

	if (code && code != PBSE_SYSTEM)
		keel_log(mod, KEEL_LOG_ERROR, "Job", id, "its dependencies cannot be read: %s", text);
	if (child_set(st, id, &clause) == 0 && code != PBSE_SYSTEM)
		return true;
	keel_log(mod, KEEL_LOG_ERROR, "Job", id,
		 "no memory for its dependencies: it waits until `keelson reload dependencies`");
	return false;
}

/* Runs for a new job, one from the store, and one that was altered. What is stored has its hold already. */
static void depend_changed(struct keel_mod *mod, struct keel_obj *job, const struct keel_attr *attr)
{
	struct state *st = mod->state;
	const char *id = keel_id(job);
	bool known = learn(mod, job);
	struct child *c = child_find(st, id);

	(void)attr;
	if (st->started && !strchr("REFXM", keel_job_state(job)))
		keel_job_depend(job, !known || (c && child_waits(c)) || runone_waits(mod, id));
}

/* With what others say of it: `afterok:12` of job 13 is `beforeok:13` of job 12. */
static void depend_show(struct keel_mod *mod, struct keel_obj *job, const struct keel_emit *to)
{
	struct state *st = mod->state;
	const char *id = keel_id(job), *own = keel_get_str(job, job_depend);
	struct clause clause = { 0 };
	struct keel_text text;

	keel_text_init(&text);
	if (parent_find(st, id) && !child_shown(st, id, &clause) && clause_text(&clause, st->server, mod, &text))
		own = text.data;
	if (own && *own)
		keel_emit_text(to, own);
	keel_text_fini(&text);
	clause_fini(&clause);
}

static const struct keel_attr_def depend_row =
	KEEL_ATTR_DEF("job", "depend", "string", .order = 100, .flags = KEEL_ATTR_SAVE | KEEL_ATTR_OWN,
		      .read_roles = KEEL_EVERYBODY, .write_roles = KEEL_EVERYBODY, .derive = depend_show,
		      .changed = depend_changed, 
		      .doc = "type:id[:id...],...: jobs it waits for (qsub -W depend), and jobs that wait for it");
static const struct keel_attr_def dropped_row =
	KEEL_ATTR_DEF("job", "depend_dropped", "bool", .order = 943, .flags = KEEL_ATTR_SAVE,
		      .doc = "deleted because what it waited for can never be");

static const struct keel_acct_item_def item = { .size = sizeof(struct keel_acct_item_def), .place = 10,
						.name = "depend", .doc = "jobs that it waits for, or that wait for it", .attr = "depend",
						.letters = "Q" };

static const struct keel_contrib contribs[] = {
	KEEL_ROW(ACCT_ITEM, item),
	KEEL_ROW(ATTR, depend_row),
	KEEL_ROW(ATTR, dropped_row),
};

/* ---- requests ----------------------------------------------------------------------------------------------- */

static keel_verdict refuse(struct keel_call *c, int32_t code)
{
	if (code == PBSE_BADATVAL)
		return keel_reject(c, code, "%s depend", keel_pbse_text(code));
	return keel_reject(c, code, NULL);
}

static keel_verdict write_clause(struct keel_call *c, struct keel_obj *job, const struct clause *clause)
{
	struct keel_text text;
	struct keel_err err = { 0 };
	int32_t code;

	keel_text_init(&text);
	code = clause_text(clause, keel_server_name(c->mod), c->mod, &text)
		       ? keel_call_set(c, job, "depend", NULL, clause->n ? text.data : NULL, &err)
		       : PBSE_SYSTEM;
	keel_text_fini(&text);
	return code ? refuse(c, code) : KEEL_NEXT;
}

static keel_verdict check(struct keel_call *c, struct keel_obj *job, const char *wanted, bool fresh)
{
	struct clause clause;
	keel_verdict verdict;
	int32_t code = clause_parse(wanted, keel_server_name(c->mod), c->mod, &clause);

	if (code)
		return refuse(c, code);
	code = check_clause(c->mod, job, keel_call_session(c), fresh, &clause);
	verdict = code ? refuse(c, code) : write_clause(c, job, &clause);
	clause_fini(&clause);
	return verdict;
}

/* `have`: what it was before, NULL for a new job. */
static keel_verdict look(struct keel_call *c, struct keel_obj *job, const char *have)
{
	char some[4096], *wanted = some;
	int32_t len = keel_call_get(c, job, "depend", NULL, some, sizeof(some));
	keel_verdict verdict;

	if (len <= 0)
		return KEEL_NEXT;
	if ((size_t)len >= sizeof(some)) {
		wanted = malloc((size_t)len + 1);
		if (!wanted)
			return keel_fail(c, "out of memory");
		keel_call_get(c, job, "depend", NULL, wanted, (uint32_t)len + 1);
	}
	verdict = have && strcmp(have, wanted) == 0 ? KEEL_NEXT : check(c, job, wanted, !have);
	if (wanted != some)
		free(wanted);
	return verdict;
}

static keel_verdict on_submit(struct keel_call *c, const struct keel_ev_job_submit *ev)
{
	return look(c, ev->job, NULL);
}

static keel_verdict on_modify(struct keel_call *c, const struct keel_ev_job_modify *ev)
{
	const char *have = keel_get_str(ev->job, job_depend);

	return look(c, ev->job, have ? have : "");
}

/* ---- what happens -------------------------------------------------------------------------------------------- */

static keel_verdict on_queued(struct keel_call *c, const struct keel_ev_job_queued *ev)
{
	if (child_find(keel_state(c), ev->id))
		news_too_late(c->mod, ev->id);
	return KEEL_NEXT;
}

/* Jobs that are there when the module is loaded; what came from the store is known already. */
static keel_verdict on_known(struct keel_call *c, const struct keel_ev_job_known *ev)
{
	if (keel_is_set(ev->job, job_depend) && !child_find(keel_state(c), ev->id))
		learn(c->mod, ev->job);
	return KEEL_NEXT;
}

/* An array has begun, or a job runs, when it says so itself. */
static keel_verdict on_step(struct keel_call *c, const struct keel_ev_job_step *ev)
{
	const struct state *st = keel_state(c);

	if (st->started && (st->parents || st->children))
		runone_changed(c->mod, ev->id);
	return KEEL_NEXT;
}

/* Kept until job_purged says that it is really over. */
static keel_verdict on_obit(struct keel_call *c, const struct keel_ev_job_obit *ev)
{
	keep_fate(keel_state(c), ev->id, (struct fate){ .started = true, .exit = ev->exit_status });
	return KEEL_NEXT;
}

static keel_verdict on_purged(struct keel_call *c, const struct keel_ev_job_purged *ev)
{
	struct state *st = keel_state(c);
	const struct parent *p = parent_find(st, ev->id);
	const struct child *child = child_find(st, ev->id);
	struct fate fate = p ? p->fate : child ? child->fate : (struct fate){ 0 };

	if (ev->requeued) /* it starts again */
		keep_fate(st, ev->id, (struct fate){ 0 });
	if (ev->requeued || (!p && !child))
		return KEEL_NEXT;
	fate.over = true;
	runone_over(c->mod, ev->id, ev->job && strchr("EB", keel_job_state(ev->job)));
	news_over(c->mod, ev->id, &fate);
	return KEEL_NEXT;
}

/* `depends  afterok 12.svr, which runs` for each that it waits for. */
static keel_verdict on_explain(struct keel_call *c, const struct keel_ev_job_explain *ev)
{
	struct state *st = keel_state(c);
	const struct child *own = child_find(st, ev->id);
	char line[400];

	for (uint32_t i = 0; own && i < own->clause.n; i++) {
		const struct item *one = &own->clause.item[i];
		char id[ID_MAX], letter;
		struct keel_obj *job;

		if (!type_waits((enum type)one->type))
			continue;
		item_id(one, st->server, id);
		job = *id ? keel_find(c->mod, "job", id) : NULL;
		letter = job ? keel_job_state(job) : '\0';
		if (!*id)
			snprintf(line, sizeof(line), "depends      on:%lld reports of other jobs\n", (long long)one->n);
		else if (!job)
			snprintf(line, sizeof(line), "depends      %s %s, which is not known yet, or not any more\n",
				 type_name((enum type)one->type), id);
		else
			snprintf(line, sizeof(line), "depends      %s %s, state %c%s\n", type_name((enum type)one->type), id,
				 letter, keel_job_is_suspended(job) ? " (suspended)" : "");
		keel_append(c, line);
	}
	if (!own || !runone_waits(c->mod, ev->id))
		return KEEL_NEXT;
	keel_append(c, "depends      another job of its set (runone) runs\n");
	return KEEL_NEXT;
}

static const struct keel_tap taps[] = {
	KEEL_TAP(job_explain, on_explain, .order = -900),
	KEEL_TAP(job_submit, on_submit, .order = -500),
	KEEL_TAP(job_modify, on_modify, .order = -500),
	KEEL_TAP(job_known, on_known),
	KEEL_TAP(job_queued, on_queued),
	KEEL_TAP(job_started, on_started),
	KEEL_TAP(job_obit, on_obit),
	KEEL_TAP(job_purged, on_purged),
	KEEL_TAP(job_step, on_step),
};

/* ---- module ---------------------------------------------------------------------------------------------------- */

static int32_t init(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)err;
	snprintf(st->server, sizeof(st->server), "%s", keel_server_name(mod));
	return 0;
}

static int32_t start(struct keel_mod *mod, struct keel_err *err)
{
	struct state *st = mod->state;

	(void)err;
	st->started = true;
	news_missed(mod);
	return 0;
}

static void fini(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct child *c, *next;

	news_drop(st);
	HASH_ITER(hh, st->children, c, next)
		child_drop(st, c);
}

static const char *const requires_modules[] = { "jobs", NULL };

KEEL_MODULE(.name = "dependencies", .version = "1.0", .vendor = "Keelson",
	    .summary = "jobs that wait for other jobs", .roles = KEEL_SERVER,
	    .state_size = sizeof(struct state), KEEL_CONTRIBS(contribs), KEEL_TAPS(taps),
	    .requires_modules = requires_modules, .init = init, .start = start, .fini = fini);
