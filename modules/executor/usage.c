/* SPDX-License-Identifier: Apache-2.0
 *
 * usage.c - what tasks use, and their limits. One tick a second while there are tasks; when any of
 * them is due, one reading of the process table on a worker thread serves all that are.
 */
#include "executor.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "duration.h"
#include "proc.h"

#define TICK_MS 1000
#define OVER_CPUT -28
#define OVER_WALLTIME -29

#define AT_ONCE 32 /* tasks in one turn of the loop: each has files that are written and read */

struct reading {
	struct proc *all;
	size_t n;
	struct sum *sums; /* of tasks that were due when it was done, by top */
	size_t n_sums;
	int64_t now_ms;
};

/* Of a task, below its shepherd; or of a process that was taken into one: that counts itself. */
struct sum {
	pid_t top, shepherd;
	uint64_t ticks, vmem, rss;
};

static int by_top(const void *a, const void *b)
{
	pid_t x = ((const struct sum *)a)->top, y = ((const struct sum *)b)->top;

	return (x > y) - (x < y);
}

static void sum_add(struct sum *s, const struct proc *p)
{
	s->ticks += p->ticks + p->child_ticks;
	s->vmem += p->vmem;
	s->rss += p->rss;
}

/* The task's sum that `p` belongs to: follow its parents up to a shepherd. */
static struct sum *sum_of(const struct reading *r, const struct proc *p, struct sum *sums, size_t n)
{
	/* The table may change while it is read: bounded steps. */
	for (int steps = 0; p && steps < 1000; steps++) {
		struct sum key = { .top = p->parent }, *found;

		found = bsearch(&key, sums, n, sizeof(*sums), by_top);
		if (found)
			return found;
		p = p->parent > 1 ? proc_find(r->all, r->n, p->parent) : NULL;
	}
	return NULL;
}

static void sums_fill(const struct reading *r, struct sum *sums, size_t n)
{
	qsort(sums, n, sizeof(*sums), by_top);
	for (size_t i = 0; i < r->n; i++) {
		const struct proc *p = &r->all[i];
		struct sum key = { .top = p->pid }, *s;

		/* What orphans used is in the shepherd's account of its children. */
		s = bsearch(&key, sums, n, sizeof(*sums), by_top);
		if (s && !s->shepherd) {
			s->ticks += p->child_ticks;
			continue;
		}
		if (s) {
			sum_add(s, p);
			continue;
		}
		s = sum_of(r, p, sums, n);
		if (!s)
			continue;
		sum_add(s, p);
	}
}

static uint32_t attached_count(const struct task *t)
{
	const struct member *m, *next;
	uint32_t n = 0;

	HASH_ITER(hh, t->members, m, next)
		n += m->attached;
	return n;
}

static size_t attached_put(const struct task *t, struct sum *sums)
{
	const struct member *m, *next;
	size_t n = 0;

	HASH_ITER(hh, t->members, m, next)
		if (m->attached)
			sums[n++] = (struct sum){ .top = m->pid, .shepherd = t->shepherd };
	return n;
}

/* What those have used goes to their tasks. */
static void attached_add(struct sum *sums, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sum key = { .top = sums[i].shepherd };
		struct sum *s = key.top ? bsearch(&key, sums, n, sizeof(*sums), by_top) : NULL;

		if (!s)
			continue;
		s->ticks += sums[i].ticks;
		s->vmem += sums[i].vmem;
		s->rss += sums[i].rss;
	}
}

static void usage_take(struct task *t, const struct sum *s, int64_t now)
{
	static const uint64_t kb = 1024;
	struct usage *u = &t->usage;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), hz = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t cput = s->ticks * 1000 / hz, percent;

	if (cput > u->cput_ms)
		u->cput_ms = cput;
	u->now_mem_kb = s->rss * page / kb;
	if (u->now_mem_kb > u->mem_kb)
		u->mem_kb = u->now_mem_kb;
	if (s->vmem / kb > u->vmem_kb)
		u->vmem_kb = s->vmem / kb;
	if (u->last_at_ms && now > u->last_at_ms && u->cput_ms >= u->last_cput_ms) {
		percent = (u->cput_ms - u->last_cput_ms) * 100 / (uint64_t)(now - u->last_at_ms);
		if (percent > u->cpupercent)
			u->cpupercent = percent;
	}
	u->last_at_ms = now;
	u->last_cput_ms = u->cput_ms;
}

