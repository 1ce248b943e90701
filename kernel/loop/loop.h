/* SPDX-License-Identifier: Apache-2.0
 *
 * loop.h - the event loop and the clock; the only user of libuv, the only reader of time.
 *
 * A *turn* is one pass: all callbacks of ready events, then the deferred calls, then the turn-end
 * callback (store commit). Everything but loop_post() is for the loop thread. A simulation is linked with another
 * implementation of this header, in virtual time (sdk/mock/virtual.h). Functions that return int return 0 or -errno.
 */
#ifndef KEELSON_LOOP_H
#define KEELSON_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct keel_account;
struct loop;
struct loop_timer;
struct loop_watch;
typedef void loop_fn(void *arg);

int loop_create(struct loop **ret_loop);
void loop_destroy(struct loop *l); /* every timer, watch and worker call must have ended; may be NULL */
int loop_run(struct loop *l);      /* until loop_stop() */
void loop_stop(struct loop *l);
/* Run turns until `done()` returns true (0) or `deadline_ms` from now have passed (-ETIMEDOUT); for start-up, shutdown
 * and tests, never inside a callback. A loop_stop() meanwhile takes effect in loop_run(). */
int loop_run_until(struct loop *l, bool (*done)(void *arg), void *arg, int64_t deadline_ms);

int64_t loop_now_ms(const struct loop *l);  /* monotonic, of this turn */
int64_t loop_time(const struct loop *l);    /* wall clock, seconds */
int64_t loop_time_us(const struct loop *l); /* wall clock, microseconds */
/* For measuring how long code takes, never for deciding when something is due. */
int64_t loop_clock_ns(struct loop *l);
/* Returns how long this thread was runnable and waited for a processor; 0 where the system has no such figure. Safe in
 * a signal handler of this thread. */
int64_t loop_delay_ns(struct loop *l);

/* A timer for one callback. NULL: no memory. loop_timer_cancel() takes NULL, and may be called in the callback. */
struct loop_timer *loop_timer(struct loop *l, int64_t after_ms, loop_fn *fn, void *arg);
void loop_timer_cancel(struct loop_timer *t);

/* Call fn later in this turn, in order; in the next one when this turn has lasted too long already. */
int loop_defer(struct loop *l, loop_fn *fn, void *arg);
/* Cancel calls that were deferred with this fn and arg. */
void loop_defer_cancel(struct loop *l, loop_fn *fn, void *arg);
int loop_post(struct loop *l, loop_fn *fn, void *arg);  /* any thread */

/* Sets the callback for the end of each turn in which loop_turn_due() was called. One caller: the store front. */
void loop_turn_end(struct loop *l, loop_fn *fn, void *arg);
void loop_turn_due(struct loop *l);

/* Call `work` on a worker thread, then `done` on the loop's. */
int loop_work(struct loop *l, loop_fn *work, loop_fn *done, void *arg);
void loop_work_end(struct loop *l); /* waits until each `done` has returned */

enum loop_events { LOOP_READABLE = 1, LOOP_WRITABLE = 2 };
typedef void loop_fd_fn(void *arg, int events);
/* The fd becomes non-blocking. On an error of the fd the callback gets all events that are watched. Fails with -EPERM
 * for a fd that is always ready (a regular file). */
int loop_watch(struct loop *l, int fd, int events, loop_fd_fn *fn, void *arg, struct loop_watch **ret_watch);
int loop_watch_set(struct loop_watch *w, int events); /* change what is watched; 0 = pause */
void loop_watch_cancel(struct loop_watch *w);         /* the fd stays open */

/* A clock tick while turns are made: fn is called each `ms` in a signal handler on this thread, with the number of the
 * turn, LOOP_ASLEEP once when the loop sleeps again, and how late it is: the thread took no signal so long. One loop of a
 * process. 0, -EBUSY, -errno. */
#define LOOP_ASLEEP UINT64_MAX
typedef void loop_tick_fn(void *arg, uint64_t turn, int64_t late_ns);
int loop_tick(struct loop *l, int64_t ms, struct keel_account *turns, loop_tick_fn *fn, void *arg);
void loop_tick_end(struct loop *l);
/* Work begins, in a turn or outside of one; a turn is over. */
void loop_busy(const struct loop *l);
void loop_idle(const struct loop *l);

/* Unix signals, delivered on the loop. */
int loop_signal(struct loop *l, int signum, void (*fn)(void *arg, int signum), void *arg);

#endif
