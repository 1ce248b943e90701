/* SPDX-License-Identifier: Apache-2.0
 *
 * thread.c - what the thread of the loop did with its time: computed, or waited for a processor; and signs of
 * life, for another thread.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "loop/inside.h"

#define SCHEDSTAT "/proc/thread-self/schedstat" /* ns computed, ns waited, how often */

int64_t loop_cpu_ns(const struct loop *l)
{
	struct timespec now;

	(void)l;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t second_number(char *text)
{
	char *end;

	strtoll(text, &end, 10);
	return strtoll(end, NULL, 10);
}

int64_t loop_delay_ns(struct loop *l)
{
	char text[96];
	ssize_t n;

	if (l->schedstat == SCHEDSTAT_NONE)
		return 0;
	if (l->schedstat == 0)
		l->schedstat = open(SCHEDSTAT, O_RDONLY | O_CLOEXEC);
	n = l->schedstat > 0 ? pread(l->schedstat, text, sizeof(text) - 1, 0) : -1;
	if (n <= 0) {
		thread_fini(l);
		l->schedstat = SCHEDSTAT_NONE;
		return 0;
	}
	text[n] = '\0';
	return second_number(text);
}

void thread_fini(struct loop *l)
{
	if (l->schedstat > 0)
		close(l->schedstat);
	l->schedstat = 0;
}

void loop_pulse(struct loop *l, struct loop_pulse *ret)
{
	*ret = (struct loop_pulse){ .turns = atomic_load_explicit(&l->turns, memory_order_relaxed),
				    .idle_ns = uv_metrics_idle_time(&l->uv) };
}
