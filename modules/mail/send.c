/* SPDX-License-Identifier: Apache-2.0
 *
 * send.c - the mails that wait, and the program they are handed to: one at a time, on a worker thread.
 */
#include "mail.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct mail *mail_new(const char *id)
{
	struct mail *m = calloc(1, sizeof(*m) + strlen(id) + 1);

	if (m)
		strcpy(m->id, id);
	return m;
}

void mail_free(struct mail *m)
{
	free(m->program);
	free(m->from);
	free(m->text);
	free(m->to);
	free(m);
}

/* ---- on the worker thread ----------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* A program of root's or ours, that no other user can write. 0; fails with an errno. */
static int program_check(const char *path)
{
	struct stat sb;

	if (*path != '/')
		return EINVAL;
	if (stat(path, &sb) < 0)
		return errno;
	if (!S_ISREG(sb.st_mode) || (sb.st_uid != 0 && sb.st_uid != geteuid()) ||
	    (sb.st_mode & (S_IWGRP | S_IWOTH)))
		return EACCES;
	return 0;
}

/* All of it, in memory, to be read from its beginning: no pipe that could be full or broken. */
static int text_open(const char *text)
{
	size_t len = strlen(text), at = 0;
	int fd = memfd_create("mail", MFD_CLOEXEC);

	while (fd >= 0 && at < len) {
		ssize_t n = write(fd, text + at, len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			close(fd);
			return -1;
		}
		at += (size_t)n;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

static char **words_of(const struct mail *m)
{
	size_t n = 0, at = 0;
	char **argv;

	while (m->to[n])
		n++;
	argv = calloc(n + 5, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[at++] = m->program;
	argv[at++] = (char *)"-i"; /* a line with a dot is a line */
	argv[at++] = (char *)"-f";
	argv[at++] = m->from;
	memcpy(argv + at, m->to, n * sizeof(*argv));
	return argv;
}

/* In a session of its own, so that all of it can be ended. 0 or an errno. */
static int launch(const struct mail *m, char **argv, int fd, pid_t *ret_pid)
{
	char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *envp[] = { path, NULL };
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t none, all;
	int r;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&at);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setsigdefault(&at, &all);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
					      POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&fa);
	r = posix_spawn_file_actions_adddup2(&fa, fd, 0);
	r = r ? r : posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	r = r ? r : posix_spawn_file_actions_adddup2(&fa, 1, 2);
	r = r ? r : posix_spawn_file_actions_addclosefrom_np(&fa, 3);
	r = r ? r : posix_spawn_file_actions_addchdir_np(&fa, "/");
	r = r ? r : posix_spawn(ret_pid, m->program, &fa, &at, argv, envp);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	return r;
}

static void wait_for(struct mail *m, pid_t pid)
{
	const struct timespec pause = { 0, 5000000 };
	int64_t deadline = now_ms() + m->timeout;

	for (;;) {
		pid_t got = waitpid(pid, &m->status, WNOHANG);

		if (got == pid || (got < 0 && errno != EINTR))
			return;
		if (now_ms() >= deadline)
			break;
		nanosleep(&pause, NULL);
	}
	m->timed_out = true;
	kill(-pid, SIGKILL);
	while (waitpid(pid, &m->status, 0) < 0 && errno == EINTR)
		;
}

static void deliver(void *arg)
{
	struct mail *m = arg;
	char **argv;
	pid_t pid;
	int fd;

	m->error = program_check(m->program);
	if (m->error)
		return;
	argv = words_of(m);
	fd = text_open(m->text);
	m->error = argv && fd >= 0 ? launch(m, argv, fd, &pid) : ENOMEM;
	if (fd >= 0)
		close(fd);
	free(argv);
	if (!m->error)
		wait_for(m, pid);
}

/* ---- on the loop ---------------------------------------------------------------------------------------- */

static void send_next(struct keel_mod *mod);

/* Said once, until one has been sent. */
static void judge(struct keel_mod *mod, const struct mail *m)
{
	struct state *st = mod->state;
	bool failed = m->error || m->timed_out || m->status;
	bool news = failed && !st->post.failing;

	st->post.failing = failed;
	if (!news)
		return;
	if (m->error)
		keel_log(mod, KEEL_LOG_ERROR, "Server", "mail", "no mail is sent: %s: %s", m->program,
			 strerror(m->error));
	else if (m->timed_out)
		keel_log(mod, KEEL_LOG_ERROR, "Server", "mail",
			 "mail about %s was not taken: %s timed out", m->id, m->program);
	else
		keel_log(mod, KEEL_LOG_ERROR, "Server", "mail",
			 "mail about %s was not taken: %s ended with status %d", m->id, m->program,
			 WIFEXITED(m->status) ? WEXITSTATUS(m->status) : 256 + WTERMSIG(m->status));
}

static void delivered(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;

	if (!st->post.closed) { /* else the module has ended meanwhile */
		st->post.sending = false;
		judge(mod, arg);
		send_next(mod);
	}
	mail_free(arg);
}

static void send_next(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct post *p = &st->post;
	struct mail *m;

	while (!p->sending && (m = p->first)) {
		p->first = m->next;
		if (!p->first)
			p->end = &p->first;
		p->waiting--;
		p->sending = keel_work(mod, deliver, delivered, m) == 0;
		if (!p->sending)
			mail_free(m);
	}
}

void post_send(struct keel_mod *mod, struct mail *m)
{
	const struct conf *conf = mod->conf;
	struct state *st = mod->state;
	struct post *p = &st->post;
	bool full = p->waiting >= conf->queue;

	if (full && !p->full)
		keel_log(mod, KEEL_LOG_ERROR, "Server", "mail",
			 "%lld mails wait: more are not sent", (long long)p->waiting);
	p->full = full;
	if (full) {
		mail_free(m);
		return;
	}
	*p->end = m;
	p->end = &m->next;
	p->waiting++;
	send_next(mod);
}

void post_close(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct mail *m;

	if (st->post.waiting)
		keel_log(mod, KEEL_LOG_SYSTEM, "Server", "mail", "%lld mails are not sent",
			 (long long)st->post.waiting);
	while ((m = st->post.first)) {
		st->post.first = m->next;
		mail_free(m);
	}
	st->post.closed = true;
}
