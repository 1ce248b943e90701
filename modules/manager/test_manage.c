/* SPDX-License-Identifier: Apache-2.0
 *
 * test_manage.c - manager requests in the mock: two at once, calls that fail, and a server object that cannot be
 * created.
 */
#include "manager.h"

#include <stdlib.h>
#include <string.h>

#include "mocked.h"
#include "module_memory.h"
#include "with_resources.h"

#define CREATE "cmd = 0; obj = 1; name = \"new\"; attrs = ( (\"comment\", \"\", \"words\") );"
#define DELETE "cmd = 1; obj = 1; name = \"old\";"
#define SET "cmd = 2; obj = 1; name = \"old\"; attrs = ( (\"comment\", \"\", \"words\") );"
#define SET_HOST "cmd = 2; obj = 7; name = \"n1\"; attrs = ( (\"comment\", \"\", \"words\") );"

static struct keel_module alone;
static struct keel_mod *module;
static struct keel_err err;
static const struct keel_session *root;
static struct keel_mock_reply reply;

static keel_verdict hold(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	(void)point, (void)event, (void)arg;
	return keel_hold(c, &(struct keel_hold_opts){ .size = sizeof(struct keel_hold_opts), .why = "thinks it over" },
			 NULL);
}

static void host_make(void)
{
	mock = mock_with_resources();
	keel_mock_attr(mock, "queue", "comment", "string");
	keel_mock_attr(mock, "node", "comment", "string");
	keel_mock_attr(mock, "node", "Mom", "string");
	alone = module_alone("manager");
}

static void set_up(void)
{
	host_make();
	module = keel_mock_load(mock, &alone, NULL, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	root = keel_mock_session(mock, "root", KEEL_MANAGERS);
	keel_mock_object(mock, "queue", "old");
	for (int i = 1; i <= 3; i++) {
		char id[8];

		snprintf(id, sizeof(id), i == 1 ? "n1" : "n1.%d", i);
		keel_mock_set(keel_mock_object(mock, "node", id), "Mom", NULL, "n1");
	}
}

static struct keel_obj *find(const char *klass, const char *id)
{
	return keel_find(keel_mock_self(mock), klass, id);
}

static struct keel_req *manage_send(const char *body, struct keel_mock_reply *ret)
{
	struct keel_req *client;

	*ret = (struct keel_mock_reply){ 0 };
	client = keel_mock_request(mock, root, "manage", body, ret);
	keel_mock_advance(mock, 0);
	return client;
}

static void go_on(void)
{
	while (keel_mock_holds(mock) > 0) {
		keel_mock_release(mock, 0);
		keel_mock_advance(mock, 0);
	}
}

/* Two requests create the same object: both arrived when it did not exist. */
static void test_two_create_it(void)
{
	struct keel_mock_reply second;

	keel_mock_tap(mock, KEEL_POINT_management, "hold", 0, hold, NULL);
	manage_send(CREATE, &reply);
	manage_send(CREATE, &second);
	go_on();
	CU_ASSERT(reply.told && reply.code == 0);
	CU_ASSERT(second.told);
	CU_ASSERT_NOT_EQUAL(second.code, 0);
	CU_ASSERT_PTR_NOT_NULL(find("queue", "new"));
}

static void test_set_while_it_is_deleted(void)
{
	struct keel_mock_reply deleted;

	keel_mock_tap(mock, KEEL_POINT_management, "hold", 0, hold, NULL);
	manage_send(DELETE, &deleted);
	manage_send(SET, &reply);
	go_on();
	CU_ASSERT(deleted.told && deleted.code == 0);
	CU_ASSERT(reply.told && reply.code != 0);
	CU_ASSERT_PTR_NULL(find("queue", "old"));
}

static void test_a_vnode_goes_while_its_host_is_set(void)
{
	keel_mock_tap(mock, KEEL_POINT_node_modify, "hold", 0, hold, NULL);
	manage_send(SET_HOST, &reply);
	keel_mock_destroy(find("node", "n1.2"));
	go_on();
	CU_ASSERT(reply.told);
	CU_ASSERT_EQUAL(reply.code, 0);
	CU_ASSERT_STRING_EQUAL(keel_mock_text(find("node", "n1.3"), "comment", NULL), "words");
}

static void test_who_asked_goes(void)
{
	struct keel_req *client;

	keel_mock_tap(mock, KEEL_POINT_management, "hold", 0, hold, NULL);
	client = manage_send(CREATE, &reply);
	keel_mock_client_gone(client);
	keel_mock_advance(mock, 0);
	CU_ASSERT_PTR_NULL(find("queue", "new"));
	CU_ASSERT_EQUAL(keel_mock_holds(mock), 0);
}

/* Whichever call fails: all changes are applied, or none and the reply is an error. */
static void judge(const char *body)
{
	const char *text;

	manage_send(body, &reply);
	CU_ASSERT(reply.told);
	text = keel_mock_text(find("queue", find("queue", "new") ? "new" : "old"), "comment", NULL);
	if (reply.code == 0) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(text);
		CU_ASSERT_STRING_EQUAL(text, "words");
	} else {
		CU_ASSERT_PTR_NULL(find("queue", "new"));
		CU_ASSERT_PTR_NULL(text);
		CU_ASSERT_STRING_NOT_EQUAL(reply.text, "");
	}
}

static void whole_or_nothing(const char *body)
{
	uint32_t calls, k = 0;
	long n = 0;

	do {
		tear_down();
		set_up();
		countdown = ++n;
		judge(body);
	} while (memory_failed());
	CU_ASSERT(n > 1 || !INJECTING);
	do {
		tear_down();
		set_up();
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++k);
		judge(body);
		calls = keel_mock_calls(mock) - calls;
	} while (calls >= k);
	CU_ASSERT(k > 2);
}

