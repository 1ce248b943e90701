/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c - a set is opened by a child, `keelsond --check --set`: what init() of its modules does wrong is done there.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reload.h"

#define SELF "/proc/self/exe"
#define CHECK_MS 30000

extern char **environ;

/* Its words on standard output are the report, those on standard error the errors. */
static int child_spawn(const struct change *c, const char **words, pid_t *ret_pid)
{
	static const struct {
		int fd;
		const char *name;
	} files[] = { { 1, "report" }, { 2, "errors" } };
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t none;
	int ret;

	sigemptyset(&none);
	posix_spawnattr_init(&at);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&fa);
	ret = posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDWR, 0);
	for (size_t i = 0; i < KEEL_COUNT(files) && ret == 0; i++) {
		char *path = set_path(c->fresh, files[i].name);

		ret = path ? posix_spawn_file_actions_addopen(&fa, files[i].fd, path, O_WRONLY | O_CREAT | O_APPEND, 0600) : ENOMEM;
		free(path);
	}
	if (ret == 0)
		ret = posix_spawn_file_actions_addclosefrom_np(&fa, 3);
	if (ret == 0)
		ret = posix_spawn(ret_pid, SELF, &fa, &at, (char *const *)(uintptr_t)words, environ);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	return -ret;
}

/* Returns how it ended, as waitpid(); a failure when another has reaped it. */
static int child_end(struct change *c, int signum)
{
	int end = W_EXITCODE(EXIT_FAILURE, 0);

	keel_watch_cancel(c->child_end);
	keel_timer_cancel(c->deadline);
	c->child_end = NULL;
	c->deadline = NULL;
	if (c->child_fd >= 0)
		close(c->child_fd);
	c->child_fd = -1;
	if (signum)
		kill(c->child, signum);
	while (waitpid(c->child, &end, 0) < 0 && errno == EINTR)
		;
	c->child = 0;
	return end;
}

void check_cancel(struct change *c)
{
	if (c->child > 0)
		(void)child_end(c, SIGKILL);
}

/* What the child said, and how it ended when that was not by itself. */
static int32_t failure_describe(struct change *c, int end)
{
	char *text = text_read(c->fresh, "errors"), *line = text ? strstr(text, "keelsond: ") : NULL;

	if (line) {
		line += strlen("keelsond: ");
		line[strcspn(line, "\n")] = '\0';
	}
	if (WIFSIGNALED(end))
		keel_error(&c->err, 0, "nothing was changed: the check of the new set ended by signal %d (%s)%s%s", WTERMSIG(end),
			   strsignal(WTERMSIG(end)), line && *line ? ": " : "", line ? line : "");
	else
		keel_error(&c->err, 0, "%s", line && *line ? line : "the check of the new set gave no reason");
	free(text);
	return -EINVAL;
}

static void ended(struct keel_mod *mod, void *arg)
{
	struct change *c = arg;
	int end = child_end(c, 0);

	(void)mod;
	change_checked(c, WIFEXITED(end) && WEXITSTATUS(end) == 0 ? 0 : failure_describe(c, end));
}

static void late(struct keel_mod *mod, void *arg)
{
	struct change *c = arg;

	(void)mod;
	c->deadline = NULL;
	check_cancel(c);
	change_checked(c, keel_error(&c->err, -ETIMEDOUT, "nothing was changed: the check of the new set does not end"));
}

int32_t check_begin(struct change *c)
{
	const char **words = keel_renew_command(c->mod);
	size_t n = 0;
	int ret;

	if (!words)
		return keel_error(&c->err, -ENOMEM, "no memory");
	while (words[n])
		n++;
	words[n++] = "--check";
	words[n++] = "--set";
	words[n++] = c->fresh;
	ret = child_spawn(c, words, &c->child);
	free(words);
	if (ret < 0) {
		c->child = 0;
		return keel_error(&c->err, ret, "cannot check the new set: %s", strerror(-ret));
	}
	c->child_fd = (int)syscall(SYS_pidfd_open, c->child, 0);
	c->child_end = c->child_fd >= 0 ? keel_watch_fd(c->mod, c->child_fd, ended, c) : NULL;
	c->deadline = keel_timer(c->mod, CHECK_MS, late, c);
	if (c->child_end && c->deadline)
		return 0;
	check_cancel(c);
	return keel_error(&c->err, -ENOMEM, "cannot wait for the check of the new set");
}
