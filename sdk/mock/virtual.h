/* SPDX-License-Identifier: Apache-2.0
 *
 * virtual.h - a loop whose time is given from outside: what loop/loop.h promises, and what is more.
 *
 * It stands where kernel/loop stands in the daemon: a program that is linked with it has no other. It has no threads
 * and no signals, and nothing happens by itself. Work for threads is done within a turn, some time after it was
 * requested; descriptors are looked at in loop_poll() alone.
 */
#ifndef HOST_VIRTUAL_H
#define HOST_VIRTUAL_H

#include "loop/loop.h"

struct loop_virtual {
	int64_t now_ms;   /* monotonic clock at the beginning */
	int64_t epoch_us; /* wall clock when the monotonic one is 0 */
	int64_t look_ns;  /* each look at loop_clock_ns() costs so much; 0: that clock is the real one */
	int64_t (*work_ms)(void *arg); /* how long the next work takes; NULL: no time */
	void *arg;
	bool fds; /* descriptors can be watched; else loop_watch() fails with -ENOTSUP */
};
int loop_create_virtual(const struct loop_virtual *conf, struct loop **ret_loop);
int64_t loop_next_ms(const struct loop *l);      /* when there is something to do; INT64_MAX: never */
void loop_turn(struct loop *l, int64_t now_ms);  /* one turn at that time, or now when it is past */
void loop_due(struct loop *l); /* what was posted or deferred is called; timers and workers are left */
/* The power fails: nothing of this loop is called any more, also not in the turn under way. */
void loop_freeze(struct loop *l);
/* Calls the watches of descriptors that are ready, waiting up to `real_ms` for the first; false: none was. */
bool loop_poll(struct loop *l, int real_ms);
/* The end of a turn here and now, if one is due; held back while `hold`: a store that cannot write. */
void loop_settle(struct loop *l);
void loop_hold(struct loop *l, bool hold);
void loop_epoch(struct loop *l, int64_t epoch_us);

#endif
