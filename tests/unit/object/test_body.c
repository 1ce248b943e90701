/* SPDX-License-Identifier: Apache-2.0
 *
 * test_body.c - life of objects: drafts, ids, walks while things come and go, modules' own memory.
 */
#include "object/fixture.h"

static struct engine e;

static void drafts(void)
{
	struct keel_err err = { 0 };
	struct keel_obj *o, *twin;

	engine_start(&e);
	o = e.api->draft(e.mod, "thing", "1", &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	CU_ASSERT_PTR_NULL(e.api->find(e.mod, "thing", "1"));
	CU_ASSERT_EQUAL(e.api->count(e.mod, "thing"), 0);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "back"), "600");
	engine_set(&e, o, "count", KEEL_SET, NULL, "1");
	CU_ASSERT_EQUAL(e.n_dirty, 0);
	twin = e.api->draft(e.mod, "thing", "1", NULL);
	CU_ASSERT_EQUAL(e.api->publish(o), 0);
	CU_ASSERT_EQUAL(e.n_dirty, 1);
	CU_ASSERT_PTR_EQUAL(e.api->find(e.mod, "thing", "1"), o);
	CU_ASSERT_EQUAL(e.api->publish(twin), -EEXIST);
	e.api->destroy(twin);
	CU_ASSERT_EQUAL(e.n_dirty, 1);
	CU_ASSERT_PTR_NULL(e.api->draft(e.mod, "thing", "1", &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "already exists"));
	CU_ASSERT_STRING_EQUAL(e.api->id(o), "1");
	CU_ASSERT_STRING_EQUAL(e.api->klass(o), "thing");
	engine_stop(&e);
}

/* past kernel/object/objects.c ID_MAX */
static void bad_ids(void)
{
	struct keel_err err = { 0 };
	char *huge = calloc(1, 2000);

	engine_start(&e);
	memset(huge, 'x', 1999);
	CU_ASSERT_PTR_NULL(e.api->draft(e.mod, "thing", "", &err));
	CU_ASSERT_EQUAL(err.code, 15172);
	CU_ASSERT_PTR_NULL(e.api->draft(e.mod, "thing", "a\nb", &err));
	CU_ASSERT_PTR_NULL(e.api->draft(e.mod, "thing", NULL, &err));
	huge[1025] = '\0';
	CU_ASSERT_PTR_NULL(e.api->draft(e.mod, "thing", huge, &err));
	huge[1024] = '\0';
	CU_ASSERT_PTR_NOT_NULL(e.api->draft(e.mod, "thing", huge, &err));
	CU_ASSERT_PTR_NULL(e.api->draft(e.mod, "nothing", "1", &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "nothing"));
	CU_ASSERT_PTR_NULL(e.api->find(e.mod, "nothing", "1"));
	CU_ASSERT_PTR_NULL(e.api->find(e.mod, "thing", NULL));
	free(huge);
	engine_stop(&e);
}

static void destroying(void)
{
	struct keel_obj *o;

	engine_start(&e);
	o = engine_thing(&e, "1");
	engine_saved(&e);
	e.api->set_int(o, e.api->attr(e.mod, "thing", "count"), 3);
	e.api->set_int(o, e.api->attr(e.mod, "thing", "count"), 4);
	CU_ASSERT_EQUAL(e.n_dirty, 1);
	e.api->destroy(o);
	e.api->destroy(o);
	CU_ASSERT_EQUAL(e.n_dirty, 1);
	CU_ASSERT_STRING_EQUAL(e.api->id(o), "1"); /* still readable in this turn */
	e.api->set_int(o, e.api->attr(e.mod, "thing", "count"), 5);
	CU_ASSERT_FALSE(e.api->is_set(o, e.api->attr(e.mod, "thing", "count")));
	CU_ASSERT_PTR_NULL(e.api->find(e.mod, "thing", "1"));
	CU_ASSERT_PTR_NOT_EQUAL(engine_thing(&e, "1"), o);
	engine_saved(&e);
	e.api->destroy(NULL);
	engine_stop(&e);
}

static void unsaved_class(void)
{
	struct keel_obj *o;

	engine_start(&e);
	o = e.api->draft(e.mod, "brief", "1", NULL);
	CU_ASSERT_EQUAL(e.api->publish(o), 0);
	CU_ASSERT_EQUAL(e.n_dirty, 0);
	e.api->destroy(o); /* freed at the end of the turn all the same */
	CU_ASSERT_EQUAL(e.n_dirty, 1);
	engine_saved(&e);
	engine_stop(&e);
}

