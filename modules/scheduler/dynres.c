/* SPDX-License-Identifier: Apache-2.0
 *
 * dynres.c - resources of the server whose amount a script knows.
 *
 * `server_dyn_res: "<resource> !<command>"`: before each cycle every command is run, one after the
 * other on a worker thread, and the first line it prints is what there is now. A command that fails,
 * prints nonsense, takes longer than server_dyn_res_alarm, or could have been written by just anybody
 * says 0. The cycle begins when all have answered.
 */
#include "scheduler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

KEEL_ATTR_OF(sched, server_dyn_res_alarm);

extern char **environ;

#define LINE_MAX_LEN 4095
#define ALARM_LONGEST 86400 /* s; one that is set longer comes then */

struct script {
	char *res, *command;
	int insecure; /* errno of the file check; 0: fine */
	bool timed_out;
	bool too_long; /* what it said */
	char line[LINE_MAX_LEN + 1]; /* what it said first */
	struct keel_res_value value; /* its text is owned; `res` may be gone: not to be used */
	bool known; /* its script has run */
};

struct dynres {
	struct script *script;
	uint32_t n;
	int64_t alarm_s; /* 0: no limit */
	bool running, fresh;
	keel_fn *then;
};

/* ---- on the worker thread ----------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The file must be root's or ours, and not writable by other users. 0, or fails with an errno. */
static int file_check(const char *command)
{
	size_t len = strcspn(command, " \t");
	char *path = strndup(command, len);
	struct stat sb;
	int code = 0;

	if (!path)
		return ENOMEM;
	if (*path != '/')
		code = EINVAL;
	else if (stat(path, &sb) < 0)
		code = errno;
	else if (!S_ISREG(sb.st_mode))
		code = EINVAL;
	else if ((sb.st_uid != 0 && sb.st_uid != geteuid()) || (sb.st_mode & (S_IWGRP | S_IWOTH)))
		code = EACCES;
	free(path);
	return code;
}

