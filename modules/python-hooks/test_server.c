/* SPDX-License-Identifier: Apache-2.0
 *
 * test_server.c - events of a server in the mock: what is packed for a script is read back; questions; changes of
 * vnodes.
 */
#include <stdlib.h>

#include "mocked.h"
#include "server.h"
#include "with_resources.h"

extern const struct keel_module keel_module;

static struct state state;
static struct pack packed;

static void set_up(void)
{
	static const struct { const char *klass, *name, *type; } attrs[] = {
		{ "job", "queue", "string" }, { "job", "Priority", "long" }, { "job", "comment", "string" },
		{ "job", "resources_defaulted", "string" }, { "job", "Resource_List", "resource_list" },
		{ "node", "comment", "string" }, { "server", "comment", "string" },
	};
	struct keel_err err = { 0 };

	mock = mock_with_resources();
	for (size_t i = 0; i < KEEL_COUNT(attrs); i++)
		keel_mock_attr(mock, attrs[i].klass, attrs[i].name, attrs[i].type);
	keel_mock_use(mock, &keel_module);
	state = (struct state){ .mod = keel_mock_self(mock) };
	keel_mock_self(mock)->state = &state;
	CU_ASSERT_EQUAL(runs_start(&state, &err), 0);
	CU_ASSERT_EQUAL(server_start(&state, &err), 0);
	packed = (struct pack){ .data = NULL };
}

static void clean_up(void)
{
	pack_fini(&packed);
	server_stop(&state);
	tables_free(&state);
	runs_stop(&state);
	tear_down();
}

/* What is packed, as a value. */
static struct value whole(void)
{
	struct value v = { .kind = 0 };

	CU_ASSERT_FALSE(packed.failed);
	CU_ASSERT(value_read(packed.data, packed.len, &v));
	return v;
}

static struct value at(struct value map, const char *key)
{
	struct value v = { .kind = 0 };

	CU_ASSERT(value_find(&map, key, &v));
	return v;
}

static bool has(struct value map, const char *key)
{
	struct value v;

	return value_find(&map, key, &v);
}

/* ---- the table ---------------------------------------------------------------------------------------------- */
static void test_table(void)
{
	for (uint32_t i = 0; i < EVENTS; i++) {
		const bool absent = events[i].flags & EVENT_ABSENT;

		CU_ASSERT_PTR_EQUAL(event_by_name(events[i].name, strlen(events[i].name)), &events[i]);
		CU_ASSERT_EQUAL(events[i].fill == NULL, absent);
		CU_ASSERT_EQUAL(events[i].settle == NULL, absent);
		for (uint32_t k = 0; k < i; k++)
			CU_ASSERT_NOT_EQUAL(events[i].bit, events[k].bit);
	}
	CU_ASSERT_PTR_NULL(event_by_name("queuejo", 7));
	CU_ASSERT_PTR_NULL(event_by_name("queuejobs", 9));
}

static void test_tables(void)
{
	const struct pack *tables = tables_get(&state);
	struct value v;

	CU_ASSERT_PTR_NOT_NULL_FATAL(tables);
	CU_ASSERT(value_read(tables->data, tables->len, &v));
	CU_ASSERT_EQUAL(at(at(at(v, "attrs"), "job"), "Priority").kind, 'l');
	CU_ASSERT_EQUAL(at(at(v, "resources"), "ncpus").kind, 'l');
	CU_ASSERT_EQUAL(at(at(v, "events"), "queuejob").kind, 'l');
}

/* ---- management --------------------------------------------------------------------------------------------- */
static struct value managed(const char *changes)
{
	struct run r = { .st = &state };
	const uint32_t open = pack_open_map(&packed);
	const int32_t n = server_fill_management(&r, KEEL_EVENT(management_done, .klass = "server", .name = "svr",
								.cmd = 2, .who = "bob@host",
								.text = "", .changes = changes), &packed);

	CU_ASSERT_EQUAL(n, 1);
	pack_close(&packed, open, 1);
	CU_ASSERT_STRING_EQUAL(r.requestor, "bob");
	CU_ASSERT_STRING_EQUAL(r.requestor_host, "host");
	return at(whole(), "management");
}

