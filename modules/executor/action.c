/* SPDX-License-Identifier: Apache-2.0
 *
 * action.c - an action of a host: parsed, then run on a worker thread with a deadline.
 */
#include "action.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 64
#define LONGEST_S 86400

/* ---- parsing ---------------------------------------------------------------------------------------- */

static const char *meaning(const char *word, const struct action_word *words)
{
	for (; *word == '%' && words && words->name; words++)
		if (strcmp(word + 1, words->name) == 0)
			return words->value ? words->value : "";
	return word;
}

static char **words_join(char *const *word, size_t n)
{
	size_t size = (n + 1) * sizeof(char *), i;
	char **all, *to;

	for (i = 0; i < n; i++)
		size += strlen(word[i]) + 1;
	all = calloc(1, size);
	to = all ? (char *)(all + n + 1) : NULL;
	for (i = 0; all && i < n; i++) {
		all[i] = to;
		to = stpcpy(to, word[i]) + 1;
	}
	return all;
}

char **action_parse(const char *line, const struct action_word *words, int64_t *ret_ms)
{
	char *copy = strdup(line), *rest = NULL, *save = NULL, *word, *found[WORDS_MAX];
	long seconds = copy ? strtol(copy, &rest, 10) : -1;
	char **argv = NULL;
	size_t n = 0;

	if (copy && rest != copy && seconds > 0 && seconds <= LONGEST_S && strspn(rest, " \t") > 0) {
		rest += strspn(rest, " \t");
		word = *rest == '!' ? strtok_r(rest + 1, " \t", &save) : NULL;
		for (; word && n < WORDS_MAX; word = strtok_r(NULL, " \t", &save))
			found[n++] = (char *)meaning(word, words);
		if (n && found[0][0] == '/')
			argv = words_join(found, n);
		*ret_ms = seconds * 1000;
	}
	free(copy);
	return argv;
}

/* ---- running ------------------------------------------------------------------------------------------ */

static int spawn(char **argv, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	char *env[] = { "PATH=/usr/bin:/bin", NULL };
	sigset_t none, standard;
	int e;

	sigemptyset(&none);
	sigfillset(&standard);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &standard);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETPGROUP);
	e = posix_spawn(ret_pid, argv[0], &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return e;
}

static bool ends_within(pid_t pid, int64_t ms)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	if (fd < 0)
		return false;
	do
		n = poll(&p, 1, (int)ms);
	while (n < 0 && errno == EINTR);
	close(fd);
	return n > 0;
}

int action_run(char **argv, int64_t limit_ms, const char **ret_why)
{
	pid_t pid = 0;
	int e = spawn(argv, &pid), status = 0;
	bool ended;

	if (e) {
		*ret_why = strerror(e);
		return -1;
	}
	ended = ends_within(pid, limit_ms);
	if (!ended)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*ret_why = "it took too long";
	if (!ended)
		return -1;
	return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}
