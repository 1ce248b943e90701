/* SPDX-License-Identifier: Apache-2.0
 *
 * courier.c - the end of a task's files, seen from the shepherd: a child becomes the user and does what needs
 * the user's rights (deliver.c). It has a deadline, for the user may stop it, and file systems may hang.
 *
 * What is still in the spool afterwards goes to the undelivered directory, by root's hand. The shepherd never
 * becomes the user itself: the user cannot stop it, and the job ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../proc.h"
#include "shepherd.h"

#define DELIVER_MS 300000 /* of a daemon that does not say */
#define DIE_MS 2000	  /* after the kill; a process that stays in the kernel longer is not waited for */
#define CLEAN_MS 10000
#define CLEAN_TRIES 5
#define KILLED_MOST 100 /* children: the daemon's passes of KILL last a second */
#define KILLED_EARLY_MS 1000

struct errand {
	int status;
	const char *notice;
	bool place;		/* else only directories are removed */
	const char *from, *to;	/* or this is copied */
	struct undelivered *missed; /* of both streams, where it says so */
};

static _Noreturn void errand_do(struct spec s, const struct errand *e, int report)
{
	struct undelivered missed[2] = { 0 };
	ssize_t n;

	setsid();
	if (privileges_drop(&s) < 0)
		_exit(1);
	if (e->from) {
		umask(077);
		if (file_copy(e->from, e->to, O_EXCL | O_NOFOLLOW) == 0)
			unlink(e->from);
		_exit(0);
	}
	if (e->place) {
		deliver(&s, e->status, e->notice, missed);
		n = write(report, missed, sizeof(missed)); /* whole: less than a pipe holds */
		(void)n;
	}
	if (s.tmpdir)
		tree_remove(s.tmpdir);
	if (s.sandbox && tree_is_mine(s.sandbox, s.run, !s.index))
		tree_remove(s.sandbox);
	_exit(0);
}

static bool ends_within(pid_t pid, int pidfd, int ms, int *ret_status)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, ms);
	while (n < 0 && errno == EINTR);
	return n > 0 && waitpid(pid, ret_status, WNOHANG) == pid;
}

/* What the errand says of its streams. One that does not come to that was killed, or took too long. */
static void report_take(int fd, struct undelivered *missed)
{
	struct undelivered heard[2];

	if (!missed || read(fd, heard, sizeof(heard)) != sizeof(heard))
		return;
	for (int i = 0; i < 2; i++) {
		heard[i].place[sizeof(heard[i].place) - 1] = heard[i].why[sizeof(heard[i].why) - 1] = '\0';
		missed[i] = heard[i];
	}
}

/* False: it was killed before it had its time. */
static bool errand_run(const struct spec *s, const struct errand *e)
{
	int limit = s->deliver_ms && s->deliver_ms < INT_MAX ? (int)s->deliver_ms : DELIVER_MS, pidfd, status = 0, report[2] = { -1, -1 };
	pid_t pid = pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0 ? -1 : fork();

	if (!e->place && !e->from && limit > CLEAN_MS)
		limit = CLEAN_MS;

	if (pid == 0)
		errand_do(*s, e, report[1]);
	if (report[1] >= 0)
		close(report[1]);
	if (pid < 0) {
		if (report[0] >= 0)
			close(report[0]);
		return true;
	}
	pidfd = pidfd_open(pid, 0);
	if (pidfd < 0 || !ends_within(pid, pidfd, limit, &status)) {
		kill(pid, SIGKILL);
		ends_within(pid, pidfd, DIE_MS, NULL);
	}
	if (pidfd >= 0)
		close(pidfd);
	report_take(report[0], e->missed);
	close(report[0]);
	return !WIFSIGNALED(status);
}

static bool is_spooled(const struct spec_stream *stream)
{
	return stream->run && !stream->keep;
}

/* "kept.OU PATH", "dest.OU PATH", "why.OU WORDS": where output is that could not be placed, where it was to go, and why. */
static void kept_note(const struct spec *s, const char *suffix, const char *at, const struct undelivered *u)
{
	const struct { const char *word, *text; } lines[] = { { "kept", at }, { "dest", u->place }, { "why", u->why } };
	char line[PATH_MAX + 16];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(line, sizeof(line), "%s%s %s", lines[i].word, suffix, lines[i].text);
		record_append(s, line);
	}
}

