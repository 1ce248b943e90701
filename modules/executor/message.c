/* SPDX-License-Identifier: Apache-2.0
 *
 * message.c - a line for the output of a running task (qmsg), and the end of a host's daemon.
 *
 * The output belongs to the user: a program writes it as that user (shepherd/message.c), and has a deadline.
 */
#include "executor.h"
#include "chore.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MESSAGE_MS 10000

struct line {
	int64_t number;
};

/* In memory, to be read from its beginning. */
static int text_open(const char *text)
{
	size_t len = strlen(text), at = 0;
	int fd = memfd_create("message", MFD_CLOEXEC);

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
	return fd;
}

static void line_done(struct keel_mod *mod, void *arg, int status, const char *why)
{
	const struct state *st = mod->state;
	struct line *l = arg;

	(void)why;
	if (!st->stopping)
		stop_answer(mod, l->number, status ? PBSE_MOMREJECT : 0,
			    status ? "the job's output cannot be written" : NULL);
	free(l);
}

static bool line_write(struct keel_mod *mod, const struct task *t, const char *text, int64_t files, int64_t number)
{
	const struct state *st = mod->state;
	struct line *l = malloc(sizeof(*l));
	char bits[24], word[] = MESSAGE_WORD, *path = NULL, *program = launch_program(mod, "keelson-shepherd");
	char *argv[] = { program, word, bits, NULL };
	int r = -ENOMEM, spec = -1;

	snprintf(bits, sizeof(bits), "%lld", (long long)files);
	if (asprintf(&path, "%s/%s.JB", st->mom.jobs_dir, t->id) < 0)
		path = NULL;
	if (path)
		spec = open(path, O_RDONLY | O_CLOEXEC);
	if (l && program && spec >= 0) {
		l->number = number;
		r = chore_begin(mod, t->user ? t->user : "", argv, text_open(text), spec, MESSAGE_MS, line_done, l);
	} else if (spec >= 0) {
		close(spec);
	}
	if (r < 0)
		free(l);
	free(path);
	free(program);
	return r == 0;
}

void on_message(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	int64_t number = keel_msg_int(m, "number", 0);
	const char *text = keel_msg_str(m, "text");
	struct task *t = stop_task_of(mod, m);

	(void)peer;
	if (!t || !text || (t->state != TASK_RUN && t->state != TASK_STOPPED)) {
		stop_answer(mod, number, PBSE_BADSTATE, NULL);
		return;
	}
	keel_log(mod, KEEL_LOG_DEBUG, "Job", t->id, "message job request received");
	if (!line_write(mod, t, text, keel_msg_int(m, "files", MESSAGE_ERR), number))
		stop_answer(mod, number, PBSE_MOMREJECT, "no memory on the host");
}

void on_stop(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	(void)peer, (void)m;
	keel_log(mod, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "Svr", "", "the server asks this host to end");
	if (!(keel_daemon(mod) & KEEL_SERVER)) /* that one ends itself */
		keel_stop(mod);
}

/* ---- server half ---------------------------------------------------------------------------------------- */

void task_message(struct keel_mod *mod, struct keel_obj *job, int32_t files, const char *text,
		  struct keel_mod *me, keel_task_done *done, void *arg)
{
	struct keel_out *out = NULL;
	struct question *q = question_about(mod, job, "message", &out, me, done, arg);

	if (!q)
		return;
	keel_put_int(out, "files", files);
	keel_put_str(out, "text", text);
	question_send(mod, q, "task.message", out);
}

void task_stop_hosts(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct host *h, *next;

	HASH_ITER(hh, st->server.hosts, h, next)
		keel_link_send(mod, h->name, "host.stop", keel_out(mod));
}
