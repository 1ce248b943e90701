/* SPDX-License-Identifier: Apache-2.0
 *
 * test_managed.c - requests about hooks in the mock: whichever call or allocation fails, hooks and their stored objects are as before,
 * or as requested; over restarts; a script that is being checked while its hook goes.
 */
#include "manage.h"

#include <stdlib.h>
#include <string.h>

#include "keel/service/supervise.h"
#include "mocked.h"
#include "module_memory.h"
#include "with_resources.h"

#define CREATE "cmd = 0; obj = 8; name = \"new\"; attrs = ( (\"order\", \"\", \"7\"), (\"event\", \"\", \"queuejob\") );"
#define SET "cmd = 2; obj = 8; name = \"old\"; attrs = ( (\"order\", \"\", \"7\"), (\"alarm\", \"\", \"9\") );"
#define DELETE "cmd = 1; obj = 8; name = \"old\"; attrs = ( );"
#define IMPORT(type, file, content)                                                                               \
	"cmd = 7; obj = 8; name = \"old\"; attrs = ( (\"content-type\", \"\", \"application/x-" type "\"), "     \
	"(\"content-encoding\", \"\", \"default\"), (\"input-file\", \"\", \"" file "\"), (\"content\", \"\", \"" content "\") );"
#define CONFIG IMPORT("config", "c.txt", "aGk=") /* "hi", which is not checked */
#define SCRIPT IMPORT("python", "s.py", "aGk=")

static struct keel_module manager, alone;
static struct keel_mod *module;
static struct keel_err err;
static const struct keel_session *root;
static struct keel_mock_reply reply;

/* ---- the process that checks, played by the test ----------------------------------------------------------------------------- */

static struct keel_supervise_opts checker; /* arg NULL: none runs */
static char asked[256];
static uint32_t asked_len;

static struct keel_supervised *start(struct keel_mod *self, struct keel_mod *mod, const struct keel_supervise_opts *o, struct keel_err *e)
{
	(void)self, (void)mod, (void)e;
	checker = *o;
	return (struct keel_supervised *)&checker;
}

static int32_t send(struct keel_supervised *s, const void *bytes, uint32_t len)
{
	(void)s;
	asked_len = len < sizeof(asked) ? len : sizeof(asked);
	memcpy(asked, bytes, asked_len);
	return 0;
}

static void ends(struct keel_supervised *s)
{
	(void)s;
	checker.arg = NULL;
}

static void gives_up(struct keel_supervised *s, const char *why)
{
	(void)s, (void)why;
}

static const struct keel_supervise_api supervise = {
	.size = sizeof(supervise), .version = 1, .start = start, .send = send, .stop = ends, .drop = ends, .give_up = gives_up,
};

/* It answers the one question there is; why NULL: good. */
static void checked(const char *why)
{
	struct pack p = { 0 };
	struct value frame, number;
	uint32_t open = pack_open_list(&p);

	CU_ASSERT_FATAL(checker.arg && value_read(asked, asked_len, &frame) && value_nth(&frame, 1, &number));
	pack_text(&p, "checked");
	pack_int(&p, number.i);
	pack_text(&p, why);
	pack_close(&p, open, 3);
	checker.frame(module, checker.arg, p.data, p.len);
	pack_fini(&p);
	keel_mock_advance(mock, 0);
}

/* ---- a server with a hook ---------------------------------------------------------------------------------------------------- */

static void manage_send(const char *body, struct keel_mock_reply *ret)
{
	*ret = (struct keel_mock_reply){ 0 };
	keel_mock_request(mock, root, "manage", body, ret);
	keel_mock_advance(mock, 0);
}

static void set_up(void)
{
	mock = mock_with_resources();
	manager = module_alone("manager");
	alone = module_alone("python-hooks");
	keel_mock_service(mock, "supervise", &supervise);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &manager, NULL, &err));
	module = keel_mock_load(mock, &alone, NULL, &err);
	CU_ASSERT_STRING_EQUAL(err.text, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	root = keel_mock_session(mock, "root", KEEL_MANAGERS);
	((struct keel_session *)(uintptr_t)root)->uid = 0;
	manage_send("cmd = 0; obj = 8; name = \"old\";", &reply);
	CU_ASSERT_FATAL(reply.told && reply.code == 0);
}

static struct hook *hook(const char *name) { return hook_find(module->state, name); }

