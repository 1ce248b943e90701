/* SPDX-License-Identifier: Apache-2.0
 *
 * thread.c - how long the thread of the loop waited for a processor.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop/inside.h"

#define SCHEDSTAT "/proc/thread-self/schedstat" /* ns computed, ns waited, how often */

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
