/* SPDX-License-Identifier: Apache-2.0
 *
 * test_clone.c - a draft that begins as a copy, and an object that is shown under another id.
 */
#include "object/fixture.h"
#include "msg/msg.h"
#include "wire/pack.h"

static struct engine e;

static struct keel_obj *original(void)
{
	struct keel_obj *o;

	engine_start(&e);
	o = engine_thing(&e, "1.svr");
	engine_set(&e, o, "pairs", KEEL_SET, "x", "1");
	engine_set(&e, o, "pairs", KEEL_SET, "y", "2");
	engine_set(&e, o, "count", KEEL_SET, NULL, "-12");
	engine_set(&e, o, "Name", KEEL_SET, NULL, "n");
	engine_set(&e, o, "even", KEEL_SET, NULL, "4");
	return o;
}

static void values_are_its_own(void)
{
	struct keel_obj *o = original(), *twin;
	struct keel_err err = { 0 };

	twin = e.api->clone(e.mod, o, "2.svr", &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(twin);
	CU_ASSERT_PTR_NULL(e.api->find(e.mod, "thing", "2.svr"));
	CU_ASSERT_STRING_EQUAL(e.api->id(twin), "2.svr");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, twin, "Name"), "n");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, twin, "pairs"), "x=1,y=2");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, twin, "count"), "-12");
	CU_ASSERT_FALSE(e.api->is_set(twin, e.api->attr(e.mod, "thing", "even"))); /* KEEL_ATTR_OWN */
	engine_set(&e, twin, "Name", KEEL_SET, NULL, "other");
	engine_set(&e, o, "pairs", KEEL_SET, "x", "9");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "Name"), "n");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, twin, "pairs"), "x=1,y=2");
	CU_ASSERT_EQUAL(e.api->publish(twin), 0);
	e.api->destroy(o);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, twin, "Name"), "other");
	engine_stop(&e);
}

static void ids_are_checked(void)
{
	struct keel_obj *o = original();
	struct keel_err err = { 0 };

	CU_ASSERT_PTR_NULL(e.api->clone(e.mod, o, "1.svr", &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "already exists"));
	CU_ASSERT_PTR_NULL(e.api->clone(e.mod, o, "", &err));
	engine_stop(&e);
}

static void dropped(void)
{
	struct keel_obj *o = original(), *twin = e.api->clone(e.mod, o, "2.svr", NULL);

	e.api->destroy(twin);
	CU_ASSERT_EQUAL(e.api->count(e.mod, "thing"), 1);
	engine_stop(&e);
}

static void shown_under_another_id(void)
{
	struct keel_obj *o = original();
	struct keel_view *v = e.api->view(e.mod, "thing", &(struct keel_wanted){ "Name", NULL }, 1,
					  KEEL_USER);
	const struct keel_msg_api *msg = &msg_api;
	struct keel_out *out = msg->out(e.mod);
	const char *bytes;
	uint32_t len;

	msg->open_array(out, "objects");
	CU_ASSERT_EQUAL(e.api->pack(o, "7[3].svr", v, out), 0);
	msg->close(out);
	bytes = out_bytes(out, &len);
	CU_ASSERT_PTR_NOT_NULL(memmem(bytes, len, "7[3].svr", 8));
	CU_ASSERT_PTR_NULL(memmem(bytes, len, "1.svr", 5));
	msg->drop(out);
	e.api->view_close(v);
	engine_stop(&e);
}

TESTS_MAIN("clone", TEST(values_are_its_own), TEST(ids_are_checked), TEST(dropped),
	   TEST(shown_under_another_id))