static void restart(void)
{
	module = keel_mock_restart(module, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	keel_mock_advance(mock, 0);
	keel_mock_advance(mock, 0);
}

/* What is in force is what is stored. */
static void consistent(void)
{
	static const char *const names[] = { "old", "new" };

	for (uint32_t i = 0; i < KEEL_COUNT(names); i++) {
		struct hook *h = hook(names[i]);
		struct keel_obj *obj = keel_find(keel_mock_self(mock), "hook", names[i]);
		char order[16] = "";

		CU_ASSERT_EQUAL(h != NULL, obj != NULL);
		if (!h || !obj)
			continue;
		hook_text(h, "order", order, sizeof(order));
		CU_ASSERT_STRING_EQUAL(order, keel_mock_text(obj, "order", NULL));
		hook_text(h, "alarm", order, sizeof(order));
		CU_ASSERT_STRING_EQUAL(order, keel_mock_text(obj, "alarm", NULL));
		CU_ASSERT_EQUAL(h->version, atoll(keel_mock_text(obj, "version", NULL)));
	}
}

static bool done_create(void) { return hook("new") && hook("new")->order == 7; }
static bool done_set(void) { return hook("old")->order == 7 && hook("old")->alarm == 9; }
static bool done_delete(void) { return !hook("old"); }
static bool done_config(void) { return hook("old")->config && strcmp(hook("old")->config, "hi") == 0 && hook("old")->config_len == 2; }

static void judge(const char *body, bool (*done)(void))
{
	manage_send(body, &reply);
	CU_ASSERT(reply.told);
	CU_ASSERT_EQUAL(done(), reply.code == 0);
	if (reply.code)
		CU_ASSERT_STRING_NOT_EQUAL(reply.text, "");
	consistent();
}

static void whole_or_nothing(const char *body, bool (*done)(void))
{
	uint32_t calls, k = 0;
	long n = 0;

	do {
		tear_down();
		set_up();
		countdown = ++n;
		judge(body, done);
	} while (memory_failed());
	do {
		bool was;

		tear_down();
		set_up();
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++k);
		judge(body, done);
		calls = keel_mock_calls(mock) - calls;
		keel_mock_fail_call(mock, 0);
		was = done();
		restart();
		CU_ASSERT_EQUAL(done(), was);
		consistent();
	} while (calls >= k);
	CU_ASSERT(k > 1);
}

static void test_create(void) { whole_or_nothing(CREATE, done_create); }
static void test_set(void) { whole_or_nothing(SET, done_set); }
static void test_delete(void) { whole_or_nothing(DELETE, done_delete); }
static void test_import(void) { whole_or_nothing(CONFIG, done_config); }

/* ---- scripts that are being checked ------------------------------------------------------------------------------------------ */

static void test_checked(void)
{
	manage_send(SCRIPT, &reply);
	CU_ASSERT(!reply.told && !hook("old")->script);
	checked("SyntaxError: so it is");
	CU_ASSERT(reply.told);
	CU_ASSERT_STRING_EQUAL(reply.text, "Failed to compile script");
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "SyntaxError: so it is"));
	manage_send(SCRIPT, &reply);
	checked(NULL);
	CU_ASSERT(reply.told && reply.code == 0);
	CU_ASSERT_STRING_EQUAL(hook("old")->script, "hi");
	restart();
	CU_ASSERT_STRING_EQUAL(hook("old")->script, "hi");
	manage_send(SCRIPT, &reply);
	checked("no");
	CU_ASSERT_STRING_EQUAL(reply.text, "Failed to compile script, hook 'old' contents not overwritten");
}

static void test_deleted_meanwhile(void)
{
	struct keel_mock_reply deleted, created;

	manage_send(SCRIPT, &reply);
	manage_send(DELETE, &deleted);
	CU_ASSERT(deleted.told && deleted.code == 0);
	checked(NULL);
	CU_ASSERT(reply.told);
	CU_ASSERT_STRING_EQUAL(reply.text, "old does not exist!");
	manage_send("cmd = 0; obj = 8; name = \"old\";", &created);
	CU_ASSERT(created.told && created.code == 0 && !hook("old")->script);
}

static void test_the_server_ends_meanwhile(void)
{
	manage_send(SCRIPT, &reply);
	restart();
	CU_ASSERT_PTR_NULL(hook("old")->script);
}

