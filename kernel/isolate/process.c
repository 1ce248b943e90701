/* SPDX-License-Identifier: Apache-2.0
 *
 * process.c - a process of an isolated module: started, read from, written to, ended.
 *
 * Nothing here waits, but process_wait() for start-up. The socket is not blocking; what it does not take
 * is queued, up to QUEUE_MAX: who does not read is given up. The replay is queued as a whole: it is as large as
 * what there is, and nothing else is sent before start(). A process that is given up is ended from the
 * loop, never under the feet of whoever noticed; its memory stays as long as somebody below uses it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isolate/inside.h"
#include "isolate/spawn.h"
#include "log/log.h"
#include "util/err.h"
#include "util/text.h"

#define REAP_EVERY_MS 2
#define REAP_TRIES 50

static void socket_ready(void *arg, int events);

/* ---- start --------------------------------------------------------------------------------------- */
static int launch(struct process *p, const struct isolate *iso)
{
	char *program = path_join(iso->parts->exec_dir, "libexec/keelson/keelson-modhost");
	char *name = text_format("--name=%s", iso->name);
	char *user = text_format("--user=%s", iso->user);
	char *memory = text_format("--memory=%lld", (long long)iso->limits.memory);
	char *argv[] = { program, name, user, memory, NULL };
	int ret = program == NULL || name == NULL || user == NULL || memory == NULL ?
			  -ENOMEM :
			  talk_spawn(program, argv, &p->pid, &p->fd);

	free(program);
	free(name);
	free(user);
	free(memory);
	return ret;
}

static int begin(struct process *p)
{
	int ret = launch(p, p->iso);

	return ret < 0 ? ret : loop_watch(p->iso->parts->loop, p->fd, LOOP_READABLE, socket_ready, p, &p->watch);
}

int process_start(struct isolate *iso, struct process **ret_process, struct keel_err *err)
{
	struct process *p = calloc(1, sizeof(*p));
	int ret;

	if (p == NULL)
		return err_set(err, -ENOMEM, "module %s: no memory for its process", iso->name);
	*p = (struct process){ .iso = iso, .fd = -1, .serial = ++iso->next_serial };
	frame_reader_init(&p->in, TALK_BODY_MAX);
	ret = begin(p);
	if (ret < 0) {
		process_destroy(p);
		return err_set(err, ret, "module %s: its process cannot be started (%s/libexec/keelson/"
			       "keelson-modhost): %s", iso->name, iso->parts->exec_dir, strerror(-ret));
	}
	*ret_process = p;
	return 0;
}

/* ---- end ------------------------------------------------------------------------------------------- */
/* Who is killed is gone in a moment, unless the machine has other worries. */
static bool gone_soon(pid_t pid)
{
	for (int i = 0; i < REAP_TRIES; i++) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return true;
		poll(NULL, 0, 1);
	}
	return false;
}

void process_reap(struct process *p)
{
	if (p == NULL || p->pid <= 0)
		return;
	kill(p->pid, SIGKILL);
	if (gone_soon(p->pid))
		p->pid = 0;
}

static void reap(struct process *p)
{
	if (p->pid <= 0)
		return;
	kill(p->pid, SIGKILL);
	loop_reap(p->iso->parts->loop, p->pid);
	p->pid = 0;
}

void process_close(struct process *p)
{
	loop_watch_cancel(p->watch);
	p->watch = NULL;
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	reap(p);
	buf_fini(&p->out);
	p->out_at = 0;
	loop_timer_cancel(p->sweep);
	loop_timer_cancel(p->ending);
	p->sweep = p->ending = NULL;
}

void process_destroy(struct process *p)
{
	struct pending *q, *next;

	if (p == NULL)
		return;
	process_close(p);
	HASH_ITER(hh, p->pending, q, next)
		pending_drop(p, q);
	raised_end(p);
	walk_end(&p->walk, p->iso->object);
	departed_drop(p);
	p->users++;
	p->iso = NULL;
	process_unuse(p);
}

