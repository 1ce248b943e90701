/* SPDX-License-Identifier: Apache-2.0
 *
 * serve.c - a shepherd's work between the setup and the end: orders of the daemon, the program, tasks beside it, orphans.
 *
 * Nothing here waits for a process of the user's: a task that is being started is looked at when it says something, or is
 * late. Each task's begin and end are in the diary before the daemon is notified.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../group.h"
#include "../proc.h"
#include "../talk.h"
#include "shepherd.h"

#define REAPED_AT_ONCE 10000 /* a pass over processes costs more than a thousand of them, zombies included */
#define PAUSE_LONGEST_NS 50000000
#define BIRTHS_AT_ONCE 64 /* at the same time; the next order waits */
#define PROGRAM 1u    /* the number of the job's own task */
#define CODE_SYSTEM 17000
#define CODE_STATE 15016
#define EMPTY_MS 5000 /* a cgroup may hold processes that are not ours to reap */

struct birth_of {
	uint32_t number;
	pid_t pid;
	int fd; /* its trouble */
	int64_t late_ms;
};

struct live {
	uint32_t number;
	pid_t pid;
};

struct service {
	struct spec *s;
	struct talk *t;
	struct outcome *o;
	int signals;
	bool reaping; /* there may be more to be reaped */
	struct birth_of births[BIRTHS_AT_ONCE];
	size_t n_births;
	struct live *live;
	size_t n_live, room;
	struct trouble trouble; /* of the program */
	pid_t program;		/* 0: it is not started */
	enum { SERVE_ON, SERVE_OVER, SERVE_REFUSED } state;
};

/* Some of those that have ended: there may always be more. False: there is no child any more. */
static bool reap(void)
{
	pid_t pid = 1;

	for (int n = 0; n < REAPED_AT_ONCE && pid > 0; n++)
		pid = waitpid(-1, NULL, WNOHANG);
	return pid >= 0 || errno == EINTR;
}

/* What the task has left behind: killed and looked for until there is no child any more. */
static void children_end(const struct spec *s)
{
	struct timespec pause = { 0, 100000 };

	if (!reap())
		return;
	/* Before those that fork and exit in turn, however busy the machine is; the kernel leaves others a twentieth. */
	sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &(struct sched_param){ .sched_priority = 1 });
	do {
		if (s->cgroup)
			group_kill(s->cgroup);
		proc_kill_pass(getpid());
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < PAUSE_LONGEST_NS) /* what stays in the kernel */
			pause.tv_nsec += pause.tv_nsec / 8;
	} while (reap());
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
}

/* "attached NUMBER PID START SESSION" in the diary: processes that came from outside are no children of ours. */
static void attached_end(const struct spec *s)
{
	char *text = diary_text(s), *line = text;
	unsigned long long start;
	int session, pid;

	for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		struct proc p;

		if (sscanf(line, "attached %*u %d %llu %d", &pid, &start, &session) != 3)
			continue;
		if (proc_read(pid, &p) == 0 && p.start == start) {
			proc_kill_pass(pid);
			kill(pid, SIGKILL);
		}
		if (session == pid) /* else it is of those that were there before it */
			proc_kill_strays(session, NULL, NULL, start, s->drop ? s->uid : getuid());
	}
	if (text && s->cgroup && strstr(text, "\nattached "))
		for (int64_t until = proc_up_ms() + EMPTY_MS; proc_up_ms() < until && rmdir(s->cgroup) < 0 && errno == EBUSY;) {
			group_kill(s->cgroup);
			nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
		}
	free(text);
}

void rest_end(const struct spec *s)
{
	children_end(s);
	attached_end(s);
}

/* ---- tasks ------------------------------------------------------------------------------------------- */

static void failed_say(struct service *v, uint32_t number, int code, const char *what, int error)
{
	char text[TALK_MESSAGE];

	snprintf(text, sizeof(text), "failed %u %d %s%s%s", number, code, what, error ? ": " : "", error ? strerror(error) : "");
	daemon_say(v->t, text);
}

static void done_say(struct service *v, uint32_t number, int raw)
{
	char text[TALK_MESSAGE];

	snprintf(text, sizeof(text), "done %u %d", number, WIFEXITED(raw) ? WEXITSTATUS(raw) : 256 + WTERMSIG(raw));
	record_append(v->s, text);
	daemon_say(v->t, text);
}

static void task_say(struct service *v, uint32_t number, pid_t pid, bool record)
{
	char text[TALK_MESSAGE];
	struct proc p = { 0 };

	proc_read(pid, &p);
	snprintf(text, sizeof(text), "task %u %d %llu", number, (int)pid, (unsigned long long)p.start);
	if (record)
		record_append(v->s, text);
	daemon_say(v->t, text);
}

