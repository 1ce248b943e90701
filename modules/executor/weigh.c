/* SPDX-License-Identifier: Apache-2.0
 *
 * weigh.c - how much memory a part's processes have, where what they share counts once: the kernel says of each process which
 * part of a shared page is its own. It looks at each page for that, so this is read on a worker thread, on request.
 * Likewise how much memory the kernel lets them have: bound.
 */
#include "executor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"

struct weighing {
	char *id;
	int64_t run, kb;
	size_t n;
	pid_t tops[]; /* the shepherd, then processes that were taken in */
};

/* 0: it is gone, or is not ours to look at. */
static int64_t process_kb(pid_t pid)
{
	char path[64], line[256];
	long long kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Pss: %lld kB", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static void weighing_work(void *arg)
{
	struct weighing *w = arg;

	for (size_t i = 0; i < w->n; i++) {
		pid_t *pids = NULL;
		size_t n = 0;

		proc_descendants(w->tops[i], &pids, &n);
		for (size_t at = 0; at < n; at++)
			w->kb += process_kb(pids[at]);
		if (i > 0)
			w->kb += process_kb(w->tops[i]);
		free(pids);
	}
}

bool part_is_watched(const struct task *t)
{
	return t->part && !t->discarded && !t->ending && !t->limit_status && !t->over &&
	       (t->state == TASK_RUN || t->state == TASK_STOPPED);
}

static void weighing_done(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct weighing *w = arg;
	struct task *t = task_find(st, w->id);

	st->mom.sampling--;
	if (t && t->run == w->run) {
		t->weighing = false;
		if (!st->stopping && part_is_watched(t))
			PART_TELL(mod, weighed, part_of(t), w->kb);
	}
	free(w->id);
	free(w);
}

static struct weighing *weighing_of(struct task *t)
{
	const struct member *m, *next;
	struct weighing *w = calloc(1, sizeof(*w) + (1 + HASH_COUNT(t->members)) * sizeof(w->tops[0]));

	if (!w || !(w->id = strdup(t->id))) {
		free(w);
		return NULL;
	}
	w->run = t->run;
	w->tops[w->n++] = t->shepherd;
	HASH_ITER(hh, t->members, m, next)
		if (m->attached)
			w->tops[w->n++] = m->pid;
	return w;
}

int32_t part_weigh(struct keel_mod *mod, const char *id)
{
	struct state *st = mod->state;
	struct task *t = id ? task_find(st, id) : NULL;
	struct weighing *w;

	if (!t || !part_is_watched(t) || t->weighing)
		return t && t->weighing ? -EBUSY : -ENOENT;
	w = weighing_of(t);
	if (!w)
		return -ENOMEM;
	if (keel_work(mod, weighing_work, weighing_done, w) < 0) {
		free(w->id);
		free(w);
		return -ENOMEM;
	}
	st->mom.sampling++;
	t->weighing = true;
	return 0;
}

/* ---- bounds ------------------------------------------------------------------------------------------------ */

int32_t part_bound(struct keel_mod *mod, const char *id, int64_t mem_kb)
{
	struct task *t = id ? task_find(mod->state, id) : NULL;
	int64_t bytes = mem_kb > INT64_MAX / 1024 ? INT64_MAX : mem_kb * 1024;
	int r;

	if (!t || t->state == TASK_ENDED || t->state == TASK_REFUSED)
		return -ENOENT;
	if (t->state == TASK_BEGIN && !t->shepherd) { /* spawn_work() obeys it */
		t->bound_kb = mem_kb;
		return 0;
	}
	if (!t->bound)
		return -ENOTSUP;
	if (t->bound_kb == mem_kb)
		return 0;
	r = group_bound(t->bound, mem_kb > 0 ? bytes : -1);
	if (r == 0) /* less than it has now is refused while that cannot be freed: readings see it */
		t->bound_kb = mem_kb;
	return r;
}

void bound_look(struct keel_mod *mod, const struct task *t)
{
	if (t->bound && t->part && !t->discarded && !t->ending && !t->limit_status && group_kills(t->bound) > 0)
		PART_TELL(mod, starved, part_of(t), group_peak_kb(t->bound));
}
