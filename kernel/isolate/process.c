/* SPDX-License-Identifier: Apache-2.0
 *
 * process.c - the process of an isolated module: started, read from, written to, ended.
 *
 * Nothing here waits, but process_wait() for start-up. The socket is not blocking; what it does not take
 * is queued, up to QUEUE_MAX: who does not read is given up. The replay is queued as a whole: it is as large as
 * what there is, and nothing else is sent before start(). A process that is given up is ended from the
 * loop, never under the feet of whoever noticed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "isolate/inside.h"
#include "log/log.h"
#include "util/err.h"
#include "util/text.h"

#define REAP_EVERY_MS 2
#define REAP_TRIES 50
#define REAP_LATE_MS 200

extern char **environ;

static void socket_ready(void *arg, int events);

/* ---- start --------------------------------------------------------------------------------------- */
static int spawn(const char *program, char *const argv[], int theirs, pid_t *ret_pid)
{
	/* Nothing of the daemon's surroundings but this: no secret of it is in there. */
	static char *const surroundings[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int ret;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, 0, 1);
	posix_spawn_file_actions_adddup2(&files, 0, 2);
	posix_spawn_file_actions_adddup2(&files, theirs, TALK_FD);
	posix_spawn_file_actions_addclosefrom_np(&files, TALK_FD + 1);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSID);
	ret = posix_spawn(ret_pid, program, &files, &attr, argv, surroundings);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -ret;
}

/* `theirs` must not be TALK_FD itself, which would stay closed on exec. */
static int high_fd(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, TALK_FD + 1), ret = -errno;

	close(fd);
	return high < 0 ? ret : high;
}

static int launch(struct isolate *iso, int theirs)
{
	char *program = path_join(iso->parts->exec_dir, "libexec/keelson/keelson-modhost");
	char *name = text_format("--name=%s", iso->name);
	char *user = text_format("--user=%s", iso->user);
	char *memory = text_format("--memory=%lld", (long long)iso->limits.memory);
	char *argv[] = { program, name, user, memory, NULL };
	int ret = program == NULL || name == NULL || user == NULL || memory == NULL ?
			  -ENOMEM :
			  spawn(program, argv, theirs, &iso->pid);

	free(program);
	free(name);
	free(user);
	free(memory);
	return ret;
}

int process_start(struct isolate *iso, struct keel_err *err)
{
	int ends[2], theirs, ret;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return err_set(err, -errno, "module %s: no socket for its process: %s", iso->name,
			       strerror(errno));
	theirs = high_fd(ends[1]);
	ret = theirs < 0 ? theirs : launch(iso, theirs);
	if (theirs >= 0)
		close(theirs);
	if (ret == 0) {
		iso->fd = ends[0];
		ret = loop_watch(iso->parts->loop, iso->fd, LOOP_READABLE, socket_ready, iso,
				 &iso->watch);
		if (ret < 0)
			process_end(iso);
	} else {
		close(ends[0]);
		iso->pid = 0;
	}
	if (ret < 0)
		return err_set(err, ret, "module %s: its process cannot be started (%s/libexec/keelson/"
			       "keelson-modhost): %s", iso->name, iso->parts->exec_dir, strerror(-ret));
	frame_reader_init(&iso->in, TALK_BODY_MAX);
	iso->heard_ms = loop_now_ms(iso->parts->loop);
	iso->lost[0] = '\0';
	iso->state = ISO_COMING;
	return 0;
}

/* ---- end ------------------------------------------------------------------------------------------- */
/* A process that takes its time to die, after its isolate has forgotten it. */
struct late {
	struct loop *loop;
	pid_t pid;
};

static void reap_late(void *arg)
{
	struct late *late = arg;

	if (waitpid(late->pid, NULL, WNOHANG) == 0 &&
	    loop_timer(late->loop, REAP_LATE_MS, reap_late, late) != NULL)
		return;
	free(late);
}

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

void process_reap(struct isolate *iso)
{
	if (iso->pid <= 0)
		return;
	kill(iso->pid, SIGKILL);
	if (gone_soon(iso->pid))
		iso->pid = 0;
}

static void reap(struct isolate *iso)
{
	struct late *late;

	if (iso->pid <= 0)
		return;
	kill(iso->pid, SIGKILL);
	if (waitpid(iso->pid, NULL, WNOHANG) == 0 && (late = malloc(sizeof(*late))) != NULL) {
		*late = (struct late){ iso->parts->loop, iso->pid };
		if (loop_timer(late->loop, REAP_EVERY_MS, reap_late, late) == NULL)
			free(late);
	}
	iso->pid = 0;
}

