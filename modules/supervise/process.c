/* SPDX-License-Identifier: Apache-2.0
 *
 * process.c - a program that is started again when it ends, and exchanges frames with the daemon.
 *
 *   STARTING -> UP <-> ASKED (it owes answers) -> ENDING -> WAITING -> STARTING
 *                                                        -> OFF: too many deaths
 *
 * Nothing waits here but process_wait(). What the socket does not take is queued, up to QUEUE_MAX once it is up: until then
 * the queue is as long as what it has to know. An error of a program is noted where it is noticed and acted on from
 * the loop, so that nothing ends below its user.
 *
 * Deadline: looks are counted, not the clock, so that no program is late while the daemon itself stands still.
 *
 * Restarts are paid for: a few at once, then so many in a second. A program that was of no use, neither answered nor was up for
 * GOOD_LIFE_MS, waits besides, twice as long each time.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <utlist.h>

#include "supervise.h"

#define QUEUE_MAX (8u * 1024u * 1024u)
#define READ_AT_ONCE (64u * 1024u)
#define LOOK_EACH_MS 250
#define STOP_MS 100
#define BACKOFF_FIRST_MS 100
#define BACKOFF_LAST_MS 30000
#define GOOD_LIFE_MS 250
#define RESTART_EACH_MS 40 /* one restart in that time is always there ... */
#define RESTARTS_BURST 20  /* ... and so many at once */

enum process_state { STARTING, UP, ENDING, WAITING, OFF }; /* ASKED: UP, and `owed` is not 0 */

struct bytes {
	char *data;
	size_t len, room, at; /* `at`: taken from the front */
};

struct keel_supervised {
	struct keel_supervised *prev, *next;
	struct state *st;
	struct keel_mod *mod;
	struct keel_supervise_opts o;
	char *name, *user, *dir, **argv, **env; /* env NULL: as the tree has it */
	enum process_state state;
	struct tree *tree; /* NULL: WAITING, OFF */
	int fd;
	struct keel_watch *watch;
	struct bytes in, out;
	struct keel_timer *sweep, *ending, *restart;
	char lost[256]; /* why it is ended; "": it is not */
	uint32_t users; /* on the stack: freed when there are none */
	bool gone;	/* process_stop() was called */
	bool over;	/* process_end() was called */
	bool reading;

	uint32_t owed;
	int64_t late_ms; /* it has owed something for so long, since the last answer */
	bool of_use;
	int64_t up_ms, again_ms, death_ms, paid_ms, backoff_ms;
	uint32_t deaths, restarts;
};

static int64_t now_ms(const struct keel_supervised *p)
{
	return keel_now_ms(p->st->mod);
}

static bool bytes_add(struct bytes *b, const void *data, size_t len)
{
	size_t room = b->room > 0 ? b->room : 4096;
	char *more;

	if (b->at > b->len / 2) {
		memmove(b->data, b->data + b->at, b->len - b->at);
		b->len -= b->at;
		b->at = 0;
	}
	while (room < b->len + len)
		room *= 2;
	if (room != b->room) {
		more = realloc(b->data, room);
		if (!more)
			return false;
		b->data = more;
		b->room = room;
	}
	memcpy(b->data + b->len, data, len);
	b->len += len;
	return true;
}

static void words_free(char **words)
{
	for (char **word = words; word && *word; word++)
		free(*word);
	free(words);
}

static char **words_copy(const char *const *words)
{
	uint32_t n = 0;
	char **own;

	while (words[n])
		n++;
	own = calloc(n + 1, sizeof(*own));
	for (uint32_t i = 0; own && i < n; i++) {
		own[i] = strdup(words[i]);
		if (!own[i]) {
			words_free(own);
			return NULL;
		}
	}
	return own;
}

/* ---- end of a program, and the next ------------------------------------------------------------------- */
static void begin_again(struct keel_mod *m, void *arg);

static void unuse(struct keel_supervised *p)
{
	if (--p->users > 0 || !p->gone)
		return;
	words_free(p->argv);
	words_free(p->env);
	free(p->name);
	free(p->user);
	free(p->dir);
	free(p->in.data);
	free(p->out.data);
	free(p);
}

