/* SPDX-License-Identifier: Apache-2.0
 *
 * pool.c - calls of scripts: from waiting to a process to an answer.
 *
 *   pool_ask() -> waits -> a process has it, behind others or running -> answered
 *                    ^------ its process is ended before it has begun
 *
 * A pool is of a hook. Up to `processes` of one user serve it; the next one is started when calls wait. A script that takes
 * little gets some calls ahead, so that its process never idles between two. Processes that come to nothing, one behind the
 * other, make calls fail for a while, with the words of the last one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

#define BACKOFF_MS 100
#define ALARM_MAX INT64_C(1000000000) /* seconds */

/* ---- the end of a call -------------------------------------------------------------------------------- */
static void ask_free(struct ask *a)
{
	pack_fini(&a->frame);
	free(a->user);
	free(a);
}

void ask_finish(struct ask *a, struct result *result)
{
	struct pools *pools = a->pool->st->pools;
	struct run *run = a->run;
	ask_done *done = a->done;

	if (pools->looked_for == a->number)
		pools->looked_for = 0;
	pools->ended_us = keel_clock_us(a->pool->st->mod);
	snprintf(pools->about, sizeof(pools->about), "%s", run ? run->id : "");
	ask_free(a);
	if (run)
		done(run, result);
}

void ask_finish_as(struct ask *a, enum how how, const char *text, int64_t us)
{
	struct result result = { .how = how, .text = text ? strdup(text) : NULL, .us = us };

	ask_finish(a, &result);
	result_fini(&result);
}

static void waiting_take(struct ask *a)
{
	DL_DELETE(a->pool->waiting, a);
	a->pool->n_waiting--;
}

void ask_cancel(struct ask *a)
{
	a->run = NULL;
	if (a->process)
		return;
	waiting_take(a);
	ask_free(a);
}

/* All that wait have this end. What comes meanwhile is left. */
static void waiting_finish(struct pool *pool, enum how how, const char *text)
{
	const int64_t last = pool->st->pools->number;
	struct ask *a;

	while ((a = pool->waiting) != NULL && a->number <= last) {
		waiting_take(a);
		ask_finish_as(a, how, text, 0);
	}
}

void pool_back(struct process *p, const struct ask *but)
{
	struct pool *pool = p->pool;
	struct ask *a;

	while ((a = p->asks ? p->asks->prev : NULL) != but) { /* the last one first */
		process_release(p, a);
		a->process = NULL;
		if (a->run) {
			DL_PREPEND(pool->waiting, a);
			pool->n_waiting++;
		} else {
			ask_free(a);
		}
	}
}

/* ---- which process ----------------------------------------------------------------------------------- */
static bool serves(const struct process *p, bool of_mom, const char *user)
{
	return !p->leaves && p->phase != ENDING && p->of_mom == of_mom && strcmp(p->user, user) == 0;
}

/* Behind a call that takes longer than is usual nothing is put: it may run until its alarm. */
static bool has_room(const struct pool *pool, const struct process *p, const struct ask *a)
{
	if (p->phase != UP || p->last_call)
		return false;
	return p->n_asks == 0 || (p->n_asks < AHEAD && pool->usual_us < AHEAD_US && p->ahead_bytes + a->frame.len <= AHEAD_BYTES &&
				  keel_now_ms(pool->st->mod) - p->began_ms < AHEAD_US / 1000);
}

/* The one with the fewest calls; NULL: none has room. */
static struct process *process_for(const struct pool *pool, const struct ask *a)
{
	struct process *p, *best = NULL;

	DL_FOREACH(pool->processes, p)
		if (serves(p, a->of_mom, a->user) && has_room(pool, p, a) && (!best || p->n_asks < best->n_asks))
			best = p;
	return best;
}

/* One that has nothing to do makes room for another user's. */
static void process_spare(const struct pool *pool)
{
	struct process *p;

	DL_FOREACH(pool->processes, p) {
		if (p->phase == UP && p->n_asks == 0) {
			process_leave(p);
			return;
		}
	}
}

