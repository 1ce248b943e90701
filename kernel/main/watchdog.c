/* SPDX-License-Identifier: Apache-2.0
 *
 * watchdog.c - a thread that reports when the loop stands still, and where.
 *
 *   every tick: turns made or time idle? -> all is well
 *               else it stands still     -> after `after_ms`, and at each doubling: look, report
 *                                        -> after `abort_ms`: SIGABRT, whose handler tells the rest
 *
 * To look, a signal interrupts the thread of the loop: its handler copies what is needed and wakes the
 * watchdog, which does the writing. A system call of the loop may end with EINTR because of it.
 *
 * Time is counted in ticks, each for two at most: when everything was stopped (a debugger, a suspended
 * machine, a machine that has no time for anybody) nobody stood still.
 */
#include "main/watchdog.h"

#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hook/hooks.h"
#include "log/log.h"
#include "loop/loop.h"
#include "util/file.h"

#define TICKS 4 /* in the time until the first report */
#define TICK_MIN_MS 10
#define TICK_LONGEST_MS 250
#define FRAMES 48
#define FRAMES_OWN 2 /* the handler and the frame of the signal */
#define OUTSIDE 4
#define NAME_SIZE 128
#define LOOK_SIGNAL (SIGRTMIN + 1)

/* What the loop was doing; written by the handler, read after `ready`. */
struct sight {
	sem_t ready;
	bool in_tap;
	char tap[NAME_SIZE], point[NAME_SIZE], object[NAME_SIZE];
	char outside[OUTSIDE][NAME_SIZE];
	uint32_t n_outside;
	void *frames[FRAMES];
	int n_frames;
};

struct watchdog {
	struct parts *parts;
	int64_t after_ms, abort_ms, tick_ms;
	pthread_t thread, watched;
	pid_t watched_tid;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop; /* under the lock */
	/* the thread's */
	struct loop_pulse pulse;
	int64_t last_ms, still_ms, next_ms;
	char culprit[NAME_SIZE];
};

static struct sight *sight; /* a handler has no argument */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- on the thread of the loop, in a signal handler ----------------------------------------------- */
static void copy(char *to, const char *from)
{
	size_t len = from != NULL ? strnlen(from, NAME_SIZE - 1) : 0;

	if (len > 0)
		memcpy(to, from, len);
	to[len] = '\0';
}

static void looked_at(int signum)
{
	const char *outside[OUTSIDE];
	struct hooks_crumb crumb;
	int kept = errno;

	(void)signum;
	sight->in_tap = hooks_crumb(&crumb);
	if (sight->in_tap) {
		copy(sight->tap, crumb.tap);
		copy(sight->point, crumb.point);
		copy(sight->object, crumb.object);
	}
	sight->n_outside = hooks_crumbs_outside(outside, OUTSIDE);
	for (uint32_t i = 0; i < sight->n_outside; i++)
		copy(sight->outside[i], outside[i]);
	sight->n_frames = backtrace(sight->frames, FRAMES);
	sem_post(&sight->ready);
	errno = kept;
}

/* ---- reports ----------------------------------------------------------------------------------------- */
static void say(const struct watchdog *w, const char *object, const char *text)
{
	log_add_aside(w->parts->log, KEEL_LOG_ERROR | KEEL_LOG_FORCE, "Hook", object, "%s", text);
}

/* 0, or -ETIMEDOUT: the thread takes no signals, it is deep in the system. */
static int look(const struct watchdog *w)
{
	struct timespec until;
	int ret;

	while (sem_trywait(&sight->ready) == 0)
		; /* an answer that came too late last time */
	if (pthread_kill(w->watched, LOOK_SIGNAL) != 0)
		return -ESRCH;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	while ((ret = sem_timedwait(&sight->ready, &until)) < 0 && errno == EINTR)
		;
	return ret < 0 ? -ETIMEDOUT : 0;
}

static void tell_frames(const struct watchdog *w)
{
	char **names = backtrace_symbols(sight->frames, sight->n_frames);
	char line[NAME_SIZE + 512];

	for (int i = FRAMES_OWN; names != NULL && i < sight->n_frames; i++) {
		snprintf(line, sizeof(line), "  #%d %s", i - FRAMES_OWN, names[i]);
		say(w, sight->object, line);
	}
	free(names);
}

static void tell_where(struct watchdog *w)
{
	char outside[OUTSIDE * (NAME_SIZE + 16)] = "", text[sizeof(outside) + 512];

	for (uint32_t i = 0; i < sight->n_outside; i++)
		snprintf(outside + strlen(outside), sizeof(outside) - strlen(outside), "%s%s",
			 i == 0 ? ", called from " : ", ", sight->outside[i]);
	if (sight->in_tap)
		snprintf(text, sizeof(text),
			 "%s is running at %s%s, and nobody has been served for %.1f s", sight->tap,
			 sight->point, outside, (double)w->still_ms / 1000);
	else
		snprintf(text, sizeof(text),
			 "nobody has been served for %.1f s; no module is running, the backtrace shows what "
			 "is", (double)w->still_ms / 1000);
	copy(w->culprit, sight->in_tap ? sight->tap : NULL);
	say(w, sight->in_tap ? sight->object : NULL, text);
	tell_frames(w);
}