static void test_management(void)
{
	struct value m = managed("comment\t\t0\ttab \\t, line \\n, sign \\\\n\nresources_max\tncpus\t1\t\n"),
		attribs = at(m, "attribs"), one;

	CU_ASSERT_EQUAL(attribs.count, 2);
	CU_ASSERT(value_nth(&attribs, 0, &one));
	CU_ASSERT(value_is(&(struct value){ 0 }, "x") == false);
	CU_ASSERT_EQUAL(at(one, "resource").kind, 'n');
	CU_ASSERT_EQUAL(memcmp(at(one, "value").s, "tab \t, line \n, sign \\n", 22), 0);
	CU_ASSERT(value_nth(&attribs, 1, &one));
	CU_ASSERT_EQUAL(value_int(&one, "op", -1), 1);
}

/* What is no such text is read to its end, and no further. */
static void test_management_hostile(void)
{
	static const char *const texts[] = { "", "\t", "a", "a\tb", "a\tb\tc\td\\", "\n\n\n", "\\", "\t\t\t\t\t\n" };

	for (size_t i = 0; i < KEEL_COUNT(texts); i++) {
		managed(texts[i]);
		pack_fini(&packed);
	}
	managed(NULL);
}

/* ---- modifyjob ---------------------------------------------------------------------------------------------- */
static keel_verdict on_modify(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	struct run *r = arg;
	const uint32_t open = pack_open_map(&packed);

	(void)point;
	r->call = c;
	CU_ASSERT_EQUAL(server_fill_modifyjob(r, event, &packed), 2);
	pack_close(&packed, open, 2);
	r->call = NULL;
	return KEEL_NEXT;
}

static void test_requested(void)
{
	struct run r = { .st = &state };
	struct keel_mod *self = keel_mock_self(mock);
	struct keel_obj *job = keel_mock_object(mock, "job", "1.svr");
	struct keel_changes *set = keel_changes(self);
	struct value v;

	keel_mock_set(job, "Priority", NULL, "3");
	keel_mock_set(job, "comment", NULL, "old");
	keel_mock_set(job, "Resource_List", "mem", "1mb");
	keel_mock_set(job, "Resource_List", "ncpus", "1");
	keel_change_text(set, job, keel_attr_find(self, "job", "Priority"), KEEL_SET, NULL, "5", NULL);
	keel_change_text(set, job, keel_attr_find(self, "job", "Resource_List"), KEEL_SET, "ncpus", "2", NULL);
	keel_change_text(set, job, keel_attr_find(self, "job", "Resource_List"), KEEL_SET, "nodect", "2", NULL);
	keel_change_text(set, job, keel_attr_find(self, "job", "resources_defaulted"), KEEL_SET, NULL,
			 "select,nodect", NULL);
	keel_mock_tap(mock, KEEL_POINT_job_modify, "look", 0, on_modify, &r);
	keel_mock_raise_for(mock, NULL, KEEL_POINT_job_modify, KEEL_EVENT(job_modify, .id = "1.svr", .job = job,
									  .who = "bob@host"), set, NULL);
	v = at(at(whole(), "job"), "attrs");
	CU_ASSERT(value_is(&(struct value){ .kind = 's', .s = at(v, "Priority").s, .len = at(v, "Priority").len },
			   "5"));
	CU_ASSERT_FALSE(has(v, "comment"));
	CU_ASSERT_EQUAL(at(v, "Resource_List").count, 1);
	CU_ASSERT(has(at(v, "Resource_List"), "ncpus"));
	v = at(at(whole(), "job_o"), "attrs");
	CU_ASSERT_EQUAL(at(v, "Resource_List").count, 2);
	CU_ASSERT_PTR_EQUAL(run_find(&r, "job"), job);
	CU_ASSERT_PTR_NULL(run_find(&r, "job_o"));
}

