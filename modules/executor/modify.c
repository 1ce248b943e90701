/* SPDX-License-Identifier: Apache-2.0
 *
 * modify.c - what may change of a run while it is at its host: limits, and where its output goes (qalter).
 *
 * The server sends all of it, as it is now, after each change and whenever the host is back. The host compares it with
 * what it has, obeys it from its next look at the task on, and appends it to the task's diary: there it is after a restart,
 * and there the shepherd reads where the output goes, also when no daemon is there at the end.
 */
#include "executor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diary.h"
#include "duration.h"

/* ---- server half ------------------------------------------------------------------------------------- */

/* message key, attribute, key of the attribute */
static const struct {
	const char *name, *attr, *key;
} texts[] = {
	{ "walltime", "Resource_List", "walltime" },
	{ "cput", "Resource_List", "cput" },
	{ "output", "Output_Path", NULL },
	{ "error", "Error_Path", NULL },
};

void modify_send(struct keel_mod *mod, const struct entry *e)
{
	struct state *st = mod->state;
	struct keel_obj *job = keel_find(mod, "job", e->id);
	struct keel_out *out;

	if (!job || !e->peer || !host_is_known(st, e->peer))
		return; /* a host that is away gets it when it is back */
	out = run_message(mod, e->id, e->run);
	store_put(mod, out); /* a run from before hosts knew of stores */
	for (size_t i = 0; i < KEEL_COUNT(texts); i++) {
		char *text = dispatch_text(mod, job, texts[i].attr, texts[i].key);

		if (text)
			keel_put_str(out, texts[i].name, text);
		free(text);
	}
	keel_link_send(mod, e->peer, "task.modify", out);
}

void task_modify(struct keel_mod *mod, struct keel_obj *job)
{
	struct state *st = mod->state;
	struct entry *e = entry_find(st, keel_id(job));

	if (e && e->starting)
		e->modified = true; /* the start's message is made: behind it */
	else if (e)
		modify_send(mod, e);
}

/* ---- host half ---------------------------------------------------------------------------------------- */

/* What the worker sees: a launch with the new texts, and the diary. */
struct writing {
	struct launch *l;
	int64_t walltime, cput;
	int fd, error;
};

static void place_print(FILE *f, const char *name, const char *key, const char *text, const struct launch *l, bool here)
{
	char *place = text && !strchr(text, '\n') ? output_place(l, text, here) : NULL;

	if (text && !strchr(text, '\n'))
		fprintf(f, "%s %s\n%s.place %s\n", name, text, key, place ? place : "");
	free(place);
}

static void writing_work(void *arg)
{
	struct writing *w = arg;
	char *lines = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&lines, &len);

	w->error = ENOMEM;
	if (!f)
		return;
	fprintf(f, "walltime %lld\ncput %lld\n", (long long)w->walltime, (long long)w->cput);
	place_print(f, "output", "out", w->l->output, w->l, w->l->output_here);
	place_print(f, "error", "err", w->l->error, w->l, w->l->error_here);
	if (fclose(f) == 0) {
		errno = 0;
		w->error = write(w->fd, lines, len) == (ssize_t)len && fsync(w->fd) == 0 ? 0 : errno ? errno : ENOSPC;
	}
	free(lines);
}

static void writing_free(struct writing *w)
{
	if (w->fd >= 0)
		close(w->fd);
	launch_free(w->l);
	free(w);
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void writing_done(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct writing *w = arg;
	struct task *t = task_find(st, w->l->id);
	bool newer = false;

	st->mom.sampling--;
	if (w->error)
		keel_log(mod, KEEL_LOG_ERROR, "Job", w->l->id, "what changed cannot be written down: %s",
			 strerror(w->error));
	if (t && t->run == w->l->run) {
		t->modifying = false;
		newer = !same(t->output, w->l->output) || !same(t->error, w->l->error) ||
			t->walltime_limit != w->walltime || t->cput_limit != w->cput;
	}
	writing_free(w);
	if (newer)
		modify_write(mod, t);
}

/* What is known of the hosts of its paths is known now. */
static void writing_begin(struct keel_mod *mod, void *arg)
{
	struct state *st = mod->state;
	struct writing *w = arg;

	if (st->stopping) {
		writing_free(w);
		return;
	}
	st->mom.sampling++;
	if (keel_work(mod, writing_work, writing_done, w) == 0)
		return;
	w->error = ENOMEM;
	writing_done(mod, w);
}

void modify_write(struct keel_mod *mod, struct task *t)
{
	struct state *st = mod->state;
	struct writing *w = t->modifying ? NULL : calloc(1, sizeof(*w));

	if (!w)
		return; /* one after the other */
	w->fd = diary_open(st->mom.jobs_dir, t->id, O_WRONLY);
	w->l = launch_bare(mod, t->id, t->run);
	w->walltime = t->walltime_limit;
	w->cput = t->cput_limit;
	if (w->l) {
		w->l->output = t->output ? strdup(t->output) : NULL;
		w->l->error = t->error ? strdup(t->error) : NULL;
	}
	t->modifying = w->fd >= 0 && w->l;
	if (t->modifying) {
		w->l->user = t->user ? strdup(t->user) : NULL;
		names_settle(mod, w->l, writing_begin, w);
		return;
	}
	keel_log(mod, KEEL_LOG_ERROR, "Job", t->id, "what changed cannot be written down");
	writing_free(w);
}

/* True: it is another one. */
static bool text_take(char **at, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (same(*at, text) || (text && !copy)) {
		free(copy);
		return false;
	}
	free(*at);
	*at = copy;
	return true;
}

static bool limit_take(int64_t *at, const char *text)
{
	int64_t limit = text ? duration_parse(text) : 0, before = *at;

	*at = limit;
	return limit != before;
}

void on_modify(struct keel_mod *mod, const char *peer, const struct keel_msg *m)
{
	struct state *st = mod->state;
	const char *id = keel_msg_str(m, "id");
	struct task *t = id ? task_find(st, id) : NULL;
	int64_t run = keel_msg_int(m, "run", -1);
	bool changed;

	(void)peer;
	if (t && t->next && t->next->run == run) { /* it has not begun */
		text_take(&t->next->walltime, keel_msg_str(m, "walltime"));
		text_take(&t->next->cput, keel_msg_str(m, "cput"));
		text_take(&t->next->output, keel_msg_str(m, "output"));
		text_take(&t->next->error, keel_msg_str(m, "error"));
		return;
	}
	if (!t || t->run != run || t->state == TASK_ENDED || t->state == TASK_REFUSED)
		return;
	store_take(mod, m);
	changed = limit_take(&t->walltime_limit, keel_msg_str(m, "walltime"));
	changed |= limit_take(&t->cput_limit, keel_msg_str(m, "cput"));
	changed |= text_take(&t->output, keel_msg_str(m, "output"));
	changed |= text_take(&t->error, keel_msg_str(m, "error"));
	if (!changed)
		return;
	t->modified = true;
	keel_log(mod, KEEL_LOG_DEBUG, "Job", t->id, "modify job request received");
	if (t->shepherd)
		modify_write(mod, t);
}

void modify_begin(struct keel_mod *mod, struct task *t, const struct launch *l)
{
	if (t->modified) { /* while it was on its way */
		modify_write(mod, t);
		return;
	}
	limit_take(&t->walltime_limit, l->walltime);
	limit_take(&t->cput_limit, l->cput);
	text_take(&t->output, l->output);
	text_take(&t->error, l->error);
}