/* What the system says a thread waits in, for one that takes no signals. */
static void tell_system(const struct watchdog *w)
{
	char path[64], text[512], *in = NULL;
	bool known;
	size_t len;

	snprintf(path, sizeof(path), "/proc/self/task/%d/wchan", (int)w->watched_tid);
	known = file_read(path, NAME_SIZE, &in, &len) == 0 && len > 1;
	snprintf(text, sizeof(text),
		 "nobody has been served for %.1f s: the daemon is in the system%s%s and cannot be "
		 "interrupted; a file system that hangs does that",
		 (double)w->still_ms / 1000, known ? ", in " : "", known ? in : "");
	free(in);
	say(w, NULL, text);
}

static void report(struct watchdog *w)
{
	if (look(w) == 0)
		tell_where(w);
	else
		tell_system(w);
}

/* ---- how long? ----------------------------------------------------------------------------------------- */
struct culprit {
	struct hooks *hooks;
	char tap[NAME_SIZE];
};

/* On the loop: from now on each call of the tap is timed. */
static void culprit_watch(void *arg)
{
	struct culprit *c = arg;

	hooks_watch(c->hooks, c->tap);
	free(c);
}

static void culprit_post(const struct watchdog *w)
{
	struct culprit *c = malloc(sizeof(*c));

	if (c == NULL)
		return;
	c->hooks = w->parts->hooks;
	copy(c->tap, w->culprit);
	if (loop_post(w->parts->loop, culprit_watch, c) < 0)
		free(c);
}

static void is_alive(struct watchdog *w)
{
	char text[80];

	if (w->next_ms > w->after_ms) {
		snprintf(text, sizeof(text), "everybody is served again, after %.1f s",
			 (double)w->still_ms / 1000);
		say(w, NULL, text);
		if (w->culprit[0] != '\0')
			culprit_post(w);
	}
	w->still_ms = 0;
	w->next_ms = w->after_ms;
}

static void stands_still(struct watchdog *w, int64_t passed_ms)
{
	w->still_ms += passed_ms < 2 * w->tick_ms ? passed_ms : 2 * w->tick_ms;
	if (w->still_ms >= w->next_ms) {
		w->next_ms *= 2;
		report(w);
	}
	if (w->abort_ms > 0 && w->still_ms >= w->abort_ms) {
		say(w, NULL, "the daemon ends itself: hooks.watchdog_abort says it has stood still for "
			     "too long");
		pthread_kill(w->watched, SIGABRT);
		w->abort_ms = 0;
	}
}

static void tick(struct watchdog *w)
{
	struct loop_pulse pulse;
	int64_t now = now_ms();

	loop_pulse(w->parts->loop, &pulse);
	if (pulse.turns != w->pulse.turns || pulse.idle_ns != w->pulse.idle_ns)
		is_alive(w);
	else
		stands_still(w, now - w->last_ms);
	w->pulse = pulse;
	w->last_ms = now;
}

static bool wait_tick(struct watchdog *w)
{
	struct timespec until;
	bool stop;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += w->tick_ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&w->lock);
	if (!w->stop)
		pthread_cond_timedwait(&w->wake, &w->lock, &until);
	stop = w->stop;
	pthread_mutex_unlock(&w->lock);
	return !stop;
}

static void *watch(void *arg)
{
	struct watchdog *w = arg;

	w->last_ms = now_ms();
	loop_pulse(w->parts->loop, &w->pulse);
	while (wait_tick(w))
		tick(w);
	return NULL;
}

/* ---- life ------------------------------------------------------------------------------------------------ */
static int thread_start(struct watchdog *w)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the loop's */
	ret = pthread_create(&w->thread, NULL, watch, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret == 0)
		pthread_setname_np(w->thread, "watchdog");
	return -ret;
}

static void watchdog_free(struct watchdog *w)
{
	signal(LOOK_SIGNAL, SIG_IGN);
	if (sight != NULL)
		sem_destroy(&sight->ready);
	free(sight);
	sight = NULL;
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int watchdog_start(struct parts *parts, int64_t after_ms, int64_t abort_ms,
		   struct watchdog **ret_watchdog)
{
	struct sigaction act = { .sa_handler = looked_at, .sa_flags = (int)(SA_RESTART | SA_ONSTACK) };
	struct watchdog *w = after_ms > 0 && sight == NULL ? calloc(1, sizeof(*w)) : NULL;
	pthread_condattr_t monotonic;
	void *warm[1];
	int ret = -ENOMEM;

	*ret_watchdog = NULL;
	if (w == NULL)
		return after_ms > 0 ? -ENOMEM : 0;
	w->parts = parts;
	w->after_ms = w->next_ms = after_ms;
	w->abort_ms = abort_ms;
	w->tick_ms = after_ms / TICKS < TICK_MIN_MS ? TICK_MIN_MS :
		     after_ms / TICKS > TICK_LONGEST_MS ? TICK_LONGEST_MS : after_ms / TICKS;
	w->watched = pthread_self();
	w->watched_tid = gettid();
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	sight = calloc(1, sizeof(*sight));
	if (sight != NULL) {
		sem_init(&sight->ready, 0, 0);
		backtrace(warm, 1); /* loads what it needs now, not in the handler */
		sigaction(LOOK_SIGNAL, &act, NULL);
		ret = thread_start(w);
	}
	if (ret < 0) {
		watchdog_free(w);
		return ret;
	}
	*ret_watchdog = w;
	return 0;
}

void watchdog_stop(struct watchdog *w)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	watchdog_free(w);
}
