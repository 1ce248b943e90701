/* SPDX-License-Identifier: Apache-2.0
 *
 * test_own_points.c - points that modules publish: found by name, tapped by modules that restart with the publisher, gone
 * with their module. The modules are tests/fixtures/publish.c, listen.c and overhear.c.
 */
#include <stdlib.h>

#include "module/fixture.h"

static const struct keel_hook_api *hook;
static struct keel_mod *me;

static void begin(void)
{
	kernel_start();
	hook = registry_service(k.parts.registry, "hook", 0, NULL, NULL);
	me = &k.self.pub;
}

static void queued(const char *id)
{
	hooks_note(k.parts.hooks, KEEL_POINT_job_queued, KEEL_EVENT(job_queued, .id = id));
}

static const char *points(void)
{
	buf_reset(&k.out);
	hooks_describe_points(k.parts.hooks, &k.out);
	return k.out.data;
}

static uint32_t times_logged(const char *text)
{
	char *log = log_text(), *at = log;
	uint32_t n = 0;

	while ((at = strstr(at, text)) != NULL) {
		at++;
		n++;
	}
	free(log);
	return n;
}

static void the_publisher_is_there_first(void)
{
	static const char *const orders[] = { "publish: { }\nlisten: { }", "listen: { }\npublish: { }" };

	for (size_t i = 0; i < KEEL_COUNT(orders); i++) {
		begin();
		CU_ASSERT_EQUAL_FATAL(up(orders[i]), 0);
		queued("1.svr");
		CU_ASSERT_TRUE(logged("publish: verdict 0 by"));
		CU_ASSERT_TRUE(logged("listen: 2 left"));
		queued("2.svr");
		queued("3.svr");
		queued("4.svr"); /* none is left */
		CU_ASSERT_TRUE(logged("publish: verdict 2 by listen.on_wanted"));
		CU_ASSERT_PTR_NOT_NULL(strstr(points(), "ticket_used NOTE taps=1 a job took a ticket (of publish)\n"));
		buf_reset(&k.out);
		CU_ASSERT_EQUAL(hooks_describe(k.parts.hooks, "ticket_wanted", &k.out), 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(k.out.data, "listen.on_wanted"));
		kernel_stop();
	}
}

static void a_publisher_alone_is_heard_by_nobody(void)
{
	begin();
	CU_ASSERT_EQUAL(up("publish: { }"), 0);
	queued("1.svr");
	CU_ASSERT_TRUE(logged("publish: verdict 0 by nobody"));
	kernel_stop();
}

static void a_module_that_taps_restarts_with_the_publisher(void)
{
	begin();
	CU_ASSERT_EQUAL(up("publish: { }\nlisten: { }"), 0);
	queued("1.svr");
	CU_ASSERT_EQUAL(change(RELOAD, "publish"), 0);
	queued("2.svr"); /* the publisher counts anew, and is heard */
	CU_ASSERT_EQUAL(times_logged("listen: 2 left"), 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(points(), "ticket_used NOTE taps=1"));
	CU_ASSERT_TRUE(modules_need(k.parts.modules, "listen", "publish"));
	CU_ASSERT_FALSE(modules_need(k.parts.modules, "publish", "listen"));
	queued("3.svr");
	CU_ASSERT_TRUE(logged("listen: 1 left"));
	CU_ASSERT_EQUAL(change(UNLOAD, "listen"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(points(), "ticket_used NOTE taps=0"));
	CU_ASSERT_EQUAL(reload(""), 0);
	CU_ASSERT_PTR_NULL(strstr(points(), "ticket_"));
	kernel_stop();
}

static void so_does_one_that_requires_nothing(void)
{
	begin();
	CU_ASSERT_EQUAL(up("publish: { }\noverhear: { }"), 0);
	queued("1.svr");
	CU_ASSERT_EQUAL(change(RELOAD, "publish"), 0);
	queued("2.svr");
	CU_ASSERT_EQUAL(times_logged("overhear: a ticket was used"), 2);
	CU_ASSERT_EQUAL(change(UNLOAD, "publish"), 0);
	CU_ASSERT_EQUAL(hook->point(me, "ticket_used"), 0);
	CU_ASSERT_EQUAL(change(LOAD, "publish"), 0);
	queued("3.svr");
	CU_ASSERT_EQUAL(times_logged("overhear: a ticket was used"), 3);
	kernel_stop();
}

/* Operations that wait at a point end with its module; the module that taps has gone before. */
static void waiting_ends_with_the_point(void)
{
	begin();
	CU_ASSERT_EQUAL(up("publish: { }\nlisten: { waits = true; }"), 0);
	queued("1.svr");
	buf_reset(&k.out);
	hooks_describe_holds(k.parts.hooks, &k.out);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.out.data, "no ticket yet"));
	CU_ASSERT_EQUAL(reload(""), 0);
	CU_ASSERT_TRUE(logged("listen: cancelled 4"));
	CU_ASSERT_TRUE(logged("publish: verdict -1 by listen.on_wanted"));
	kernel_stop();
}

