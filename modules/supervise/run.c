/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - a program is run once: its output is captured up to a bound, its time is limited, all it started ends with it.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <utlist.h>

#include "supervise.h"

struct keel_run {
	struct keel_run *prev, *next;
	struct state *st;
	struct keel_mod *mod;
	keel_run_fn *done;
	void *arg;
	struct tree *tree;
	int fd; /* its output */
	struct keel_watch *watch;
	struct keel_timer *timeout;
	bool late;
	char *output; /* output_max + 1 bytes */
	uint32_t len, max;
};

static void run_free(struct keel_run *r)
{
	keel_timer_cancel(r->timeout);
	keel_watch_cancel(r->watch);
	close(r->fd);
	DL_DELETE(r->st->runs, r);
	free(r->output);
	free(r);
}

/* What is there; what is too much is read all the same, so that the program does not wait. */
static void drain(struct keel_run *r)
{
	char chunk[4096];
	ssize_t n;

	while ((n = read(r->fd, chunk, sizeof(chunk))) > 0) {
		uint32_t keep = (uint32_t)n < r->max - r->len ? (uint32_t)n : r->max - r->len;

		memcpy(r->output + r->len, chunk, keep);
		r->len += keep;
	}
	if (n == 0) { /* closed: its end is said elsewhere */
		keel_watch_cancel(r->watch);
		r->watch = NULL;
	}
}

static void readable(struct keel_mod *m, void *arg)
{
	(void)m;
	drain(arg);
}

static void too_late(struct keel_mod *m, void *arg)
{
	struct keel_run *r = arg;

	(void)m;
	r->timeout = NULL;
	r->late = true;
	tree_kill(r->tree);
}

static void over(void *arg, const char *why, int32_t status)
{
	struct keel_run *r = arg;

	drain(r);
	r->output[r->len] = '\0';
	r->done(r->mod, r->arg, r->late ? "it took too long and was ended" : why, status, r->output, r->len);
	run_free(r);
}

/* Its standard input, above the numbers that a program finds open. */
static int input_open(const struct keel_run_opts *o)
{
	int fd = memfd_create("input", MFD_CLOEXEC), high;

	if (fd < 0 || write(fd, o->input, o->input_len) != (ssize_t)o->input_len || lseek(fd, 0, SEEK_SET) < 0)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, TREE_INPUT + 1);
	close(fd);
	return high;
}

static int32_t begin(struct keel_run *r, const struct keel_run_opts *o, struct keel_err *err)
{
	struct tree_opts t = { .order = { .profile = (int)o->profile, .user = o->user ? o->user : "nobody", .captured = 1,
					  .dir = "" },
			       .argv = o->argv, .env = o->env, .over = over, .arg = r };
	int ends[2];
	int32_t ret = socket_pair(ends);

	if (ret < 0)
		return keel_error(err, ret, "%s: %s", o->argv[0], strerror(-ret));
	r->fd = ends[0];
	t.data = ends[1];
	fcntl(t.data, F_SETFL, fcntl(t.data, F_GETFL) & ~O_NONBLOCK); /* its own output waits, as that of any program */
	t.input = input_open(o);
	r->watch = keel_watch_fd(r->st->mod, r->fd, readable, r);
	r->timeout = keel_timer(r->st->mod, o->timeout_ms, too_late, r);
	if (t.input < 0 || !r->watch || !r->timeout)
		ret = keel_error(err, -ENOMEM, "%s: no memory to run it", o->argv[0]);
	else
		ret = tree_start(r->st, &t, &r->tree, err);
	close(t.data);
	if (t.input >= 0)
		close(t.input);
	return ret;
}

struct keel_run *run_start(struct keel_mod *self, struct keel_mod *mod, const struct keel_run_opts *theirs, keel_run_fn *done,
			   void *arg, struct keel_err *err)
{
	struct state *st = self->state;
	struct keel_run *r = calloc(1, sizeof(*r));
	struct keel_run_opts o;

	KEEL_SIZED(&o, theirs);
	if (r)
		r->output = malloc((size_t)o.output_max + 1);
	if (!r || !r->output || o.timeout_ms <= 0) {
		keel_error(err, -EINVAL, "%s cannot be run: no memory, or no timeout", o.argv[0]);
		if (r)
			free(r->output);
		free(r);
		return NULL;
	}
	r->st = st;
	r->mod = mod;
	r->done = done;
	r->arg = arg;
	r->max = o.output_max;
	r->fd = -1;
	DL_APPEND(st->runs, r);
	if (begin(r, &o, err) == 0)
		return r;
	run_free(r);
	return NULL;
}

void run_cancel(struct keel_run *r)
{
	if (!r)
		return;
	tree_forget(r->tree);
	run_free(r);
}
