/* SPDX-License-Identifier: Apache-2.0
 *
 * test_rows.c - to the store and back: every type, values nobody knows, damaged rows, modules that
 * leave and return.
 */
#include "object/fixture.h"
#include "wire/pack.h"

static struct engine e;

static const char *const names[] = { "Name", "count", "flag", "mem", "span", "ratio", "list", "pairs" };
static const char *const values[] = { "a name", "-70000", "True", "4gb", "100:00:01", "1.5", "a,b", NULL };

static void fill(struct keel_obj *o)
{
	for (int i = 0; i < 7; i++)
		CU_ASSERT_EQUAL(engine_set(&e, o, names[i], KEEL_SET, NULL, values[i]), 0);
	engine_set(&e, o, "pairs", KEEL_SET, "x", "1");
	engine_set(&e, o, "pairs", KEEL_SET, "y", "2");
	engine_set(&e, o, "fleeting", KEEL_SET, NULL, "gone after a restart");
}

static void check(struct keel_obj *o)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(o);
	for (int i = 0; i < 7; i++)
		CU_ASSERT_STRING_EQUAL(engine_text(&e, o, names[i]), values[i]);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "pairs"), "x=1,y=2");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "fleeting"), "-");
}

struct row {
	char bytes[4096];
	uint32_t len;
};

static void encode(struct keel_obj *o, struct row *ret)
{
	struct keel_store_row row;

	CU_ASSERT_EQUAL_FATAL(objects_encode(o, &row), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(row.bytes);
	CU_ASSERT_FATAL(row.len <= sizeof(ret->bytes));
	memcpy(ret->bytes, row.bytes, row.len);
	ret->len = row.len;
}

static int decode(const char *klass, const char *id, const struct row *row, struct keel_err *err)
{
	return objects_decode(e.parts.objects, klass, id, row->bytes, row->len, err);
}

static void there_and_back(void)
{
	struct row row, again;

	engine_start(&e);
	fill(engine_thing(&e, "1"));
	encode(e.api->find(e.mod, "thing", "1"), &row);
	engine_stop(&e);
	engine_start(&e);
	CU_ASSERT_EQUAL(decode("thing", "1", &row, NULL), 0);
	check(e.api->find(e.mod, "thing", "1"));
	CU_ASSERT_EQUAL(e.n_dirty, 0);
	encode(e.api->find(e.mod, "thing", "1"), &again);
	CU_ASSERT_EQUAL(again.len, row.len);
	CU_ASSERT_EQUAL(memcmp(again.bytes, row.bytes, row.len), 0);
	engine_stop(&e);
}

static void deletion_of_a_loaded_row(void)
{
	struct keel_store_row deleted;
	struct keel_obj *o;
	struct row row;

	engine_start(&e);
	encode(engine_thing(&e, "1"), &row);
	engine_stop(&e);
	engine_start(&e);
	CU_ASSERT_EQUAL(decode("thing", "1", &row, NULL), 0);
	o = e.api->find(e.mod, "thing", "1");
	e.api->destroy(o);
	CU_ASSERT_EQUAL(e.n_dirty, 1);
	CU_ASSERT_EQUAL(objects_encode(o, &deleted), 0);
	CU_ASSERT_PTR_NULL(deleted.bytes);
	CU_ASSERT_STRING_EQUAL(deleted.klass, "thing");
	CU_ASSERT_STRING_EQUAL(deleted.id, "1");
	engine_stop(&e);
}

/* Bodies as a future or a larger installation would have written them. */
static void strangers(struct row *row)
{
	struct buf m = { 0 };
	size_t map = pack_open_map(&m), inner;

	pack_text(&m, "Name", 4);
	pack_text(&m, "known", 5);
	pack_text(&m, "future", 6);
	inner = pack_open_array(&m);
	pack_number(&m, 1);
	pack_text(&m, "two", 3);
	pack_close(&m, inner, 2);
	pack_text(&m, "pairs", 5);
	inner = pack_open_map(&m);
	pack_text(&m, "x", 1);
	pack_text(&m, "1", 1);
	pack_text(&m, "alien_lic", 9);
	pack_text(&m, "3", 1);
	pack_close(&m, inner, 2);
	pack_text(&m, "count", 5);
	pack_text(&m, "no number", 9);
	pack_text(&m, "span", 4);
	pack_text(&m, "0:10", 4); /* text where an integer is usual */
	pack_text(&m, "list", 4);
	pack_number(&m, 12); /* and the reverse */
	pack_text(&m, "extra", 5);
	inner = pack_open_map(&m);
	pack_text(&m, "k", 1);
	pack_text(&m, "9", 1);
	pack_close(&m, inner, 1);
	pack_close(&m, map, 7);
	memcpy(row->bytes, m.data, m.len);
	row->len = (uint32_t)m.len;
	buf_fini(&m);
}

static bool holds(const struct row *row, const char *text)
{
	return memmem(row->bytes, row->len, text, strlen(text)) != NULL;
}

static void unknown_values(void)
{
	const struct keel_contrib extra = KEEL_ROW(ATTR, extra_attr);
	struct row row, again;
	struct keel_obj *o;

	engine_start(&e);
	strangers(&row);
	CU_ASSERT_EQUAL_FATAL(decode("thing", "1", &row, NULL), 0);
	o = e.api->find(e.mod, "thing", "1");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "Name"), "known");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "pairs"), "x=1");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "count"), "-");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "span"), "00:00:10");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "list"), "12");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "back"), "600"); /* never unset */
	encode(o, &again);
	CU_ASSERT_TRUE(holds(&again, "future"));
	CU_ASSERT_TRUE(holds(&again, "two"));
	CU_ASSERT_TRUE(holds(&again, "alien_lic"));
	CU_ASSERT_TRUE(holds(&again, "no number"));
	CU_ASSERT_TRUE(holds(&again, "extra"));
	/* The module comes: its values are there. */
	CU_ASSERT_EQUAL(registry_add(e.parts.registry, &e.guest, &extra, 1, NULL), 0);
	o = e.api->find(e.mod, "thing", "1");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "extra"), "k=9");
	encode(o, &again);
	CU_ASSERT_TRUE(holds(&again, "extra"));
	CU_ASSERT_TRUE(holds(&again, "future"));
	engine_stop(&e);
}

