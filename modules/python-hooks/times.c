/* SPDX-License-Identifier: Apache-2.0
 *
 * times.c - what `keelson hook` asks a daemon. `list`, `times [HOOK]`: its hooks, and what their scripts have cost since it began;
 * `tables`: what scripts know of this site before their first event, as JSON, for `stubs` and `test`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pool.h"

struct table {
	struct state *st;
	struct keel_out *out;
	const char *only; /* NULL: all hooks */
};

static void line(const struct table *t, const char *fmt, ...) KEEL_PRINTF(2, 3);
static void line(const struct table *t, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (char *at = text; *at; at++) /* an error may hold anything */
		if ((unsigned char)*at < ' ')
			*at = ' ';
	keel_add_str(t->out, text);
}

/* ---- list ------------------------------------------------------------------------------------------------- */
static uint32_t processes_of(const struct hook *h)
{
	return h->pool ? h->pool->n_processes : 0;
}

static const char *state_word(const struct hook *h)
{
	if (h->pending)
		return "being deleted";
	if (!h->enabled)
		return "off";
	return h->loading ? "loading" : h->script ? "on" : "no script";
}

static void list(const struct table *t)
{
	struct hook *h, *next;
	char events_text[1024];

	line(t, "%-24s %-13s %5s %6s %9s %7s  %s", "hook", "state", "order", "alarm", "processes", "waiting", "events");
	HASH_ITER(hh, t->st->hooks, h, next) {
		if (hook_text(h, "event", events_text, sizeof(events_text)) < 0)
			events_text[0] = '\0';
		line(t, "%-24s %-13s %5d %5llds %9u %7u  %s", h->name, state_word(h), h->order, (long long)h->alarm, processes_of(h),
		     h->pool ? h->pool->n_waiting : 0, events_text);
	}
}

/* ---- times ------------------------------------------------------------------------------------------------ */
/* "0.204 ms", "2.1 s" */
static const char *span(uint64_t us, char buf[24])
{
	if (us < 1000000)
		snprintf(buf, 24, "%.3f ms", (double)us / 1e3);
	else
		snprintf(buf, 24, "%.3f s", (double)us / 1e6);
	return buf;
}

static const char *moment(int64_t at, char buf[32])
{
	time_t t = (time_t)at;
	struct tm tm;

	if (!localtime_r(&t, &tm) || strftime(buf, 32, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		buf[0] = '\0';
	return buf;
}

static void times_of(const struct table *t, const struct hook *h)
{
	char mean[24], longest[24], at[32];

	for (uint32_t e = 0; e < EVENTS; e++) {
		const uint64_t runs = h->times[e].runs;

		if (runs == 0)
			continue;
		line(t, "%-24s %-18s %9llu %7llu %12s %12s  %s%s%s", h->name, events[e].name, (unsigned long long)runs,
		     (unsigned long long)h->times[e].errors, span(h->times[e].us / runs, mean), span(h->times[e].longest_us, longest),
		     h->times[e].errors ? moment(h->times[e].last_at, at) : "", h->times[e].errors ? " " : "", h->times[e].last);
	}
}

static void times(const struct table *t)
{
	struct hook *h, *next;

	line(t, "%-24s %-18s %9s %7s %12s %12s  %s", "hook", "event", "runs", "errors", "mean", "longest", "last error");
	HASH_ITER(hh, t->st->hooks, h, next)
		if (!t->only || strcmp(h->name, t->only) == 0)
			times_of(t, h);
}

/* ---- tables ----------------------------------------------------------------------------------------------- */
/* {"setup": {...}}: the beginning of a record. */
static void tables(const struct table *t)
{
	char name[] = "tables", *text = NULL;
	const struct hook none = { .name = name };
	const struct setup of = { .user = "" };
	struct pack p = { .data = NULL };
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f) {
		setup_pack(t->st, &none, false, &of, &p);
		fputs("{\"setup\": ", f);
		json_write(f, &p);
		fputc('}', f);
		fclose(f);
	}
	pack_fini(&p);
	if (text)
		keel_add_str(t->out, text);
	free(text);
}

/* ---- the request ------------------------------------------------------------------------------------------ */
static void answer(struct keel_req *req, struct table *t, void (*fill)(const struct table *))
{
	t->out = keel_out(t->st->mod);
	if (!t->out) {
		keel_reply(req, PBSE_INTERNAL, "no memory for the answer");
		return;
	}
	keel_open_array(t->out, "lines");
	fill(t);
	keel_close(t->out);
	keel_reply_out(req, t->out);
}

static void on_hook(struct keel_mod *mod, struct keel_req *req)
{
	struct table t = { .st = mod->state };
	uint32_t n = 0;
	const char *const *args = keel_msg_strings(keel_req_body(req), "args", &n);
	const char *what = args && n > 0 ? args[0] : "list";

	t.only = args && n > 1 ? args[1] : NULL;
	if (strcmp(what, "list") == 0)
		answer(req, &t, list);
	else if (strcmp(what, "tables") == 0)
		answer(req, &t, tables);
	else if (strcmp(what, "times") != 0)
		keel_reply(req, PBSE_IVALREQ, "there is no 'keelson hook %s'; there are 'list', 'times [hook]', 'tables', 'run', 'test' and 'stubs'", what);
	else if (t.only && !hook_find(t.st, t.only))
		keel_reply(req, PBSE_IVALREQ, "there is no hook '%s'; 'keelson hook list' shows them", t.only);
	else
		answer(req, &t, times);
}

const struct keel_request_def times_row = {
	.size = sizeof(struct keel_request_def),
	.roles = KEEL_OPERATORS,
	.name = "keelson.hook",
	.doc = "hooks of this daemon, and what their scripts have cost",
	.handler = on_hook,
	.flags = KEEL_REQUEST_READ,
};
