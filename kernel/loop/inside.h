/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share: the loop and what is in libuv's handles.
 */
#ifndef KEELSON_LOOP_INSIDE_H
#define KEELSON_LOOP_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

#include "loop/calls.h"
#include "loop/loop.h"

struct virtual;
#define SCHEDSTAT_NONE (-1) /* this system does not tell */

/* A place in the heap of virtual timers. */
struct virtual_due {
	int64_t at_ms;
	uint64_t number; /* equal times: first come, first served */
	size_t place;    /* SIZE_MAX: not in the heap */
};

struct loop {
	struct virtual *virtual; /* NULL: time is real. Else nothing of libuv is used. */
	uv_loop_t uv;
	uv_check_t turn;  /* after all ready events: the end of the turn */
	uv_idle_t hurry;  /* active while something waits for the end of the turn: do not sleep */
	uv_async_t wake;  /* for loop_post() */
	bool stop;        /* asked, not yet seen by loop_run() */
	bool stop_at_once; /* loop_freeze() */
	_Atomic uint64_t turns;
	int schedstat;    /* fd; 0: not opened yet */
	bool due;         /* loop_turn_due() was called in this turn */
	loop_fn *turn_end;
	void *turn_arg;
	struct calls deferred;
	pthread_mutex_t lock; /* guards posted */
	struct calls posted;
};

struct loop_timer {
	union {
		uv_timer_t uv;        /* its data is the timer */
		struct virtual_due due;
	};
	struct loop *loop;
	loop_fn *fn;
	void *arg;
};

struct loop_watch {
	uv_poll_t uv; /* its data is the watch */
	loop_fd_fn *fn;
	void *arg;
	int events; /* what is wanted now */
};

struct loop_signal {
	uv_signal_t uv; /* its data is the struct */
	void (*fn)(void *arg, int signum);
	void *arg;
};

/* virtual.c */
struct loop_timer *virtual_timer(struct loop *l, int64_t after_ms, loop_fn *fn, void *arg);
void virtual_timer_cancel(struct loop_timer *t);
int virtual_work(struct loop *l, loop_fn *work, loop_fn *done, void *arg);
int virtual_run(struct loop *l, bool (*done)(void *arg), void *arg, int64_t until_ms);
void virtual_destroy(struct loop *l);
int64_t virtual_now_ms(const struct loop *l);
int64_t virtual_time_us(const struct loop *l);
int64_t virtual_clock_ns(struct loop *l);
int64_t virtual_cpu_ns(const struct loop *l); /* the same clock, without a look at it */

/* thread.c */
void thread_fini(struct loop *l);

/* loop.c: the deferred calls and the end of a turn; the calls that were posted */
void turn_end(struct loop *l);
void posted_run(struct loop *l);

/* The close callback of handles whose data is malloc'ed with them. */
void handle_free(uv_handle_t *h);

#endif