void process_unuse(struct process *p)
{
	if (--p->users > 0 || p->iso != NULL)
		return;
	frame_reader_fini(&p->in);
	free(p);
}

/* How it ended, in words. False: it is not over yet. */
static bool ended_by_itself(struct process *p)
{
	int how = 0;
	pid_t pid = p->pid > 0 ? waitpid(p->pid, &how, WNOHANG) : -1;

	if (pid == 0)
		return false;
	p->pid = 0;
	if (pid < 0)
		snprintf(p->lost, sizeof(p->lost), "its process ended");
	else if (WIFSIGNALED(how))
		snprintf(p->lost, sizeof(p->lost), "its process was killed by signal %d (%s)",
			 WTERMSIG(how), strsignal(WTERMSIG(how)));
	else
		snprintf(p->lost, sizeof(p->lost), "its process ended with exit code %d",
			 WEXITSTATUS(how));
	return true;
}

static void end_now(struct process *p)
{
	char why[sizeof(p->lost)];

	snprintf(why, sizeof(why), "%s", p->lost);
	process_lost(p, why);
}

/* The socket is closed, or it was given up. */
static void ending(void *arg)
{
	struct process *p = arg;

	p->ending = NULL;
	if (p->lost[0] == '\0' && !ended_by_itself(p)) {
		if (++p->reaps < REAP_TRIES)
			p->ending = loop_timer(p->iso->parts->loop, REAP_EVERY_MS, ending, p);
		if (p->ending != NULL)
			return;
		snprintf(p->lost, sizeof(p->lost), "its process closed the connection");
	}
	end_now(p);
}

static void end_soon(struct process *p)
{
	if (p->fd < 0 || p->ending != NULL)
		return;
	loop_watch_set(p->watch, 0);
	p->ending = loop_timer(p->iso->parts->loop, 0, ending, p);
	if (p->ending == NULL && p->pid > 0)
		kill(p->pid, SIGKILL); /* the sweep finds it gone */
}

void process_give_up(struct process *p, const char *fmt, ...)
{
	va_list ap;

	if (p->fd < 0 || p->lost[0] != '\0')
		return;
	va_start(ap, fmt);
	vsnprintf(p->lost, sizeof(p->lost), fmt, ap);
	va_end(ap);
	end_soon(p);
}

/* ---- writing --------------------------------------------------------------------------------------- */
static void watch_for(struct process *p)
{
	if (p->ending == NULL)
		loop_watch_set(p->watch, p->out.len > 0 ? LOOP_READABLE | LOOP_WRITABLE : LOOP_READABLE);
}

