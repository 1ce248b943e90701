/* SPDX-License-Identifier: Apache-2.0
 *
 * chore.c - see chore.h.
 *
 *   waiting (of a user with CHORES_PER_USER) -> running -> done
 *                                                 '-> too long: done, but it counts until it is dead
 */
#include "chore.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor.h"

struct chore {
	struct keel_mod *mod;
	char *user, **argv;
	int in, spec, pidfd;
	pid_t pid; /* 0: it waits */
	int64_t limit_ms;
	struct keel_watch *watch;
	struct keel_timer *timer;
	chore_done *done; /* NULL: called already */
	void *arg;
	struct chore *next;
};

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void chore_free(struct chore *c)
{
	shut(&c->in);
	shut(&c->spec);
	shut(&c->pidfd);
	for (char **word = c->argv; word && *word; word++)
		free(*word);
	free(c->argv);
	free(c->user);
	free(c);
}

static void tell(struct chore *c, int status, const char *why)
{
	chore_done *done = c->done;

	c->done = NULL;
	if (done)
		done(c->mod, c->arg, status, why);
}

/* 0 or an errno. The descriptors are out of the way of 0 and SPEC_FD: see chore_begin(). */
static int spawn(struct chore *c)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	char path[] = "PATH=/usr/bin:/bin", *env[] = { path, NULL };
	sigset_t none, standard;
	int e = 0;

	sigemptyset(&none);
	sigfillset(&standard);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	if (c->in >= 0)
		e = posix_spawn_file_actions_adddup2(&files, c->in, 0);
	for (int fd = c->in >= 0 ? 1 : 0; e == 0 && fd < 3; fd++)
		e = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	if (e == 0 && c->spec >= 0)
		e = posix_spawn_file_actions_adddup2(&files, c->spec, SPEC_FD);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &standard);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	if (e == 0)
		e = posix_spawn(&c->pid, c->argv[0], &files, &attr, c->argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	if (e)
		c->pid = 0;
	return e;
}

static void remove_from(struct state *st, struct chore *c)
{
	struct chore **at = &st->mom.chores;

	while (*at && *at != c)
		at = &(*at)->next;
	if (*at)
		*at = c->next;
}

static void next_begin(struct keel_mod *mod, const char *user);

static void ended(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct chore *c = arg;
	int raw = 0;

	if (waitpid(c->pid, &raw, WNOHANG) == 0)
		return;
	keel_watch_cancel(c->watch);
	keel_timer_cancel(c->timer);
	remove_from(st, c);
	tell(c, WIFSIGNALED(raw) ? 256 + WTERMSIG(raw) : WEXITSTATUS(raw), "");
	next_begin(mod, c->user);
	chore_free(c);
}

/* In the kernel it may live on: it counts as one of its user's few until it is dead. */
static void too_long(struct keel_mod *mod, void *arg)
{
	struct chore *c = arg;

	(void)mod;
	c->timer = NULL;
	kill(-c->pid, SIGKILL);
	tell(c, CHORE_TOO_LONG, "it took too long");
}

static void begin(struct chore *c)
{
	struct state *st = c->mod->state;
	int e = spawn(c);

	shut(&c->in);
	shut(&c->spec);
	c->pidfd = e ? -1 : pidfd_open(c->pid, 0);
	c->watch = c->pidfd < 0 ? NULL : keel_watch_fd(c->mod, c->pidfd, ended, c);
	if (c->watch) {
		c->timer = keel_timer(c->mod, c->limit_ms, too_long, c);
		return;
	}
	if (c->pid) {
		kill(-c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	remove_from(st, c);
	next_begin(c->mod, c->user);
	tell(c, CHORE_NOT_RUN, e ? strerror(e) : "it cannot be watched: no memory");
	chore_free(c);
}

/* The first of the user's that waits, when the user may have one more. */
static void next_begin(struct keel_mod *mod, const char *user)
{
	struct state *st = mod->state;
	struct chore *first = NULL;
	int running = 0;

	for (struct chore *c = st->mom.chores; c; c = c->next) {
		if (strcmp(c->user, user) != 0)
			continue;
		running += c->pid != 0;
		if (!c->pid && !first)
			first = c;
	}
	if (first && running < CHORES_PER_USER && !st->stopping)
		begin(first);
}

static char **words_copy(char *const *argv)
{
	size_t n = 0;
	char **copy;

	while (argv[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++)
		if (!(copy[i] = strdup(argv[i]))) {
			while (i > 0)
				free(copy[--i]);
			free(copy);
			return NULL;
		}
	return copy;
}

/* Away from 0..SPEC_FD; closes `fd`. */
static int lift(int fd)
{
	int up = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, SPEC_FD + 1);

	shut(&fd);
	return up;
}

int chore_begin(struct keel_mod *mod, const char *user, char *const *argv, int in, int spec, int64_t limit_ms,
		chore_done *done, void *arg)
{
	struct state *st = mod->state;
	struct chore *c = calloc(1, sizeof(*c)), **end = &st->mom.chores;
	bool has_in = in >= 0, has_spec = spec >= 0;

	in = lift(in);
	spec = lift(spec);
	if (c)
		*c = (struct chore){ .mod = mod, .user = strdup(user), .argv = words_copy(argv), .in = in,
				     .spec = spec, .pidfd = -1, .limit_ms = limit_ms, .done = done, .arg = arg };
	if (!c || !c->user || !c->argv || (has_in && in < 0) || (has_spec && spec < 0)) {
		if (c) {
			chore_free(c);
		} else {
			shut(&in);
			shut(&spec);
		}
		return -ENOMEM;
	}
	while (*end)
		end = &(*end)->next;
	*end = c;
	next_begin(mod, c->user);
	return 0;
}

void chores_fini(struct keel_mod *mod)
{
	struct state *st = mod->state;

	while (st->mom.chores) {
		struct chore *c = st->mom.chores;

		st->mom.chores = c->next;
		keel_watch_cancel(c->watch);
		keel_timer_cancel(c->timer);
		if (c->pid) {
			kill(-c->pid, SIGKILL);
			waitpid(c->pid, NULL, WNOHANG);
		}
		tell(c, CHORE_NOT_RUN, "the daemon ends");
		chore_free(c);
	}
}