/* Another process, unless there are enough or one is on its way. */
static void grow(struct pool *pool, bool of_mom, const char *user)
{
	const struct conf *conf = pool->st->mod->conf;
	const struct process *p;
	int64_t n = 0;

	DL_FOREACH(pool->processes, p) {
		if (!serves(p, of_mom, user))
			continue;
		if (p->phase != UP)
			return;
		n++;
	}
	if (n >= conf->processes || pool->not_before_ms > keel_now_ms(pool->st->mod))
		return;
	if (pool->n_processes >= PROCESSES_MAX)
		process_spare(pool);
	else if (!process_start(pool, of_mom, user))
		pool_failed(pool, "no memory for a process");
}

static void pump_later(struct keel_mod *mod, void *arg)
{
	struct pool *pool = arg;

	(void)mod;
	pool->later = NULL;
	if (pool->broken_until_ms > 0 && pool->n_waiting > 0 && pool->fails >= FAILS_MAX)
		waiting_finish(pool, BROKEN, pool->why);
	pool_pump(pool);
}

static void pump_in(struct pool *pool, int64_t ms)
{
	keel_timer_cancel(pool->later);
	pool->later = keel_timer(pool->st->mod, ms + 1, pump_later, pool);
}

void pool_failed(struct pool *pool, const char *why)
{
	int64_t now = keel_now_ms(pool->st->mod), wait = pool->fails > 0 ? BACKOFF_MS << (pool->fails - 1) : 0;

	snprintf(pool->why, sizeof(pool->why), "%s", why);
	keel_log(pool->st->mod, KEEL_LOG_ERROR | KEEL_LOG_SYSTEM, "Hook", pool->name, "%s", why);
	if (++pool->fails >= FAILS_MAX) {
		pool->fails = FAILS_MAX;
		wait = BROKEN_MS;
		pool->broken_until_ms = now + wait;
	}
	pool->not_before_ms = now + wait;
	pump_in(pool, pool->broken_until_ms > now ? 0 : wait);
}

static bool is_ready(const struct pool *pool)
{
	return pool->hook && !pool->hook->loading && tables_get(pool->st);
}

void pool_pump(struct pool *pool)
{
	struct ask *a, *next;
	struct process *p;

	if (!pool->waiting || !is_ready(pool))
		return;
	if (!pool->hook->script) {
		waiting_finish(pool, ACCEPTED, NULL);
		return;
	}
	DL_FOREACH_SAFE(pool->waiting, a, next) {
		p = process_for(pool, a);
		if (p) {
			waiting_take(a);
			process_take(p, a);
		}
		if (!p || p->n_asks > 1)
			grow(pool, p ? p->of_mom : a->of_mom, p ? p->user : a->user);
		if (!p && pool->n_waiting > PROCESSES_MAX) /* those behind it are most likely of the same user */
			break;
	}
}

/* ---- a call -------------------------------------------------------------------------------------------- */
static struct pool *pool_of(struct state *st, struct hook *h)
{
	struct pool *pool = h->pool;

	if (pool)
		return pool;
	pool = calloc(1, sizeof(*pool));
	if (pool)
		*pool = (struct pool){ .st = st, .hook = h, .name = strdup(h->name) };
	if (!pool || !pool->name) {
		free(pool);
		return NULL;
	}
	DL_APPEND(st->pools->all, pool);
	h->pool = pool;
	return pool;
}

static struct ask *ask_new(struct pool *pool, struct run *r, const struct pack *event, ask_done *done)
{
	struct ask *a = calloc(1, sizeof(*a));
	uint32_t open;

	if (!a)
		return NULL;
	*a = (struct ask){ .pool = pool, .run = r, .done = done, .of_mom = r->event->daemon == KEEL_MOM,
			   .alarm_ms = (r->hook->alarm < ALARM_MAX ? r->hook->alarm : ALARM_MAX) * 1000, .number = ++pool->st->pools->number,
			   .user = strdup(r->hook->user == HOOK_OWNER ? r->user : "") };
	open = pack_open_list(&a->frame);
	pack_text(&a->frame, "call");
	pack_int(&a->frame, a->number);
	pack_raw(&a->frame, event);
	pack_close(&a->frame, open, 3);
	if (!a->frame.failed && a->user)
		return a;
	ask_free(a);
	return NULL;
}

/* Calls come one behind the other, of many requests: the loop has other things to do meanwhile. Not so the next hook of one. */
static bool is_busy(const struct pools *pools, const struct ask *a, int64_t now)
{
	return now - pools->ended_us < LOOK_US && strcmp(pools->about, a->run->id) != 0;
}

