/* SPDX-License-Identifier: Apache-2.0
 *
 * shepherds.c - the daemon's end of its talks with shepherds: one socket each, whose messages talk.h lists.
 *
 * A daemon that was restarted finds the shepherd at its own socket, and tries until it is there: a shepherd notices that its
 * daemon is gone a moment later. Words that it must not miss are repeated then, from the state of the task.
 */
#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "talk.h"

#define AGAIN_MS 20
#define AGAIN_LONGEST_MS 2000
#define HEARD_AT_ONCE 64 /* messages: others want their turn */

/* A word that waits for room. */
struct errand {
	struct errand *prev, *next;
	int fd;
	char word[32];
};

static void errand_free(struct errand *e)
{
	if (e->fd >= 0)
		close(e->fd);
	free(e);
}

static void errands_drop(struct task *t)
{
	struct errand *e, *next;

	DL_FOREACH_SAFE(t->errands, e, next) {
		DL_DELETE(t->errands, e);
		errand_free(e);
	}
}

void talk_end(struct task *t)
{
	keel_watch_cancel(t->talk_watch);
	keel_timer_cancel(t->talk_timer);
	if (t->talk >= 0)
		close(t->talk);
	t->talk_watch = NULL;
	t->talk_timer = NULL;
	t->talk = -1;
	errands_drop(t);
}

/* ---- words to it --------------------------------------------------------------------------------------- */

