/* SPDX-License-Identifier: Apache-2.0
 *
 * isolate.c - an isolated module as a whole: created, opened, attached, shown, closed.
 */
#include "isolate/isolate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isolate/inside.h"
#include "registry/registry.h"
#include "util/err.h"

static const void *group(const struct isolate *iso, const char *name)
{
	return registry_service(iso->parts->registry, name, 0, NULL, NULL);
}

static struct isolate *create(struct parts *parts, const char *name, const char *path,
			      const struct isolate_limits *limits)
{
	struct isolate *iso = calloc(1, sizeof(*iso));

	if (iso == NULL)
		return NULL;
	iso->parts = parts;
	iso->limits = *limits;
	iso->name = strdup(name);
	iso->path = strdup(path);
	iso->user = strdup(limits->user != NULL ? limits->user : "nobody");
	iso->logs = LOGS_BURST;
	iso->logs_ms = loop_now_ms(parts->loop);
	iso->call = group(iso, "call");
	iso->object = group(iso, "object");
	iso->hook = group(iso, "hook");
	iso->request = group(iso, "request");
	if (iso->name != NULL && iso->path != NULL && iso->user != NULL)
		return iso;
	isolate_close(iso);
	return NULL;
}

void isolate_close(struct isolate *iso)
{
	if (iso == NULL)
		return;
	iso->done = NULL;
	iso->serves = false;
	process_end(iso, "its module is closed");
	departed_unwatch(iso);
	described_fini(iso);
	buf_fini(&iso->scratch);
	free(iso->conf_values);
	free(iso->name);
	free(iso->path);
	free(iso->user);
	free(iso);
}

static void close_now(void *iso)
{
	isolate_close(iso);
}

void isolate_end_soon(struct isolate *iso)
{
	if (loop_defer(iso->parts->loop, close_now, iso) < 0)
		process_end(iso, "no memory"); /* that of the isolate is lost */
}

/* ---- opening --------------------------------------------------------------------------------------- */
static void opened(struct isolate *iso, int ret, const struct keel_err *err)
{
	isolate_done_fn *done = iso->done;

	iso->done = NULL;
	if (done != NULL)
		done(iso->done_arg, ret, err);
}

static void described(struct process *p, struct pending *q, struct talk_in *in, const char *why)
{
	struct isolate *iso = p->iso;
	struct keel_err err = { 0 };
	const char *body = in != NULL ? (const char *)in->r.at : NULL;
	int ret;

	ret = in == NULL ? err_set(&err, -ECHILD, "module %s cannot be opened: %s", iso->name, why) :
			   described_take(iso, in, body, (uint32_t)(in->r.end - in->r.at), &err);
	pending_drop(p, q);
	if (ret == 0)
		p->state = PROCESS_READY;
	opened(iso, ret, &err);
}

static int open_begin(struct isolate *iso, isolate_done_fn *done, void *arg, struct keel_err *err)
{
	size_t begun;
	int ret = process_start(iso, &iso->now, err);

	if (ret < 0)
		return ret;
	iso->done = done;
	iso->done_arg = arg;
	begun = talk_begin(&iso->scratch);
	open_put(iso, &iso->scratch);
	if (ask_send(iso->now, begun, described, sizeof(struct pending)) != NULL)
		return 0;
	return err_set(err, -ECHILD, "module %s: its process is not there", iso->name);
}

int isolate_begin(struct parts *parts, const char *name, const char *path,
		  const struct isolate_limits *limits, isolate_done_fn *done, void *arg,
		  struct isolate **ret_isolate, struct keel_err *err)
{
	struct isolate *iso = create(parts, name, path, limits);
	int ret;

	if (iso == NULL)
		return err_set(err, -ENOMEM, "no memory to load module %s", name);
	iso->prepared = true;
	ret = open_begin(iso, done, arg, err);
	if (ret < 0) {
		isolate_close(iso);
		return ret;
	}
	*ret_isolate = iso;
	return 0;
}

struct waiting {
	bool done;
	int ret;
	struct keel_err *err;
};

static void wait_over(void *arg, int ret, const struct keel_err *err)
{
	struct waiting *w = arg;

	w->done = true;
	w->ret = ret;
	if (w->err != NULL)
		*w->err = *err;
}

static bool wait_is_over(void *arg)
{
	return ((const struct waiting *)arg)->done;
}

static int open_wait(struct isolate *iso, struct keel_err *err)
{
	struct waiting w = { .err = err };
	int ret = open_begin(iso, wait_over, &w, err);

	if (ret < 0)
		return ret;
	ret = process_wait(iso->now, wait_is_over, &w, START_DEADLINE_MS);
	iso->done = NULL;
	if (w.done)
		return w.ret;
	return err_set(err, ret, "module %s: its process did not open the file within %d s", iso->name,
		       START_DEADLINE_MS / 1000);
}

int isolate_open(struct parts *parts, const char *name, const char *path,
		 const struct isolate_limits *limits, struct isolate **ret_isolate, struct keel_err *err)
{
	struct isolate *iso = create(parts, name, path, limits);
	int ret;

	if (iso == NULL)
		return err_set(err, -ENOMEM, "no memory to load module %s", name);
	ret = open_wait(iso, err);
	if (ret < 0)
		isolate_close(iso);
	else
		*ret_isolate = iso;
	return ret;
}

const struct keel_module *isolate_descriptor(const struct isolate *iso)
{
	return &iso->desc;
}

/* ---- in the chains ----------------------------------------------------------------------------------- */
static void *tap_arg(void *arg, uint32_t point, const char *name)
{
	struct isolate *iso = arg;

	for (uint32_t i = 0; i < iso->desc.n_taps; i++) {
		if (iso->iso_taps[i].point == point && strcmp(iso->iso_taps[i].name, name) == 0)
			return &iso->iso_taps[i];
	}
	return NULL; /* the table was attached as it is */
}

void isolate_attach(struct isolate *iso, struct owner *owner)
{
	hooks_proxy(iso->parts->hooks, owner, tap_proxy, tap_arg, iso);
}

void isolate_describe(const struct isolate *iso, struct buf *out)
{
	if (iso->now != NULL)
		buf_printf(out, "process %ld %s", (long)iso->now->pid, iso->now->state == PROCESS_UP ? "up" : "starting");
	else
		buf_printf(out, "process %s", iso->benched ? "benched" : "restarting");
	if (iso->restarts > 0)
		buf_printf(out, ", restarts: %u", iso->restarts);
}