static uint32_t items_fill(struct keel_mod *mod, const struct task *t, const struct elsewhere *e, char text[USAGE_ITEMS][48],
			   const char *items[USAGE_ITEMS])
{
	const struct usage *u = &t->usage;
	char cput[24], wall[24];

	duration_text((int64_t)((u->cput_ms + e->cput_ms) / 1000), cput, sizeof(cput));
	duration_text(task_walltime_ms(mod, t) / 1000, wall, sizeof(wall));
	snprintf(text[0], 48, "cpupercent=%llu", (unsigned long long)(u->cpupercent + e->cpupercent));
	snprintf(text[1], 48, "cput=%s", cput);
	snprintf(text[2], 48, "mem=%llukb", (unsigned long long)(u->mem_kb + e->mem_kb));
	snprintf(text[3], 48, "ncpus=%lld", (long long)t->ncpus);
	snprintf(text[4], 48, "vmem=%llukb", (unsigned long long)(u->vmem_kb + e->vmem_kb));
	snprintf(text[5], 48, "walltime=%s", wall);
	for (int i = 0; i < USAGE_ITEMS; i++)
		items[i] = text[i];
	return USAGE_ITEMS;
}

uint32_t usage_items(struct keel_mod *mod, const struct task *t, char text[USAGE_ITEMS][48], const char *items[USAGE_ITEMS])
{
	struct elsewhere sum = { 0 };

	part_elsewhere_sum(t->part, &sum);
	return items_fill(mod, t, &sum, text, items);
}

uint32_t usage_own(struct keel_mod *mod, const struct task *t, char text[USAGE_ITEMS][48], const char *items[USAGE_ITEMS])
{
	return items_fill(mod, t, &(struct elsewhere){ 0 }, text, items);
}

void usage_measure(struct keel_mod *mod, struct task *t)
{
	struct sum sum = { 0 };
	struct proc p;
	pid_t *pids = NULL;
	size_t n = 0;

	if (proc_descendants(t->shepherd, &pids, &n) == 0 && proc_read(t->shepherd, &p) == 0)
		sum.ticks = p.child_ticks;
	for (size_t i = 0; i < n; i++)
		if (proc_read(pids[i], &p) == 0)
			sum_add(&sum, &p);
	free(pids);
	usage_take(t, &sum, keel_now_ms(mod));
	task_used(mod, t);
}

/* ---- limits ----------------------------------------------------------------------------------- */

void limit_exceeded(struct keel_mod *mod, struct task *t, int32_t status, const char *line)
{
	const struct conf *cf = mod->conf;

	if (!t->limit_status) {
		t->limit_status = status;
		if (line) {
			snprintf(t->notice, sizeof(t->notice), "%s", line);
			record_note(mod, t, "notice %s", t->notice);
			keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "%s", t->notice);
		}
		record_note(mod, t, "limit %d", (int)status);
	}
	if (t->over) /* its output is being placed */
		return;
	keel_log(mod, KEEL_LOG_JOB, "Job", t->id, "kill_job");
	stop_kill(mod, t, cf->kill_delay);
}

static void time_exceeded(struct keel_mod *mod, struct task *t, const char *name, int64_t used, int64_t limit, int status)
{
	char line[100];

	snprintf(line, sizeof(line), "%s %lld exceeded limit %lld", name, (long long)used, (long long)limit);
	limit_exceeded(mod, t, status, line);
}

static void limits_check(struct keel_mod *mod, struct task *t)
{
	int64_t wall = task_walltime_ms(mod, t) / 1000, cput;
	struct elsewhere sum = { 0 };

	if (t->limit_status || t->state != TASK_RUN || t->over || is_sister(t))
		return;
	part_elsewhere_sum(t->part, &sum);
	cput = (int64_t)((t->usage.cput_ms + sum.cput_ms) / 1000);
	if (t->walltime_limit > 0 && wall > t->walltime_limit)
		time_exceeded(mod, t, "walltime", wall, t->walltime_limit, OVER_WALLTIME);
	else if (t->cput_limit > 0 && cput > t->cput_limit)
		time_exceeded(mod, t, "cput", cput, t->cput_limit, OVER_CPUT);
}