/* 0; -EAGAIN: no room; another error. */
static int word_send(int talk, const char *word, int fd)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec text = { (char *)word, strlen(word) };
	struct msghdr m = { .msg_iov = &text, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fd < 0)
		return send(talk, word, strlen(word), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
	m.msg_control = control.room;
	m.msg_controllen = sizeof(control.room);
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(talk, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static void errands_send(struct task *t)
{
	struct errand *e, *next;

	DL_FOREACH_SAFE(t->errands, e, next) {
		if (word_send(t->talk, e->word, e->fd) == -EAGAIN)
			break;
		DL_DELETE(t->errands, e); /* another error: the watch finds that the shepherd is gone */
		errand_free(e);
	}
	keel_watch_for(t->talk_watch, t->errands ? KEEL_READABLE | KEEL_WRITABLE : KEEL_READABLE);
}

void talk_say(struct keel_mod *mod, struct task *t, const char *word, int fd)
{
	struct errand *e;
	int r = t->talk < 0 ? -ENOTCONN : t->errands ? -EAGAIN : word_send(t->talk, word, fd);

	if (r != -EAGAIN) {
		if (fd >= 0)
			close(fd);
		return;
	}
	e = calloc(1, sizeof(*e));
	if (!e) {
		keel_log(mod, KEEL_LOG_ERROR, "Job", t->id, "no memory for a word to its shepherd");
		if (fd >= 0)
			close(fd);
		return;
	}
	e->fd = fd;
	snprintf(e->word, sizeof(e->word), "%s", word);
	DL_APPEND(t->errands, e);
	if (t->talk_watch)
		keel_watch_for(t->talk_watch, KEEL_READABLE | KEEL_WRITABLE);
}

/* ---- what it says -------------------------------------------------------------------------------------- */

static void said_ready(struct keel_mod *mod, struct task *t, const char *rest)
{
	(void)rest;
	if (t->pidfd < 0)
		return;
	launch_ready(mod, t);
}

static void said_started(struct keel_mod *mod, struct task *t, const char *rest)
{
	launch_started(mod, t, (pid_t)strtol(rest, NULL, 10));
}

static void start_failed(struct task *t, const char *rest, bool lacks)
{
	int status = KEEL_TASK_RETRY, used = 0;

	sscanf(rest, "%d %n", &status, &used);
	t->lacks = lacks;
	t->status = status;
	snprintf(t->why, sizeof(t->why), "%s", rest + used);
}

static void said_short(struct keel_mod *mod, struct task *t, const char *rest)
{
	(void)mod;
	start_failed(t, rest, true);
}

static void said_refused(struct keel_mod *mod, struct task *t, const char *rest)
{
	(void)mod;
	start_failed(t, rest, false);
}

static void said_over(struct keel_mod *mod, struct task *t, const char *rest)
{
	if (t->pidfd >= 0) /* else it has left, and its diary says the same */
		epilogue_begin(mod, t, (int32_t)strtol(rest, NULL, 10));
}

static const struct {
	const char *word;
	void (*fn)(struct keel_mod *, struct task *, const char *rest);
} words[] = {
	{ "ready", said_ready },     { "started ", said_started }, { "short ", said_short }, { "refused ", said_refused },
	{ "task ", member_begun },   { "failed ", member_failed }, { "done ", member_done }, { "over ", said_over },
};

static void say_again(struct keel_mod *mod, void *arg);

static void lost(struct keel_mod *mod, struct task *t)
{
	talk_end(t);
	members_lost(mod, t);
	if (t->pidfd >= 0) /* it lives: or is about to be noticed */
		t->talk_timer = keel_timer(mod, AGAIN_MS, say_again, t);
}

/* One message. False: there was none. */
static bool hear(struct keel_mod *mod, struct task *t)
{
	char text[TALK_MESSAGE + 1];
	ssize_t n = t->talk < 0 ? 0 : recv(t->talk, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		lost(mod, t);
		return false;
	}
	text[n] = '\0';
	for (size_t w = 0; w < KEEL_COUNT(words); w++)
		if (strncmp(text, words[w].word, strlen(words[w].word)) == 0) {
			words[w].fn(mod, t, text + strlen(words[w].word));
			break;
		}
	return true;
}

static void heard(struct keel_mod *mod, void *arg)
{
	struct task *t = arg;

	if (t->errands)
		errands_send(t);
	for (int i = 0; i < HEARD_AT_ONCE && hear(mod, t) && t->members; i++) /* of the program alone they come one by one */
		;
}

void talk_drain(struct keel_mod *mod, struct task *t)
{
	while (t->talk >= 0 && hear(mod, t))
		;
	talk_end(t);
}

void talk_begin(struct keel_mod *mod, struct task *t)
{
	t->talk_watch = keel_watch_fd(mod, t->talk, heard, t);
	if (!t->talk_watch)
		keel_log(mod, KEEL_LOG_ERROR, "Job", t->id, "the shepherd of the task cannot be heard: no memory");
}

/* ---- after a restart ------------------------------------------------------------------------------------ */

/* Its socket, if it is its own: another process may be at that name. -1: not yet. */
static int shepherd_reach(const struct state *st, pid_t shepherd)
{
	int dir = open(st->mom.jobs_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un at;
	struct ucred who;
	socklen_t len = sizeof(who);
	bool reached = false;

	if (dir >= 0 && fd >= 0) {
		talk_address(&at, dir, (int)shepherd);
		reached = connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
			  getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 && who.pid == shepherd;
	}
	if (dir >= 0)
		close(dir);
	if (fd >= 0 && !reached)
		close(fd);
	return reached ? fd : -1;
}

static void say_again(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct task *t = arg;
	int64_t wait = t->talk_wait ? t->talk_wait * 2 : AGAIN_MS;

	t->talk_timer = NULL;
	if (st->stopping || t->pidfd < 0 || t->talk >= 0)
		return;
	t->talk = shepherd_reach(st, t->shepherd);
	if (t->talk >= 0) {
		t->talk_wait = 0;
		talk_begin(mod, t);
		return;
	}
	t->talk_wait = wait < AGAIN_LONGEST_MS ? wait : AGAIN_LONGEST_MS;
	t->talk_timer = keel_timer(mod, t->talk_wait, say_again, t);
}

void talk_find(struct keel_mod *mod, struct task *t)
{
	say_again(mod, t);
}