void process_end(struct isolate *iso)
{
	loop_watch_cancel(iso->watch);
	iso->watch = NULL;
	if (iso->fd >= 0)
		close(iso->fd);
	iso->fd = -1;
	reap(iso);
	frame_reader_fini(&iso->in);
	mp_fini(&iso->out);
	iso->out_at = 0;
	loop_timer_cancel(iso->sweep);
	loop_timer_cancel(iso->ending);
	loop_timer_cancel(iso->opening);
	iso->sweep = iso->ending = iso->opening = NULL;
	iso->reaps = 0;
}

/* How it ended, in words. False: it is not over yet. */
static bool ended_by_itself(struct isolate *iso, char *why, size_t size)
{
	int how = 0;
	pid_t pid = iso->pid > 0 ? waitpid(iso->pid, &how, WNOHANG) : -1;

	if (pid == 0)
		return false;
	iso->pid = 0;
	if (pid < 0)
		snprintf(why, size, "its process ended");
	else if (WIFSIGNALED(how))
		snprintf(why, size, "its process was killed by signal %d (%s)", WTERMSIG(how),
			 strsignal(WTERMSIG(how)));
	else
		snprintf(why, size, "its process ended with exit code %d", WEXITSTATUS(how));
	return true;
}

static void end_now(struct isolate *iso)
{
	char why[sizeof(iso->lost)];

	snprintf(why, sizeof(why), "%s", iso->lost);
	process_lost(iso, why);
}

/* The socket is closed, or it was given up. Its own words come first: what it was killed by. */
static void ending(void *arg)
{
	struct isolate *iso = arg;

	iso->ending = NULL;
	if (iso->lost[0] == '\0' && !ended_by_itself(iso, iso->lost, sizeof(iso->lost))) {
		if (++iso->reaps < REAP_TRIES)
			iso->ending = loop_timer(iso->parts->loop, REAP_EVERY_MS, ending, iso);
		if (iso->ending != NULL)
			return;
		snprintf(iso->lost, sizeof(iso->lost), "its process closed the connection");
	}
	end_now(iso);
}

static void end_soon(struct isolate *iso)
{
	if (iso->fd < 0 || iso->ending != NULL)
		return;
	loop_watch_set(iso->watch, 0);
	iso->ending = loop_timer(iso->parts->loop, 0, ending, iso);
	if (iso->ending == NULL && iso->pid > 0)
		kill(iso->pid, SIGKILL); /* the sweep finds it gone */
}

void process_give_up(struct isolate *iso, const char *fmt, ...)
{
	va_list ap;

	if (iso->fd < 0 || iso->lost[0] != '\0')
		return;
	va_start(ap, fmt);
	vsnprintf(iso->lost, sizeof(iso->lost), fmt, ap);
	va_end(ap);
	end_soon(iso);
}

/* ---- writing --------------------------------------------------------------------------------------- */
static void watch_for(struct isolate *iso)
{
	if (iso->ending == NULL)
		loop_watch_set(iso->watch, iso->out.len > 0 ? LOOP_READABLE | LOOP_WRITABLE : LOOP_READABLE);
}