/* 1: it was not placed. NULL: nothing is kept. */
static int stream_keep(const struct spec *s, const struct spec_stream *stream, const char *suffix, const struct undelivered *u)
{
	char to[PATH_MAX];
	const char *at = stream->run;
	struct stat st;
	int r;

	if (!is_spooled(stream) || lstat(stream->run, &st) < 0)
		return 0;
	if (!u)
		return unlink(stream->run) < 0 && errno != ENOENT;
	if (snprintf(to, sizeof(to), "%s/%s%s", s->undelivered, s->id, suffix) < (int)sizeof(to)) {
		r = spool_move(stream->run, to);
		if (r == -EXDEV) {
			unlink(to);
			errand_run(s, &(struct errand){ .from = stream->run, .to = to });
			r = lstat(stream->run, &st) == 0 ? -EXDEV : 0;
		}
		at = r == 0 ? to : stream->run;
	}
	kept_note(s, suffix, at, u);
	return 1;
}

/* The daemon has noted that this run is not wanted any more. */
static bool is_discarded(const char *diary)
{
	char *noted = text_last(diary, "discarded");

	free(noted);
	return noted != NULL;
}

/* "out.place PATH", "err.place PATH": the place of a stream was changed. */
static void place_read(struct spec_stream *stream, const char *diary, const char *word)
{
	char *place = stream->run && !stream->keep ? text_last(diary, word) : NULL;

	if (place)
		stream->place = *place ? place : NULL; /* kept: we end soon */
}

static bool is_there(const char *path)
{
	struct stat st;

	return path && lstat(path, &st) == 0;
}

/* A pass of KILL for the task's processes may meet an errand that begins: it begins again. Later it is meant. False: it
 * was killed each time, by its user. */
static bool errand_insist(const struct spec *s, const struct errand *e)
{
	const struct timespec pause = { 0, 50000000 };

	for (int killed = 0; killed < KILLED_MOST; killed++) {
		int64_t began = proc_up_ms();

		if (errand_run(s, e) || proc_up_ms() - began > KILLED_EARLY_MS)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void directories_remove(const struct spec *s)
{
	for (int tries = 0; tries < CLEAN_TRIES && (is_there(s->tmpdir) || is_there(s->sandbox)); tries++)
		if (!errand_insist(s, &(struct errand){ 0 }))
			return;
}

/* What is true of an errand that says nothing. */
static void undelivered_expect(const struct spec *s, struct undelivered ret[2])
{
	const char *place[2] = { s->out.place, s->err.place };

	for (int i = 0; i < 2; i++)
		if (place[i]) {
			snprintf(ret[i].place, sizeof(ret[i].place), "%s", place[i]);
			snprintf(ret[i].why, sizeof(ret[i].why), "the process that copies was killed, or took longer than it may (executor.deliver_limit)");
		}
}

#define KEPT_STATUS 1 /* any but 0: -R removes nothing */

int courier_run(struct spec *s, int status)
{
	char *diary = diary_text(s), *notice = s->index ? NULL : text_last(diary, "notice ");
	bool output = !s->index && (notice || is_spooled(&s->out) || is_spooled(&s->err) || s->out.remove || s->err.remove);
	/* An empty one, as most are: its parent is the site's, so root may do it. */
	bool emptied = !output && s->tmpdir && rmdir(s->tmpdir) == 0, drop = false;
	struct undelivered why[2] = { 0 };
	int missed;

	if (output || (!emptied && is_there(s->tmpdir)) || is_there(s->sandbox)) {
		place_read(&s->out, diary, "out.place ");
		place_read(&s->err, diary, "err.place ");
		undelivered_expect(s, why);
		errand_insist(s, &(struct errand){ .status = status, .notice = notice, .place = output && !is_discarded(diary), .missed = why });
		free(diary);
		diary = diary_text(s); /* as it is now */
		drop = is_discarded(diary);
		directories_remove(s);
	}
	free(notice);
	free(diary);
	if (s->index)
		return 0; /* what tasks wrote is the daemon's to read */
	missed = stream_keep(s, &s->out, ".OU", drop ? NULL : &why[0]) | stream_keep(s, &s->err, ".ER", drop ? NULL : &why[1]) << 1;
	return drop ? 0 : missed;
}

void courier_clean(struct spec *s, bool place)
{
	char record[32];

	if (place) {
		snprintf(record, sizeof(record), "placed %d", courier_run(s, KEPT_STATUS));
		record_append(s, record);
		return;
	}
	directories_remove(s);
	stream_keep(s, &s->out, ".OU", NULL);
	stream_keep(s, &s->err, ".ER", NULL);
	record_append(s, "placed 0");
}