static void values_in_memory_only(void)
{
	struct keel_obj *o;

	engine_start(&e);
	o = engine_thing(&e, "1");
	engine_saved(&e);
	engine_set(&e, o, "fleeting", KEEL_SET, NULL, "x");
	CU_ASSERT_EQUAL(e.n_dirty, 0);
	engine_set(&e, o, "Name", KEEL_SET, NULL, "x");
	CU_ASSERT_EQUAL(e.n_dirty, 1);
	engine_stop(&e);
}

static void swapping(void)
{
	struct keel_obj *o[4];
	struct keel_cursor *c;
	char id[2] = "a", met[5];

	engine_start(&e);
	for (int i = 0; i < 4; i++, id[0]++)
		o[i] = engine_thing(&e, id);
	static const struct {
		int one, other;
		const char *then;
	} swaps[] = {
		{ 0, 1, "bacd" }, { 0, 1, "abcd" }, { 0, 3, "dbca" }, { 1, 2, "dcba" },
		{ 2, 2, "dcba" }, { 3, 1, "bcda" },
	};
	for (size_t i = 0; i < sizeof(swaps) / sizeof(swaps[0]); i++) {
		struct keel_obj *at;
		int n = 0;

		e.api->swap(o[swaps[i].one], o[swaps[i].other]);
		c = e.api->cursor(e.mod, "thing");
		while ((at = e.api->next(c)) && n < 4)
			met[n++] = e.api->id(at)[0];
		met[n] = '\0';
		CU_ASSERT_STRING_EQUAL(met, swaps[i].then);
		e.api->cursor_close(c);
	}
	c = e.api->cursor(e.mod, "thing"); /* on b of b c d a, which leaves its place */
	CU_ASSERT_PTR_EQUAL(e.api->next(c), o[1]);
	e.api->swap(o[1], o[0]);
	CU_ASSERT_PTR_EQUAL(e.api->next(c), o[0]);
	CU_ASSERT_PTR_EQUAL(e.api->next(c), o[2]);
	e.api->cursor_close(c);
	engine_stop(&e);
}

static void walking(void)
{
	struct keel_obj *o[5];
	struct keel_cursor *c, *late;
	char id[2] = "a";

	engine_start(&e);
	for (int i = 0; i < 5; i++, id[0]++)
		o[i] = engine_thing(&e, id);
	c = e.api->cursor(e.mod, "thing");
	CU_ASSERT_PTR_EQUAL(e.api->next(c), o[0]);
	e.api->destroy(o[0]); /* the one it stands on */
	CU_ASSERT_PTR_EQUAL(e.api->next(c), o[1]);
	e.api->destroy(o[2]); /* the next one */
	CU_ASSERT_PTR_EQUAL(e.api->next(c), o[3]);
	e.api->destroy(o[1]); /* one behind it */
	e.api->destroy(o[3]);
	CU_ASSERT_PTR_EQUAL(e.api->next(c), o[4]);
	CU_ASSERT_PTR_NULL(e.api->next(c));
	o[0] = engine_thing(&e, "z");
	CU_ASSERT_PTR_EQUAL(e.api->next(c), o[0]);
	e.api->cursor_close(c);
	c = e.api->cursor(e.mod, "nothing");
	CU_ASSERT_PTR_NULL(e.api->next(c));
	e.api->cursor_close(c);
	e.api->cursor_close(NULL);
	late = e.api->cursor(e.mod, "thing");
	(void)e.api->next(late);
	engine_saved(&e);
	registry_remove(e.parts.registry, &e.owner);
	CU_ASSERT_PTR_NULL(e.api->next(late)); /* its class is gone */
	e.api->cursor_close(late);
	engine_stop(&e);
}

