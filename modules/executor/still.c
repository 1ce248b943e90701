/* SPDX-License-Identifier: Apache-2.0
 *
 * still.c - suspended tasks without a cgroup: their user may send them SIGCONT. Each tick looks, on a worker
 * thread, whether one of their processes runs, and those are stopped again.
 */
#include "executor.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "proc.h"

struct look {
	size_t n;
	struct {
		pid_t shepherd;
		bool running;
	} at[];
};

static bool is_loose(const struct task *t)
{
	return t->state == TASK_STOPPED && !t->freezer && !t->ending && t->shepherd;
}

static void look_work(void *arg)
{
	struct look *l = arg;

	for (size_t i = 0; i < l->n; i++)
		l->at[i].running = proc_stop(l->at[i].shepherd, 0) > 0;
}

/* It may have been resumed meanwhile: stopping is done here, where that is known. */
static void stop_again(struct keel_mod *mod, pid_t shepherd)
{
	struct state *st = mod->state;
	struct task *t, *next;

	HASH_ITER(hh, st->mom.tasks, t, next) {
		if (t->shepherd != shepherd || !is_loose(t))
			continue;
		proc_stop(shepherd, SIGSTOP);
		if (!t->restless)
			keel_log(mod, KEEL_LOG_SECURITY | KEEL_LOG_JOB, "Job", t->id,
				 "the suspended job was continued by a signal; it is stopped again");
		t->restless = true;
	}
}

static void look_done(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct look *l = arg;

	st->mom.looking = false;
	st->mom.launching--;
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i].running)
			stop_again(mod, l->at[i].shepherd);
	free(l);
}

void still_look(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct task *t, *next;
	struct look *l;

	if (st->mom.looking)
		return;
	l = calloc(1, sizeof(*l) + HASH_COUNT(st->mom.tasks) * sizeof(l->at[0]));
	if (!l)
		return;
	HASH_ITER(hh, st->mom.tasks, t, next)
		if (is_loose(t))
			l->at[l->n++].shepherd = t->shepherd;
	if (!l->n || keel_work(mod, look_work, look_done, l) < 0) {
		free(l);
		return;
	}
	st->mom.looking = true;
	st->mom.launching++; /* the module stays */
}
