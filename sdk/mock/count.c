/* SPDX-License-Identifier: Apache-2.0
 *
 * count.c - the API tables as modules get them: calls that can fail are counted, the n-th fails, and what a module must
 * not do is noticed. Everything else is the kernel's.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <uthash.h>
#include <utlist.h>

#include "hook/inside.h"
#include "host.h"
#include "log/log.h"
#include "msg/msg.h"
#include "object/objects.h"
#include "registry/inside.h"
#include "request/inside.h"
#include "util/err.h"
#include "virtual.h"

static struct {
	struct keel_core_api core;
	struct keel_object_api object;
	struct keel_call_api call;
	struct keel_hook_api hook;
	struct keel_msg_api msg;
	struct keel_request_api request;
	struct keel_link_api link;
	struct keel_remote_api remote;
	struct keel_blob_api blob;
} real, ours;

struct slot_of {
	const void *slot;
	UT_hash_handle hh;
};

/* ---- counting -------------------------------------------------------------------------------------------- */
/* Returns whether a module calls: a call of the test's own does not count. */
static bool counts(const struct keel_mock *mock, const struct keel_mod *m)
{
	struct hooks_crumb c;

	if (m != NULL)
		return m != &mock->self.pub;
	if (hooks_crumb(crumb_top, &c))
		return c.owner != &mock->self;
	return mock->in_module > 0;
}

static bool is_off_thread(struct keel_mock *mock, const char *what)
{
	bool off = mock->in_work || !pthread_equal(mock->thread, pthread_self());

	if (off)
		violation(mock, "off-thread", "%s() on another thread than the loop's, or in work()", what);
	return off;
}

/* Returns whether this call of a module fails: it is the n-th, or on a thread where it must not be made. */
static bool fails(const struct keel_mod *m, const char *what)
{
	struct keel_mock *mock = m != NULL ? host_of_mod(m) : host_latest;

	if (mock == NULL || !counts(mock, m))
		return false;
	if (is_off_thread(mock, what))
		return true;
	mock->calls++;
	return mock->fail_at > 0 && --mock->fail_at == 0;
}

void keel_mock_fail_call(struct keel_mock *mock, uint32_t n)
{
	mock->fail_at = n;
}

uint32_t keel_mock_calls(struct keel_mock *mock)
{
	return mock->calls;
}

static void *no_memory(struct keel_err *err)
{
	err_no_memory(err);
	return NULL;
}

