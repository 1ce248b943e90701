/* SPDX-License-Identifier: Apache-2.0
 *
 * follow.c - what a sister does as its state says: it reports to the primary, and does what it is ordered.
 */
#include "sisters.h"

#include <stdlib.h>
#include <string.h>

#define JOB_LOG(mod, j, event, ...) keel_log(mod, event, "Job", (j)->id, __VA_ARGS__)

/* An order under way. */
struct doing {
	char *id;
	int64_t run;
	uint64_t number;
};

static void done(struct keel_mod *mod, void *arg, int32_t code, const char *text)
{
	struct doing *d = arg;
	struct job *j = job_find(mod, d->id, d->run);

	if (j)
		sister_done(&j->sister, d->number, code, text);
	free(d->id);
	free(d);
}

static void obey(struct keel_mod *mod, struct job *j, uint64_t number, const char *name)
{
	static const struct { const char *order, *line; } lines[] = {
		{ "suspend", "SUSPEND received" }, { "resume", "RESUME received" }, { "end", "KILL_JOB received" },
		{ "abort", "ABORT_JOB received" },
	};
	const struct conf *cf = mod->conf;
	struct doing *d;

	for (size_t i = 0; i < KEEL_COUNT(lines); i++)
		if (strcmp(name, lines[i].order) == 0)
			JOB_LOG(mod, j, KEEL_LOG_JOB, "%s", lines[i].line);
	if (strcmp(name, "end") == 0 || strcmp(name, "abort") == 0) {
		if (*name == 'a')
			keel_part_abort(j->id);
		else
			keel_part_end(j->id, cf->end_delay);
		sister_done(&j->sister, number, 0, NULL);
		return;
	}
	d = calloc(1, sizeof(*d));
	if (!d || !(d->id = strdup(j->id))) {
		free(d);
		sister_done(&j->sister, number, PBSE_SYSTEM, "no memory on the host");
		return;
	}
	d->run = j->run;
	d->number = number;
	if (strcmp(name, ORDER_ADMIT) == 0)
		keel_part_admit(j->id, mod, done, d);
	else if (strcmp(name, ORDER_PRETERM) == 0)
		keel_part_preterm(j->id, mod, done, d);
	else
		keel_part_signal(j->id, 0, name, mod, done, d);
}

static void answer(struct keel_mod *mod, const struct job *j, const struct sister_act *a)
{
	struct keel_out *out = message(mod, j);

	keel_put_int(out, "number", (int64_t)a->number);
	keel_put_int(out, "code", a->code);
	keel_put_str(out, "text", a->text);
	message_send(mod, j, 0, "sister.answer", out);
}

static void joined(struct keel_mod *mod, struct job *j)
{
	const struct keel_part *part = keel_part_find(j->id);
	struct keel_out *out = message(mod, j);

	if (!j->joined)
		JOB_LOG(mod, j, KEEL_LOG_JOB, "JOIN_JOB as node %u", j->self);
	j->joined = true;
	keel_put_int(out, "stopped", part && part->state == KEEL_PART_STOPPED);
	message_send(mod, j, 0, "sister.joined", out);
}

static void failed(struct keel_mod *mod, const struct job *j, const struct sister_act *a)
{
	struct keel_out *out = message(mod, j);

	keel_put_int(out, "status", a->status);
	keel_put_int(out, "code", a->code);
	keel_put_str(out, "text", a->text);
	message_send(mod, j, 0, "sister.failed", out);
}

static void ended(struct keel_mod *mod, const struct job *j)
{
	const struct keel_part *part = keel_part_find(j->id);
	const char *const *items = (const char *const *)j->items;
	struct keel_out *out = message(mod, j);

	keel_put_int(out, "left", part && part->leaving);
	keel_put_strings(out, "items", items, keel_strings_count(items));
	message_send(mod, j, 0, "sister.ended", out);
}

static void follow_act(void *arg, const struct sister_act *a)
{
	const struct acting *t = arg;
	struct job *j = t->job;
	const struct conf *cf = t->mod->conf;

	switch (a->kind) {
	case SAY_JOINED:
		joined(t->mod, j);
		break;
	case SAY_FAILED:
		failed(t->mod, j, a);
		break;
	case SAY_ENDED:
		ended(t->mod, j);
		break;
	case SAY_ANSWER:
		answer(t->mod, j, a);
		break;
	case DO_ORDER:
		obey(t->mod, j, a->number, a->name);
		break;
	case DO_END:
		JOB_LOG(t->mod, j, KEEL_LOG_JOB, "lost connection to MS on %s", j->hosts[0].name);
		keel_part_end(j->id, cf->end_delay);
		break;
	}
}

void follow_init(struct keel_mod *mod, struct job *j, const struct keel_part *part)
{
	struct sister *s = &j->sister;

	j->acting = (struct acting){ mod, j };
	s->act = follow_act;
	s->arg = &j->acting;
	s->downtime_ms = limit_ms(mod, LIMIT_DOWNTIME);
	sister_init(s, keel_now_ms(mod));
	if (part->state == KEEL_PART_READY || part->state == KEEL_PART_STOPPED)
		sister_ready(s);
	else if (part->state == KEEL_PART_ENDED)
		sister_ended(s);
	pair_expect(mod, j, 0);
	sister_link(s, keel_link_is_up(mod, pair_peer(&j->hosts[0])), keel_now_ms(mod));
}
