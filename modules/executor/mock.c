/* SPDX-License-Identifier: Apache-2.0
 *
 * mock.c - see mock.h.
 */
#include "mock.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern const struct keel_module keel_module;

#define WATCHES 4096
#define JOBS 4096
#define FIELDS 40

struct keel_timer { int64_t at; keel_fn *fn; void *arg; struct keel_timer *next; };
struct keel_watch { int fd; keel_fn *fn; void *arg; };
struct call { keel_fn *fn; void *arg; struct call *next; };
struct field { char *key; int64_t i; char *bytes; uint32_t len; char **v; uint32_t n; };
struct keel_out { struct field f[FIELDS]; uint32_t n; };
struct message { char *name; struct keel_out *body; struct message *next; };
struct handler { const char *name; uint32_t from; void (*fn)(struct keel_mod *, const char *, const struct keel_msg *); };
struct keel_attr { char name[64]; };
struct attr_value { char name[96]; char *text; struct attr_value *next; };
struct keel_obj { char *id, *script; struct attr_value *values; };

static struct keel_mod mod;
static struct conf conf;
static char mock_home[512];
static struct keel_timer *timers;
static struct keel_watch *watches[WATCHES];
static size_t n_watches;
static struct call *calls, **calls_end = &calls;
static struct message *messages, **messages_end = &messages;
static struct handler handlers[32];
static size_t n_handlers;
static bool link_up;
static struct keel_obj *jobs[JOBS];
static size_t n_jobs;
static struct keel_attr attrs[64];
static char log_text[1 << 20];
static int notes[KEEL_POINT_MAX];
int32_t mock_reject_point;
bool mock_freezer;

static int64_t now_ms(struct keel_mod *m)
{
	struct timespec t;

	(void)m;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t now_s(struct keel_mod *m) { (void)m; return time(NULL); }
static uint32_t daemon_of(struct keel_mod *m) { (void)m; return KEEL_ANY; }
static const char *home_of(struct keel_mod *m) { (void)m; return mock_home; }
static const char *host_of(struct keel_mod *m) { (void)m; return "thishost"; }
static const char *exec_of(struct keel_mod *m) { (void)m; return "/nonexistent"; }

static void log_write(struct keel_mod *m, uint32_t ev, const char *klass, const char *obj, const char *fmt, ...)
{
	size_t len = strlen(log_text);
	char line[1024];
	va_list a;
	int n;

	(void)m;
	n = snprintf(line, sizeof(line), "%04x;%s;%s;", ev, klass, obj);
	va_start(a, fmt);
	vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, a);
	va_end(a);
	if (getenv("MOCK_LOG"))
		fprintf(stderr, "%s\n", line);
	if (len + strlen(line) + 2 < sizeof(log_text))
		sprintf(log_text + len, "%s\n", line);
}

static int32_t error_fill(struct keel_err *err, int32_t code, const char *fmt, ...)
{
	va_list a;

	va_start(a, fmt);
	if (err)
		vsnprintf(err->text, sizeof(err->text), fmt, a);
	va_end(a);
	return code;
}

static struct keel_timer *timer_add(struct keel_mod *m, int64_t after, keel_fn *fn, void *arg)
{
	struct keel_timer *t = calloc(1, sizeof(*t));

	*t = (struct keel_timer){ now_ms(m) + after, fn, arg, timers };
	return timers = t;
}

static void timer_del(struct keel_timer *t)
{
	for (struct keel_timer **p = &timers; t && *p; p = &(*p)->next)
		if (*p == t) {
			*p = t->next;
			free(t);
			return;
		}
}

static int32_t call_add(struct keel_mod *m, keel_fn *fn, void *arg)
{
	struct call *c = calloc(1, sizeof(*c));

	(void)m;
	*c = (struct call){ fn, arg, NULL };
	*calls_end = c;
	calls_end = &c->next;
	return 0;
}

static int32_t work_run(struct keel_mod *m, void (*work)(void *), keel_fn *done, void *arg)
{
	work(arg);
	return call_add(m, done, arg);
}

static struct keel_watch *watch_add(struct keel_mod *m, int fd, keel_fn *fn, void *arg)
{
	struct keel_watch *w = calloc(1, sizeof(*w));

	(void)m;
	*w = (struct keel_watch){ fd, fn, arg };
	return watches[n_watches++] = w;
}