/* How many bytes it took; -1: it is gone, which reading will find. */
static ssize_t write_some(struct process *p, const char *bytes, size_t len)
{
	ssize_t n = send(p->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : -1;
}

void process_flush(struct process *p)
{
	ssize_t n = 0;

	if (p->out.len > 0 && p->fd >= 0)
		n = write_some(p, p->out.data + p->out_at, p->out.len - p->out_at);
	if (n < 0)
		n = (ssize_t)(p->out.len - p->out_at);
	p->out_at += (size_t)n;
	if (p->out_at == p->out.len)
		p->out.len = p->out_at = 0;
	watch_for(p);
}

static int queue_add(struct process *p, const char *bytes, size_t len)
{
	struct buf *out = &p->out;

	if (p->state == PROCESS_UP && out->len > 0 && out->len - p->out_at + len > QUEUE_MAX) {
		process_give_up(p, "its process does not read what it is told");
		return -ENOBUFS;
	}
	if (p->out_at > out->len / 2) {
		memmove(out->data, out->data + p->out_at, out->len - p->out_at);
		out->len -= p->out_at;
		p->out_at = 0;
	}
	buf_add(out, bytes, len);
	if (out->failed) {
		process_give_up(p, "no memory for what its process does not read");
		return -ENOMEM;
	}
	watch_for(p);
	return 0;
}

int process_send(struct isolate *iso, struct process *p, size_t begun)
{
	struct buf *m = &iso->scratch;
	size_t len = m->len - begun;
	ssize_t n = 0;
	int ret = 0;

	if (m->failed || p == NULL || p->fd < 0 || p->lost[0] != '\0') {
		ret = m->failed ? -ENOMEM : -ENOTCONN;
	} else {
		if (p->out.len == 0 && p->state != PROCESS_READY)
			n = write_some(p, m->data + begun, len);
		if (n >= 0 && (size_t)n < len)
			ret = queue_add(p, m->data + begun + n, len - (size_t)n);
	}
	m->len = begun;
	m->failed = false;
	return ret;
}

/* ---- reading --------------------------------------------------------------------------------------- */
static void frames_take(struct process *p)
{
	struct frame f;
	int ret = 0;

	while (p->lost[0] == '\0' && p->fd >= 0 && (ret = frame_next(&p->in, &f)) == 1)
		heard(p, &f);
	if (ret < 0)
		process_give_up(p, "its process sent what is no message");
}

/* Bytes read; 0: none now, -1: the end. */
static ssize_t read_some(struct process *p)
{
	char *room;
	size_t len;
	ssize_t n;

	if (frame_reader_room(&p->in, READ_MAX, &room, &len) < 0)
		return 0;
	n = recv(p->fd, room, READ_MAX, MSG_DONTWAIT);
	if (n > 0)
		frame_reader_added(&p->in, (size_t)n);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n <= 0 ? -1 : n;
}

void process_pump(struct process *p)
{
	ssize_t n;

	if (p->fd < 0 || p->lost[0] != '\0' || p->pumping)
		return;
	n = read_some(p);
	if (n < 0) {
		end_soon(p);
		return;
	}
	p->users++;
	p->pumping = true;
	frames_take(p);
	p->pumping = false;
	process_unuse(p);
}

static void socket_ready(void *arg, int events)
{
	struct process *p = arg;

	if (events & LOOP_WRITABLE)
		process_flush(p);
	if (events & LOOP_READABLE)
		process_pump(p);
}

/* ---- waiting: while the daemon starts or a module leaves -------------------------------------------- */
static void wait_step(struct process *p, int timeout_ms)
{
	struct pollfd fd = { .fd = p->fd, .events = p->out.len > 0 ? POLLIN | POLLOUT : POLLIN };

	if (p->ending != NULL) { /* the loop does not run now */
		loop_timer_cancel(p->ending);
		ending(p);
		if (p->fd >= 0)
			poll(NULL, 0, REAP_EVERY_MS);
		return;
	}
	if (poll(&fd, 1, timeout_ms) <= 0)
		return;
	if (fd.revents & POLLOUT)
		process_flush(p);
	if (fd.revents & (POLLIN | POLLHUP | POLLERR))
		process_pump(p);
}

int process_wait(struct process *p, bool (*done)(void *arg), void *arg, int64_t deadline_ms)
{
	struct loop *loop = p->iso->parts->loop;
	int64_t until = loop_clock_ns(loop) / 1000000 + deadline_ms, left;
	int ret = 0;

	p->users++;
	while (!done(arg) && ret == 0) {
		left = until - loop_clock_ns(loop) / 1000000;
		if (p->fd < 0)
			ret = -ECHILD;
		else if (left <= 0)
			ret = -ETIMEDOUT;
		else
			wait_step(p, (int)left);
	}
	process_unuse(p);
	return ret;
}

void iso_log(const struct isolate *iso, uint32_t event, const char *fmt, ...)
{
	va_list ap;

	if (iso->parts->log == NULL)
		return;
	va_start(ap, fmt);
	log_addv(iso->parts->log, event, "Module", iso->name, fmt, ap);
	va_end(ap);
}