/* `match` of the configuration holds for points of modules as for those of the map. */
static int32_t id_words(struct keel_mod *m, struct keel_obj *obj, char *buf, uint32_t len)
{
	const struct keel_object_api *object = registry_service(k.parts.registry, "object", 0, NULL, NULL);

	(void)m;
	return snprintf(buf, len, "%s", object->id(obj));
}

static struct keel_obj *job_make(const char *id)
{
	const struct keel_object_api *object = registry_service(k.parts.registry, "object", 0, NULL, NULL);
	struct keel_obj *job = object->draft(me, "job", id, &k.err);

	CU_ASSERT_PTR_NOT_NULL_FATAL(job);
	CU_ASSERT_EQUAL(object->publish(job), 0);
	return job;
}

static uint32_t n_asked;

static keel_verdict count(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)c, (void)point, (void)event, (void)arg;
	n_asked++;
	return KEEL_NEXT;
}

static void a_scope_holds_for_them(void)
{
	static const struct keel_class_def job = { .size = sizeof(job), .name = "job", .doc = "a test" };
	static const struct keel_scope_def word = { .size = sizeof(word), .name = "word", .klass = "job",
						    .doc = "a test", .text = id_words };
	static const struct keel_field about[] = { { "job", KEEL_FIELD_OBJ, 8 } };
	static const struct keel_point_def mine = { .size = sizeof(mine), .kind = KEEL_NOTE, .name = "mine",
						    .doc = "a test", .fields = about, .n_fields = 1,
						    .event_size = 16 };
	static const struct keel_contrib rows[] = { KEEL_ROW(CLASS, job), KEEL_ROW(SCOPE, word), KEEL_ROW(POINT, mine) };
	struct owner scoped = { .pub.name = "scoped", .parts = &k.parts };
	struct conf_match match = { .scope = "word", .pattern = "^7", .where = "here" };
	struct {
		uint32_t size, reserved;
		struct keel_obj *job;
	} ev = { .size = sizeof(ev) };
	struct scope *scope;

	begin();
	CU_ASSERT_EQUAL_FATAL(registry_add(k.parts.registry, &k.self, rows, 3, &k.err), 0);
	CU_ASSERT_EQUAL_FATAL(scope_create("scoped", &match, 1, &scope, &k.err), 0);
	hooks_scope(k.parts.hooks, &scoped, scope);
	CU_ASSERT_EQUAL(hook->tap_add(&scoped.pub, hook->point(me, "mine"), "count", 0, count, NULL, &k.err), 0);
	ev.job = job_make("1.svr");
	hook->note(me, hook->point(me, "mine"), &ev);
	CU_ASSERT_EQUAL(n_asked, 0);
	ev.job = job_make("7.svr");
	hook->note(me, hook->point(me, "mine"), &ev);
	CU_ASSERT_EQUAL(n_asked, 1);
	hooks_detach(k.parts.hooks, &scoped);
	scope_destroy(scope);
	registry_remove(k.parts.registry, &k.self);
	CU_ASSERT_EQUAL(hook->point(me, "mine"), 0); /* the row went, and the point with it */
	kernel_stop();
}

/* ---- definitions -------------------------------------------------------------------------------------- */
static const struct keel_field fields[] = { { "id", KEEL_FIELD_STR, 8 }, { "n", KEEL_FIELD_INT, 16 } };
static const struct keel_field outside[] = { { "id", KEEL_FIELD_STR, 24 } }, odd[] = { { "id", 4, 8 } },
			       over_size[] = { { "id", KEEL_FIELD_STR, 0 } };
static const struct keel_field twice[] = { { "id", KEEL_FIELD_STR, 8 }, { "n", KEEL_FIELD_INT, 8 } };
static const struct keel_field many_fields[33];
#define POINT(point_name, ...)                                                                     \
	{ .size = sizeof(struct keel_point_def), .kind = KEEL_NOTE, .name = (point_name), .doc = "a test", \
	  .fields = fields, .n_fields = 2, .event_size = 24, __VA_ARGS__ }

/* A row of the test's own module. */
static int define(const struct keel_point_def *def)
{
	return registry_add(k.parts.registry, &k.self, &(struct keel_contrib){ "POINT", def }, 1, &k.err);
}

static void undefine(void)
{
	registry_remove(k.parts.registry, &k.self);
	hooks_detach(k.parts.hooks, &k.self);
}

#pragma GCC diagnostic ignored "-Woverride-init"
/* past kernel/hook/inside.h OWN_EVENT_MAX, past kernel/hook/own.c FIELDS_MAX, past kernel/hook/own.c NAME_LEN_MAX */
static void definitions_that_lie_are_refused(void)
{
	static const struct keel_point_def bad[] = {
		POINT(NULL),
		POINT("Capital"),
		POINT("job_submit"),
		POINT("x", .kind = 0),
		POINT("x", .kind = 5),
		POINT("x", .doc = NULL),
		POINT("x", .event_size = 0),
		POINT("x", .event_size = 20),
		POINT("x", .event_size = 260),
		POINT("a234567890123456789012345678901234567890123456789012345678901234"),
		POINT("x", .fields = NULL),
		POINT("x", .fields = many_fields, .n_fields = 33),
		POINT("x", .fields = outside, .n_fields = 1),
		POINT("x", .fields = odd, .n_fields = 1),
		POINT("x", .fields = over_size, .n_fields = 1),
		POINT("x", .fields = twice, .n_fields = 2),
	};

	begin();
	for (size_t i = 0; i < KEEL_COUNT(bad); i++) {
		k.err.text[0] = '\0';
		CU_ASSERT(define(&bad[i]) < 0);
		CU_ASSERT(strlen(k.err.text) > 10);
	}
	CU_ASSERT(define(&bad[2]) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "point job_submit of module test is there already, from the kernel"));
	kernel_stop();
}