/* Places of those that leave are closed up while somebody walks. */
static void walking_crowds(void)
{
	struct keel_cursor *c, *late;
	struct keel_obj *o;
	char id[16];
	int met = 0;

	engine_start(&e);
	for (int i = 0; i < 1000; i++) {
		snprintf(id, sizeof(id), "%d", i);
		engine_thing(&e, id);
	}
	engine_saved(&e);
	c = e.api->cursor(e.mod, "thing");
	late = e.api->cursor(e.mod, "thing");
	for (int i = 0; i < 500; i++)
		(void)e.api->next(c);
	for (int i = 0; i < 1000; i += 2) {
		snprintf(id, sizeof(id), "%d", i);
		e.api->destroy(e.api->find(e.mod, "thing", id));
		engine_saved(&e);
		snprintf(id, sizeof(id), "new%d", i);
		engine_thing(&e, id);
		engine_saved(&e);
	}
	for (int i = 501; i < 1000; i += 2) {
		snprintf(id, sizeof(id), "%d", i);
		CU_ASSERT_STRING_EQUAL(e.api->id(e.api->next(c)), id);
	}
	CU_ASSERT_STRING_EQUAL(e.api->id(e.api->next(c)), "new0");
	while (e.api->next(c))
		;
	while ((o = e.api->next(late)))
		met++;
	CU_ASSERT_EQUAL(met, 1000);
	CU_ASSERT_EQUAL(e.api->count(e.mod, "thing"), 1000);
	e.api->cursor_close(late);
	e.api->cursor_close(c);
	engine_stop(&e);
}

/* ---- modules' own memory -------------------------------------------------------------------- */

static unsigned finished;

static void slot_fini(struct keel_mod *m, void *slot)
{
	CU_ASSERT_STRING_EQUAL(m->name, "guest");
	CU_ASSERT_EQUAL(*(int *)slot, 7);
	finished++;
}

static void private_memory(void)
{
	struct keel_mod *guest = &e.guest.pub;
	struct keel_obj *a, *b;
	int *slot;

	engine_start(&e);
	finished = 0;
	a = engine_thing(&e, "a");
	b = engine_thing(&e, "b");
	CU_ASSERT_PTR_NULL(e.api->slot(guest, a));
	CU_ASSERT_EQUAL(e.api->slot_bind(e.mod, "thing", 8, NULL), 0);
	CU_ASSERT_EQUAL(e.api->slot_bind(guest, "thing", sizeof(int), slot_fini), 0);
	CU_ASSERT_EQUAL(e.api->slot_bind(guest, "thing", sizeof(int), slot_fini), -EEXIST);
	CU_ASSERT_EQUAL(e.api->slot_bind(guest, "brief", 0, NULL), -EINVAL);
	slot = e.api->slot(guest, a);
	CU_ASSERT_PTR_NOT_NULL_FATAL(slot);
	CU_ASSERT_EQUAL(*slot, 0);
	*slot = 7;
	CU_ASSERT_PTR_EQUAL(e.api->slot(guest, a), slot);
	*(int *)e.api->slot(guest, b) = 7;
	e.api->destroy(a);
	CU_ASSERT_EQUAL(finished, 1);
	CU_ASSERT_PTR_NULL(e.api->slot(guest, a));
	objects_detach(&e.guest);
	CU_ASSERT_EQUAL(finished, 2);
	CU_ASSERT_PTR_NULL(e.api->slot(guest, b));
	engine_saved(&e);
	engine_stop(&e);
}

static int in_order;

static void crowd_fini(struct keel_mod *m, void *slot)
{
	(void)m;
	in_order -= *(int *)slot > 0;
}

/* Each has his own piece, whoever came and went before. */
static void private_memory_of_many(void)
{
	char id[16];

	engine_start(&e);
	CU_ASSERT_EQUAL(e.api->slot_bind(&e.guest.pub, "thing", sizeof(int), crowd_fini), 0);
	for (int round = 0; round < 3; round++) {
		for (int i = 1; i <= 300; i++) {
			struct keel_obj *o;

			snprintf(id, sizeof(id), "%d.%d", round, i);
			o = engine_thing(&e, id);
			CU_ASSERT_EQUAL(*(int *)e.api->slot(&e.guest.pub, o), 0);
			*(int *)e.api->slot(&e.guest.pub, o) = i;
			in_order++;
			engine_saved(&e);
		}
		for (int i = 1; i <= 300; i++) {
			struct keel_obj *o;

			snprintf(id, sizeof(id), "%d.%d", round, i);
			o = e.api->find(e.mod, "thing", id);
			CU_ASSERT_EQUAL(*(int *)e.api->slot(&e.guest.pub, o), i);
			if (i % 3)
				e.api->destroy(o);
			engine_saved(&e);
		}
		CU_ASSERT_EQUAL(in_order, (round + 1) * 100);
	}
	objects_detach(&e.guest);
	CU_ASSERT_EQUAL(in_order, 0);
	engine_stop(&e);
}

TESTS_MAIN("body", TEST(drafts), TEST(bad_ids), TEST(destroying), TEST(unsaved_class),
	   TEST(values_in_memory_only), TEST(walking), TEST(swapping), TEST(walking_crowds),
	   TEST(private_memory), TEST(private_memory_of_many))
