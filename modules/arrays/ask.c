/* SPDX-License-Identifier: Apache-2.0
 *
 * ask.c - requests about an array or some of its subjobs: the act runs on each that is meant, and the caller
 * gets one answer when all are done: the first error, or success.
 *
 * A subjob that is an object is acted on like any job. Those that wait are no objects: deleting them is a
 * change of the array's runs, running one makes it an object. A range in which no subjob can be acted on
 * fails at once.
 */
#include "arrays.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

KEEL_ATTRS_OF(job, ending, array_erased, stime);

#define ASKED_AT_ONCE 128
#define RANGE_MAX 1024 /* bytes between the brackets */

struct fan {
	char *id;    /* as the operand means it: 7[1-3].svr */
	char *whole; /* 7[].svr */
	char *verb, *detail, *who;
	struct keel_job_ask ask; /* made of these */
	struct keel_mod *me;     /* the caller */
	void (*done)(struct keel_mod *, void *, int32_t, const char *);
	void *arg;
	struct selection named;
	bool all, single;
	bool deletes; /* those that wait as well, when all that live are */
	bool alters;
	uint32_t *ordinal, n, next; /* the subjobs that are acted on */
	uint32_t open;              /* answers missing, and 1 while fan_step() is not through */
	uint32_t part, from;        /* of a run: where in the selection it is */
	uint32_t started;
	uint32_t started_last; /* of a run: the ordinal */
	int32_t code;   /* the first error */
	char *text;
};

/* ---- one answer ------------------------------------------------------------------------------------- */

static void fan_free(struct fan *f)
{
	selection_fini(&f->named);
	free(f->ordinal);
	free(f->id);
	free(f->whole);
	free(f->verb);
	free(f->detail);
	free(f->who);
	free(f->text);
	free(f);
}

static void fan_answer(struct keel_mod *mod, struct fan *f, int32_t code, const char *text)
{
	struct state *st = mod->state;

	st->open_fans--;
	f->done(f->me, f->arg, code, text);
	fan_free(f);
}

static struct array *fan_array(struct keel_mod *mod, const struct fan *f)
{
	struct keel_obj *whole = keel_find(mod, "job", f->whole);

	return whole ? array_of(mod, whole) : NULL;
}

static void delete_settle(struct keel_mod *mod, struct fan *f);

static void fan_close(struct keel_mod *mod, struct fan *f)
{
	if (--f->open)
		return;
	if (f->deletes)
		delete_settle(mod, f);
	fan_answer(mod, f, f->code, f->text);
}

static void note_refusal(struct fan *f, int32_t code, const char *text)
{
	if (!code || f->code)
		return;
	f->code = code;
	f->text = text ? strdup(text) : NULL;
}

static void fan_answered(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct fan *f = arg;

	/* What has ended, or is about to, needs no deleting. */
	if (!f->deletes ||
	    !(code == PBSE_BADSTATE || code == PBSE_UNKJOBID || code == PBSE_NOHISTARRAYSUBJOB))
		note_refusal(f, code, text);
	fan_close(mod, f);
}

/* ---- the act on each ------------------------------------------------------------------------------------ */

static void fan_step(struct keel_mod *mod, void *arg)
{
	struct fan *f = arg;
	uint32_t left = ASKED_AT_ONCE;

	for (; left && f->next < f->n; left--, f->next++) {
		struct array *a = fan_array(mod, f);
		struct keel_obj *part = a ? part_find(mod, a, f->ordinal[f->next]) : NULL;

		if (!part)
			continue; /* it ended meanwhile */
		if (f->alters && !part_alter(mod, a, part, f->ordinal[f->next], f->detail))
			continue;
		f->open++;
		keel_job_ask(part, &f->ask, mod, fan_answered, f);
	}
	if (f->next < f->n && keel_timer(mod, 0, fan_step, f))
		return;
	if (f->next < f->n)
		note_refusal(f, PBSE_SYSTEM, "System error: out of memory");
	fan_close(mod, f);
}