/* past kernel/object/object.h ATTR_MAX */
static void a_class_has_not_endless_attributes(void)
{
	static char attr_names[256][8];
	struct keel_err err = { 0 };
	int added = 0;

	engine_start(&e);
	for (int ret = 0; ret == 0 && added < 256; added += ret == 0) {
		struct keel_attr_def *def = calloc(1, sizeof(*def));
		const struct keel_contrib row = { "ATTR", def };

		snprintf(attr_names[added], sizeof(attr_names[0]), "a%d", added);
		*def = (struct keel_attr_def)KEEL_ATTR_DEF("thing", attr_names[added], "long", .doc = "one of many");
		ret = registry_add(e.parts.registry, &e.guest, &row, 1, &err);
		free(def);
	}
	CU_ASSERT(added > 200 && added < 256);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "a class holds at most 256 attributes"));
	registry_remove(e.parts.registry, &e.guest);
	engine_stop(&e);
}

/* What was set since is not undone by what was stored before anybody understood it. */
static void younger_than_the_raw(void)
{
	struct row row, again;
	struct keel_obj *o;

	engine_start(&e);
	strangers(&row);
	CU_ASSERT_EQUAL_FATAL(decode("thing", "1", &row, NULL), 0);
	o = e.api->find(e.mod, "thing", "1");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "pairs"), "x=1");
	aliens_are_known = true;
	CU_ASSERT_EQUAL(engine_set(&e, o, "pairs", KEEL_SET, "alien_lic", "5"), 0);
	CU_ASSERT_EQUAL(engine_set(&e, o, "list", KEEL_SET, NULL, "new"), 0);
	encode(o, &again);
	CU_ASSERT_EQUAL_FATAL(decode("thing", "3", &again, NULL), 0); /* the next start */
	CU_ASSERT_STRING_EQUAL(engine_text(&e, e.api->find(e.mod, "thing", "3"), "pairs"), "alien_lic=5,x=1");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, e.api->find(e.mod, "thing", "3"), "list"), "new");
	aliens_are_known = false;
	engine_stop(&e);
}

/* A type that empties a value has freed it. */
static void emptied_by_its_type(void)
{
	struct buf m = { 0 };
	size_t map = pack_open_map(&m), inner;
	struct keel_obj *o;
	struct row row;

	engine_start(&e);
	o = engine_thing(&e, "1");
	fill(o);
	CU_ASSERT_EQUAL(engine_set(&e, o, "pairs", KEEL_SET, NULL, ""), 0);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "pairs"), "-");
	CU_ASSERT_EQUAL(engine_set(&e, o, "list", KEEL_DECR, NULL, "a"), 0);
	CU_ASSERT_EQUAL(engine_set(&e, o, "list", KEEL_DECR, NULL, "b"), 0);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "list"), "-");
	/* Stored as a text by a version of the module whose type had no keys. */
	pack_text(&m, "pairs", 5);
	inner = pack_open_map(&m);
	pack_text(&m, "x", 1);
	pack_text(&m, "1", 1);
	pack_close(&m, inner, 1);
	pack_text(&m, "pairs", 5);
	pack_text(&m, "old", 3);
	pack_close(&m, map, 2);
	memcpy(row.bytes, m.data, m.len);
	row.len = (uint32_t)m.len;
	buf_fini(&m);
	CU_ASSERT_EQUAL_FATAL(decode("thing", "2", &row, NULL), 0);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, e.api->find(e.mod, "thing", "2"), "pairs"), "x=1");
	encode(e.api->find(e.mod, "thing", "2"), &row);
	CU_ASSERT_TRUE(holds(&row, "old"));
	engine_stop(&e);
}

