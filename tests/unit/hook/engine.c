/* SPDX-License-Identifier: Apache-2.0
 *
 * engine.c - see engine.h.
 */
#include "hook/engine.h"

#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

struct keel_obj job1 = { "job", "1.svr", true }, job2 = { "job", "2.svr", true };
uint32_t commits, discards;
char trace[1024];
struct engine e;
struct told told;

void note_down(const char *fmt, ...)
{
	size_t len = strlen(trace);
	va_list ap;

	if (len > 0 && len + 1 < sizeof(trace)) {
		trace[len++] = ' ';
		trace[len] = '\0';
	}
	va_start(ap, fmt);
	vsnprintf(trace + len, sizeof(trace) - len, fmt, ap);
	va_end(ap);
}

/* ---- the object group ---------------------------------------------------------------------------- */
static struct keel_obj *fake_find(struct keel_mod *m, const char *klass, const char *id)
{
	struct keel_obj *all[] = { &job1, &job2 };

	(void)m;
	for (size_t i = 0; i < 2; i++)
		if (all[i]->exists && !strcmp(all[i]->klass, klass) && !strcmp(all[i]->id, id))
			return all[i];
	return NULL;
}

static const char *fake_id(const struct keel_obj *o)
{
	return o->id;
}

static const char *fake_klass(const struct keel_obj *o)
{
	return o->klass;
}

static const struct keel_attr *fake_attr(struct keel_mod *m, const char *klass, const char *name)
{
	(void)m;
	(void)klass;
	return strcmp(name, "Priority") == 0 ? (const struct keel_attr *)"Priority" : NULL;
}

static struct keel_changes *fake_changes(struct keel_mod *m)
{
	(void)m;
	return calloc(1, sizeof(struct keel_changes));
}

static int32_t fake_change_text(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a,
				int32_t op, const char *key, const char *text, struct keel_err *err)
{
	(void)o;
	(void)a;
	(void)op;
	(void)key;
	(void)err;
	c->n++;
	snprintf(c->what, sizeof(c->what), "%s", text);
	return 0;
}

static int32_t fake_peek(struct keel_changes *c, struct keel_obj *o, const struct keel_attr *a,
			 const char *key, char *buf, uint32_t len)
{
	(void)o;
	(void)a;
	(void)key;
	return snprintf(buf, len, "%s", c->what);
}

static void fake_commit(struct keel_changes *c)
{
	commits += c->n;
	note_down("commit");
	free(c);
}

static void fake_discard(struct keel_changes *c)
{
	discards++;
	free(c);
}

static const struct keel_object_api object_api = {
	.size = sizeof(object_api), .find = fake_find, .id = fake_id, .klass = fake_klass,
	.attr = fake_attr, .changes = fake_changes, .change_text = fake_change_text,
	.change_peek = fake_peek, .commit = fake_commit, .discard = fake_discard,
};

/* ---- life ------------------------------------------------------------------------------------------ */
static void owner_init(struct owner *o, const char *name)
{
	o->pub.name = name;
	o->parts = &e.parts;
}

/* As the daemon has it, half the soft budget. */
static void ticked(void *arg, uint64_t turn, int64_t late_ns)
{
	(void)arg, (void)turn;
	hooks_tick(e.parts.hooks, late_ns, 1000000);
}

void compute_ms(int64_t ms)
{
	struct timespec now;
	int64_t until = 0, ns;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
		until = until != 0 ? until : ns + ms * 1000000;
	} while (ns < until);
}

void engine_start(void)
{
	static const struct hooks_conf conf = { .hold_default_ms = 60000, .soft_budget_ms = 2,
						.hard_budget_ms = 5, .strikes = 3 };

	memset(&e, 0, sizeof(e));
	memset(&told, 0, sizeof(told));
	trace[0] = '\0';
	commits = discards = 0;
	job1.exists = job2.exists = true;
	e.dir = scratch_new();
	owner_init(&e.alpha, "alpha");
	owner_init(&e.beta, "beta");
	if (loop_create(&e.parts.loop) < 0 || registry_create(&e.parts.registry) < 0 ||
	    log_open(e.parts.loop, e.dir, "test", 0xffff, false, &e.parts.log, NULL) < 0 ||
	    hooks_create(&e.parts, &conf, &e.parts.hooks) < 0 ||
	    registry_offer(e.parts.registry, "object", &object_api) < 0)
		abort();
	if (loop_tick(e.parts.loop, 1, NULL, ticked, NULL) < 0)
		abort();
	e.hook = registry_service(e.parts.registry, "hook", 0, NULL, NULL);
	e.call = registry_service(e.parts.registry, "call", 0, NULL, NULL);
}

void engine_stop(void)
{
	hooks_detach(e.parts.hooks, &e.alpha);
	hooks_detach(e.parts.hooks, &e.beta);
	CU_ASSERT_EQUAL(e.alpha.live, 0);
	CU_ASSERT_EQUAL(e.beta.live, 0);
	loop_tick_end(e.parts.loop);
	hooks_destroy(e.parts.hooks);
	registry_destroy(e.parts.registry);
	log_close(e.parts.log);
	loop_destroy(e.parts.loop);
	scratch_remove(e.dir);
	free(e.dir);
}

static bool is_traced(void *arg)
{
	return strstr(trace, arg) != NULL;
}

int run_until(const char *text)
{
	return loop_run_until(e.parts.loop, is_traced, (void *)(uintptr_t)text, DEADLINE_MS);
}

static void on_done(struct keel_mod *m, void *arg, const struct keel_outcome *out)
{
	(void)m;
	(void)arg;
	told.n++;
	told.verdict = out->verdict;
	told.code = out->code;
	snprintf(told.text, sizeof(told.text), "%s", out->text != NULL ? out->text : "");
	snprintf(told.by, sizeof(told.by), "%s", out->by != NULL ? out->by : "");
	note_down("done");
}

keel_verdict raise_point(uint32_t point, const void *event, struct keel_changes *changes,
			 struct keel_req *req)
{
	const struct keel_raise r = { .size = sizeof(r), .point = point, .event = event,
				      .changes = changes, .req = req, .done = on_done };

	loop_busy(e.parts.loop); /* the tick goes */
	return e.hook->raise(&e.alpha.pub, &r);
}

struct sum {
	struct usage of;
	const char *module;
};

static void tap_add_up(void *arg, const struct keel_about_tap *t)
{
	struct sum *s = arg;

	if (strcmp(t->module, s->module) != 0)
		return;
	s->of.taps++;
	s->of.benched += t->benched;
	s->of.strikes += t->strikes;
	s->of.fails += t->fails;
	s->of.calls += t->calls;
	s->of.time_ns += t->time_ns;
}

struct usage usage_of(const struct owner *owner)
{
	struct sum s = { .module = owner->pub.name };

	hooks_taps(&e.alpha.pub, tap_add_up, &s);
	return s.of;
}