static int by_ordinal(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

typedef bool chosen_fn(struct keel_mod *mod, const struct fan *f, struct keel_obj *part);

/* Of the subjobs that are named, the living ones that are chosen. False without memory. */
static bool fan_collect(struct keel_mod *mod, struct fan *f, const struct array *a, chosen_fn *chosen)
{
	uint32_t i, at, cap = 0, *bigger;
	uint32_t k, n = 0;

	for (i = 0; i < f->named.n; i++) {
		const struct some *s = &f->named.at[i];

		for (at = s->first; runs_find(&a->runs, at, LIVES, &at) && at <= s->last; at++) {
			struct keel_obj *part;

			if ((at - s->first) % s->step || !(part = part_find(mod, a, at)) ||
			    !chosen(mod, f, part))
				continue;
			if (f->n == cap) {
				cap = cap ? cap * 2 : 16;
				bigger = reallocarray(f->ordinal, cap, sizeof(*bigger));
				if (!bigger)
					return false;
				f->ordinal = bigger;
			}
			f->ordinal[f->n++] = at;
		}
	}
	if (f->n)
		qsort(f->ordinal, f->n, sizeof(*f->ordinal), by_ordinal);
	for (k = 0; k < f->n; k++)
		if (n == 0 || f->ordinal[n - 1] != f->ordinal[k])
			f->ordinal[n++] = f->ordinal[k];
	f->n = n;
	return true;
}

static void fan_begin(struct keel_mod *mod, struct fan *f, const struct array *a, chosen_fn *chosen,
		       int32_t none)
{
	if (!fan_collect(mod, f, a, chosen))
		fan_answer(mod, f, PBSE_SYSTEM, "System error: out of memory");
	else if (f->n == 0)
		fan_answer(mod, f, none, NULL);
	else
		fan_step(mod, f);
}

/* ---- delete --------------------------------------------------------------------------------------------- */

static bool every_one(struct keel_mod *mod, const struct fan *f, struct keel_obj *part)
{
	(void)mod, (void)f, (void)part;
	return true;
}

static bool some_wait(const struct fan *f, const struct array *a)
{
	uint32_t i, at;

	for (i = 0; i < f->named.n; i++) {
		const struct some *s = &f->named.at[i];

		for (at = s->first; runs_find(&a->runs, at, WAITS, &at) && at <= s->last; at++)
			if ((at - s->first) % s->step == 0)
				return true;
	}
	return false;
}

static bool wants(const struct fan *f, const char *word)
{
	return f->detail && strstr(f->detail, word);
}

static void delete_waiting(struct keel_mod *mod, const struct fan *f, struct array *a)
{
	char text[400];

	snprintf(text, sizeof(text), "Job to be deleted at request of %s", f->who);
	keel_log(mod, KEEL_LOG_JOB, "Job", f->id, "%s", text);
	if (f->all) {
		keel_note(mod, KEEL_POINT_job_notice,
			  KEEL_EVENT(job_notice, .id = f->id, .job = a->whole,
				     .letter = wants(f, "nomail") ? "n" : "a", .text = text));
		a->deleted = true;
		keel_set_str(a->whole, job_ending, f->who);
		if (wants(f, "deletehist"))
			keel_set_int(a->whole, job_array_erased, 1);
	}
	if (array_terminate(mod, a, &f->named, wants(f, "force")) || f->all) {
		snprintf(text, sizeof(text), "requestor=%s", f->who);
		keel_acct_record('D', f->id, text);
	}
}

/* Those that live have answered. One that could not be deleted (its host is away) stays, and so does what waits: the
 * request has failed. */
static void delete_settle(struct keel_mod *mod, struct fan *f)
{
	struct array *a = fan_array(mod, f);

	if (!a)
		return;
	a->deleting--;
	if (!f->code)
		delete_waiting(mod, f, a);
	else if (a->n[KIND_WAITS])
		keel_job_waits(a->whole);
	array_check_end(mod, a);
}

static void delete_decided(struct keel_mod *mod, void *arg, const struct keel_outcome *outcome)
{
	struct fan *f = arg;
	struct array *a = fan_array(mod, f);

	if (outcome->verdict != KEEL_NEXT && outcome->verdict != KEEL_DONE) {
		fan_answer(mod, f, outcome->code ? outcome->code : PBSE_HOOKERROR, outcome->text);
	} else if (!a) {
		fan_answer(mod, f, PBSE_UNKJOBID, NULL);
	} else {
		f->deletes = true;
		a->deleting++;
		if (!fan_collect(mod, f, a, every_one))
			note_refusal(f, PBSE_SYSTEM, "System error: out of memory");
		fan_step(mod, f);
	}
}

static void delete_begin(struct keel_mod *mod, struct fan *f, struct array *a)
{
	int32_t code = keel_job_permit(a->whole, &f->ask, KEEL_EVERYBODY);
	struct indices x = a->x;

	if (code == PBSE_HISTJOBID && wants(f, "deletehist") && f->all) {
		after_end(mod, f->whole, &x, true); /* only its history is left to delete */
		fan_answer(mod, f, 0, NULL);
		return;
	}
	if (code == PBSE_HISTJOBID && wants(f, "deletehist"))
		code = PBSE_NOHISTARRAYSUBJOB;
	if (!code && f->named.n == 0)
		code = PBSE_IVALREQ;
	if (!code && !f->all && !some_wait(f, a)) {
		fan_begin(mod, f, a, every_one, f->single ? PBSE_NOHISTARRAYSUBJOB : 0);
		return;
	}
	if (code) {
		fan_answer(mod, f, code, NULL);
		return;
	}
	keel_raise(mod, &(struct keel_raise){
		.size = sizeof(struct keel_raise),
		.point = KEEL_POINT_job_delete,
		.event = KEEL_EVENT(job_delete, .id = f->id, .job = a->whole, .who = f->who),
		.req = f->ask.req,
		.done = delete_decided,
		.arg = f,
	});
}

/* ---- signal and rerun ------------------------------------------------------------------------------------- */

/* A signal reaches the subjobs that go on, or those that are stopped. */
static bool signal_reaches(struct keel_mod *mod, const struct fan *f, struct keel_obj *part)
{
	(void)mod;
	const struct keel_signal_def *def =
		keel_job_signal(f->detail ? f->detail : "");
	bool stopped = def && def->acts_on == KEEL_SIGNAL_STOPPED;

	return keel_job_state(part) == 'R' &&
	       keel_job_is_suspended(part) == stopped;
}

static void signal_begin(struct keel_mod *mod, struct fan *f, struct array *a)
{
	const struct keel_signal_def *def =
		keel_job_signal(f->detail ? f->detail : "");
	int32_t code = keel_job_permit(a->whole, &f->ask,
				       def ? def->roles & ~(uint32_t)KEEL_USER : KEEL_EVERYBODY);

	if (!code && f->named.n == 0)
		code = PBSE_UNKJOBID;
	if (!code && !keel_is_set(a->whole, job_stime))
		code = PBSE_BADSTATE;
	if (code)
		fan_answer(mod, f, code, NULL);
	else
		fan_begin(mod, f, a, signal_reaches, f->all ? 0 : PBSE_BADSTATE);
}

static bool runs_now(struct keel_mod *mod, const struct fan *f, struct keel_obj *part)
{
	(void)mod;
	return keel_job_state(part) == 'R' &&
	       (wants(f, "force") || keel_job_substate(part) == KEEL_SUB_RUNNING);
}

static void rerun_begin(struct keel_mod *mod, struct fan *f, struct array *a)
{
	int32_t code = keel_job_permit(a->whole, &f->ask, KEEL_OPERATORS);

	if (!code && f->named.n == 0)
		code = PBSE_UNKJOBID;
	if (code)
		fan_answer(mod, f, code, NULL);
	else
		fan_begin(mod, f, a, runs_now, PBSE_BADSTATE);
}

/* ---- alter: those that run take what their array has now --------------------------------------------------------- */

static void alter_begin(struct keel_mod *mod, struct fan *f, struct array *a)
{
	f->alters = f->detail != NULL;
	fan_begin(mod, f, a, every_one, 0);
}

/* ---- run: of a range one after the other until one is refused, of the whole its next --------------------------- */

static bool next_waiting(struct fan *f, const struct array *a, uint32_t *ret)
{
	for (; f->part < f->named.n; f->part++, f->from = 0) {
		const struct some *s = &f->named.at[f->part];
		uint32_t at = f->from > s->first ? f->from : s->first;

		for (; runs_find(&a->runs, at, WAITS, &at) && at <= s->last; at++)
			if ((at - s->first) % s->step == 0) {
				f->from = at + 1;
				*ret = at;
				return true;
			}
	}
	return false;
}

static void run_next(struct keel_mod *mod, void *arg);

static void run_answered(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct fan *f = arg;
	struct array *a = fan_array(mod, f);
	struct keel_obj *part = a ? part_find(mod, a, f->started_last) : NULL;

	if (code && part && keel_job_state(part) == 'Q')
		keel_job_back(part);
	f->started += code == 0;
	if (code || f->all)
		fan_answer(mod, f, code, text);
	else if (!keel_timer(mod, 0, run_next, f))
		fan_answer(mod, f, PBSE_SYSTEM, "System error: out of memory");
}

static void run_next(struct keel_mod *mod, void *arg)
{
	struct fan *f = arg;
	struct array *a = fan_array(mod, f);
	struct keel_err err = { 0 };
	struct keel_obj *part;

	if (!a || a->deleting || a->deleted || !next_waiting(f, a, &f->started_last)) {
		fan_answer(mod, f, f->started ? 0 : PBSE_BADSTATE, NULL);
		return;
	}
	part = part_make(mod, a, f->started_last, &err);
	if (part)
		keel_job_ask(part, &f->ask, mod, run_answered, f);
	else
		fan_answer(mod, f, err.code ? err.code : PBSE_SYSTEM, err.text);
}

static void run_begin(struct keel_mod *mod, struct fan *f, struct array *a)
{
	int32_t code = keel_job_permit(a->whole, &f->ask, KEEL_OPERATORS);

	if (!code && f->named.n == 0)
		code = PBSE_UNKJOBID;
	if (code)
		fan_answer(mod, f, code, NULL);
	else
		run_next(mod, f);
}

/* ---- which ---------------------------------------------------------------------------------------------------- */

static const struct {
	const char *verb;
	void (*begin)(struct keel_mod *, struct fan *, struct array *);
} verbs[] = {
	{ "delete", delete_begin },
	{ "signal", signal_begin },
	{ "rerun", rerun_begin },
	{ "run", run_begin },
	{ "alter", alter_begin },
};

static struct fan *fan_new(const struct array *a, const struct keel_job_ask *ask,
			   const char *range, size_t len)
{
	const char *whole = keel_id(a->whole);
	size_t head = strcspn(whole, "[") + 1;
	struct fan *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->open = 1;
	f->whole = strdup(whole);
	f->verb = strdup(ask->verb);
	f->detail = ask->detail ? strdup(ask->detail) : NULL;
	f->who = strdup(ask->who);
	if (asprintf(&f->id, "%.*s%.*s%s", (int)head, whole, (int)len, range, whole + head) < 0)
		f->id = NULL;
	if (!f->whole || !f->verb || !f->who || !f->id || (ask->detail && !f->detail)) {
		fan_free(f);
		return NULL;
	}
	f->ask = *ask;
	f->ask.verb = f->verb;
	f->ask.detail = f->detail;
	f->ask.who = f->who;
	return f;
}

bool on_ask(struct keel_mod *mod, const char *operand, const struct keel_job_ask *theirs,
	    struct keel_mod *me, void (*done)(struct keel_mod *, void *, int32_t, const char *),
	    void *arg)
{
	struct state *st = mod->state;
	const char *range;
	size_t len, i;
	struct array *a = named_array(mod, operand, &range, &len);
	struct keel_job_ask ask;
	struct fan *f;
	int r;

	if (!a)
		return false;
	KEEL_SIZED(&ask, theirs);
	f = fan_new(a, &ask, range, len);
	if (!f)
		return false;
	f->all = len == 0;
	f->single = len > 0 && strspn(range, "0123456789") == len;
	if (f->all)
		r = selection_all(&a->x, &f->named);
	else
		r = len > RANGE_MAX ? -EINVAL : selection_parse(&a->x, range, len, &f->named);
	if (r) { /* not a range, or no memory */
		fan_free(f);
		return false;
	}
	f->me = me;
	f->done = done;
	f->arg = arg;
	st->open_fans++;
	for (i = 0; i < KEEL_COUNT(verbs); i++)
		if (strcmp(verbs[i].verb, ask.verb) == 0) {
			verbs[i].begin(mod, f, a);
			return true;
		}
	fan_answer(mod, f, PBSE_IVALREQ, NULL);
	return true;
}

char on_letter(struct keel_mod *mod, const char *operand)
{
	const char *range;
	size_t len;
	struct array *a = named_array(mod, operand, &range, &len);
	bool one = a && len > 0 && len < 11 && strspn(range, "0123456789") >= len;
	unsigned long index = one ? strtoul(range, NULL, 10) : UINT32_MAX;
	uint32_t ordinal;
	char letter;
	int32_t kind;

	if (index > INDEX_MAX || !indices_ordinal(&a->x, (uint32_t)index, &ordinal))
		return '\0';
	kind = kind_of(runs_get(&a->runs, ordinal, NULL));
	letter = keel_job_state(a->whole);
	return kind != KIND_WAITS ? 'X' : letter == 'B' ? 'Q' : letter;
}

bool on_has(struct keel_mod *mod, const char *operand)
{
	const char *range;
	size_t len;
	struct array *a = named_array(mod, operand, &range, &len);
	struct selection s = { 0 };
	bool has;

	if (!a || len == 0)
		return a != NULL;
	has = selection_parse(&a->x, range, len, &s) == 0 && s.n > 0;
	selection_fini(&s);
	return has;
}
