/* SPDX-License-Identifier: Apache-2.0
 *
 * inside.h - what the files of this folder share: the loop and what is in libuv's handles.
 */
#ifndef KEELSON_LOOP_INSIDE_H
#define KEELSON_LOOP_INSIDE_H

#include <pthread.h>
#include <uv.h>

#include "loop/calls.h"
#include "loop/loop.h"

#define SCHEDSTAT_NONE (-1) /* not available on this system */

struct loop {
	uv_loop_t uv;
	uv_check_t turn;  /* after all ready events: the end of the turn */
	uv_idle_t hurry;  /* active while something waits for the end of the turn: do not sleep */
	uv_async_t wake;  /* for loop_post() */
	bool stop;        /* requested, not yet seen by loop_run() */
	volatile bool busy;      /* a turn is made; read by the tick */
	volatile uint64_t turns; /* so far */
	int schedstat;    /* fd; 0: not opened yet */
	bool due;         /* loop_turn_due() was called in this turn */
	loop_fn *turn_end;
	void *turn_arg;
	uint32_t working;      /* loop_work() whose `done` has not returned */
	struct calls ready;    /* timers that are due */
	struct calls deferred;
	pthread_mutex_t lock; /* guards posted */
	struct calls posted;
};

struct loop_timer {
	uv_timer_t uv; /* its data is the timer */
	loop_fn *fn;
	void *arg;
	bool ready;
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

/* The loop does not sleep in this turn. */
void hurry_on(uv_idle_t *idle);


/* The close callback of handles whose data is malloc'ed with them. */
void handle_free(uv_handle_t *h);

#endif