static void watch_del(struct keel_watch *w)
{
	for (size_t i = 0; w && i < n_watches; i++)
		if (watches[i] == w) {
			watches[i] = watches[--n_watches];
			free(w);
			return;
		}
}

static const struct keel_core_api core = {
	.log = log_write, .error = error_fill, .now_ms = now_ms, .time = now_s, .daemon = daemon_of,
	.home = home_of, .exec_dir = exec_of, .host_name = host_of, .timer = timer_add,
	.timer_cancel = timer_del, .defer = call_add, .work = work_run, .watch_fd = watch_add,
	.watch_cancel = watch_del,
};

/* ---- messages --------------------------------------------------------------------------------- */

static struct field *field_add(struct keel_out *o, const char *key)
{
	struct field *f = &o->f[o->n++];

	*f = (struct field){ .key = strdup(key) };
	return f;
}
static const struct field *field_get(const struct keel_msg *m, const char *key)
{
	const struct keel_out *o = (const void *)m;

	for (uint32_t i = 0; i < o->n; i++)
		if (strcmp(o->f[i].key, key) == 0)
			return &o->f[i];
	return NULL;
}
static struct keel_out *out_new(struct keel_mod *m) { (void)m; return calloc(1, sizeof(struct keel_out)); }
static void put_str(struct keel_out *o, const char *k, const char *t)
{
	if (t) {
		struct field *f = field_add(o, k);

		f->bytes = strdup(t);
		f->len = (uint32_t)strlen(t);
	}
}
static void put_int(struct keel_out *o, const char *k, int64_t i) { field_add(o, k)->i = i; }
static void put_bytes(struct keel_out *o, const char *k, const void *b, uint32_t len)
{
	struct field *f = field_add(o, k);

	f->bytes = calloc(1, len + 1u);
	memcpy(f->bytes, b, len);
	f->len = len;
}
static void add_str(struct keel_out *o, const char *t)
{
	struct field *f = &o->f[o->n - 1];

	f->v = realloc(f->v, (f->n + 2) * sizeof(*f->v));
	f->v[f->n++] = strdup(t);
}
static void open_array(struct keel_out *o, const char *k) { field_add(o, k)->v = calloc(1, sizeof(char *)); }
static void close_array(struct keel_out *o) { (void)o; }
static void put_strings(struct keel_out *o, const char *k, const char *const *v, uint32_t n)
{
	open_array(o, k);
	for (uint32_t i = 0; i < n; i++)
		add_str(o, v[i]);
}
static void out_drop(struct keel_out *o)
{
	for (uint32_t i = 0; i < o->n; i++) {
		for (uint32_t j = 0; j < o->f[i].n; j++)
			free(o->f[i].v[j]);
		free(o->f[i].v);
		free(o->f[i].key);
		free(o->f[i].bytes);
	}
	free(o);
}
static const char *get_str(const struct keel_msg *m, const char *k)
{
	const struct field *f = field_get(m, k);

	return f ? f->bytes : NULL;
}
static const void *get_bytes(const struct keel_msg *m, const char *k, uint32_t *len)
{
	const struct field *f = field_get(m, k);

	*len = f ? f->len : 0;
	return f ? f->bytes : NULL;
}
static int64_t get_int(const struct keel_msg *m, const char *k, int64_t other)
{
	const struct field *f = field_get(m, k);

	return f ? f->i : other;
}
static const char *const *get_strings(const struct keel_msg *m, const char *k, uint32_t *n)
{
	const struct field *f = field_get(m, k);

	*n = f ? f->n : 0;
	return f ? (const char *const *)f->v : NULL;
}
static const struct keel_msg_api msg = {
	.str = get_str, .bytes = get_bytes, .integer = get_int, .strings = get_strings, .out = out_new,
	.put_str = put_str, .put_int = put_int, .put_bytes = put_bytes, .put_strings = put_strings,
	.open_array = open_array, .add_str = add_str, .close = close_array, .drop = out_drop,
};