/* When the next one may come, in ms; -1: never. */
static int64_t next_in(struct keel_supervised *p, bool of_use)
{
	int64_t now = now_ms(p), wait = p->paid_ms - now - RESTARTS_BURST * RESTART_EACH_MS;

	if (p->deaths == 0 || now - p->death_ms > p->o.within_ms) {
		p->deaths = 0;
		p->death_ms = now;
	}
	if (++p->deaths >= (uint64_t)p->o.deaths && p->o.deaths > 0)
		return -1;
	p->backoff_ms = of_use ? 0 : p->backoff_ms == 0 ? BACKOFF_FIRST_MS : p->backoff_ms * 2;
	if (p->backoff_ms > BACKOFF_LAST_MS)
		p->backoff_ms = BACKOFF_LAST_MS;
	p->paid_ms = (p->paid_ms > now ? p->paid_ms : now) + RESTART_EACH_MS;
	return wait > p->backoff_ms ? wait : p->backoff_ms;
}

static void line_close(struct keel_supervised *p)
{
	keel_watch_cancel(p->watch);
	keel_timer_cancel(p->sweep);
	keel_timer_cancel(p->ending);
	p->watch = NULL;
	p->sweep = p->ending = NULL;
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	p->in.len = p->in.at = p->out.len = p->out.at = 0;
}

/* The program is gone. */
static void ended(struct keel_supervised *p, const char *why)
{
	bool of_use = p->up_ms > 0 && (p->of_use || now_ms(p) - p->up_ms >= GOOD_LIFE_MS);
	char text[256];
	int64_t wait;

	snprintf(text, sizeof(text), "%s", p->lost[0] ? p->lost : why);
	p->tree = NULL;
	line_close(p);
	if (p->gone)
		return;
	wait = next_in(p, of_use);
	p->state = wait < 0 ? OFF : WAITING;
	p->again_ms = now_ms(p) + wait;
	p->owed = 0;
	if (wait >= 0)
		p->restart = keel_timer(p->st->mod, wait, begin_again, p);
	p->users++;
	if (p->o.ended)
		p->o.ended(p->mod, p->o.arg, text, wait);
	unuse(p);
}

static void tree_over(void *arg, const char *why, int32_t status)
{
	char text[64];

	snprintf(text, sizeof(text), "its process ended with status %d", (int)status);
	ended(arg, why ? why : text);
}

static void end_now(struct keel_mod *m, void *arg)
{
	struct keel_supervised *p = arg;

	(void)m;
	p->ending = NULL;
	if (p->tree)
		tree_kill(p->tree);
}

/* Its socket is closed, or it was given up. A program that closed it is ending by itself, which says more. */
static void end_soon(struct keel_supervised *p, int64_t in_ms)
{
	if (p->state != STARTING && p->state != UP)
		return;
	p->state = ENDING;
	keel_watch_cancel(p->watch);
	p->watch = NULL;
	p->ending = keel_timer(p->st->mod, in_ms, end_now, p);
	if (!p->ending && p->tree)
		tree_kill(p->tree);
}

void process_give_up(struct keel_supervised *p, const char *why)
{
	if (p->lost[0] == '\0' && (p->state == STARTING || p->state == UP))
		snprintf(p->lost, sizeof(p->lost), "%s", why);
	end_soon(p, 0);
}

/* ---- writing --------------------------------------------------------------------------------------- */
static bool hears(const struct keel_supervised *p)
{
	return p->state == STARTING || p->state == UP;
}

static void watch_for(const struct keel_supervised *p)
{
	if (p->watch)
		keel_watch_for(p->watch, p->out.len > p->out.at ? KEEL_READABLE | KEEL_WRITABLE : KEEL_READABLE);
}

