/* SPDX-License-Identifier: Apache-2.0
 *
 * question.c - questions to a host about a run: each gets exactly one answer, the host's, or an
 * error when the link breaks or when the host's time is over although its link is up.
 *
 *   (WAITS -->) OPEN -- answer, link broken --> gone
 *     '-- its time is over: the caller gets an error --> LATE -- answer, link broken --> gone
 *
 * One waits for a host that has not come yet since the server began: hosts dial again every few seconds.
 *
 * A suspension or resumption that a late host did after all is undone: once no other question is open about the
 * run, the host is sent what the server has recorded.
 */
#include "executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIAL_MS 6000 /* a host whose server was away tries every 5 s */

void question_free(struct state *st, struct question *q)
{
	keel_out_drop(q->out);
	HASH_DEL(st->server.questions, q);
	keel_timer_cancel(q->timer);
	free(q->peer);
	free(q->id);
	free(q);
}

static void put_right(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;
	const struct question *q;

	if (!e || !e->unsure)
		return;
	for (q = st->server.questions; q; q = q->hh.next)
		if (q->wants && strcmp(q->id, e->id) == 0)
			return;
	e->unsure = false;
	order_name_send(mod, e, e->suspended ? "suspend" : "resume");
}

void question_answer(struct keel_mod *mod, struct question *q, int32_t code, const char *text)
{
	struct state *st = mod->state;
	struct entry *e = entry_find(st, q->id);
	const struct question was = *q;

	if (!q->done) { /* the caller has had an error already */
		if (e && code == 0 && q->wants)
			e->unsure = true;
		keel_log(mod, KEEL_LOG_JOB, "Job", q->id, "late answer of host %s (%d)", q->peer, (int)code);
		question_free(st, q);
		put_right(mod, e);
		return;
	}
	q->peer = q->id = NULL;
	question_free(st, q);
	if (e && code == 0 && was.wants)
		e->suspended = was.wants > 0;
	if (e && code == 0 && was.ends) {
		e->killing = true;
		e->kill_delay = was.kill_delay;
	}
	put_right(mod, e);
	was.done(was.me, was.arg, code, text);
	free(was.peer);
	free(was.id);
}

void questions_fail(struct keel_mod *mod, const char *peer)
{
	struct state *st = mod->state;
	int64_t last = st->server.last_question;
	struct question *q, *next;
	bool again = true;

	/* done() may send requests or end others: start over after each, the new ones excluded. */
	while (again) {
		again = false;
		HASH_ITER(hh, st->server.questions, q, next)
			if (q->number <= last && !q->out && strcmp(q->peer, peer) == 0) {
				question_answer(mod, q, PBSE_NORELYMOM, NULL);
				again = true;
				break;
			}
	}
}

static void question_timeout(struct keel_mod *mod, void *arg)
{
	struct question *q = arg;
	struct keel_mod *me = q->me;
	keel_task_done *done = q->done;
	char text[400];

	q->timer = NULL;
	q->done = NULL; /* it is late from now on */
	snprintf(text, sizeof(text), "Host %s is connected but has not answered for %lld s; the job is left as it was:",
		 q->peer, (long long)(q->patience_ms / 1000));
	keel_log(mod, KEEL_LOG_JOB, "Job", q->id, "host %s has not answered for %lld s", q->peer,
		 (long long)(q->patience_ms / 1000));
	done(me, q->arg, PBSE_NORELYMOM, text);
}

static struct question *question_create(struct keel_mod *mod, const struct entry *e, const char *name,
					struct keel_mod *me, keel_task_done *done, void *arg)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	struct question *q = calloc(1, sizeof(*q));

	if (!q || !(q->peer = strdup(e->peer)) || !(q->id = strdup(e->id))) {
		if (q)
			free(q->peer);
		free(q);
		return NULL;
	}
	q->number = ++st->server.last_question;
	q->me = me;
	q->done = done;
	q->arg = arg;
	q->wants = (int8_t)((strcmp(name, "suspend") == 0) - (strcmp(name, "resume") == 0));
	q->patience_ms = strcmp(name, "checkpoint") == 0 ? conf->checkpoint_within : conf->answer_within;
	HASH_ADD(hh, st->server.questions, number, sizeof(q->number), q);
	if (q->hh.tbl) {
		q->timer = keel_timer(mod, q->patience_ms, question_timeout, q);
		return q;
	}
	free(q->peer);
	free(q->id);
	free(q);
	return NULL;
}

struct question *question_about(struct keel_mod *mod, struct keel_obj *job, const char *name,
				struct keel_out **ret_out, struct keel_mod *me,
				keel_task_done *done, void *arg)
{
	struct state *st = mod->state;
	struct entry *e = entry_find(st, keel_id(job));
	bool begun = e && !e->starting; /* else it has no host yet that a question could go to */
	struct keel_out *out = begun && e->peer ? run_message(mod, e->id, e->run) : NULL;
	struct question *q = out ? question_create(mod, e, name, me, done, arg) : NULL;

	if (!q) {
		if (out)
			keel_out_drop(out);
		done(me, arg, begun ? PBSE_NORELYMOM : PBSE_BADSTATE, NULL);
		return NULL;
	}
	keel_put_int(out, "number", q->number);
	*ret_out = out;
	return q;
}

static void question_pass(struct keel_mod *mod, struct question *q, struct keel_out *out)
{
	if (keel_link_send(mod, q->peer, q->message, out) < 0)
		question_answer(mod, q, PBSE_NORELYMOM, NULL);
}

static void host_missing(struct keel_mod *mod, void *arg)
{
	struct question *q = arg;

	q->timer = NULL;
	question_answer(mod, q, PBSE_NORELYMOM, NULL);
}

void question_send(struct keel_mod *mod, struct question *q, const char *message, struct keel_out *out)
{
	struct state *st = mod->state;
	int64_t left = st->server.began_ms + DIAL_MS - keel_now_ms(mod);

	q->message = message;
	if (left <= 0 || host_is_known(st, q->peer)) {
		question_pass(mod, q, out);
		return;
	}
	q->out = out;
	keel_timer_cancel(q->timer);
	q->timer = keel_timer(mod, left, host_missing, q);
}

void questions_go_on(struct keel_mod *mod, const char *peer)
{
	struct state *st = mod->state;
	struct question *q = st->server.questions;

	while (q) {
		struct keel_out *out = q->out;

		if (!out || strcmp(q->peer, peer) != 0) {
			q = q->hh.next;
			continue;
		}
		q->out = NULL;
		keel_timer_cancel(q->timer);
		q->timer = keel_timer(mod, q->patience_ms, question_timeout, q);
		question_pass(mod, q, out);
		q = st->server.questions; /* an error may have ended others */
	}
}