static void damaged(void)
{
	struct keel_err err = { 0 };
	struct row good, bad;

	engine_start(&e);
	fill(engine_thing(&e, "1"));
	encode(e.api->find(e.mod, "thing", "1"), &good);
	CU_ASSERT_EQUAL(decode("thing", "1", &good, &err), -EEXIST);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "thing '1' is there twice"));
	for (uint32_t len = 0; len < good.len; len++) {
		bad = good;
		bad.len = len;
		CU_ASSERT_EQUAL(decode("thing", "cut", &bad, &err), -EPROTO);
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "damaged"));
	bad = good;
	bad.len++;
	CU_ASSERT_EQUAL(decode("thing", "longer", &bad, &err), -EPROTO);
	for (uint32_t at = 0; at < good.len; at++)
		for (int byte = 0; byte < 256; byte += 15) {
			bad = good;
			bad.bytes[at] = (char)byte;
			if (decode("thing", "x", &bad, &err) == 0)
				e.api->destroy(e.api->find(e.mod, "thing", "x"));
			engine_saved(&e);
		}
	engine_stop(&e);
}

static struct {
	char ids[64];
	unsigned n;
} told;

static void known(void *arg, uint32_t point, const char *id, struct keel_obj *o)
{
	(void)arg;
	CU_ASSERT_EQUAL(point, KEEL_POINT_job_known);
	CU_ASSERT_STRING_EQUAL(e.api->id(o), id);
	strcat(told.ids, id);
	if (told.n++ == 0)
		e.api->destroy(o);
}

static uint32_t wants(void *arg, uint32_t point)
{
	(void)arg;
	return point == KEEL_POINT_job_known ? 9 : 0;
}

static const struct objects_listener listener = { .wants = wants, .known = known };

/* Rows of a class nobody declares are kept; declaring it makes them objects. */
static void class_comes_late(void)
{
	struct row row, again;

	engine_start(&e);
	fill(engine_thing(&e, "1"));
	encode(e.api->find(e.mod, "thing", "1"), &row);
	engine_stop(&e);
	engine_bare(&e);
	memset(&told, 0, sizeof(told));
	CU_ASSERT_EQUAL(decode("thing", "c", &row, NULL), 0);
	CU_ASSERT_EQUAL(decode("thing", "a", &row, NULL), 0);
	CU_ASSERT_EQUAL(decode("thing", "b", &row, NULL), 0);
	CU_ASSERT_PTR_NULL(e.api->find(e.mod, "thing", "a"));
	objects_replay(e.parts.objects, &listener);
	CU_ASSERT_EQUAL(told.n, 0);
	engine_rows(&e);
	check(e.api->find(e.mod, "thing", "a"));
	objects_replay(e.parts.objects, &listener);
	CU_ASSERT_STRING_EQUAL(told.ids, "cab"); /* order of creation; the first died meanwhile */
	CU_ASSERT_EQUAL(e.api->count(e.mod, "thing"), 2);
	encode(e.api->find(e.mod, "thing", "b"), &again);
	CU_ASSERT_EQUAL(again.len, row.len);
	engine_stop(&e);
}

static void rows_refused(void)
{
	static const struct keel_attr_def bad_default = KEEL_ATTR_DEF(
		"thing", "bad", "long", .fallback = "x");
	static const struct keel_attr_def waits = KEEL_ATTR_DEF("thing", "waits", "nosuch");
	static const struct keel_type_def short_type = { .size = 8, .name = "short" };
	const struct keel_contrib refused[] = { KEEL_ROW(ATTR, thing_attrs[0]),
						KEEL_ROW(CLASS, thing_class),
						KEEL_ROW(TYPE, pairs_type),
						KEEL_ROW(TYPE, short_type),
						KEEL_ROW(ATTR, bad_default) };
	const struct keel_contrib waiting = KEEL_ROW(ATTR, waits);
	struct keel_err err;

	engine_start(&e);
	for (int i = 0; i < 5; i++) {
		err.text[0] = '\0';
		CU_ASSERT_NOT_EQUAL(registry_add(e.parts.registry, &e.guest, &refused[i], 1, &err), 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "guest"));
		if (i < 3)
			CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "testmod"));
	}
	CU_ASSERT_EQUAL(objects_waiting(e.parts.objects, &err), 0);
	CU_ASSERT_EQUAL(registry_add(e.parts.registry, &e.guest, &waiting, 1, &err),
			0);
	CU_ASSERT_PTR_NULL(e.api->attr(e.mod, "thing", "waits"));
	CU_ASSERT_EQUAL(objects_waiting(e.parts.objects, &err), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "type 'nosuch'"));
	engine_stop(&e);
}

TESTS_MAIN("rows", TEST(there_and_back), TEST(deletion_of_a_loaded_row), TEST(unknown_values), TEST(a_class_has_not_endless_attributes), TEST(younger_than_the_raw), TEST(emptied_by_its_type), TEST(damaged),
	   TEST(class_comes_late), TEST(rows_refused))
