/* SPDX-License-Identifier: Apache-2.0
 *
 * test_memory.c - each allocation of a day's work fails once: an error, no crash, no half-made
 * thing.
 *
 * The program's own malloc() counts down. Sanitizers bring theirs; then only the work itself is
 * run.
 */
#include "object/fixture.h"
#include "msg/msg.h"
#include "no_memory.h"

static struct engine e;

/* ---- the work: every function says whether it succeeded ------------------------------------ */

static bool submit(const char *id)
{
	static const struct keel_attrop ops[] = {
		{ "Name", NULL, "a name", KEEL_SET },  { "pairs", "x", "1", KEEL_SET },
		{ "pairs", "y", "2", KEEL_SET },       { "list", NULL, "a,b", KEEL_SET },
		{ "list", NULL, "c", KEEL_INCR },      { "Name", NULL, " or two", KEEL_INCR },
		{ "even", NULL, "4", KEEL_SET },       { "mem", NULL, "1gb", KEEL_SET },
		{ "once", NULL, "x", KEEL_SET },       { "list", NULL, "a", KEEL_DECR },
	};
	const struct keel_session user = { .size = sizeof(user), .roles = KEEL_USER };
	struct keel_changes *c = e.api->changes(e.mod);
	struct keel_obj *o = e.api->draft(e.mod, "thing", id, NULL);
	struct keel_err err;
	bool good = c && o;

	for (size_t i = 0; good && i < sizeof(ops) / sizeof(ops[0]); i++)
		good = e.api->change(c, &user, o, &ops[i], &err) == 0;
	if (good)
		e.api->commit(c);
	else
		e.api->discard(c);
	good = good && e.api->publish(o) == 0;
	if (!good)
		e.api->destroy(o);
	return good;
}

static bool answer(const char *id)
{
	static const struct keel_wanted want[] = { { "Name", NULL }, { "pairs", "y" } };
	struct keel_obj *o = e.api->find(e.mod, "thing", id);
	struct keel_view *all = e.api->view(e.mod, "thing", NULL, 0, KEEL_USER);
	struct keel_view *some = e.api->view(e.mod, "thing", want, 2, KEEL_USER);
	struct keel_out *out = msg_api.out(e.mod);
	bool good = o && all && some && out;

	if (out)
		msg_api.open_array(out, "objects");
	good = good && e.api->pack(o, NULL, all, out) == 0 && e.api->pack(o, NULL, some, out) == 0;
	if (out)
		msg_api.drop(out);
	e.api->view_close(some);
	e.api->view_close(all);
	return good;
}

static bool store(const char *id)
{
	struct keel_obj *o = e.api->find(e.mod, "thing", id);
	struct keel_store_row row;
	char bytes[1024];

	if (!o || objects_encode(o, &row) < 0)
		return false;
	CU_ASSERT_FATAL(row.len <= sizeof(bytes));
	memcpy(bytes, row.bytes, row.len);
	return objects_decode(e.parts.objects, "thing", "copy", bytes, row.len, NULL) == 0;
}

static bool own(const char *id)
{
	struct keel_cursor *c = e.api->cursor(e.mod, "thing");
	struct keel_obj *o = c ? e.api->next(c) : NULL;
	bool good = o && strcmp(e.api->id(o), id) == 0 &&
		    e.api->slot_bind(e.mod, "thing", 16, NULL) == 0 && e.api->slot(e.mod, o);

	e.api->cursor_close(c);
	return good;
}

static bool work(void)
{
	return submit("1") && answer("1") && own("1") && store("1") && submit("2");
}

/* ---- and its failures ---------------------------------------------------------------------- */

static bool whole(const char *id)
{
	struct keel_obj *o = e.api->find(e.mod, "thing", id);

	return !o || (strcmp(engine_text(&e, o, "Name"), "a name or two") == 0 &&
		      strcmp(engine_text(&e, o, "pairs"), "x=1,y=2") == 0 &&
		      strcmp(engine_text(&e, o, "list"), "b,c") == 0);
}

static void each_allocation_fails(void)
{
	bool good = false;
	long n = 1;

	for (; !good && n < 10000; n++) {
		engine_start(&e);
		countdown = INJECTING ? n : -1;
		good = work();
		if (good && countdown < 0 && INJECTING)
			good = false; /* it failed where nobody needs it: go on */
		countdown = -1;
		CU_ASSERT_TRUE(whole("1"));
		CU_ASSERT_TRUE(whole("2"));
		CU_ASSERT_TRUE(whole("copy"));
		engine_saved(&e);
		engine_stop(&e);
	}
	CU_ASSERT_TRUE(good);
	if (INJECTING)
		CU_ASSERT_TRUE(n > 50);
}

/* Without memory for the engine itself there is no engine. */
static void no_engine(void)
{
	struct engine bare = { 0 };

	CU_ASSERT_EQUAL_FATAL(registry_create(&bare.parts.registry), 0);
	countdown = INJECTING ? 1 : -1;
	if (INJECTING)
		CU_ASSERT_EQUAL(objects_create(bare.parts.registry, engine_dirty, &bare,
					       &bare.parts.objects), -ENOMEM);
	countdown = -1;
	registry_destroy(bare.parts.registry);
}

TESTS_MAIN("memory", TEST(each_allocation_fails), TEST(no_engine))
