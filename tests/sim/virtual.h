/* SPDX-License-Identifier: Apache-2.0
 *
 * virtual.h - a loop whose time is given from outside: what loop/loop.h promises, and what is more.
 *
 * It stands where kernel/loop stands in the daemon: whoever is linked with it has no other. It has no threads,
 * no fds and no signals, and nothing happens by itself. Work for threads is done within a turn, some time after
 * it was asked for.
 */
#ifndef SIM_VIRTUAL_H
#define SIM_VIRTUAL_H

#include "loop/loop.h"

struct loop_virtual {
	int64_t now_ms;   /* monotonic clock at the beginning */
	int64_t epoch_us; /* wall clock when the monotonic one is 0 */
	int64_t look_ns;  /* each look at loop_clock_ns() costs so much; 0: that clock is the real one */
	int64_t (*work_ms)(void *arg); /* how long the next work takes; NULL: no time */
	void *arg;
};
int loop_create_virtual(const struct loop_virtual *conf, struct loop **ret_loop);
int64_t loop_next_ms(const struct loop *l);      /* when there is something to do; INT64_MAX: never */
void loop_turn(struct loop *l, int64_t now_ms);  /* one turn at that time, or now when it is past */
/* The power fails: nothing of this loop is called any more, also not in the turn under way. */
void loop_freeze(struct loop *l);

#endif