/* In a session of its own, so that all of it can be ended; its output comes on *ret_fd. */
static pid_t launch(const char *command, int *ret_fd)
{
	char sh[] = "/bin/sh", dash_c[] = "-c", *copy = strdup(command);
	char *argv[] = { sh, dash_c, copy, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int fds[2], failed;
	pid_t pid = -1;

	if (!copy || pipe2(fds, O_CLOEXEC) < 0) {
		free(copy);
		return -1;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
	failed = posix_spawn(&pid, sh, &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	free(copy);
	close(fds[1]);
	if (failed) {
		close(fds[0]);
		return -1;
	}
	*ret_fd = fds[0];
	return pid;
}

/* The first line; the rest is read and forgotten. False: the deadline came first. */
static bool line_read(struct script *s, int fd, int64_t deadline)
{
	char bytes[512];
	size_t len = 0;
	bool ended = false;

	for (;;) {
		int64_t wait = deadline ? deadline - now_ms() : -1;
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n, i;

		if (deadline && wait <= 0)
			return false;
		if (poll(&p, 1, (int)wait) < 0 && errno != EINTR)
			return true;
		if (!p.revents)
			continue;
		n = read(fd, bytes, sizeof(bytes));
		if (n <= 0)
			return true;
		for (i = 0; i < n && !ended; i++) {
			ended = bytes[i] == '\n';
			if (!ended && len < LINE_MAX_LEN)
				s->line[len++] = bytes[i];
			else if (!ended)
				s->too_long = true;
		}
		s->line[len] = '\0';
	}
}

/* True: it ended by itself before the deadline. */
static bool wait_for(pid_t pid, int64_t deadline)
{
	const struct timespec pause = { 0, 10000000 };

	for (;;) {
		pid_t got = waitpid(pid, NULL, WNOHANG);

		if (got == pid || (got < 0 && errno != EINTR))
			return true;
		if (deadline && now_ms() >= deadline)
			return false;
		nanosleep(&pause, NULL);
	}
}

static void run_all(void *arg)
{
	struct dynres *d = arg;
	struct script *s;

	for (s = d->script; s < d->script + d->n; s++) {
		int64_t deadline = d->alarm_s ? now_ms() + d->alarm_s * 1000 : 0;
		pid_t pid;
		int fd;

		s->insecure = file_check(s->command);
		s->timed_out = s->too_long = false;
		s->line[0] = '\0';
		pid = s->insecure ? -1 : launch(s->command, &fd);
		if (pid < 0)
			continue;
		s->timed_out = !line_read(s, fd, deadline) || !wait_for(pid, deadline);
		close(fd);
		if (s->timed_out) {
			kill(-pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
	}
}

/* ---- on the loop ---------------------------------------------------------------------------------------- */

static void set_zero(struct keel_mod *mod, struct script *s)
{
	keel_log(mod, KEEL_LOG_SYSTEM, "Server", "server_dyn_res", "Setting resource %s to 0",
		 s->res);
}

static void script_value(struct keel_mod *mod, struct script *s)
{
	const struct keel_resource *res = keel_resource_find(s->res);
	char *end = s->line + strlen(s->line);

	while (end > s->line && strchr(" \t\r", end[-1]))
		*--end = '\0';
	s->known = true;
	keel_resource_value_fini(&s->value);
	s->value = (struct keel_res_value){ 0 };
	if (s->insecure) {
		keel_log(mod, KEEL_LOG_SECURITY, "Server", "server_dyn_res",
			 "%s file has a non-secure file access, setting resource %s to 0, errno: %d",
			 s->command, s->res, s->insecure);
	} else if (s->timed_out) {
		keel_log(mod, KEEL_LOG_SYSTEM, "Server", "server_dyn_res",
			 "Program %s timed out", s->command);
		set_zero(mod, s);
	} else if (s->too_long) {
		keel_log(mod, KEEL_LOG_SYSTEM, "Server", "server_dyn_res",
			 "Script %s returned bad output: a line of more than %d characters", s->command,
			 LINE_MAX_LEN);
		set_zero(mod, s);
	} else if (!res ||
		   keel_resource_value_parse(res, s->line + strspn(s->line, " \t"), &s->value, NULL)) {
		keel_log(mod, KEEL_LOG_SYSTEM, "Server", "server_dyn_res",
			 "Script %s returned bad output", s->command);
		s->value = (struct keel_res_value){ 0 };
		set_zero(mod, s);
	} else {
		keel_log(mod, KEEL_LOG_DEBUG, "Server", "server_dyn_res", "%s = %s (\"%s\")", s->res,
			 s->line, s->command);
	}
}

static void all_ran(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct dynres *d = arg;
	uint32_t i;

	d->running = false;
	if (d != st->dynres) { /* the configuration changed meanwhile */
		dynres_free(d);
		return;
	}
	for (i = 0; i < d->n; i++)
		script_value(mod, &d->script[i]);
	d->fresh = true;
	st->unsure = true; /* other totals */
	st->epoch++;
	d->then(mod, NULL);
}

/* ---- what they are ---------------------------------------------------------------------------------------- */

void dynres_free(struct dynres *d)
{
	uint32_t i;

	if (!d || d->running)
		return; /* all_ran() does it */
	for (i = 0; i < d->n; i++) {
		free(d->script[i].res);
		free(d->script[i].command);
		free((char *)d->script[i].value.text);
	}
	free(d->script);
	free(d);
}

void dynres_configure(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct dynres *d = calloc(1, sizeof(*d));
	char **text = setting_items(mod, SET_server_dyn_res, "\n");
	const char *mark;
	uint32_t n = 0;
	size_t len;

	while (text && text[n])
		n++;
	dynres_free(st->dynres);
	st->dynres = d;
	if (d)
		d->script = calloc(n + 1, sizeof(*d->script));
	for (n = 0; d && d->script && text && text[n]; n++) {
		struct script *s = &d->script[d->n];

		mark = strchr(text[n], '!');
		len = strcspn(text[n], " \t!");
		if (!mark || !len || !mark[1]) {
			keel_log(mod, KEEL_LOG_SYSTEM, "Server", "server_dyn_res",
				 "\"%s\" is not \"<resource> !<command>\"; it is left out", text[n]);
			continue;
		}
		s->res = strndup(text[n], len);
		s->command = strdup(mark + 1 + strspn(mark + 1, " \t"));
		d->n += s->res && s->command;
	}
	names_free(text);
	cycle_waits_no_more(mod);
}

bool dynres_ready(struct keel_mod *mod, keel_fn *then)
{
	struct state *st = mod->state;
	struct keel_obj *sched = keel_find(mod, "sched", "default");
	struct dynres *d = st->dynres;

	if (!d || !d->n)
		return true;
	d->then = then;
	if (d->running)
		return false;
	if (d->fresh) {
		d->fresh = false;
		return true;
	}
	d->alarm_s = sched ? keel_get_int(sched, sched_server_dyn_res_alarm) : 30;
	if (d->alarm_s > ALARM_LONGEST)
		d->alarm_s = ALARM_LONGEST;
	d->running = true;
	if (keel_work(mod, run_all, all_ran, d)) {
		d->running = false;
		return true;
	}
	return false;
}

const char *dynres_at(const struct state *st, uint32_t i)
{
	return st->dynres && i < st->dynres->n ? st->dynres->script[i].res : NULL;
}

const struct keel_res_value *dynres_value(const struct state *st, uint32_t i)
{
	const struct script *s = &st->dynres->script[i];

	return s->known ? &s->value : NULL;
}