/* past sdk/include/keel/hooks.h KEEL_POINT_MAX */
static void ids_are_many_and_not_endless(void)
{
	static const struct keel_point_def one = POINT("mine"), two = POINT("yours");
	static struct keel_point_def defs[80];
	static char names[80][8];
	uint32_t first, n = 0;

	begin();
	CU_ASSERT_EQUAL(define(&one), 0);
	first = hook->point(me, "mine");
	CU_ASSERT(first >= KEEL_POINT_OWN && first < KEEL_POINT_MAX);
	CU_ASSERT(define(&one) < 0); /* twice */
	undefine();
	CU_ASSERT_EQUAL(define(&two), 0);
	CU_ASSERT(hook->point(me, "yours") != 0 && hook->point(me, "mine") == 0);
	undefine();
	for (uint32_t i = 0; i < KEEL_COUNT(names); i++) {
		snprintf(names[i], sizeof(names[i]), "p%u", i);
		defs[i] = (struct keel_point_def)POINT(names[i]);
		n += define(&defs[i]) == 0;
	}
	CU_ASSERT_EQUAL(n, KEEL_POINT_MAX - KEEL_POINT_OWN);
	CU_ASSERT_PTR_NOT_NULL(strstr(k.err.text, "no room for the point"));
	undefine();
	kernel_stop();
}

static void what_is_known_of_a_point(void)
{
	struct keel_point_def about = { .size = sizeof(about) };
	struct {
		uint32_t size, kind;
		const char *name;
		uint64_t others;
	} less = { .size = 16, .others = 7 };

	begin();
	CU_ASSERT_EQUAL(hook->about(me, hook->point(me, "job_submit"), &about), 0);
	CU_ASSERT_EQUAL(about.kind, KEEL_GATE);
	CU_ASSERT_EQUAL(about.n_fields, 4);
	CU_ASSERT_STRING_EQUAL(about.fields[0].name, "id");
	CU_ASSERT_EQUAL(hook->about(me, KEEL_POINT_job_run, (struct keel_point_def *)(void *)&less), 0);
	CU_ASSERT_STRING_EQUAL(less.name, "job_run");
	CU_ASSERT_EQUAL(less.others, 7); /* no more than it has room for */
	CU_ASSERT_EQUAL(hook->about(me, 255, &about), -ENOENT);
	CU_ASSERT_EQUAL(hook->point(me, "nonesuch"), 0);
	CU_ASSERT_EQUAL(hook->point(me, NULL), 0);
	kernel_stop();
}

static void only_its_module_raises_a_point(void)
{
	static const struct keel_field id[] = { { "id", KEEL_FIELD_STR, 8 } };
	const struct {
		uint32_t size, reserved;
		const char *id;
		struct keel_obj *job;
		int64_t left;
	} ev = { .size = sizeof(ev), .id = "9.svr", .left = 99 };
	const struct keel_point_def fold = { .size = sizeof(fold), .kind = KEEL_FOLD, .name = "sum", .doc = "a test",
					     .fields = id, .n_fields = 1, .event_size = 16 };
	struct owner stranger = { .pub.name = "stranger", .parts = &k.parts };

	begin();
	CU_ASSERT_EQUAL(up("publish: { }\nlisten: { }"), 0);
	hook->note(me, hook->point(me, "ticket_used"), &ev);
	CU_ASSERT_FALSE(logged("99 left"));
	CU_ASSERT_TRUE(logged("which is not its own"));
	CU_ASSERT_EQUAL(hook->raise(me, &(struct keel_raise){ .size = sizeof(struct keel_raise), .event = &ev,
							      .point = hook->point(me, "ticket_wanted") }),
			KEEL_FAIL);
	CU_ASSERT_EQUAL(define(&fold), 0);
	CU_ASSERT_EQUAL(hook->fold(&stranger.pub, hook->point(me, "sum"), &ev, NULL, 0), 0);
	undefine();
	kernel_stop();
}

TESTS_MAIN("module/own_points", TEST(the_publisher_is_there_first), TEST(a_publisher_alone_is_heard_by_nobody),
	   TEST(a_module_that_taps_restarts_with_the_publisher),
	   TEST(so_does_one_that_requires_nothing), TEST(waiting_ends_with_the_point), TEST(a_scope_holds_for_them),
	   TEST(definitions_that_lie_are_refused), TEST(ids_are_many_and_not_endless), TEST(what_is_known_of_a_point),
	   TEST(only_its_module_raises_a_point))