static int32_t link_on(struct keel_mod *m, const char *name, uint32_t from,
		       void (*fn)(struct keel_mod *, const char *, const struct keel_msg *))
{
	(void)m;
	handlers[n_handlers++] = (struct handler){ name, from, fn };
	return 0;
}
static int32_t link_send(struct keel_mod *m, const char *peer, const char *name, struct keel_out *o)
{
	struct message *q;

	(void)m;
	if (!link_up || (strcmp(peer, "server") && strcmp(peer, "thishost"))) {
		out_drop(o);
		return -ENOTCONN;
	}
	q = calloc(1, sizeof(*q));
	*q = (struct message){ strdup(name), o, NULL };
	*messages_end = q;
	messages_end = &q->next;
	return 0;
}
static bool link_is_up(struct keel_mod *m, const char *peer) { (void)m, (void)peer; return link_up; }
static const struct keel_link_api link_api = { .on = link_on, .send = link_send, .is_up = link_is_up };

/* ---- objects, hooks, blobs -------------------------------------------------------------------- */

static const struct keel_attr *attr_get(struct keel_mod *m, const char *klass, const char *name)
{
	(void)m, (void)klass;
	for (size_t i = 0; i < KEEL_COUNT(attrs); i++) {
		if (!attrs[i].name[0])
			snprintf(attrs[i].name, sizeof(attrs[i].name), "%s", name);
		if (strcmp(attrs[i].name, name) == 0)
			return &attrs[i];
	}
	return NULL;
}
static int32_t text_get(struct keel_obj *o, const struct keel_attr *a, const char *key, char *buf, uint32_t len)
{
	char name[160];

	snprintf(name, sizeof(name), "%s%s%s", a->name, key ? "." : "", key ? key : "");
	for (struct attr_value *v = o->values; v; v = v->next)
		if (strcmp(v->name, name) == 0)
			return snprintf(buf, len, "%s", v->text);
	return -ENODATA;
}
static struct keel_obj *obj_find(struct keel_mod *m, const char *klass, const char *id)
{
	(void)m, (void)klass;
	for (size_t i = 0; i < n_jobs; i++)
		if (strcmp(jobs[i]->id, id) == 0)
			return jobs[i];
	return NULL;
}
static const char *obj_id(const struct keel_obj *o) { return o->id; }
static const struct keel_object_api object = { .find = obj_find, .id = obj_id, .attr = attr_get, .text = text_get };

static keel_verdict hook_raise(struct keel_mod *m, const struct keel_raise *r)
{
	bool no = (int32_t)r->point == mock_reject_point;
	struct keel_outcome o = { .size = sizeof(o), .verdict = no ? KEEL_REJECT : KEEL_NEXT,
				  .text = no ? "the test says no" : NULL };

	r->done(m, r->arg, &o);
	return o.verdict;
}
static void hook_note(struct keel_mod *m, uint32_t point, const void *ev) { (void)m, (void)ev; notes[point]++; }
static const struct keel_hook_api hook = { .raise = hook_raise, .note = hook_note };

struct blob_call { void (*fn)(struct keel_mod *, void *, const void *, uint32_t); void *arg; char *bytes; };
static void blob_deliver(struct keel_mod *m, void *arg)
{
	struct blob_call *b = arg;

	b->fn(m, b->arg, b->bytes, b->bytes ? (uint32_t)strlen(b->bytes) : 0);
	free(b->bytes);
	free(b);
}
static int32_t blob_get(struct keel_mod *m, const char *klass, const char *id, const char *name,
			void (*fn)(struct keel_mod *, void *, const void *, uint32_t), void *arg)
{
	struct keel_obj *o = obj_find(m, klass, id);
	struct blob_call *b = calloc(1, sizeof(*b));

	(void)name;
	*b = (struct blob_call){ fn, arg, o && o->script ? strdup(o->script) : NULL };
	return call_add(m, blob_deliver, b);
}
static const struct keel_blob_api blob = { .get = blob_get };

struct keel_obj *mock_job(const char *id, const char *script)
{
	struct keel_obj *o = calloc(1, sizeof(*o));

	o->id = strdup(id);
	o->script = script ? strdup(script) : NULL;
	return jobs[n_jobs++] = o;
}
void mock_set(struct keel_obj *job, const char *attr, const char *value)
{
	struct attr_value *v = calloc(1, sizeof(*v));

	snprintf(v->name, sizeof(v->name), "%s", attr);
	v->text = strdup(value);
	v->next = job->values;
	job->values = v;
}
void mock_jobs_free(void)
{
	while (n_jobs) {
		struct keel_obj *o = jobs[--n_jobs];

		for (struct attr_value *v = o->values, *next; v; v = next) {
			next = v->next;
			free(v->text);
			free(v);
		}
		free(o->id);
		free(o->script);
		free(o);
	}
}