/* ---- those that fail as if there were no memory, and are the kernel's else ------------------------------------- */
#define COUNTED(group, name, type, mod, failed, parameters, arguments)                       \
	static type group##_##name parameters                                                \
	{                                                                                    \
		return fails(mod, #name) ? (failed) : real.group.name arguments;             \
	}
#include "counted.def"
#undef COUNTED

/* ---- core ------------------------------------------------------------------------------------------------------ */
static void core_log(struct keel_mod *m, uint32_t event, const char *klass, const char *object, const char *fmt, ...)
{
	va_list ap;

	if (is_off_thread(host_of_mod(m), "log"))
		return;
	va_start(ap, fmt);
	log_addv(host_of_mod(m)->parts.log, event, klass, object, fmt, ap);
	va_end(ap);
}

static int64_t core_now_ms(struct keel_mod *m)
{
	return is_off_thread(host_of_mod(m), "now_ms") ? 0 : real.core.now_ms(m);
}

/* The one clock that goes on during a callback. */
static int64_t core_clock_us(struct keel_mod *m)
{
	struct timespec t;

	(void)m;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* A timer of ours stays, so that one that is over is known. */
struct keel_timer {
	struct keel_timer *next;  /* of the host */
	struct keel_timer *timer; /* the kernel's; NULL: over */
	struct keel_mock *mock;
	keel_fn *fn;
	void *arg;
};

static void timer_fired(struct keel_mod *m, void *arg)
{
	struct keel_timer *t = arg;

	t->timer = NULL;
	t->fn(m, t->arg);
}

static struct keel_timer *core_timer(struct keel_mod *m, int64_t after_ms, keel_fn *fn, void *arg)
{
	struct keel_mock *mock = host_of_mod(m);
	struct keel_timer *t;

	if (fails(m, "timer"))
		return NULL;
	t = host_keep(mock, host_alloc(sizeof(*t)));
	*t = (struct keel_timer){ .mock = mock, .fn = fn, .arg = arg };
	t->timer = real.core.timer(m, after_ms, timer_fired, t);
	if (t->timer == NULL)
		return NULL;
	LL_PREPEND(mock->timers, t);
	return t;
}

static void core_timer_cancel(struct keel_timer *t)
{
	if (t == NULL)
		return;
	if (t->timer == NULL)
		violation(t->mock, "timer-ended", "timer_cancel() of one that fired or was cancelled");
	real.core.timer_cancel(t->timer);
	t->timer = NULL;
}

/* What waits for a store that cannot write. */
struct unstored {
	struct unstored *next;
	struct keel_mod *mod;
	keel_fn *fn;
	void *arg;
};

static int32_t core_when_durable(struct keel_mod *m, keel_fn *fn, void *arg)
{
	struct keel_mock *mock = host_of_mod(m);
	struct unstored *u;

	if (fails(m, "when_durable"))
		return -ENOMEM;
	if (!mock->store_stands)
		return real.core.when_durable(m, fn, arg);
	u = host_keep(mock, host_alloc(sizeof(*u)));
	*u = (struct unstored){ .mod = m, .fn = fn, .arg = arg };
	LL_APPEND(mock->unstored, u);
	owner_of(m)->live++;
	return 0;
}

void keel_mock_store(struct keel_mock *mock, bool works)
{
	struct unstored *u = mock->unstored;

	host_settle(mock);
	mock->store_stands = !works;
	loop_hold(mock->parts.loop, !works);
	if (!works)
		return;
	for (mock->unstored = NULL; u != NULL; u = u->next) {
		owner_of(u->mod)->live--;
		if (real.core.when_durable(u->mod, u->fn, u->arg) < 0)
			die("no memory");
	}
}

void count_fini(struct keel_mock *mock)
{
	struct keel_timer *t;

	LL_FOREACH(mock->timers, t)
		real.core.timer_cancel(t->timer);
	HASH_CLEAR(hh, mock->slots);
}

struct working {
	struct keel_mock *mock;
	void (*work)(void *arg);
	keel_fn *done;
	void *arg;
};

static void work_do(void *arg)
{
	struct working *w = arg;

	w->mock->in_work = true;
	w->work(w->arg);
	w->mock->in_work = false;
}

static void work_done(struct keel_mod *m, void *arg)
{
	struct working w = *(struct working *)arg;

	free(arg);
	if (w.done != NULL)
		w.done(m, w.arg);
}

static int32_t core_work(struct keel_mod *m, void (*work)(void *arg), keel_fn *done, void *arg)
{
	struct working *w;

	if (fails(m, "work"))
		return -ENOMEM;
	w = host_alloc(sizeof(*w));
	*w = (struct working){ host_of_mod(m), work, done, arg };
	return real.core.work(m, work_do, work_done, w);
}

static void core_stop(struct keel_mod *m)
{
	(void)m; /* a test goes on */
}

/* ---- object ------------------------------------------------------------------------------------------------------ */
/* Memory that a module has already is no reason to fail. */
static void *object_slot(struct keel_mod *m, struct keel_obj *o)
{
	struct keel_mock *mock = host_of_mod(m);
	void *slot = real.object.slot(m, o);
	struct slot_of *s = NULL;

	if (slot == NULL || !counts(mock, m))
		return slot;
	HASH_FIND_PTR(mock->slots, &slot, s);
	if (s != NULL)
		return slot;
	if (fails(m, "slot"))
		return NULL;
	s = host_keep(mock, host_alloc(sizeof(*s)));
	s->slot = slot;
	HASH_ADD_PTR(mock->slots, slot, s);
	return slot;
}

/* ---- call, hook, msg, link ------------------------------------------------------------------------------------------ */
struct held {
	struct keel_mock *mock;
	struct keel_hold_opts opts;
};

static keel_verdict hold_resume(struct keel_call *c, void *arg)
{
	struct held h = *(struct held *)arg;

	free(arg);
	h.mock->ended[0]++;
	return h.opts.resume != NULL ? h.opts.resume(c, h.opts.arg) : KEEL_NEXT;
}

static void hold_cancel(struct keel_call *c, void *arg, int32_t reason)
{
	struct held h = *(struct held *)arg;

	free(arg);
	h.mock->ended[reason > 0 && reason < REASONS ? reason : 0]++;
	if (h.opts.cancel != NULL)
		h.opts.cancel(c, h.opts.arg, reason);
}

static keel_verdict call_hold(struct keel_call *c, const struct keel_hold_opts *opts, struct keel_hold **ret_hold)
{
	struct keel_hold_opts mine = { 0 };
	struct held *h;
	keel_verdict v;

	if (fails(c->mod, "hold"))
		return real.call.fail(c, "it cannot wait: no memory");
	h = host_alloc(sizeof(*h));
	h->mock = host_of_mod(c->mod);
	memcpy(&h->opts, opts, opts->size < sizeof(h->opts) ? opts->size : sizeof(h->opts));
	mine = h->opts;
	mine.size = sizeof(mine);
	mine.resume = hold_resume;
	mine.cancel = hold_cancel;
	mine.arg = h;
	v = real.call.hold(c, &mine, ret_hold);
	if (v != KEEL_WAIT)
		free(h);
	return v;
}

static int32_t hook_tap_add(struct keel_mod *m, uint32_t point, const char *name, int32_t order, keel_any_fn *fn,
			    void *arg, struct keel_err *err)
{
	int32_t ret;

	if (fails(m, "tap_add"))
		return err_set(err, -ENOMEM, "no memory for a tap");
	ret = real.hook.tap_add(m, point, name, order, fn, arg, err);
	if (ret == 0 && counts(host_of_mod(m), m))
		taps_watch(host_of_mod(m), owner_of(m));
	return ret;
}

static const char *const *msg_strings(const struct keel_msg *msg, const char *key, uint32_t *ret_n)
{
	const char *const *found = real.msg.strings(msg, key, ret_n);

	return found != NULL && fails(NULL, "strings") ? NULL : found;
}

static int32_t link_send(struct keel_mod *m, const char *peer, const char *name, struct keel_out *o)
{
	if (!fails(m, "send"))
		return real.link.send(m, peer, name, o);
	out_drop(o);
	return -ENOMEM;
}

static int32_t link_stream(struct keel_mod *m, const char *peer, const char *name, struct keel_out *o)
{
	if (!fails(m, "stream"))
		return real.link.stream(m, peer, name, o);
	out_drop(o);
	return -ENOMEM;
}

/* ---- request ----------------------------------------------------------------------------------------------------------- */
/* Answered requests rest in a quarantine of the router: they can be looked at. */
static void is_answered(const struct keel_req *q)
{
	if (q->state != REQ_OPEN && q->state != REQ_ORPHAN)
		violation(host_of(q->router->parts), "reply-twice", "an answer to a request that was answered");
}

static void request_reply(struct keel_req *q, int32_t code, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	is_answered(q);
	if (fmt == NULL) {
		real.request.reply(q, code, NULL);
		return;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	real.request.reply(q, code, "%s", text);
}

static void request_reply_out(struct keel_req *q, struct keel_out *o)
{
	is_answered(q);
	real.request.reply_out(q, o);
}

static int32_t request_part(struct keel_req *q, struct keel_out *o)
{
	int32_t ret = real.request.part(q, o);

	return ret == 0 && client_is_slow(q) ? -ENOBUFS : ret;
}

static void request_reply_raw(struct keel_req *q, const void *bytes, uint32_t len)
{
	is_answered(q);
	real.request.reply_raw(q, bytes, len);
}

static int32_t request_part_raw(struct keel_req *q, const void *bytes, uint32_t len)
{
	int32_t ret = real.request.part_raw(q, bytes, len);

	return ret == 0 && client_is_slow(q) ? -ENOBUFS : ret;
}

static void request_again(struct keel_req *q)
{
	is_answered(q);
	real.request.again(q);
}

static int32_t request_drained(struct keel_req *q, keel_fn *fn, void *arg)
{
	if (!client_is_slow(q))
		return real.request.drained(q, fn, arg);
	client_wants_drained(q, fn, arg);
	return 0;
}

/* ---- blob: there is no store behind it ---------------------------------------------------------------------------------- */
struct blob_of {
	struct blob_of *next;
	char *klass, *id, *name;
	char *bytes;
	uint32_t len;
};

static struct blob_of *blob_find(const struct keel_mock *mock, const char *klass, const char *id, const char *name)
{
	struct blob_of *b = mock->blobs;

	while (b != NULL && (strcmp(b->klass, klass) != 0 || strcmp(b->id, id) != 0 || strcmp(b->name, name) != 0))
		b = b->next;
	return b;
}

static int32_t blob_put(struct keel_obj *o, const char *name, const void *bytes, uint32_t len)
{
	struct keel_mock *mock = host_of_obj(o);
	struct blob_of *b;

	if (fails(NULL, "put"))
		return -ENOMEM;
	b = blob_find(mock, objects_class(o), objects_id(o), name);
	if (b == NULL) {
		b = host_keep(mock, host_alloc(sizeof(*b)));
		*b = (struct blob_of){ .klass = host_keep(mock, host_dup(objects_class(o))),
				       .id = host_keep(mock, host_dup(objects_id(o))),
				       .name = host_keep(mock, host_dup(name)) };
		LL_PREPEND(mock->blobs, b);
	}
	b->bytes = NULL;
	b->len = len;
	if (bytes == NULL)
		return 0;
	b->bytes = host_keep(mock, host_alloc((size_t)len + 1));
	memcpy(b->bytes, bytes, len);
	return 0;
}

struct getting {
	const struct blob_of *blob;
	void (*fn)(struct keel_mod *, void *arg, const void *bytes, uint32_t len);
	void *arg;
};

static void blob_got(struct keel_mod *m, void *arg)
{
	struct getting g = *(struct getting *)arg;

	free(arg);
	g.fn(m, g.arg, g.blob != NULL ? g.blob->bytes : NULL, g.blob != NULL ? g.blob->len : 0);
}

static int32_t blob_get(struct keel_mod *m, const char *klass, const char *id, const char *name,
			void (*fn)(struct keel_mod *, void *arg, const void *bytes, uint32_t len), void *arg)
{
	struct getting *g;

	if (fails(m, "get"))
		return -ENOMEM;
	g = host_alloc(sizeof(*g));
	*g = (struct getting){ blob_find(host_of_mod(m), klass, id, name), fn, arg };
	return real.core.defer(m, blob_got, g);
}

/* ---- the tables ------------------------------------------------------------------------------------------------------- */
static void tables_fill(void)
{
#define COUNTED(group, name, ...) ours.group.name = group##_##name;
#include "counted.def"
#undef COUNTED
	ours.core.log = core_log;
	ours.core.now_ms = core_now_ms;
	ours.core.clock_us = core_clock_us;
	ours.core.timer = core_timer;
	ours.core.timer_cancel = core_timer_cancel;
	ours.core.when_durable = core_when_durable;
	ours.core.work = core_work;
	ours.core.stop = core_stop;
	ours.object.slot = object_slot;
	ours.call.hold = call_hold;
	ours.hook.tap_add = hook_tap_add;
	ours.msg.strings = msg_strings;
	ours.request.reply = request_reply;
	ours.request.reply_out = request_reply_out;
	ours.request.part = request_part;
	ours.request.reply_raw = request_reply_raw;
	ours.request.part_raw = request_part_raw;
	ours.request.again = request_again;
	ours.request.drained = request_drained;
	ours.link.send = link_send;
	ours.link.stream = link_stream;
	ours.blob.put = blob_put;
	ours.blob.get = blob_get;
}

void count_tables(struct keel_mock *mock)
{
	const struct {
		const char *name;
		void *real, *ours;
		size_t size;
	} tables[] = {
		{ "core", &real.core, &ours.core, sizeof(real.core) },
		{ "object", &real.object, &ours.object, sizeof(real.object) },
		{ "call", &real.call, &ours.call, sizeof(real.call) },
		{ "hook", &real.hook, &ours.hook, sizeof(real.hook) },
		{ "msg", &real.msg, &ours.msg, sizeof(real.msg) },
		{ "request", &real.request, &ours.request, sizeof(real.request) },
		{ "link", &real.link, &ours.link, sizeof(real.link) },
		{ "remote", &real.remote, &ours.remote, sizeof(real.remote) },
		{ "blob", &real.blob, &ours.blob, sizeof(real.blob) },
	};
	struct service *s;

	/* The engine itself goes on with its own. */
	mock->parts.hooks->object = keel_mock_group(mock, "object");
	mock->parts.hooks->request = keel_mock_group(mock, "request");
	LL_FOREACH(mock->parts.registry->services, s)
		for (uint32_t i = 0; i < KEEL_COUNT(tables); i++) {
			if (strcmp(s->name, tables[i].name) != 0)
				continue;
			memcpy(tables[i].real, s->table, tables[i].size);
			memcpy(tables[i].ours, s->table, tables[i].size);
			s->table = tables[i].ours;
		}
	tables_fill();
}