static bool live_add(struct service *v, uint32_t number, pid_t pid)
{
	if (v->n_live == v->room) {
		size_t room = v->room ? v->room * 2 : 16;
		struct live *live = realloc(v->live, room * sizeof(*live));

		if (!live)
			return false;
		v->live = live;
		v->room = room;
	}
	v->live[v->n_live++] = (struct live){ number, pid };
	return true;
}

static void program_begun(struct service *v, const struct trouble *t)
{
	char record[TALK_MESSAGE], text[TALK_MESSAGE];

	v->trouble = *t;
	v->o->session = v->program;
	if (t->stage != TROUBLE_NONE && has_begun(t)) { /* its error file says so, and its job is to say so, too */
		snprintf(record, sizeof(record), "unrun %s: %s", t->what, strerror(t->error));
		record_append(v->s, record);
	}
	trouble_text(v->s, t, v->program, record, text);
	record_append(v->s, record);
	daemon_say(v->t, text);
	if (!has_begun(t)) {
		v->o->status = trouble_status(t);
		v->state = SERVE_REFUSED;
	}
}

/* It has said something, or is late, or has ended. */
static void birth_over(struct service *v, size_t i, bool late)
{
	struct birth_of b = v->births[i];
	struct trouble t;

	v->births[i] = v->births[--v->n_births];
	if (late) {
		kill(b.pid, SIGKILL);
		t = (struct trouble){ TROUBLE_LATE, ETIME, "start (executor.start_limit)" };
	} else {
		trouble_read(b.fd, &t);
	}
	close(b.fd);
	if (b.number == PROGRAM)
		program_begun(v, &t);
	else if (t.stage != TROUBLE_NONE)
		failed_say(v, b.number, CODE_SYSTEM, t.what, t.error);
	else if (live_add(v, b.number, b.pid))
		task_say(v, b.number, b.pid, true);
	else
		kill(b.pid, SIGKILL), failed_say(v, b.number, CODE_SYSTEM, "no memory to watch it", 0);
}

static void ended(struct service *v, pid_t pid, int raw)
{
	for (size_t i = 0; i < v->n_births; i++)
		if (v->births[i].pid == pid) {
			birth_over(v, i, false);
			break;
		}
	if (pid == v->program && v->state == SERVE_ON) {
		v->o->status = v->trouble.stage != TROUBLE_NONE ? trouble_status(&v->trouble)
			     : WIFEXITED(raw)		       ? WEXITSTATUS(raw)
								 : 256 + WTERMSIG(raw);
		v->state = SERVE_OVER;
	}
	for (size_t i = 0; i < v->n_live; i++)
		if (v->live[i].pid == pid) {
			done_say(v, v->live[i].number, raw);
			v->live[i] = v->live[--v->n_live];
			return;
		}
}

static void ended_look(struct service *v)
{
	struct signalfd_siginfo unused;
	pid_t pid = 1;
	int raw;

	(void)!read(v->signals, &unused, sizeof(unused));
	for (int n = 0; n < REAPED_AT_ONCE && pid > 0 && v->state == SERVE_ON; n++)
		if ((pid = waitpid(-1, &raw, WNOHANG)) > 0)
			ended(v, pid, raw);
	v->reaping = pid > 0;
}

/* The process of a task, or of the program. */
static int birth_begin(struct service *v, uint32_t number, const struct order *o, child_fn *fn)
{
	struct birth_of *b = &v->births[v->n_births];
	int fd = -1;
	pid_t pid = birth(v->s, o, fn, &fd);

	if (pid < 0)
		return pid;
	*b = (struct birth_of){ number, pid, fd, v->s->start_ms ? proc_up_ms() + v->s->start_ms : INT64_MAX };
	v->n_births++;
	if (number == PROGRAM)
		v->program = pid;
	return 0;
}

/* As it is, or by its description. */
static void program_start(struct service *v, int fd)
{
	struct order o = { 0 };
	int r;

	if (v->s->index || v->program)
		return;
	r = fd >= 0 ? order_load(v->s, fd, &o) : 0;
	if (r == 0)
		r = birth_begin(v, PROGRAM, fd >= 0 ? &o : NULL, child_run);
	if (r < 0)
		program_begun(v, &(struct trouble){ TROUBLE_SETUP, -r, "new process" });
	order_fini(&o);
}

static bool is_taken(const struct service *v, uint32_t number)
{
	bool taken = number <= PROGRAM;

	for (size_t i = 0; i < v->n_live && !taken; i++)
		taken = v->live[i].number == number;
	for (size_t i = 0; i < v->n_births && !taken; i++)
		taken = v->births[i].number == number;
	return taken;
}

static void task_start(struct service *v, uint32_t number, int fd)
{
	struct order o = { 0 };
	int r = order_load(v->s, fd, &o);

	if (r == 0 && is_taken(v, number))
		r = -EEXIST;
	if (r == 0 && v->n_live + v->n_births >= TALK_TASKS_MAX)
		r = -EAGAIN;
	if (r == 0)
		r = birth_begin(v, number, &o, child_task);
	if (r < 0)
		failed_say(v, number, CODE_SYSTEM, "a task cannot be started", -r);
	order_fini(&o);
}