/* ---- run -------------------------------------------------------------------------------------- */

static bool call_run(void)
{
	struct call *c = calls;

	if (!c)
		return false;
	calls = c->next;
	if (!calls)
		calls_end = &calls;
	c->fn(&mod, c->arg);
	free(c);
	return true;
}

static bool message_run(void)
{
	struct message *q = messages;

	if (!q)
		return false;
	messages = q->next;
	if (!messages)
		messages_end = &messages;
	for (size_t i = 0; i < n_handlers; i++)
		if (strcmp(handlers[i].name, q->name) == 0)
			handlers[i].fn(&mod, handlers[i].from == KEEL_SERVER ? "server" : "thishost",
				       (const void *)q->body);
	out_drop(q->body);
	free(q->name);
	free(q);
	return true;
}

static bool timer_run(void)
{
	int64_t now = now_ms(&mod);

	for (struct keel_timer *t = timers; t; t = t->next)
		if (t->at <= now) {
			struct keel_timer due = *t;

			timer_del(t);
			due.fn(&mod, due.arg);
			return true;
		}
	return false;
}

static bool fd_run(void)
{
	static struct pollfd fds[WATCHES];

	for (size_t i = 0; i < n_watches; i++)
		fds[i] = (struct pollfd){ watches[i]->fd, POLLIN, 0 };
	if (poll(fds, n_watches, 2) <= 0)
		return false;
	for (size_t i = 0; i < n_watches; i++)
		if (fds[i].revents) {
			watches[i]->fn(&mod, watches[i]->arg);
			return true; /* the table may have changed */
		}
	return false;
}

bool mock_until(bool (*done)(void *), void *arg, int64_t deadline_ms)
{
	int64_t until = now_ms(&mod) + deadline_ms;

	while (!done || !done(arg)) {
		if (now_ms(&mod) > until)
			return false;
		while (call_run() || message_run() || timer_run())
			;
		fd_run();
	}
	return true;
}

static void peers_up(void)
{
	struct keel_call c = { mod.state, mod.conf, &mod };
	struct keel_ev_peer_up mom = { sizeof(mom), 0, "thishost", KEEL_MOM };
	struct keel_ev_peer_up server = { sizeof(server), 0, "server", KEEL_SERVER };

	for (uint32_t i = 0; i < keel_module.n_taps; i++)
		if (keel_module.taps[i].point == KEEL_POINT_peer_up) {
			keel_module.taps[i].fn.peer_up(&c, &mom);
			keel_module.taps[i].fn.peer_up(&c, &server);
		}
}

struct keel_mod *mock_start(const char *home, const char *shepherd)
{
	struct keel_err err = { 0 };
	struct state *st = calloc(1, sizeof(*st));

	snprintf(mock_home, sizeof(mock_home), "%s", home);
	conf = (struct conf){ .kill_delay = 300, .usage_interval = 1000, .vnodes = 1,
			      .shepherd = shepherd, .tmpdir = "/tmp", .freezer = mock_freezer };
	*st = (struct state){ .core = &core, .object = &object, .msg = &msg, .link = &link_api,
			      .hook = &hook, .blob = &blob };
	mod = (struct keel_mod){ st, &conf, "executor" };
	n_handlers = 0;
	link_up = true;
	if (keel_module.init(&mod, &err) || keel_module.start(&mod, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return NULL;
	}
	for (size_t i = 0; i < n_jobs; i++)
		resync_known(&mod, jobs[i]);
	peers_up();
	return &mod;
}

void mock_stop(void)
{
	keel_module.stop(&mod);
	while (call_run())
		;
	keel_module.fini(&mod);
	link_up = false;
	while (message_run())
		;
	free(mod.state);
	mod.state = NULL;
}

void mock_link_set(bool up)
{
	struct keel_call c = { mod.state, mod.conf, &mod };
	struct keel_ev_peer_down down = { sizeof(down), 0, "thishost", KEEL_MOM };

	link_up = up;
	if (up)
		peers_up();
	for (uint32_t i = 0; !up && i < keel_module.n_taps; i++)
		if (keel_module.taps[i].point == KEEL_POINT_peer_down)
			keel_module.taps[i].fn.peer_down(&c, &down);
}

bool mock_logged(const char *text) { return strstr(log_text, text) != NULL; }
int mock_notes(uint32_t point) { return notes[point]; }
