/* SPDX-License-Identifier: Apache-2.0
 *
 * over.c - ends of tasks, until who had them started knows; links that come, hosts that are lost.
 */
#include "task.h"

#include <string.h>

static void over_put(struct keel_mod *mod, struct job *j, uint32_t host, const char *name, const char *from, const char *to,
		     uint32_t number, int32_t status)
{
	struct keel_out *out = message(mod, j);

	keel_put_str(out, "from", from);
	keel_put_str(out, "to", to);
	keel_put_int(out, "task", number);
	keel_put_int(out, "status", status);
	message_send(mod, j, host, name, out);
}

void over_send(struct keel_mod *mod, struct job *j, const struct far_task *t)
{
	int host = way_to(j, t->host);

	if (host >= 0 && (uint32_t)host != j->self)
		over_put(mod, j, (uint32_t)host, "sister.over", own_name(j), t->host, t->number, t->status);
	if (!j->ends_ms)
		j->ends_ms = keel_now_ms(mod) + END_AGAIN_MS;
}

static bool ends_send(struct keel_mod *mod, struct job *j)
{
	struct far_task *t, *next;
	bool any = false;

	HASH_ITER(hh, j->here, t, next)
		if (t->over && t->answered) {
			over_send(mod, j, t);
			any = true;
		}
	return any;
}

/* Between the primary and the host that had a task started there may have been no link. */
void tasks_tick(struct keel_mod *mod, struct job *j, int64_t now)
{
	if (j->ends_ms && now >= j->ends_ms)
		j->ends_ms = ends_send(mod, j) ? now + END_AGAIN_MS : 0;
}

void tasks_over(struct keel_mod *mod, const struct keel_part *part, uint32_t number, int32_t status)
{
	struct job *j = job_of(mod, part);
	struct far_task *t = j ? far_find(j->here, number) : NULL;
	uint32_t caller = 0;

	if (!j)
		return;
	/* This daemon was restarted after the start of it: its number says whose it is. */
	while (!t && caller < part->n_hosts && keel_part_slot(part, caller) != number >> 20)
		caller++;
	if (!t && caller < part->n_hosts && caller != part->index && number > 1) {
		t = far_add(&j->here, number, part->hosts[caller].name);
		if (t)
			t->answered = true;
	}
	if (!t)
		return;
	t->over = true;
	t->status = status;
	if (t->answered)
		over_send(mod, j, t);
}

static void notify(struct keel_mod *mod, struct job *j, uint32_t number, int32_t status)
{
	struct state *st = mod->state;

	for (struct listener *l = st->listeners; l; l = l->next)
		if (l->events.task_over)
			l->events.task_over(l->me, j->id, j->run, number, status);
}

/* Of an earlier life of this daemon. */
static bool was_own(const struct job *j, uint32_t number)
{
	const struct keel_part *part = j->found ? keel_part_find(j->id) : NULL;

	return part && number >> 20 == keel_part_slot(part, part->index);
}

/* It is over on another host, if `from` is the one it was started on; the answer to its start may be behind. */
static void there_over(struct keel_mod *mod, struct job *j, const char *from, uint32_t number, int32_t status)
{
	struct far_task *t = far_find(j->there, number);
	struct call *c, *next;

	if (t ? strcmp(t->host, from) != 0 : !was_own(j, number))
		return;
	DL_FOREACH_SAFE(j->calls, c, next)
		if (c->is_spawn && c->done && c->task == number) {
			call_answer(mod, j, c, 0, "");
			break;
		}
	t = far_find(j->there, number);
	if (t)
		far_remove(&j->there, t);
	notify(mod, j, number, status);
}

void on_over(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	const char *from = j->self == 0 ? j->hosts[host].name : keel_msg_str(m, "from"), *to = keel_msg_str(m, "to");
	int64_t number = keel_msg_int(m, "task", -1), status = keel_msg_int(m, "status", -1);
	int target = to ? job_host(j, to) : -1;

	if (!from || target < 0 || number < 0 || number > UINT32_MAX || status < -1 || status > 4096)
		return;
	if ((uint32_t)target == j->self) {
		there_over(mod, j, from, (uint32_t)number, (int32_t)status);
		over_put(mod, j, host, "sister.known", to, from, (uint32_t)number, 0);
	} else if (j->self == 0 && is_gone(j, target)) {
		over_put(mod, j, host, "sister.known", to, from, (uint32_t)number, 0);
	} else if (j->self == 0) {
		over_put(mod, j, (uint32_t)target, "sister.over", from, to, (uint32_t)number, (int32_t)status);
	}
}

void on_over_known(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	const char *from = j->self == 0 ? j->hosts[host].name : keel_msg_str(m, "from"), *to = keel_msg_str(m, "to");
	int64_t number = keel_msg_int(m, "task", -1);
	int target = to ? job_host(j, to) : -1;
	struct far_task *t;

	if (!from || target < 0 || number < 0 || number > UINT32_MAX)
		return;
	if ((uint32_t)target != j->self) {
		if (j->self == 0 && (uint32_t)target != host)
			over_put(mod, j, (uint32_t)target, "sister.known", from, to, (uint32_t)number, 0);
		return;
	}
	t = far_find(j->here, (uint32_t)number);
	if (t && t->over && strcmp(t->host, from) == 0) /* only who had it started knows its end */
		far_remove(&j->here, t);
}

/* ---- links and losses ---------------------------------------------------------------------------------------- */
void tasks_link(struct keel_mod *mod, struct job *j, uint32_t host)
{
	struct call *c;

	DL_FOREACH(j->calls, c)
		if (way_to(j, c->to) == (int)host)
			call_send(mod, j, c);
	ends_send(mod, j);
}

static void there_lost(struct keel_mod *mod, struct job *j, const char *name)
{
	struct far_task *t, *next_task;
	struct call *c, *next;

	DL_FOREACH_SAFE(j->calls, c, next)
		if (strcmp(c->to, name) == 0)
			call_answer(mod, j, c, TM_SYSTEM, "this host of the job is lost");
	HASH_ITER(hh, j->there, t, next_task)
		if (strcmp(t->host, name) == 0) {
			uint32_t number = t->number;

			far_remove(&j->there, t);
			notify(mod, j, number, -1);
		}
}

void tasks_lost(struct keel_mod *mod, struct job *j, uint32_t host)
{
	const char *name = j->hosts[host].name;

	there_lost(mod, j, name);
	for (uint32_t i = 1; i < j->n; i++)
		if (i != host && j->primary.hosts[i].linked) {
			struct keel_out *out = message(mod, j);

			keel_put_str(out, "host", name);
			message_send(mod, j, i, "sister.lost", out);
		}
}

void on_host_lost(struct keel_mod *mod, struct job *j, uint32_t host, const struct keel_msg *m)
{
	const char *name = keel_msg_str(m, "host");

	(void)host;
	if (name && job_host(j, name) >= 0)
		there_lost(mod, j, name);
}

void tasks_free(struct keel_mod *mod, struct job *j)
{
	struct far_task *t, *next_task;
	struct call *c, *next;

	DL_FOREACH_SAFE(j->calls, c, next)
		call_answer(mod, j, c, TM_SYSTEM, "the job has ended here");
	HASH_ITER(hh, j->here, t, next_task)
		far_remove(&j->here, t);
	HASH_ITER(hh, j->there, t, next_task)
		far_remove(&j->there, t);
}