/* How far it is, for a daemon that was not there. */
static void state_say(struct service *v)
{
	char text[TALK_MESSAGE];

	if (!v->o->session) {
		daemon_say(v->t, v->program ? "starting" : "ready");
	} else {
		snprintf(text, sizeof(text), "started %d", (int)v->program);
		daemon_say(v->t, text);
	}
	for (size_t i = 0; i < v->n_live; i++)
		task_say(v, v->live[i].number, v->live[i].pid, false);
}

static void heard(struct service *v, int from)
{
	char word[32];
	unsigned number;
	int fd;

	if (!daemon_hear(v->t, from, word, &fd)) {
		if (v->t->fd >= 0 && from != v->t->fd)
			state_say(v);
		return;
	}
	if (strcmp(word, "run") == 0)
		program_start(v, fd);
	else if (sscanf(word, "spawn %u", &number) == 1)
		task_start(v, number, fd);
	else if (strcmp(word, "end") == 0 && v->s->index)
		v->state = SERVE_OVER;
	else if ((strcmp(word, "cancel") == 0 || strcmp(word, "fail") == 0) && !v->program && !v->s->index)
		v->state = SERVE_REFUSED, v->o->place = *word == 'f';
	if (fd >= 0)
		close(fd);
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

static int patience(const struct service *v)
{
	int64_t now = v->n_births ? proc_up_ms() : 0, least = INT64_MAX;

	if (v->reaping)
		return 0;
	for (size_t i = 0; i < v->n_births; i++)
		if (v->births[i].late_ms < least)
			least = v->births[i].late_ms;
	return least == INT64_MAX ? -1 : least <= now ? 0 : least - now > 60000 ? 60000 : (int)(least - now);
}

static void births_look(struct service *v, const struct pollfd *p, size_t n)
{
	int64_t now = proc_up_ms();

	for (size_t i = n; i-- > 0;)
		if (p[i].revents || v->births[i].late_ms <= now)
			birth_over(v, i, !p[i].revents);
}

static void turn(struct service *v)
{
	struct pollfd p[2 + BIRTHS_AT_ONCE] = { { .fd = v->signals, .events = POLLIN } };
	size_t n = v->n_births;

	/* No new order while there is no room for its process. */
	p[1].fd = n == BIRTHS_AT_ONCE ? -1 : v->t->fd >= 0 ? v->t->fd : v->t->listener;
	p[1].events = POLLIN;
	for (size_t i = 0; i < n; i++)
		p[2 + i] = (struct pollfd){ .fd = v->births[i].fd, .events = POLLIN };
	if (poll(p, 2 + n, patience(v)) < 0)
		return;
	births_look(v, p + 2, n);
	if (v->state == SERVE_ON && p[1].revents)
		heard(v, p[1].fd);
	if (v->state == SERVE_ON && (p[0].revents || v->reaping))
		ended_look(v);
}

enum served serve(struct spec *s, struct talk *t, struct outcome *ret)
{
	struct service v = { .s = s, .t = t, .o = ret };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	v.signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->index)
		record_append(s, "started 0");
	daemon_say(t, "ready");
	while (v.state == SERVE_ON && v.signals >= 0)
		turn(&v);
	if (v.signals >= 0)
		close(v.signals);
	for (size_t i = 0; i < v.n_births; i++)
		close(v.births[i].fd);
	rest_end(s);
	free(v.live);
	return v.state == SERVE_OVER ? SERVED_ENDED : SERVED_NOTHING;
}

void place_wait(struct talk *t, int status)
{
	char text[TALK_MESSAGE], refusal[TALK_MESSAGE], word[32] = "";
	bool said = false;
	unsigned number;
	int fd;

	snprintf(text, sizeof(text), "over %d", status);
	while (strcmp(word, "place") != 0) {
		struct pollfd p = { .events = POLLIN };

		if (t->fd >= 0 && !said) {
			daemon_say(t, text);
			said = true;
		}
		if (t->fd < 0 && t->s->hosts <= 1)
			return; /* the output of no other host is to come */
		p.fd = t->fd >= 0 ? t->fd : t->listener;
		if (p.fd < 0)
			return; /* no daemon can come back */
		word[0] = '\0';
		if (poll(&p, 1, -1) <= 0)
			continue;
		if (!daemon_hear(t, p.fd, word, &fd)) {
			said = t->fd >= 0 && p.fd == t->fd && said;
			continue;
		}
		if (sscanf(word, "spawn %u", &number) == 1) {
			snprintf(refusal, sizeof(refusal), "failed %u %d the job is ending", number, CODE_STATE);
			daemon_say(t, refusal);
		}
		if (fd >= 0)
			close(fd);
	}
}
