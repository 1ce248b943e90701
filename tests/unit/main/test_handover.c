/* SPDX-License-Identifier: Apache-2.0
 *
 * test_handover.c - descriptors that one image leaves for the next.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "main/handover.h"

/* In a process of its own, for its descriptors: 0, or the number of what is wrong. */
static int handed_here(void)
{
	struct handed out = { .n = 0 }, in;
	int ends[2], lock;
	char byte = 0, **env;

	if (pipe(ends) < 0 || (ends[1] = fcntl(ends[1], F_DUPFD, 200)) < 0 || (lock = open("/dev/null", O_RDONLY)) < 0)
		return 1;
	handed_add(&out, HANDED_CLIENT, ends[0]);
	handed_add(&out, "none", -1);
	handed_add(&out, "server.lock", lock);
	env = handed_env(&out, "/run/notify");
	if (out.n != 2 || env == NULL)
		return 2;
	handed_pass(&out);
	for (char **at = env; *at != NULL; at++)
		putenv(*at);
	handed_take(&in);
	if (in.n != 2 || getenv("LISTEN_FDS") != NULL || handed_find(&in, "server.lock") < 0)
		return 3;
	if (strcmp(getenv("NOTIFY_SOCKET"), "/run/notify") != 0)
		return 4;
	lock = handed_use(&in, HANDED_CLIENT);
	if (write(ends[1], "x", 1) != 1 || read(lock, &byte, 1) != 1 || byte != 'x')
		return 5;
	if (handed_use(&in, HANDED_CLIENT) >= 0 || (fcntl(lock, F_GETFD) & FD_CLOEXEC) == 0)
		return 6;
	handed_close(&in);
	setenv("LISTEN_PID", "1", 1); /* for another process */
	setenv("LISTEN_FDS", "2", 1);
	handed_take(&in);
	return in.n == 0 ? 0 : 7;
}

static void descriptors_go_over(void)
{
	int end = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(handed_here());
	waitpid(child, &end, 0);
	CU_ASSERT_EQUAL(WEXITSTATUS(end), 0);
}

static void a_count_that_is_nonsense_is_no_work(void)
{
	char pid[24];
	pid_t child = fork();
	struct handed h;
	int end = 0;

	if (child == 0) {
		alarm(5);
		snprintf(pid, sizeof(pid), "%ld", (long)getpid());
		setenv("LISTEN_PID", pid, 1);
		setenv("LISTEN_FDS", "1000000000000", 1);
		handed_take(&h);
		_exit(h.n > HANDOVER_FDS);
	}
	waitpid(child, &end, 0);
	CU_ASSERT(WIFEXITED(end) && WEXITSTATUS(end) == 0);
}

TESTS_MAIN("main/handover", TEST(descriptors_go_over), TEST(a_count_that_is_nonsense_is_no_work))
