/* SPDX-License-Identifier: Apache-2.0
 *
 * ask.c - questions to the process about its module's life, and the answers: check, init, start, reconf,
 * busy, stop, fini. They are the functions of the descriptor that the rest of the kernel sees.
 *
 * While the daemon starts, who loads a module waits for the answer. Else nobody does: a step is begun, the
 * change that asked for it looks later what came of it. A module that comes back because a change was undone comes
 * like one whose process ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isolate/inside.h"
#include "util/err.h"

/* ---- questions that are open --------------------------------------------------------------------- */
bool pending_open(struct process *p, struct pending *q, pending_fn *fn)
{
	process_owes(p);
	q->id = ++p->next_id;
	q->behind = p->told + p->notes;
	q->fn = fn;
	HASH_ADD(hh, p->pending, id, sizeof(q->id), q);
	return hash_holds(q);
}

struct pending *ask_send(struct process *p, size_t begun, pending_fn *fn, size_t size)
{
	struct isolate *iso = p->iso;
	struct pending *q = calloc(1, size);

	if (q != NULL && !pending_open(p, q, fn)) {
		free(q);
		q = NULL;
	}
	if (q != NULL)
		talk_end(&iso->scratch, begun, WIRE_REQUEST, q->id);
	else
		iso->scratch.failed = true;
	if (process_send(iso, p, begun) < 0 && q != NULL) {
		pending_drop(p, q);
		q = NULL;
	}
	return q;
}

void pending_drop(struct process *p, struct pending *q)
{
	HASH_DEL(p->pending, q);
	free(q);
}

static void heard_it(struct process *p, struct pending *q, struct talk_in *in, const char *why)
{
	(void)in, (void)why;
	pending_drop(p, q);
}

int ask_heard(struct isolate *iso, struct process *p, size_t begun)
{
	if (p == NULL)
		return process_send(iso, p, begun);
	return ask_send(p, begun, heard_it, sizeof(struct pending)) != NULL ? 0 : -ENOMEM;
}

/* ---- steps: a code and a text --------------------------------------------------------------------- */
struct step {
	struct pending pending;
	bool *done; /* NULL: nobody waits any more */
	int *ret;
	struct keel_err *err;
};

int step_of(struct talk_in *in, const char *why, struct keel_err *err)
{
	int64_t code, pbse;
	const char *text;

	if (in == NULL)
		return err_set(err, -ECHILD, "%s", why);
	code = talk_int(in);
	pbse = talk_int(in);
	text = talk_text(in);
	if (talk_bad(in) || code > 0 || code < -4095)
		code = -EPROTO;
	if (code != 0 && err != NULL) {
		err_set(err, (int)code, "%s", text);
		err->code = (int32_t)pbse;
	}
	return (int)code;
}

static void step_done(struct process *p, struct pending *q, struct talk_in *in, const char *why)
{
	struct step *s = (struct step *)q;

	if (s->done != NULL) {
		*s->ret = step_of(in, why, s->err);
		*s->done = true;
	}
	pending_drop(p, q);
}

static bool is_done(void *arg)
{
	return *(bool *)arg;
}

/* The message begun in iso->scratch is for the process that serves. */
static int step_wait(struct isolate *iso, size_t begun, int64_t deadline_ms, struct keel_err *err)
{
	bool done = false;
	int ret = -ECHILD, waited;
	struct process *p = iso->now;
	struct step *s = NULL;

	if (p != NULL)
		s = (struct step *)ask_send(p, begun, step_done, sizeof(*s));
	else
		iso->scratch.len = begun;
	if (s == NULL)
		return err_set(err, -ECHILD, "its process is not there");
	s->done = &done;
	s->ret = &ret;
	s->err = err;
	waited = process_wait(p, is_done, &done, deadline_ms);
	if (done)
		return ret;
	if (waited == -ETIMEDOUT)
		s->done = NULL; /* an answer that comes late is for nobody */
	return err_set(err, waited, waited == -ETIMEDOUT ? "its process gave no answer in %lld ms" :
							   "its process ended",
		       (long long)deadline_ms);
}

static int step(struct isolate *iso, enum talk_down what, int64_t deadline_ms, struct keel_err *err)
{
	size_t begun = talk_begin(&iso->scratch);

	talk_put_int(&iso->scratch, what);
	return step_wait(iso, begun, deadline_ms, err);
}

/* ---- a filled configuration, by the module's rules -------------------------------------------------- */
static void put_conf(const struct isolate *iso, struct buf *m, const void *conf)
{
	talk_put_conf(m, iso->rules, iso->desc.n_conf, conf);
}

/* A message with the values, begun in iso->scratch. */
static size_t conf_begin(struct isolate *iso, enum talk_down what, const void *conf)
{
	size_t begun = talk_begin(&iso->scratch);

	talk_put_int(&iso->scratch, what);
	put_conf(iso, &iso->scratch, conf);
	return begun;
}

/* What it runs with, for the next process. */
static void conf_keep(struct isolate *iso, const void *conf)
{
	struct buf m = { 0 };

	put_conf(iso, &m, conf);
	free(iso->conf_values);
	iso->conf_values = m.data;
	iso->conf_len = m.len;
}

/* ---- steps that nobody waits for: the daemon serves ------------------------------------------------------ */
struct later {
	struct pending pending;
	enum talk_down what;
};

