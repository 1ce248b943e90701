/* SPDX-License-Identifier: Apache-2.0
 *
 * modhost.c - a keelson-modhost of this installation and its socket.
 *
 * It runs as whoever checks, so that what the module may read here it may read there. Everything else is as a
 * daemon has it.
 */
#include "modhost.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isolate/spawn.h"
#include "place.h"

enum { PATIENCE_MS = 8000, READ_MIN = 65536 };
#define MEMORY "--memory=1073741824"

static bool program_find(char path[PATH_MAX])
{
	static const char *const places[] = { KEELSON_LIBEXEC_BESIDE, KEELSON_LIBEXEC_DIR, NULL };

	return place_find(places, "keelson-modhost-told", path);
}

bool modhost_is_installed(void)
{
	char path[PATH_MAX];

	return program_find(path) && access(path, X_OK) == 0;
}

void modhost_give_up(struct modhost *h, const char *why)
{
	if (h->lost[0] == '\0')
		snprintf(h->lost, sizeof(h->lost), "%s", why);
}

/* ---- start and end --------------------------------------------------------------------------------- */
static int started(struct modhost *h, const char *name, int64_t now_ms, int64_t epoch_us)
{
	const struct passwd *me = getpwuid(geteuid());
	char path[PATH_MAX], names[128], user[128], clock[64];
	char *argv[] = { path, names, user, clock, (char *)MEMORY, NULL };

	snprintf(names, sizeof(names), "--name=%s", name);
	snprintf(user, sizeof(user), "--user=%s", me != NULL ? me->pw_name : "nobody");
	snprintf(clock, sizeof(clock), "--clock=%lld:%lld", (long long)now_ms, (long long)epoch_us);
	return program_find(path) ? talk_spawn(path, argv, &h->pid, &h->fd) : -ENOENT;
}

bool modhost_open(struct modhost *h, const char *name, int64_t now_ms, int64_t epoch_us)
{
	frame_reader_init(&h->in, TALK_BODY_MAX);
	h->fd = -1;
	if (started(h, name, now_ms, epoch_us) == 0)
		return true;
	h->pid = 0;
	modhost_give_up(h, "keelson-modhost cannot be started");
	return false;
}

void modhost_close(struct modhost *h)
{
	if (h->pid > 0) {
		kill(h->pid, SIGKILL);
		waitpid(h->pid, NULL, 0);
		h->pid = 0;
		close(h->fd);
	}
	frame_reader_fini(&h->in);
	mp_fini(&h->out);
}

/* It closed its end: how did it end? */
static void ended(struct modhost *h)
{
	char why[sizeof(h->lost)];
	int how = 0;

	if (h->pid > 0 && waitpid(h->pid, &how, 0) == h->pid) {
		h->pid = 0;
		close(h->fd);
	}
	if (WIFSIGNALED(how))
		snprintf(why, sizeof(why), "its process was ended by SIG%s", sigabbrev_np(WTERMSIG(how)));
	else
		snprintf(why, sizeof(why), "its process ended with exit %d", WEXITSTATUS(how));
	modhost_give_up(h, why);
}

/* ---- out ------------------------------------------------------------------------------------------- */
static bool ready(struct modhost *h, short events)
{
	struct pollfd p = { .fd = h->fd, .events = events };
	int n;

	do
		n = poll(&p, 1, PATIENCE_MS);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		modhost_give_up(h, "its process gave no answer in 8 s");
	return n > 0;
}

static void message_send(struct modhost *h)
{
	size_t at = 0;

	if (h->out.failed)
		modhost_give_up(h, "there is no memory for a message");
	while (at < h->out.len && h->lost[0] == '\0') {
		ssize_t n = send(h->fd, h->out.data + at, h->out.len - at, MSG_NOSIGNAL);

		if (n >= 0)
			at += (size_t)n;
		else if (errno == EAGAIN)
			ready(h, POLLOUT);
		else if (errno != EINTR)
			ended(h);
	}
	h->out.len = 0;
	h->out.failed = false;
}

void modhost_begin(struct modhost *h, int64_t what)
{
	talk_begin(&h->out);
	talk_put_int(&h->out, what);
}

void modhost_tell(struct modhost *h)
{
	talk_end(&h->out, 0, WIRE_EVENT, 0);
	message_send(h);
}

void modhost_reply(struct modhost *h, uint64_t corr, const struct mp *answer)
{
	talk_begin(&h->out);
	mp_raw(&h->out, answer->data, answer->len);
	h->out.failed |= answer->failed;
	talk_end(&h->out, 0, WIRE_REPLY, corr);
	message_send(h);
}

/* ---- in -------------------------------------------------------------------------------------------- */
static void bytes_read(struct modhost *h)
{
	char *room;
	size_t len;
	ssize_t n;

	if (frame_reader_room(&h->in, READ_MIN, &room, &len) < 0) {
		modhost_give_up(h, "there is no memory for what its process says");
		return;
	}
	n = recv(h->fd, room, len, 0);
	if (n > 0)
		frame_reader_added(&h->in, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		ended(h);
	else
		ready(h, POLLIN);
}

bool modhost_ask(struct modhost *h, struct talk_in *ret)
{
	uint64_t corr = ++h->n_asked;
	struct frame f;

	talk_end(&h->out, 0, WIRE_REQUEST, corr);
	message_send(h);
	h->depth++;
	while (h->lost[0] == '\0') {
		int n = frame_next(&h->in, &f);

		if (n < 0)
			modhost_give_up(h, "its process sent what is no message");
		else if (n == 0)
			bytes_read(h);
		else if (f.type != WIRE_REPLY)
			h->heard(h->arg, &f);
		else if (f.corr == corr)
			break;
	}
	h->depth--;
	if (h->lost[0] != '\0')
		return false;
	talk_open(ret, f.body, f.len);
	return true;
}
