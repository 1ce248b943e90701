/* SPDX-License-Identifier: Apache-2.0
 *
 * test_memory.c - no memory to watch a descriptor: refused, whatever its number; libuv's table grows at some
 * numbers only, and ends the program where it cannot.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "loop/loop.h"
#include "no_memory.h"

#define ALLOCATIONS 3 /* more than a watch takes */

static struct loop *l;

static void ignore(void *arg, int events)
{
	(void)arg, (void)events;
}

/* True: with so many allocations it is watched. */
static bool watched_after(long n, int fd)
{
	struct loop_watch *w = NULL;
	int ret;

	countdown = INJECTING ? n : -1;
	ret = loop_watch(l, fd, LOOP_READABLE, ignore, NULL, &w);
	countdown = -1;
	CU_ASSERT(ret == 0 || ret == -ENOMEM);
	if (ret == 0)
		loop_watch_cancel(w);
	return ret == 0;
}

static void no_memory_at_any_number(void)
{
	int ends[2], taken = 0;

	CU_ASSERT_EQUAL_FATAL(loop_create(&l), 0);
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	for (int at = 20; at < 1000; at++) {
		int fd = fcntl(ends[0], F_DUPFD, at);

		for (long n = 1; n <= ALLOCATIONS; n++)
			taken += watched_after(n, fd);
		close(fd);
	}
	CU_ASSERT(taken > 0 && (!INJECTING || taken < 980 * ALLOCATIONS));
	close(ends[0]);
	close(ends[1]);
	loop_destroy(l);
}

TESTS_MAIN("memory", TEST(no_memory_at_any_number))