/* ---- questions ---------------------------------------------------------------------------------------------- */
static void asked(const char *what, const char *const *words, uint32_t n)
{
	struct pack question = { .data = NULL };
	const uint32_t list = pack_open_list(&question);
	struct value frame;

	pack_text(&question, "ask");
	pack_text(&question, what);
	for (uint32_t i = 0; i < n; i++)
		pack_text(&question, words[i]);
	pack_close(&question, list, n + 2);
	CU_ASSERT(value_read(question.data, question.len, &frame));
	pack_fini(&packed);
	CU_ASSERT(answer_server(&state, &frame, &packed));
	pack_fini(&question);
}
#define ASK(what, ...) asked(what, (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void test_object(void)
{
	keel_mock_object(mock, "job", "1.svr");
	keel_mock_object(mock, "hook", "h1");
	ASK("object", "job", "1");
	CU_ASSERT_EQUAL(whole().kind, 'm');
	ASK("object", "job", "1.svr");
	CU_ASSERT_EQUAL(whole().kind, 'm');
	ASK("object", "job", "2.svr");
	CU_ASSERT_EQUAL(whole().kind, 'n');
	ASK("object", "hook", "h1");
	CU_ASSERT_EQUAL(whole().kind, 'n');
	ASK("object", "job", NULL);
	CU_ASSERT_EQUAL(whole().kind, 'n');
}

/* All pages of a list: how many objects, each once. */
static uint32_t pages(const char *of, uint32_t *ret_pages)
{
	char after[64] = "";
	uint32_t n = 0;
	struct value page, next;

	for (*ret_pages = 1;; (*ret_pages)++) {
		ASK("list", "job", *after ? after : NULL, of);
		CU_ASSERT(whole().count == 2);
		page = (struct value){ 0 };
		{
			struct value v = whole();

			CU_ASSERT(value_nth(&v, 0, &page) && value_nth(&v, 1, &next));
		}
		CU_ASSERT(page.count <= 20);
		n += page.count;
		if (next.kind == 'n')
			return n;
		snprintf(after, sizeof(after), "%.*s", (int)next.len, next.s);
	}
}

static void test_list(void)
{
	uint32_t n;

	for (int i = 0; i < 2350; i++) {
		char id[32];

		snprintf(id, sizeof(id), "%d.svr", i);
		keel_mock_set(keel_mock_object(mock, "job", id), "queue", NULL, i == 2200 || i == 7 ? "few" : "many");
	}
	CU_ASSERT_EQUAL(pages(NULL, &n), 2350);
	CU_ASSERT_EQUAL(n, 118);
	CU_ASSERT_EQUAL(pages("few", &n), 2);
	CU_ASSERT(n >= 3 && n <= 4);
	CU_ASSERT_EQUAL(pages("none", &n), 0);
}

/* Walks that were begun and left do not add up; one that goes on after others have taken its place finds its way. */
static void test_many_walks(void)
{
	char of[32];
	struct value v, page;

	for (int i = 0; i < 150; i++) {
		char id[32];

		snprintf(id, sizeof(id), "%d.svr", i);
		keel_mock_set(keel_mock_object(mock, "job", id), "queue", NULL, "q");
	}
	ASK("list", "job", NULL, NULL);
	for (int i = 0; i < 30; i++) {
		snprintf(of, sizeof(of), "q%d", i);
		ASK("list", "node", NULL, NULL);
		ASK("list", "job", NULL, "q");
	}
	ASK("list", "job", "99.svr", NULL);
	v = whole();
	CU_ASSERT(value_nth(&v, 0, &page));
	CU_ASSERT_EQUAL(page.count, 20);
	keel_mock_destroy(keel_find(keel_mock_self(mock), "job", "99.svr"));
	ASK("list", "job", "99.svr", NULL); /* it is gone, and nothing knows where it was */
	v = whole();
	CU_ASSERT(value_nth(&v, 0, &page));
	CU_ASSERT_EQUAL(page.count, 0);
}

static void test_check(void)
{
	ASK("check", "job", "Priority", NULL, "5");
	CU_ASSERT_EQUAL(whole().kind, 'n');
	ASK("check", "job", "Priority", NULL, "high");
	CU_ASSERT_EQUAL(whole().kind, 's');
	ASK("check", "job", "Resource_List", "mem", "3gb");
	CU_ASSERT_EQUAL(whole().kind, 'n');
	ASK("check", "job", "Resource_List", "mem", "much");
	CU_ASSERT_EQUAL(whole().kind, 's');
	ASK("check", "job", "nosuch", NULL, "5");
	CU_ASSERT_EQUAL(whole().kind, 's');
	ASK("check", "hook", "event", NULL, "queuejob");
	CU_ASSERT_EQUAL(whole().kind, 's');
	CU_ASSERT_EQUAL(keel_count(keel_mock_self(mock), "job"), 0);
}

