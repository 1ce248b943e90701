/* SPDX-License-Identifier: Apache-2.0
 *
 * task.c - tasks and signals on other hosts of a job: service "sister". All go through the primary.
 *
 *	caller (any host) -- spawn, signal --> primary --> the host it is for
 *	                  <-- spawned, over --         <--
 *
 * Each host on the way keeps a question until it has the answer, and an end until it is known; both are sent again at a new
 * link. A task's number is its caller's: where it is known already, it is not started again.
 */
#include "task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The job, and by name the host that now has this index; NULL: done() was called. */
static struct job *job_about(struct keel_mod *mod, const char *id, uint32_t host, const char **ret_to, struct keel_mod *me,
			     keel_part_done *done, void *arg)
{
	const struct keel_part *part = keel_has(part) ? keel_part_find(id) : NULL;
	struct job *j = part ? job_of(mod, part) : NULL;

	if (!j || host >= part->n_hosts || job_host(j, part->hosts[host].name) < 0) {
		done(me, arg, TM_NOTFOUND, "the job has no such host");
		return NULL;
	}
	*ret_to = part->hosts[host].name;
	if (j->self == 0 && host > 0 && is_gone(j, job_host(j, *ret_to))) {
		done(me, arg, TM_SYSTEM, "this host of the job is lost");
		return NULL;
	}
	return j;
}

static void call_begin(struct keel_mod *mod, struct job *j, struct call *c, struct keel_mod *me, keel_part_done *done, void *arg)
{
	struct state *st = mod->state;

	c->number = ++st->number;
	c->me = me;
	c->done = done;
	c->arg = arg;
	call_send(mod, j, c);
}

static void service_spawn(struct keel_mod *mod, const char *id, uint32_t host, const struct keel_part_task *task, struct keel_mod *me,
			  keel_part_done *done, void *arg)
{
	const char *to;
	struct job *j;
	struct call *c;

	if (keel_has(part) && keel_part_find(id) && keel_part_find(id)->index == host) {
		keel_part_spawn(id, task, me, done, arg);
		return;
	}
	j = job_about(mod, id, host, &to, me, done, arg);
	if (!j)
		return;
	c = call_make(j, own_name(j), to, task->number);
	if (!c || !task_copy(j, c, task->argv, keel_strings_count(task->argv), task->env, keel_strings_count(task->env), task->dir) ||
	    !far_add(&j->there, task->number, to)) {
		if (c)
			call_free(j, c);
		done(me, arg, TM_SYSTEM, "too many tasks, or no memory");
		return;
	}
	call_begin(mod, j, c, me, done, arg);
}

static void service_signal(struct keel_mod *mod, const char *id, uint32_t host, uint32_t number, const char *name, struct keel_mod *me,
			   keel_part_done *done, void *arg)
{
	const char *to;
	struct job *j;
	struct call *c;

	if (keel_has(part) && keel_part_find(id) && keel_part_find(id)->index == host) {
		keel_part_signal(id, number, name, me, done, arg);
		return;
	}
	j = job_about(mod, id, host, &to, me, done, arg);
	if (!j)
		return;
	c = call_make(j, own_name(j), to, number);
	if (!c || !(c->name = strdup(name))) {
		if (c)
			call_free(j, c);
		done(me, arg, TM_SYSTEM, "too many signals, or no memory");
		return;
	}
	call_begin(mod, j, c, me, done, arg);
}

static int32_t service_listen(struct keel_mod *mod, struct keel_mod *me, const struct keel_sister_events *events)
{
	struct state *st = mod->state;
	struct listener **at = &st->listeners, *l;

	while (*at && (*at)->me != me)
		at = &(*at)->next;
	l = *at;
	if (l) {
		*at = l->next;
		free(l);
	}
	if (!events)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->me = me;
	memcpy(&l->events, events, events->size < sizeof(l->events) ? events->size : sizeof(l->events));
	l->next = st->listeners;
	st->listeners = l;
	return 0;
}

const struct keel_sister_api sister_api = {
	.size = sizeof(sister_api), .listen = service_listen, .spawn = service_spawn, .signal = service_signal,
};