/* An answer that comes at once is waited for, before this processor is left to sleep: waking it takes longer than most scripts
 * do. After a look in vain some calls are not looked after. The process and its pool outlive this. */
static void look_for(struct pools *pools, const struct ask *a)
{
	struct process *p = a->process;
	struct keel_mod *mod = a->pool->st->mod;
	int64_t now = keel_clock_us(mod), until = now + LOOK_US;

	if (!p || p->reading || p->asks != a || pools->blind > 0 || is_busy(pools, a, now)) {
		pools->blind -= pools->blind > 0;
		return;
	}
	pools->blind = BLIND_CALLS;
	pools->looked_for = a->number;
	do {
		keel_supervise_look(p->program);
		if (pools->looked_for == 0)
			pools->blind = 0;
	} while (pools->looked_for != 0 && p->phase == UP && keel_clock_us(mod) < until);
	pools->looked_for = 0;
}

struct ask *pool_ask(struct run *r, const struct pack *event, ask_done *done)
{
	struct pool *pool = pool_of(r->st, r->hook);
	struct result broken = { .how = BROKEN };
	struct ask *a;

	if (!pool || (r->hook->user == HOOK_OWNER && r->user[0] == '\0') || pool->n_waiting >= WAITING_MAX)
		return NULL;
	if (pool->broken_until_ms > keel_now_ms(r->st->mod)) {
		broken.text = strdup(pool->why);
		done(r, &broken);
		result_fini(&broken);
		return NULL;
	}
	a = ask_new(pool, r, event, done);
	if (!a)
		return NULL;
	DL_APPEND(pool->waiting, a);
	pool->n_waiting++;
	pool_pump(pool); /* answers nothing but where there is no script, which no run begins with */
	look_for(r->st->pools, a);
	return a;
}

/* ---- hooks change, and go -------------------------------------------------------------------------------- */
static void pool_renew(struct pool *pool)
{
	struct process *p, *next;

	DL_FOREACH_SAFE(pool->processes, p, next)
		process_leave(p);
	pool->fails = 0;
	pool->not_before_ms = pool->broken_until_ms = 0;
	pool->usual_us = 0;
	pool_pump(pool);
}

void pool_retire(struct hook *h)
{
	h->announced = false;
	if (h->pool)
		pool_renew(h->pool);
}

void pool_wake(struct hook *h)
{
	if (h->pool)
		pool_pump(h->pool);
}

void pools_stale(struct state *st)
{
	struct pool *pool, *next;

	DL_FOREACH_SAFE(st->pools->all, pool, next)
		pool_renew(pool);
}

void pool_end_maybe(struct pool *pool)
{
	if (pool->hook || pool->processes || pool->waiting)
		return;
	keel_timer_cancel(pool->later);
	DL_DELETE(pool->st->pools->all, pool);
	free(pool->name);
	free(pool);
}

void pool_free(struct hook *h)
{
	struct pool *pool = h->pool;
	struct process *p, *next;

	if (!pool)
		return;
	h->pool = NULL;
	pool->hook = NULL;
	DL_FOREACH_SAFE(pool->processes, p, next)
		process_leave(p);
	waiting_finish(pool, ACCEPTED, NULL);
	pool_end_maybe(pool);
}

int32_t pools_start(struct state *st, struct keel_err *err)
{
	struct pools *pools = calloc(1, sizeof(*pools));
	int32_t ret;

	if (!pools)
		return keel_error(err, -ENOMEM, "no memory");
	st->pools = pools;
	ret = setup_start(st, err);
	return ret == 0 ? folders_start(st, err) : ret;
}

static void pool_stop(struct pool *pool)
{
	struct process *p, *next;
	struct ask *a, *after;

	if (pool->hook)
		pool->hook->pool = NULL;
	pool->hook = NULL;
	DL_FOREACH_SAFE(pool->processes, p, next)
		process_stop(p);
	DL_FOREACH_SAFE(pool->waiting, a, after) {
		waiting_take(a);
		ask_free(a);
	}
	pool_end_maybe(pool);
}

void pools_stop(struct state *st)
{
	struct pool *pool, *next;

	if (!st->pools)
		return;
	checks_stop(st);
	DL_FOREACH_SAFE(st->pools->all, pool, next)
		pool_stop(pool);
	folders_stop(st);
	setup_stop(st);
	free(st->pools);
	st->pools = NULL;
}