static void test_no_question(void)
{
	struct value frame;

	pack_close(&packed, pack_open_list(&packed), 0);
	CU_ASSERT(value_read(packed.data, packed.len, &frame));
	CU_ASSERT_FALSE(answer_server(&state, &frame, &packed));
}

/* ---- periodic ----------------------------------------------------------------------------------------------- */
static void nodes_make(int n)
{
	for (int i = 0; i < n; i++) {
		char id[32];

		snprintf(id, sizeof(id), "vnode-%05d", i);
		keel_mock_object(mock, "node", id);
	}
}

/* Ten thousand fit into a frame, as names. */
static void test_many_vnodes(void)
{
	struct run r = { .st = &state };
	const uint32_t open = pack_open_map(&packed);
	struct value list;

	nodes_make(10000);
	CU_ASSERT_EQUAL(server_fill_periodic(&r, NULL, &packed), 2);
	pack_close(&packed, open, 2);
	CU_ASSERT(packed.len < 1024 * 1024);
	list = at(whole(), "vnode_list");
	CU_ASSERT_EQUAL(list.count, 10000);
	CU_ASSERT_EQUAL(at(list, "vnode-09999").kind, 'n');
}

static struct value vnode_list(void)
{
	struct run r = { .st = &state };
	uint32_t open;

	pack_fini(&packed);
	open = pack_open_map(&packed);
	server_fill_periodic(&r, NULL, &packed);
	pack_close(&packed, open, 2);
	return at(whole(), "vnode_list");
}

/* past modules/python-hooks/periodic.c WHOLE_MAX */
static void test_few_vnodes(void)
{
	nodes_make(100);
	CU_ASSERT_EQUAL(at(vnode_list(), "vnode-00099").kind, 'm');
	keel_mock_object(mock, "node", "one-more");
	CU_ASSERT_EQUAL(at(vnode_list(), "vnode-00099").kind, 'n');
}

/* past modules/python-hooks/periodic.c NAMES_MAX: those behind it are left out */
static void test_long_names(void)
{
	char id[240];
	struct value list;

	memset(id, 'x', sizeof(id));
	for (int i = 0; i < 2000; i++) {
		snprintf(id + 200, sizeof(id) - 200, "%d", i);
		keel_mock_object(mock, "node", id);
	}
	list = vnode_list();
	CU_ASSERT(list.count > 1000 && list.count < 2000);
	CU_ASSERT(packed.len < 500000);
}

/* past modules/python-hooks/periodic.c SECONDS_MAX */
static void test_timers(void)
{
	char name[] = "p", script[] = "pass";
	struct hook h = { .name = name, .enabled = true, .events = UINT32_C(1) << EVENT_periodic, .freq = INT64_MAX,
			 .script = script };

	timed_follow(&state, &h);
	CU_ASSERT_PTR_NOT_NULL(h.timed);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "will run on "));
	keel_mock_advance(mock, INT64_C(900000000000));
	CU_ASSERT_FALSE(run_goes(&state, &h, EVENT_periodic));
	h.freq = 5;
	keel_mock_log_clear(mock);
	timed_follow(&state, &h);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "will run on "));
	keel_mock_log_clear(mock);
	timed_follow(&state, &h); /* as before: its timer goes on */
	CU_ASSERT_PTR_NULL(keel_mock_logged(mock, "will run on "));
	h.enabled = false;
	timed_follow(&state, &h);
	CU_ASSERT_PTR_NULL(h.timed);
	timed_free(&state, &h);
}

static void test_changes(void)
{
	struct change one = { .target = strdup("vnode:n1"), .attr = strdup("comment"), .key = NULL,
			     .text = strdup("x") };
	struct change *copy = changes_copy(&one, 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	CU_ASSERT_STRING_EQUAL(copy->target, "vnode:n1");
	CU_ASSERT_PTR_NULL(copy->key);
	changes_free(copy, 1);
	changes_free(NULL, 0);
	free(one.target);
	free(one.attr);
	free(one.text);
}

TESTS_MAIN_BETWEEN("events of a server", set_up, clean_up, TEST(test_table), TEST(test_tables), TEST(test_management),
		   TEST(test_management_hostile), TEST(test_requested), TEST(test_object), TEST(test_list),
			   TEST(test_many_walks),
		   TEST(test_check), TEST(test_no_question), TEST(test_many_vnodes), TEST(test_few_vnodes),
		   TEST(test_long_names), TEST(test_timers), TEST(test_changes))