/* Modules with limits of their own. One that is ending is what it is. */
static void measured(struct keel_mod *mod, const struct task *t)
{
	struct keel_part_reading r = { .size = sizeof(r), .mem_kb = (int64_t)t->usage.now_mem_kb,
				       .cput_ms = (int64_t)t->usage.cput_ms, .walltime_ms = task_walltime_ms(mod, t) };

	if (part_is_watched(t))
		bound_look(mod, t);
	if (part_is_watched(t)) /* still */
		PART_TELL(mod, measured, part_of(t), &r);
}

/* ---- tick ------------------------------------------------------------------------------------- */

static bool is_due(const struct task *t, int64_t now)
{
	return (t->state == TASK_RUN || t->state == TASK_STOPPED) && !t->over && t->next_usage_ms <= now;
}

static void reading_work(void *arg)
{
	struct reading *r = arg;

	if (proc_snapshot(&r->all, &r->n) < 0)
		r->n = 0;
}

static void reading_free(struct state *st, struct reading *r)
{
	st->mom.reading = NULL;
	st->mom.sampling--;
	free(r->sums);
	free(r->all);
	free(r);
}

static void task_take(struct keel_mod *mod, struct task *t, const struct sum *s, int64_t now)
{
	const struct conf *cf = mod->conf;

	usage_take(t, s, now);
	record_usage(mod, t);
	t->next_usage_ms = now + (cf->usage_interval > 0 ? cf->usage_interval : 10000);
	limits_check(mod, t);
	measured(mod, t);
	task_used(mod, t);
}

/* Some of the tasks; one that has its reading is due no more. */
static void reading_use(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct reading *r = arg;
	struct task *t, *next;
	int taken = 0;

	st->mom.reading = r;
	HASH_ITER(hh, st->mom.tasks, t, next) {
		struct sum key = { .top = t->shepherd }, *s = NULL;

		if (r->sums && is_due(t, r->now_ms))
			s = bsearch(&key, r->sums, r->n_sums, sizeof(*r->sums), by_top);
		if (!s)
			continue;
		if (taken++ == AT_ONCE && !st->stopping && keel_defer(mod, reading_use, r) == 0)
			return;
		task_take(mod, t, s, r->now_ms);
	}
	reading_free(st, r);
}

void usage_fini(struct state *st)
{
	if (st->mom.reading)
		reading_free(st, st->mom.reading);
}

static void reading_done(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct reading *r = arg;
	size_t room = 1;
	struct task *t, *next;

	r->now_ms = keel_now_ms(mod);
	HASH_ITER(hh, st->mom.tasks, t, next)
		room += 1 + attached_count(t);
	r->sums = calloc(room, sizeof(*r->sums));
	HASH_ITER(hh, st->mom.tasks, t, next)
		if (r->sums && is_due(t, r->now_ms)) {
			r->sums[r->n_sums++].top = t->shepherd;
			r->n_sums += attached_put(t, r->sums + r->n_sums);
		}
	if (r->sums && r->n)
		sums_fill(r, r->sums, r->n_sums);
	if (r->sums)
		attached_add(r->sums, r->n_sums);
	reading_use(mod, r);
}

static void reading_start(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct reading *r = st->mom.sampling ? NULL : calloc(1, sizeof(*r));

	if (!r)
		return;
	st->mom.sampling++;
	if (keel_work(mod, reading_work, reading_done, r) < 0) {
		st->mom.sampling--;
		free(r);
	}
}

static void tick(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	int64_t now = keel_now_ms(mod);
	struct task *t, *next;
	bool due = false;

	(void)arg;
	st->mom.tick = NULL;
	HASH_ITER(hh, st->mom.tasks, t, next) {
		limits_check(mod, t);
		due |= is_due(t, now);
	}
	if (due)
		reading_start(mod);
	still_look(mod);
	usage_tick(mod);
}

void usage_tick(struct keel_mod *mod)
{
	struct state *st = mod->state;

	if (!st->mom.tick && st->mom.tasks && !st->stopping)
		st->mom.tick = keel_timer(mod, TICK_MS, tick, NULL);
}