/* How many bytes it took; -1: it is gone, which reading will find. */
static ssize_t write_some(struct isolate *iso, const char *bytes, size_t len)
{
	ssize_t n = send(iso->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : -1;
}

static void queue_write(struct isolate *iso)
{
	ssize_t n = write_some(iso, iso->out.data + iso->out_at, iso->out.len - iso->out_at);

	if (n < 0)
		n = (ssize_t)(iso->out.len - iso->out_at);
	iso->out_at += (size_t)n;
	if (iso->out_at == iso->out.len)
		iso->out.len = iso->out_at = 0;
	watch_for(iso);
}

static int queue_add(struct isolate *iso, const char *bytes, size_t len)
{
	struct mp *out = &iso->out;

	if (iso->state == ISO_UP && out->len > 0 && out->len - iso->out_at + len > QUEUE_MAX) {
		process_give_up(iso, "its process does not read what it is told");
		return -ENOBUFS;
	}
	if (iso->out_at > out->len / 2) {
		memmove(out->data, out->data + iso->out_at, out->len - iso->out_at);
		out->len -= iso->out_at;
		iso->out_at = 0;
	}
	mp_raw(out, bytes, len);
	if (out->failed) {
		process_give_up(iso, "no memory for what its process does not read");
		return -ENOMEM;
	}
	watch_for(iso);
	return 0;
}

int process_send(struct isolate *iso, size_t begun)
{
	struct mp *m = &iso->scratch;
	size_t len = m->len - begun;
	ssize_t n = 0;
	int ret = 0;

	if (m->failed || iso->fd < 0 || iso->lost[0] != '\0') {
		ret = m->failed ? -ENOMEM : -ENOTCONN;
	} else {
		if (iso->out.len == 0 && iso->state != ISO_READY)
			n = write_some(iso, m->data + begun, len);
		if (n >= 0 && (size_t)n < len)
			ret = queue_add(iso, m->data + begun + n, len - (size_t)n);
	}
	m->len = begun;
	m->failed = false;
	return ret;
}

/* ---- reading --------------------------------------------------------------------------------------- */
static void frames_take(struct isolate *iso)
{
	struct frame f;
	int ret = 0;

	while (iso->lost[0] == '\0' && iso->fd >= 0 && (ret = frame_next(&iso->in, &f)) == 1)
		heard(iso, &f);
	if (ret < 0)
		process_give_up(iso, "its process sent what is no message");
}

/* Bytes read; 0: none now, -1: the end. */
static ssize_t read_some(struct isolate *iso)
{
	char *room;
	size_t len;
	ssize_t n;

	if (frame_reader_room(&iso->in, READ_MAX, &room, &len) < 0)
		return 0;
	n = recv(iso->fd, room, READ_MAX, MSG_DONTWAIT);
	if (n > 0)
		frame_reader_added(&iso->in, (size_t)n);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n <= 0 ? -1 : n;
}

void process_pump(struct isolate *iso)
{
	ssize_t n;

	if (iso->fd < 0 || iso->lost[0] != '\0' || iso->pumping)
		return;
	n = read_some(iso);
	if (n < 0) {
		end_soon(iso);
		return;
	}
	if (n > 0)
		iso->heard_ms = loop_now_ms(iso->parts->loop);
	iso->pumping = true;
	frames_take(iso);
	iso->pumping = false;
}

static void socket_ready(void *arg, int events)
{
	struct isolate *iso = arg;

	if ((events & LOOP_WRITABLE) && iso->out.len > 0)
		queue_write(iso);
	if (events & LOOP_READABLE)
		process_pump(iso);
}

/* ---- waiting: while the daemon starts or a module leaves -------------------------------------------- */
static int64_t clock_ms(struct isolate *iso)
{
	return loop_clock_ns(iso->parts->loop) / 1000000;
}

static void wait_step(struct isolate *iso, int timeout_ms)
{
	struct pollfd p = { .fd = iso->fd, .events = POLLIN };

	if (iso->out.len > 0)
		p.events |= POLLOUT;
	if (iso->ending != NULL) { /* the loop does not run now */
		loop_timer_cancel(iso->ending);
		ending(iso);
		if (iso->fd >= 0)
			poll(NULL, 0, REAP_EVERY_MS);
		return;
	}
	if (poll(&p, 1, timeout_ms) <= 0)
		return;
	if ((p.revents & POLLOUT) && iso->out.len > 0)
		queue_write(iso);
	if (p.revents & (POLLIN | POLLHUP | POLLERR))
		process_pump(iso);
}

int process_wait(struct isolate *iso, bool (*done)(void *arg), void *arg, int64_t deadline_ms)
{
	int64_t until = clock_ms(iso) + deadline_ms, left;

	while (!done(arg)) {
		if (iso->fd < 0)
			return -ECHILD;
		left = until - clock_ms(iso);
		if (left <= 0)
			return -ETIMEDOUT;
		wait_step(iso, (int)left);
	}
	return 0;
}

/* ---- hangs ------------------------------------------------------------------------------------------- */
static bool questions_late(const struct isolate *iso, int64_t late)
{
	const struct iso_question *q;

	DL_FOREACH2(iso->questions, q, all_next) {
		if (q->pending.id != 0 && q->pending.since_ms <= late)
			return true;
	}
	return false;
}

static void sweep(void *arg)
{
	struct isolate *iso = arg;
	int64_t late = loop_now_ms(iso->parts->loop) - iso->limits.deadline_ms;

	iso->sweep = NULL;
	process_pump(iso); /* we may be the one who was late */
	if (questions_late(iso, late))
		process_give_up(iso, "its process gave no answer for %lld ms",
				(long long)iso->limits.deadline_ms);
	else if (iso->notes > 0 && iso->notes_since_ms <= late)
		process_give_up(iso, "its process has not finished what it was told for %lld ms",
				(long long)iso->limits.deadline_ms);
	process_sweep_on(iso);
}

void process_sweep_on(struct isolate *iso)
{
	if (iso->sweep == NULL && iso->fd >= 0 && (iso->questions != NULL || iso->notes > 0))
		iso->sweep = loop_timer(iso->parts->loop, iso->limits.deadline_ms / 4 + 1, sweep, iso);
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