void step_failed(struct isolate *iso, enum talk_down what, int ret, const struct keel_err *err)
{
	if (iso->step_ret != 0)
		return;
	iso->step_ret = ret;
	iso->step_what = what;
	iso->step_err = *err;
}

static void later_done(struct process *p, struct pending *q, struct talk_in *in, const char *why)
{
	struct isolate *iso = p->iso;
	enum talk_down what = ((struct later *)q)->what;
	struct keel_err err = { 0 };
	int ret = step_of(in, why, &err);

	pending_drop(p, q);
	iso->steps--;
	if (ret < 0)
		step_failed(iso, what, ret, &err);
	if (ret == 0 && what == TALK_START)
		started_up(p);
}

/* The message begun in iso->scratch; isolate_settled() tells what came of it. */
static int step_later(struct isolate *iso, struct process *p, size_t begun, enum talk_down what,
		      struct keel_err *err)
{
	struct later *l = NULL;

	if (p != NULL)
		l = (struct later *)ask_send(p, begun, later_done, sizeof(*l));
	else
		iso->scratch.len = begun;
	if (l == NULL)
		return err_set(err, -ECHILD, "its process is not there");
	l->what = what;
	iso->steps++;
	return 0;
}

static int begin_step(struct isolate *iso, enum talk_down what, struct keel_err *err)
{
	size_t begun = talk_begin(&iso->scratch);

	talk_put_int(&iso->scratch, what);
	return step_later(iso, iso->now, begun, what, err);
}

void isolate_unsettled(struct isolate *iso)
{
	iso->step_ret = 0;
}

int isolate_settled(struct isolate *iso, const char **ret_what, struct keel_err *err)
{
	static const char *const names[] = { [TALK_CONF] = "check", [TALK_INIT] = "init",
					     [TALK_START] = "start", [TALK_RECONF] = "reconf" };
	int ret = iso->step_ret;

	if (iso->steps > 0 || iso->returns)
		return 1;
	iso->step_ret = 0;
	if (ret < 0) {
		*ret_what = names[iso->step_what];
		*err = iso->step_err;
	}
	return ret;
}

static bool somebody_waits(const struct isolate *iso)
{
	return !iso->prepared && !iso->serves;
}

int isolate_check(struct isolate *iso, const void *conf, struct keel_err *err)
{
	if (somebody_waits(iso))
		return step_wait(iso, conf_begin(iso, TALK_CONF, conf), START_DEADLINE_MS, err);
	if (iso->now == NULL) /* the next process is asked */
		return iso->serves ? 0 : err_set(err, -ECHILD, "its process ended");
	return step_later(iso, iso->now, conf_begin(iso, TALK_CONF, conf), TALK_CONF, err);
}

/* ---- the descriptor's functions ---------------------------------------------------------------------- */
static struct isolate *isolate_of(struct keel_mod *m)
{
	return owner_of(m)->isolate;
}

int32_t life_init(struct keel_mod *m, struct keel_err *err)
{
	struct isolate *iso = isolate_of(m);

	iso->owner = owner_of(m);
	departed_watch(iso);
	conf_keep(iso, m->conf);
	if (iso->left) {
		come_back(iso);
		return 0;
	}
	return iso->prepared ? begin_step(iso, TALK_INIT, err) : step(iso, TALK_INIT, START_DEADLINE_MS, err);
}

int32_t life_start(struct keel_mod *m, struct keel_err *err)
{
	struct isolate *iso = isolate_of(m);
	int ret;

	if (iso->left)
		return 0; /* it comes */
	if (iso->prepared)
		return begin_step(iso, TALK_START, err);
	ret = step(iso, TALK_START, START_DEADLINE_MS, err);
	if (ret == 0)
		started_up(iso->now);
	return ret;
}

int32_t life_reconf(struct keel_mod *m, const void *now, struct keel_err *err)
{
	struct isolate *iso = isolate_of(m);

	conf_keep(iso, now);
	if (iso->now == NULL || iso->now->state == PROCESS_COMING)
		return 0; /* it begins with it */
	return step_later(iso, iso->now, conf_begin(iso, TALK_RECONF, now), TALK_RECONF, err);
}

/* It will be ended anyway: who hangs is waited for once. */
static int leave(struct keel_mod *m, enum talk_down what, struct keel_err *err)
{
	struct isolate *iso = isolate_of(m);
	int ret = -ETIMEDOUT;

	if (iso->now != NULL && !iso->now->mute)
		ret = step(iso, what, LEAVE_DEADLINE_MS, err);
	if (iso->now != NULL && ret == -ETIMEDOUT)
		iso->now->mute = true;
	return ret;
}

/* A process that does not say is not busy. */
int32_t life_busy(struct keel_mod *m, struct keel_err *err)
{
	struct keel_err why = { 0 };
	int ret = leave(m, TALK_BUSY, &why);

	if (ret == 0 || ret == -ETIMEDOUT || ret == -ECHILD)
		return 0;
	return err_set(err, ret == -ENOTEMPTY ? ret : -EBUSY, "%s", why.text);
}

void life_stop(struct keel_mod *m)
{
	leave(m, TALK_STOP, NULL);
}

void life_fini(struct keel_mod *m)
{
	struct isolate *iso = isolate_of(m);

	leave(m, TALK_FINI, NULL);
	iso->serves = false;
	iso->left = true;
	iso->returns = false;
	process_reap(iso->now);
	process_end(iso, "its module is being stopped");
	departed_unwatch(iso);
	iso->owner = NULL;
}
