/* SPDX-License-Identifier: Apache-2.0
 *
 * late.c - who owes an answer for too long.
 *
 * A process does one thing at a time, in the order it was told: what it owes first, it works at since it was told
 * that, or since it answered what came before. Beyond the deadline it is given up. One that computes, or sleeps
 * without a word, for longer than the module's patience while others wait is suspected to hang: it keeps that call
 * until the deadline, the others go to its stand-by. One that waits for a processor is not: another would wait,
 * too. That only when nothing but calls not begun depends on it, because the stand-by knows what replay tells, no
 * more. Who answers in time after all has shown that its calls take so long: from then on twice that time is
 * waited.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "isolate/inside.h"
#include "log/log.h"

static void sweep(void *arg);

static int64_t now_ms(const struct process *p)
{
	return loop_now_ms(p->iso->parts->loop);
}

static bool owes(const struct process *p)
{
	return p->pending != NULL || p->notes > 0;
}

static bool retired(const struct process *p)
{
	return p != p->iso->now && p != p->iso->spare;
}

static void sweep_later(struct process *p)
{
	const struct isolate *iso = p->iso;
	int64_t each = iso->limits.deadline_ms / 4;

	if (iso->limits.patience_ms > 0 && iso->patience_ms / 4 < each)
		each = iso->patience_ms / 4;
	if (p->sweep == NULL && p->fd >= 0)
		p->sweep = loop_timer(iso->parts->loop, each + 1, sweep, p);
}

void process_owes(struct process *p)
{
	if (!owes(p))
		p->busy_ms = now_ms(p);
	sweep_later(p);
}

void process_paid(struct process *p)
{
	p->mute = false;
	p->busy_ms = now_ms(p);
}

/* ---- calls that take long ------------------------------------------------------------------------------ */
/* How long it has computed since it was first seen at what it owes. */
static int64_t computed_ms(struct process *p)
{
	struct timespec t;
	clockid_t clock;
	int64_t ns;

	if (clock_getcpuclockid(p->pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
		return 0;
	ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	if (p->computing != p->pending->id) {
		p->computing = p->pending->id;
		p->cpu_ns = ns;
	}
	return (ns - p->cpu_ns) / 1000000;
}

static bool sleeps(pid_t pid)
{
	char path[32], line[512], *state;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	line[n] = '\0';
	state = strrchr(line, ')'); /* behind its name */
	return state != NULL && strchr("SDT", state[2]) != NULL;
}

/* How long it was asleep whenever it was looked at, and not a word came of it. */
static int64_t slept_ms(struct process *p)
{
	if (p->words != p->silent_since || !sleeps(p->pid)) {
		p->silent_since = p->words;
		p->asleep_ms = now_ms(p);
	}
	return now_ms(p) - p->asleep_ms;
}

static bool suspected(struct process *p)
{
	const struct isolate *iso = p->iso;
	const struct process *other;
	int64_t slept, computed;
	int n;

	if (p != iso->now || p->state != PROCESS_UP || iso->limits.patience_ms == 0 || p->pending == NULL)
		return false;
	computed = computed_ms(p);
	slept = slept_ms(p);
	if (computed < iso->patience_ms && slept < iso->patience_ms)
		return false;
	DL_COUNT(iso->retired, other, n);
	return n < RETIRED_MAX && iso->spare != NULL && iso->spare->state == PROCESS_CHECKED &&
	       restart_wait(iso) == 0 && p->notes == 0 && p->raised == NULL && iso->n_durables == 0 && !requests_open(p) &&
	       calls_can_move(p);
}

static void suspect(struct process *p)
{
	iso_log(p->iso, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN,
		"%s.%s is at one call for %lld ms and %u others wait: another process serves them, this one has its "
		"deadline", p->iso->name, calls_tap(p), (long long)(now_ms(p) - p->busy_ms),
		HASH_COUNT(p->pending) - 1);
	process_retire(p);
}

/* It did not hang. */
static void acquit(struct process *p)
{
	struct isolate *iso = p->iso;
	int64_t took = p->busy_ms - p->suspect_ms;

	if (2 * took > iso->patience_ms)
		iso->patience_ms = 2 * took < iso->limits.deadline_ms ? 2 * took : iso->limits.deadline_ms;
	iso_log(iso, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN,
		"the call that took long was answered after %lld ms; the next one may for %lld ms before others "
		"are served elsewhere", (long long)took, (long long)iso->patience_ms);
	process_dismiss(p);
}

/* ---- the look from time to time ------------------------------------------------------------------------ */
static void judge(struct process *p)
{
	const struct isolate *iso = p->iso;
	int64_t deadline = p->state == PROCESS_COMING ? OPEN_DEADLINE_MS : iso->limits.deadline_ms;
	int64_t late = now_ms(p) - p->busy_ms;

	if (!owes(p)) {
		if (retired(p) && p->holds == NULL && p->raised == NULL && process_hears(p))
			acquit(p);
	} else if (late >= deadline) {
		process_give_up(p, p->pending != NULL ? "its process gave no answer for %lld ms" :
				   "its process has not finished what it was told for %lld ms",
				(long long)deadline);
	} else if (suspected(p)) {
		suspect(p);
	}
}

static void sweep(void *arg)
{
	struct process *p = arg;

	p->sweep = NULL;
	p->users++;
	process_pump(p); /* we may be the one who was late */
	if (p->iso != NULL) {
		judge(p);
		if (owes(p) || retired(p))
			sweep_later(p);
	}
	process_unuse(p);
}
