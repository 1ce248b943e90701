/* SPDX-License-Identifier: Apache-2.0
 *
 * core.c - the group "core": the daemon's own functions over this process' loop, but for what only the
 * daemon can do. And which group is what.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "main/core_api.h"
#include "modhost/host.h"
#include "msg/msg.h"

static void core_log(struct keel_mod *m, uint32_t event, const char *klass, const char *object,
		     const char *fmt, ...)
{
	struct host *h = host_of(m);
	char small[1024], *text = small;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	if (len >= (int)sizeof(small)) {
		va_start(ap, fmt);
		if (vasprintf(&text, fmt, ap) < 0)
			text = small;
		va_end(ap);
	}
	talk_begin(&h->out);
	talk_put_int(&h->out, TALK_LOG);
	talk_put_int(&h->out, event);
	talk_put_str(&h->out, klass);
	talk_put_str(&h->out, object);
	talk_put_str(&h->out, text);
	host_event(h);
	if (text != small)
		free(text);
}

static void core_stop(struct keel_mod *m)
{
	host_log(host_of(m), KEEL_LOG_ERROR, "it asks the daemon to stop; a module in a process of its own may "
					     "not");
}

static void core_log_events(struct keel_mod *m, uint32_t mask)
{
	(void)mask;
	host_log(host_of(m), KEEL_LOG_ERROR, "it wants other records to be written; a module in a process of "
					     "its own may not");
}

/* ---- when everything is durable ---------------------------------------------------------------------- */
struct durable {
	struct durable *prev, *next;
	int64_t number;
	keel_fn *fn;
	void *arg;
};

static int32_t core_when_durable(struct keel_mod *m, keel_fn *fn, void *arg)
{
	struct host *h = host_of(m);
	struct durable *d = malloc(sizeof(*d));

	if (d == NULL)
		return -ENOMEM;
	*d = (struct durable){ .number = ++h->next_durable, .fn = fn, .arg = arg };
	DL_APPEND(h->durables, d);
	talk_begin(&h->out);
	talk_put_int(&h->out, TALK_WHEN_DURABLE);
	talk_put_int(&h->out, d->number);
	host_event(h);
	return 0;
}

void durable_told(struct host *h, struct talk_in *in)
{
	int64_t number = talk_int(in);
	struct durable *d;

	DL_FOREACH(h->durables, d) {
		if (d->number == number)
			break;
	}
	if (d == NULL)
		return;
	DL_DELETE(h->durables, d);
	d->fn(&h->owner.pub, d->arg);
	free(d);
}

static struct keel_watch *core_watch_fd(struct keel_mod *m, int fd, keel_fn *fn, void *arg)
{
	host_of(m)->n_watches++;
	return core_api()->watch_fd(m, fd, fn, arg);
}

/* A function that was appended to a group and forgotten here would be called as NULL. */
static const void *whole(const void *table)
{
	uint32_t size;
	void *fn;

	memcpy(&size, table, sizeof(size));
	for (uint32_t at = 2 * sizeof(uint32_t); at < size; at += sizeof(fn)) {
		memcpy(&fn, (const char *)table + at, sizeof(fn));
		if (fn == NULL)
			return NULL;
	}
	return table;
}

/* ---- groups --------------------------------------------------------------------------------------------- */
const void *host_group(const char *name)
{
	static struct keel_core_api core; /* of this one process, the same at every call */
	const struct {
		const char *name;
		const void *table;
	} groups[] = {
		{ "core", &core },	     { "object", &host_object }, { "call", &host_call },
		{ "hook", &host_hook },	     { "msg", msg_api() },	 { "request", &host_request },
	};

	core = *core_api();
	core.log = core_log;
	core.stop = core_stop;
	core.log_events = core_log_events;
	core.when_durable = core_when_durable;
	core.watch_fd = core_watch_fd;
	for (size_t i = 0; i < KEEL_COUNT(groups); i++) {
		if (strcmp(groups[i].name, name) == 0)
			return whole(groups[i].table);
	}
	return NULL;
}
