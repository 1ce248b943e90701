/* SPDX-License-Identifier: Apache-2.0
 *
 * message.c - a line for the output of a running task (qmsg), and the end of a host's daemon.
 *
 * The output belongs to the user: it is opened with his rights, by the path the task was started with,
 * and only when it is a plain file. That, and reading the path, happens on a worker thread.
 */
#include "executor.h"
#include "spec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TO_OUT = 1, TO_ERR = 2 }; /* bits of a message's files */

/* What the worker thread sees. */
struct line {
	int64_t number, files;
	char *spec_path, *text;
	const char *error; /* NULL: written */
};

static void line_free(struct line *l)
{
	if (!l)
		return;
	free(l->spec_path);
	free(l->text);
	free(l);
}

static bool write_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

static bool append(const char *path, const char *text)
{
	bool nowhere = strcmp(path, "/dev/null") == 0, done;
	int fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	done = fd >= 0 && fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || nowhere) &&
	       write_all(fd, text, strlen(text)) && write_all(fd, "\n", 1);
	if (fd >= 0)
		close(fd);
	return done;
}

/* A stream without a file of its own goes into the other's. */
static bool append_to(const struct spec *s, const struct line *l)
{
	const char *out = s->out.run ? s->out.run : s->err.run;
	const char *err = s->err.run ? s->err.run : s->out.run;
	bool done = true;

	if (l->files & TO_OUT)
		done = out && append(out, l->text);
	if (l->files & TO_ERR)
		done = err && append(err, l->text) && done;
	return done;
}

static char *read_file(const char *path, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *bytes = NULL;
	size_t len = 0;
	ssize_t n = 1;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= (off_t)SPEC_MAX)
		bytes = malloc((size_t)st.st_size);
	while (bytes && len < (size_t)st.st_size &&
	       (n = read(fd, bytes + len, (size_t)st.st_size - len)) > 0)
		len += (size_t)n;
	if (fd >= 0)
		close(fd);
	*ret_len = len;
	return bytes;
}

/* On a worker thread: the identity for files is a thread's own. */
static void line_work(void *arg)
{
	struct line *l = arg;
	struct spec s = { 0 };
	size_t len;
	char *bytes = read_file(l->spec_path, &len);
	bool done = false;

	if (bytes && spec_decode(bytes, len, &s) == 0) {
		bool drop = s.drop && geteuid() == 0;

		if (drop) {
			setfsgid(s.gid);
			setfsuid(s.uid);
		}
		done = spec_settle(&s) == 0 && append_to(&s, l);
		if (drop) {
			setfsuid(0);
			setfsgid(0);
		}
		spec_fini(&s);
	}
	free(bytes);
	l->error = done ? NULL : "the job's output cannot be written";
}

static void line_done(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct line *l = arg;

	st->mom.sampling--;
	stop_answer(mod, l->number, l->error ? PBSE_MOMREJECT : 0, l->error);
	line_free(l);
}

static void on_message(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	int64_t number = st->msg->integer(m, "number", 0);
	const char *text = st->msg->str(m, "text");
	struct task *t = stop_task_of(mod, m);
	struct line *l = NULL;

	(void)peer;
	if (!t || !text || (t->state != TASK_RUN && t->state != TASK_STOPPED)) {
		stop_answer(mod, number, PBSE_BADSTATE, NULL);
		return;
	}
	st->core->log(mod, KEEL_LOG_DEBUG, "Job", t->id, "message job request received");
	l = calloc(1, sizeof(*l));
	if (!l || !(l->text = strdup(text)) ||
	    asprintf(&l->spec_path, "%s/%s.JB", st->mom.jobs_dir, t->id) < 0) {
		line_free(l);
		stop_answer(mod, number, PBSE_MOMREJECT, "no memory on the host");
		return;
	}
	l->number = number;
	l->files = st->msg->integer(m, "files", TO_ERR);
	st->mom.sampling++;
	if (st->core->work(mod, line_work, line_done, l) < 0) {
		st->mom.sampling--;
		line_free(l);
		stop_answer(mod, number, PBSE_MOMREJECT, "no memory on the host");
	}
}

static void on_stop(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;

	(void)peer, (void)m;
	st->core->log(mod, KEEL_LOG_SYSTEM | KEEL_LOG_ADMIN, "Svr", "", "the server asks this host to end");
	if (!(st->core->daemon(mod) & KEEL_SERVER)) /* that one ends itself */
		st->core->stop(mod);
}

int32_t message_init(struct keel_mod *mod)
{
	const struct state *st = mod->state;
	int32_t r = st->link->on(mod, "task.message", KEEL_SERVER, on_message);

	return r ? r : st->link->on(mod, "host.stop", KEEL_SERVER, on_stop);
}

/* ---- server half ---------------------------------------------------------------------------------------- */

void task_message(struct keel_mod *mod, struct keel_obj *job, int32_t files, const char *text,
		  struct keel_mod *me, keel_task_done *done, void *arg)
{
	struct state *st = mod->state;
	struct keel_out *out = NULL;
	struct question *q = question_about(mod, job, "message", &out, me, done, arg);

	if (!q)
		return;
	st->msg->put_int(out, "files", files);
	st->msg->put_str(out, "text", text);
	question_send(mod, q, "task.message", out);
}

void task_stop_hosts(struct keel_mod *mod)
{
	struct state *st = mod->state;
	struct host *h, *next;

	HASH_ITER(hh, st->server.hosts, h, next)
		st->link->send(mod, h->name, "host.stop", st->msg->out(mod));
}
