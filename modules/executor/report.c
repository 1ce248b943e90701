/* SPDX-License-Identifier: Apache-2.0
 *
 * report.c - what hosts say about tasks, to the listeners. A report counts only when it comes from the
 * host that has the run, and names the current run; others are answered with "forget".
 */
#include "executor.h"

#include <stdlib.h>
#include <string.h>

/* The current run a message is about, with its job; NULL: stale. */
static struct entry *entry_of(struct keel_mod *mod, const char *peer, const struct keel_msg *m,
			      struct keel_obj **ret_job)
{
	struct state *st = mod->state;
	const char *id = keel_msg_str(m, "id");
	struct entry *e = id ? entry_find(st, id) : NULL;

	if (!e || e->run != keel_msg_int(m, "run", -1))
		return NULL;
	if (strcmp(entry_peer(mod, e), peer) != 0)
		return NULL; /* a sister's reports are for the primary */
	*ret_job = keel_find(mod, "job", id);
	return *ret_job ? e : NULL;
}

static void place_tell(struct keel_mod *mod, struct keel_obj *job, const struct keel_msg *m)
{
	const char *dir = keel_msg_str(m, "dir");

	if (dir && *dir == '/')
		TELL(mod, placed, job, dir);
}

void on_started(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct keel_obj *job;
	struct entry *e = entry_of(mod, peer, m, &job);

	if (!e || e->started || e->ended)
		return;
	e->started = true;
	TELL(mod, host_start, peer, NULL);
	place_tell(mod, job, m);
	TELL(mod, started, job, keel_msg_int(m, "session", 0));
}

static void stale_end(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	const char *id = keel_msg_str(m, "id");

	/* What an unknown host has is for its own server, or said again behind its hello. */
	if (!id || !host_is_known(mod->state, peer) || !jobs_are_heard(mod))
		return;
	/* This host has no business with the run it reports an end of: it may forget it. */
	keel_link_send(mod, peer, "task.forget", run_message(mod, id, keel_msg_int(m, "run", -1)));
}

void on_refused(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	struct keel_obj *job;
	struct entry *e = entry_of(mod, peer, m, &job);
	const char *why = keel_msg_str(m, "why");

	if (keel_msg_int(m, "lacks", 0))
		TELL(mod, host_start, peer, why ? why : "no reason given");
	stale_end(mod, peer, m); /* there is nothing more to learn */
	if (!e)
		return;
	others_discard(mod, e);
	entry_drop(st, e);
	TELL(mod, refused, job, (int32_t)keel_msg_int(m, "status", -1), why ? why : "");
}

void on_used(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct keel_obj *job;
	struct entry *e = entry_of(mod, peer, m, &job);
	const char *const *items;
	uint32_t n = 0;

	if (!e || e->ended || !(items = keel_msg_strings(m, "items", &n)) || n == UINT32_MAX)
		return;
	TELL(mod, used, job, items, n);
}

/* In comments and letters: one line. */
static void failed_tell(struct keel_mod *mod, struct keel_obj *job, const struct keel_msg *m)
{
	const char *why = keel_msg_str(m, "why");
	char line[200];

	if (!why || keel_msg_int(m, "status", 0) >= 0)
		return;
	snprintf(line, sizeof(line), "%s", why);
	for (char *at = line; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = ' ';
	TELL(mod, failed, job, line);
}

void on_ended(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct keel_obj *job;
	struct entry *e = entry_of(mod, peer, m, &job);
	const char *const *items;
	uint32_t n = 0;

	if (!e) {
		stale_end(mod, peer, m);
		return;
	}
	if (e->ended)
		return;
	e->ended = true;
	items = keel_msg_strings(m, "items", &n);
	if (!items || n == UINT32_MAX)
		n = 0;
	place_tell(mod, job, m);
	kept_tell(mod, peer, job, m);
	failed_tell(mod, job, m);
	TELL(mod, ended, job, (int32_t)keel_msg_int(m, "status", -1),
	     keel_msg_int(m, "session", 0), items, n);
}

void on_answer(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	int64_t number = keel_msg_int(m, "number", 0);
	struct question *q;

	HASH_FIND(hh, st->server.questions, &number, sizeof(number), q);
	if (q && strcmp(q->peer, peer) == 0)
		question_answer(mod, q, (int32_t)keel_msg_int(m, "code", 0),
				keel_msg_str(m, "text"));
}

void report_lost(struct keel_mod *mod, struct entry *e)
{
	struct state *st = mod->state;
	struct keel_obj *job = keel_find(mod, "job", e->id);

	others_discard(mod, e);
	entry_drop(st, e);
	if (job)
		TELL(mod, lost, job);
}

/* An order was about a run that is not there. */
void on_unknown(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct keel_obj *job;
	struct entry *e = entry_of(mod, peer, m, &job);

	if (e && !e->ended)
		report_lost(mod, e);
}

void on_health(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	const char *why = keel_msg_str(m, "why");

	TELL(mod, host_health, peer, why && *why ? why : NULL);
}