static void flush(struct keel_supervised *p)
{
	ssize_t n = p->fd >= 0 ? send(p->fd, p->out.data + p->out.at, p->out.len - p->out.at, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;

	if (n < 0) /* gone, which reading will find; or not now */
		n = errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : (ssize_t)(p->out.len - p->out.at);
	p->out.at += (size_t)n;
	if (p->out.at == p->out.len)
		p->out.at = p->out.len = 0;
	watch_for(p);
}

int32_t process_send(struct keel_supervised *p, const void *bytes, uint32_t len)
{
	struct iovec parts[2] = { { &len, sizeof(len) }, { (void *)(uintptr_t)bytes, len } };
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t n = 0;

	if (!hears(p))
		return -ENOTCONN;
	if (p->out.len == 0)
		n = sendmsg(p->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n == (ssize_t)(sizeof(len) + len))
		return 0;
	if (p->state == UP && p->out.len - p->out.at + len > QUEUE_MAX && p->out.len > 0) {
		process_give_up(p, "its process does not read what it is told");
		return -ENOBUFS;
	}
	if (n < 0)
		n = 0;
	if ((n < (ssize_t)sizeof(len) && !bytes_add(&p->out, (char *)&len + n, sizeof(len) - (size_t)n)) ||
	    !bytes_add(&p->out, n > (ssize_t)sizeof(len) ? (const char *)bytes + n - sizeof(len) : bytes,
		       n > (ssize_t)sizeof(len) ? len + sizeof(len) - (size_t)n : len)) {
		process_give_up(p, "no memory for what its process does not read");
		return -ENOMEM;
	}
	watch_for(p);
	return 1;
}

/* ---- reading --------------------------------------------------------------------------------------- */
/* The next whole frame; NULL: there is none. */
static const char *frame_next(struct keel_supervised *p, uint32_t *ret_len)
{
	const char *at = p->in.data + p->in.at;
	uint32_t len;

	if (p->in.len - p->in.at < sizeof(len))
		return NULL;
	memcpy(&len, at, sizeof(len));
	if (len > KEEL_SUPERVISE_FRAME_MAX) {
		process_give_up(p, "its process sent what is no message");
		return NULL;
	}
	if (p->in.len - p->in.at < sizeof(len) + len)
		return NULL;
	p->in.at += sizeof(len) + len;
	*ret_len = len;
	return at + sizeof(len);
}

static void frames_take(struct keel_supervised *p)
{
	const char *frame;
	uint32_t len;

	while (hears(p) && !p->gone && (frame = frame_next(p, &len)) != NULL)
		p->o.frame(p->mod, p->o.arg, frame, len);
}

void process_look(struct keel_supervised *p)
{
	char chunk[READ_AT_ONCE];
	ssize_t n;

	if (!hears(p) || p->reading)
		return;
	n = recv(p->fd, chunk, sizeof(chunk), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		snprintf(p->lost, sizeof(p->lost), "%s", "");
		end_soon(p, STOP_MS);
		return;
	}
	if (!bytes_add(&p->in, chunk, (size_t)n)) {
		process_give_up(p, "no memory for what its process sends");
		return;
	}
	p->users++;
	p->reading = true;
	frames_take(p);
	p->reading = false;
	unuse(p);
}

static void ready(struct keel_mod *m, void *arg)
{
	struct keel_supervised *p = arg;

	(void)m;
	p->users++;
	if (p->out.len > p->out.at)
		flush(p);
	process_look(p);
	unuse(p);
}

static bool is_over(const struct keel_supervised *p)
{
	return p->state == WAITING || p->state == OFF || p->gone;
}

static void wait_step(struct keel_supervised *p, int timeout_ms)
{
	struct pollfd fd = { .fd = p->fd, .events = p->out.len > p->out.at ? POLLIN | POLLOUT : POLLIN };

	if (p->state == ENDING) { /* the loop does not run now */
		if (p->lost[0])
			tree_kill(p->tree);
		tree_wait(p->tree, timeout_ms);
		return;
	}
	if (poll(&fd, 1, timeout_ms) > 0)
		ready(p->st->mod, p);
}

int32_t process_wait(struct keel_supervised *p, bool (*done)(void *arg), void *arg, int64_t timeout_ms)
{
	int64_t until = keel_clock_us(p->st->mod) / 1000 + timeout_ms, left;
	int32_t ret = 0;

	p->users++;
	while (!done(arg) && ret == 0) {
		left = until - keel_clock_us(p->st->mod) / 1000;
		if (is_over(p))
			ret = -ECHILD;
		else if (left <= 0)
			ret = -ETIMEDOUT;
		else
			wait_step(p, (int)left);
	}
	unuse(p);
	return ret;
}

/* ---- the deadline ---------------------------------------------------------------------------------- */
static int64_t each_ms(const struct keel_supervised *p)
{
	int64_t each = (p->state == UP ? p->o.deadline_ms : p->o.start_ms) / 4 + 1;

	return each < LOOK_EACH_MS ? each : LOOK_EACH_MS;
}

static void sweep(struct keel_mod *m, void *arg)
{
	struct keel_supervised *p = arg;
	int64_t deadline;
	char why[96];

	p->sweep = NULL;
	p->users++;
	process_look(p); /* the daemon may be the one that was late */
	deadline = p->state == UP ? p->o.deadline_ms : p->o.start_ms;
	if (p->owed > 0 && hears(p) && !p->gone) {
		if (p->late_ms >= deadline) {
			snprintf(why, sizeof(why), "its process gave no answer for %lld ms", (long long)deadline);
			process_give_up(p, why);
		}
		p->late_ms += each_ms(p);
		p->sweep = keel_timer(m, each_ms(p), sweep, p);
	}
	unuse(p);
}

void process_owes(struct keel_supervised *p)
{
	if (!hears(p))
		return;
	if (p->owed++ == 0)
		p->late_ms = 0;
	if (!p->sweep)
		p->sweep = keel_timer(p->st->mod, each_ms(p), sweep, p);
}

void process_paid(struct keel_supervised *p)
{
	if (p->owed > 0)
		p->owed--;
	p->late_ms = 0;
	p->of_use = p->of_use || p->state == UP;
}

void process_up(struct keel_supervised *p)
{
	if (p->state != STARTING)
		return;
	p->state = UP;
	p->up_ms = now_ms(p);
}

/* ---- start --------------------------------------------------------------------------------------- */
static int32_t begin(struct keel_supervised *p, struct keel_err *err)
{
	struct tree_opts o = { .order = { .profile = (int)p->o.profile, .user = p->user, .memory = p->o.memory,
					  .processes = (int)p->o.processes, .dir = p->dir },
			       .argv = (const char *const *)p->argv, .env = (const char *const *)p->env, .input = -1,
			       .over = tree_over, .arg = p };
	int ends[2];
	int32_t ret = socket_pair(ends);

	if (ret < 0)
		return keel_error(err, ret, "%s: %s", p->name, strerror(-ret));
	p->fd = ends[0];
	o.data = ends[1];
	p->watch = keel_watch_fd(p->st->mod, p->fd, ready, p);
	ret = p->watch ? tree_start(p->st, &o, &p->tree, err) : keel_error(err, -ENOMEM, "no memory");
	close(ends[1]);
	if (ret < 0) {
		line_close(p);
		return ret;
	}
	p->state = STARTING;
	p->lost[0] = '\0';
	p->of_use = false;
	p->up_ms = p->late_ms = p->owed = 0;
	if (p->o.begins)
		p->o.begins(p->mod, p->o.arg);
	return 0;
}

static void begin_again(struct keel_mod *m, void *arg)
{
	struct keel_supervised *p = arg;
	struct keel_err err = { .code = 0 };

	(void)m;
	p->restart = NULL;
	p->restarts++;
	p->users++;
	if (begin(p, &err) < 0)
		ended(p, err.text);
	unuse(p);
}

struct keel_supervised *process_start(struct keel_mod *self, struct keel_mod *mod, const struct keel_supervise_opts *theirs,
				      struct keel_err *err)
{
	struct state *st = self->state;
	struct keel_supervised *p = calloc(1, sizeof(*p));

	if (!p) {
		keel_error(err, -ENOMEM, "no memory");
		return NULL;
	}
	p->st = st;
	p->mod = mod;
	p->fd = -1;
	p->state = OFF;
	KEEL_SIZED(&p->o, theirs);
	p->name = strdup(p->o.name);
	p->user = strdup(p->o.user && p->o.user[0] ? p->o.user : "nobody");
	p->dir = strdup(p->o.dir ? p->o.dir : "");
	p->argv = words_copy(p->o.argv);
	p->env = p->o.env ? words_copy(p->o.env) : NULL;
	DL_APPEND(st->all, p);
	if (p->name && p->user && p->dir && p->argv && (p->env || !p->o.env) && begin(p, err) == 0)
		return p;
	process_stop(p);
	return NULL;
}

/* No callback runs any more. Its tree, which is being killed; NULL: there is none. */
static struct tree *leave(struct keel_supervised *p)
{
	struct tree *t = p->tree;

	if (p->over)
		return NULL;
	p->over = true;
	p->state = OFF;
	p->tree = NULL;
	keel_timer_cancel(p->restart);
	p->restart = NULL;
	line_close(p);
	DL_DELETE(p->st->all, p);
	if (t)
		tree_forget(t);
	return t;
}

void process_end(struct keel_supervised *p)
{
	struct tree *t = leave(p);

	if (t)
		tree_wait(t, STOP_MS);
}

void process_drop(struct keel_supervised *p)
{
	if (!p)
		return;
	p->gone = true;
	p->users++;
	leave(p);
	unuse(p);
}

void process_stop(struct keel_supervised *p)
{
	if (!p)
		return;
	p->gone = true;
	p->users++;
	process_end(p);
	unuse(p);
}

int32_t process_text(const struct keel_supervised *p, char *buf, uint32_t len)
{
	static const char *const words[] = { "starting", "up", "ending", "waiting", "benched" };
	char restarts[32] = "", pid[32] = "";

	if (p->restarts > 0)
		snprintf(restarts, sizeof(restarts), ", restarts: %u", p->restarts);
	if (p->tree && tree_pid(p->tree) > 0)
		snprintf(pid, sizeof(pid), "%ld ", (long)tree_pid(p->tree));
	return snprintf(buf, len, "process %s%s%s", pid, words[p->state], restarts);
}