static void test_no_memory(void)
{
	whole_or_nothing(CREATE);
	whole_or_nothing(SET);
}

/* A change of a host is applied to all of its vnodes or to none. */
static void test_no_memory_for_a_host(void)
{
	uint32_t calls, k = 0;

	do {
		const char *one, *other;

		tear_down();
		set_up();
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++k);
		manage_send(SET_HOST, &reply);
		one = keel_mock_text(find("node", "n1"), "comment", NULL);
		other = keel_mock_text(find("node", "n1.3"), "comment", NULL);
		CU_ASSERT_EQUAL(one != NULL, reply.code == 0);
		CU_ASSERT_EQUAL(other != NULL, reply.code == 0);
		calls = keel_mock_calls(mock) - calls;
	} while (calls >= k);
	CU_ASSERT(k > 3);
}

/* Whichever call fails: the server object is complete, or there is none and start() returns an error. */
static void test_no_memory_for_the_server(void)
{
	uint32_t calls, k = 0;

	do {
		struct keel_mod *m;

		tear_down();
		host_make();
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++k);
		m = keel_mock_load(mock, &alone, NULL, &err);
		calls = keel_mock_calls(mock) - calls;
		CU_ASSERT_EQUAL(m != NULL, find("server", "svr") != NULL);
		if (m == NULL) {
			CU_ASSERT_PTR_NULL(strstr(err.text, "no reason"));
		} else {
			CU_ASSERT_STRING_EQUAL(keel_mock_text(find("server", "svr"), "default_queue", NULL), "workq");
		}
	} while (calls >= k);
	CU_ASSERT(k > 3);
}

/* ---- objects of other modules, and the end of each request ------------------------------------------------- */

static char noted[512];
static size_t noted_changes;

static keel_verdict note(struct keel_call *c, uint32_t point, const void *event, void *arg)
{
	const struct keel_ev_management_done *ev = event;

	(void)c, (void)point, (void)arg;
	noted_changes = strlen(ev->changes);
	snprintf(noted, sizeof(noted), "%s|%s|%lld|%lld|%s|%lld|%s|%s", ev->klass, ev->name, (long long)ev->cmd,
		 (long long)ev->object, ev->who, (long long)ev->code, ev->text, ev->changes);
	return KEEL_NEXT;
}

static void noted_is(const char *first, const char *last)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "%s|%s|%s", first, root->who, last);
	CU_ASSERT_STRING_EQUAL(noted, whole);
}

static void test_each_end_is_noted(void)
{
	keel_mock_tap(mock, KEEL_POINT_management_done, "note", 0, note, NULL);
	manage_send("cmd = 0; obj = 1; name = \"new\"; attrs = ( (\"comment\", \"\", \"a\\tb\\nc\") );", &reply);
	noted_is("queue|new|0|1", "0||comment\t\t0\ta\\tb\\nc\n");
	manage_send("cmd = 1; obj = 1; name = \"nosuch\";", &reply);
	CU_ASSERT_NOT_EQUAL(reply.code, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(noted, "queue|nosuch|1|1|"));
	CU_ASSERT_PTR_NOT_NULL(strstr(noted, reply.text));
	manage_send("cmd = 0; obj = 8; name = \"h1\";", &reply);
	CU_ASSERT_PTR_NOT_NULL(strstr(noted, "|h1|0|8|"));
	CU_ASSERT_PTR_NOT_NULL(strstr(reply.text, "Unknown object type"));
}

static void test_a_long_value_is_cut(void) /* past modules/manager/done.c VALUE_MAX */
{
	static char body[70000];
	size_t at = (size_t)snprintf(body, sizeof(body), "cmd = 2; obj = 1; name = \"old\"; attrs = ( (\"comment\", \"\", \"");

	memset(body + at, 'x', 65536 + 1);
	strcpy(body + at + 65536 + 1, "\") );");
	keel_mock_tap(mock, KEEL_POINT_management_done, "note", 0, note, NULL);
	manage_send(body, &reply);
	CU_ASSERT_EQUAL(reply.code, 0);
	CU_ASSERT_EQUAL(noted_changes, strlen("comment\t\t0\t\n") + 65536);
}

/* The fixture `shelf` has objects of number 8; those of queues are this module's. */
static void test_another_module_has_them(void)
{
	char path[4096];
	const char *build = getenv("KEELSON_BUILD");

	keel_mock_tap(mock, KEEL_POINT_management_done, "note", 0, note, NULL);
	snprintf(path, sizeof(path), "%s/tests/fixtures/shelf.so", build ? build : ".");
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load_file(mock, path, NULL, &err));
	manage_send("cmd = 0; obj = 8; name = \"h1\";", &reply);
	CU_ASSERT(reply.told && reply.code == 0);
	noted_is("hook|h1|0|8", "0|it is on the shelf|");
	manage_send("cmd = 0; obj = 8; name = \"h2\";", &reply);
	CU_ASSERT_EQUAL(reply.code, PBSE_IVALREQ);
	CU_ASSERT_PTR_NOT_NULL(strstr(noted, "the shelf is full"));
	manage_send("cmd = 7; obj = 8; name = \"h1\";", &reply);
	CU_ASSERT_EQUAL(reply.code, PBSE_IVALREQ);
}

TESTS_MAIN_BETWEEN("manage", set_up, tear_down, TEST(test_two_create_it), TEST(test_set_while_it_is_deleted),
		   TEST(test_a_vnode_goes_while_its_host_is_set), TEST(test_who_asked_goes), TEST(test_no_memory),
		   TEST(test_no_memory_for_a_host), TEST(test_no_memory_for_the_server),
		   TEST(test_each_end_is_noted), TEST(test_another_module_has_them),
		   TEST(test_a_long_value_is_cut))