/* Versions grow, also of a hook that is made again; equal orders: who was placed first. */
static void test_versions_and_places(void)
{
	int64_t version = hook("old")->version, place = hook("old")->place;

	manage_send(SET, &reply);
	CU_ASSERT_EQUAL(hook("old")->version, version);
	CU_ASSERT(hook("old")->place > place);
	manage_send(CONFIG, &reply);
	CU_ASSERT(hook("old")->version > version);
	version = hook("old")->version;
	manage_send(DELETE, &reply);
	manage_send(CREATE, &reply);
	CU_ASSERT(hook("new")->version > version);
	version = hook("new")->version;
	place = hook("new")->place;
	restart();
	CU_ASSERT_EQUAL(hook("new")->version, version);
	manage_send("cmd = 0; obj = 8; name = \"old\";", &reply);
	CU_ASSERT(hook("old")->version > version && hook("old")->place > place);
}

/* A value of an older version that is refused by now. */
static void test_stored_nonsense(void)
{
	keel_mock_set(keel_find(keel_mock_self(mock), "hook", "old"), "alarm", NULL, "-3");
	keel_mock_set(keel_find(keel_mock_self(mock), "hook", "old"), "event", NULL, "gone");
	restart();
	CU_ASSERT_EQUAL(hook("old")->alarm, 30);
	CU_ASSERT_EQUAL(hook("old")->events, 0);
	CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "its stored alarm counts as not set"));
}

/* At the start, before the bodies are read: import and export of a hook that is then deleted, and of one that is not. */
static void test_while_it_is_read(void)
{
	struct keel_mock_reply export, import, deleted;
	struct keel_module status = module_alone("status");
	const char *ask = "class = \"hook\"; id = \"old\"; want = ( (\"content\", \"application/x-config\", \"\") );";

	manage_send(CONFIG, &reply);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keel_mock_load(mock, &status, NULL, &err));
	for (int goes = 0; goes < 2; goes++) {
		module = keel_mock_restart(module, &err);
		CU_ASSERT_FATAL(module && hook("old")->loading);
		export = import = (struct keel_mock_reply){ 0 };
		keel_mock_request(mock, root, "status", ask, &export);
		keel_mock_request(mock, root, "manage", CONFIG, &import);
		CU_ASSERT(!export.told && !import.told);
		if (goes)
			keel_mock_request(mock, root, "manage", DELETE, &deleted);
		for (int i = 0; i < 4; i++)
			keel_mock_advance(mock, 0);
		CU_ASSERT(export.told && import.told);
		CU_ASSERT_EQUAL(export.code != 0, goes == 1);
		CU_ASSERT_EQUAL(import.code != 0, goes == 1);
		if (!goes) {
			CU_ASSERT_PTR_NOT_NULL(strstr(export.part[0], "aGk="));
			CU_ASSERT_STRING_EQUAL(import.text, "hook 'old' contents overwritten");
		}
	}
}

/* Whichever call fails at the start: the server does not start, or a hook has its script, or the log says why it does not run. */
static void test_start(void)
{
	uint32_t calls, k = 0;

	do {
		tear_down();
		set_up();
		manage_send(SCRIPT, &reply);
		checked(NULL);
		manage_send(CONFIG, &reply);
		calls = keel_mock_calls(mock);
		keel_mock_fail_call(mock, ++k);
		module = keel_mock_restart(module, &err);
		for (int i = 0; i < 4; i++)
			keel_mock_advance(mock, 0);
		calls = keel_mock_calls(mock) - calls;
		keel_mock_fail_call(mock, 0);
		if (!module)
			continue;
		CU_ASSERT_FATAL(hook("old") && !hook("old")->loading);
		if (!hook("old")->script)
			CU_ASSERT_PTR_NOT_NULL(keel_mock_logged(mock, "cannot be read from the store"));
		CU_ASSERT(hook("old")->config || !hook("old")->script);
	} while (calls >= k);
	CU_ASSERT(k > 5);
}

TESTS_MAIN_BETWEEN("managed", set_up, tear_down, TEST(test_create), TEST(test_set), TEST(test_delete), TEST(test_import),
		   TEST(test_checked), TEST(test_deleted_meanwhile), TEST(test_the_server_ends_meanwhile),
		   TEST(test_versions_and_places), TEST(test_stored_nonsense), TEST(test_while_it_is_read), TEST(test_start))
