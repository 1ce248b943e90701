/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kept.c - what a module had on objects is stored, and there again at the next start with it, also when one was
 * without it.
 */
#include "object/fixture.h"

static struct engine e;

/* Shows more than what is stored. */
static void derive_louder(struct keel_mod *m, struct keel_obj *o, const struct keel_emit *emit)
{
	char text[64];
	const char *own = e.api->get_str(o, e.api->attr(m, "thing", "word"));

	emit->fn(emit->arg, NULL, text, (uint32_t)snprintf(text, sizeof(text), "%s!", own ? own : ""));
}

#define ROW(name, type, ...) KEEL_ATTR_DEF("thing", name, type, ALL, __VA_ARGS__)
static const struct keel_attr_def word = ROW("word", "string", SAVED), word_again = ROW("word", "string", SAVED),
				  word_long = ROW("word", "long", SAVED),
				  word_derived = ROW("word", "long", .derive = derive_double),
				  word_louder = ROW("word", "string", SAVED, .derive = derive_louder),
				  word_fleeting = ROW("word", "string", .flags = 0);

static int32_t even_parse(struct keel_mod *m, const struct keel_attr *a, int32_t op, const char *key,
			  const char *text, union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	(void)m, (void)a, (void)op, (void)key, (void)err;
	slot->i = 2 * atol(text);
	*is_set = true;
	return 0;
}

static void even_format(struct keel_mod *m, const union keel_slot *slot, const char *key,
			const struct keel_emit *emit)
{
	char text[24];

	(void)m, (void)key;
	emit->fn(emit->arg, NULL, text, (uint32_t)snprintf(text, sizeof(text), "%lld", (long long)slot->i / 2));
}

/* A number of its own, and one that the store has as text. */
static const struct keel_type_def int_type = { .size = sizeof(int_type), .flags = KEEL_TYPE_INT, .name = "evens",
					       .parse = even_parse, .format = even_format },
				  text_type = { .size = sizeof(text_type), .name = "halves", .parse = even_parse,
						.format = even_format };
static const struct keel_attr_def evens = ROW("evens", "evens", SAVED), halves = ROW("halves", "halves", SAVED);
static const struct keel_contrib typed[] = { KEEL_ROW(TYPE, int_type),
					     KEEL_ROW(TYPE, text_type),
					     KEEL_ROW(ATTR, evens),
					     KEEL_ROW(ATTR, halves) };

static void come(const struct keel_attr_def *def)
{
	const struct keel_contrib row = { "ATTR", def };

	CU_ASSERT_EQUAL(registry_add(e.parts.registry, &e.guest, &row, 1, NULL), 0);
}

static bool stored(struct keel_obj *o, const char *text)
{
	struct keel_store_row row;

	CU_ASSERT_EQUAL(objects_encode(o, &row), 0);
	return memmem(row.bytes, row.len, text, strlen(text)) != NULL;
}

/* The next start, with these rows of the guest: the object "1" is loaded. */
static struct keel_obj *restart(const struct keel_contrib *rows, uint32_t n)
{
	struct keel_store_row row;
	uint32_t len;
	void *bytes;

	CU_ASSERT_EQUAL_FATAL(objects_encode(e.api->find(e.mod, "thing", "1"), &row), 0);
	len = row.len;
	bytes = malloc(len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	memcpy(bytes, row.bytes, len);
	engine_stop(&e);
	engine_start(&e);
	CU_ASSERT_EQUAL(registry_add(e.parts.registry, &e.guest, rows, n, NULL), 0);
	CU_ASSERT_EQUAL(objects_decode(e.parts.objects, "thing", "1", bytes, len, NULL), 0);
	free(bytes);
	return e.api->find(e.mod, "thing", "1");
}

/* The object "1", with a word, at the next start. */
static struct keel_obj *begin(const struct keel_attr_def *next)
{
	const struct keel_contrib row = { "ATTR", next };

	engine_start(&e);
	come(&word);
	CU_ASSERT_EQUAL(engine_set(&e, engine_thing(&e, "1"), "word", KEEL_SET, NULL, "12"), 0);
	return restart(&row, next ? 1 : 0);
}

static void same_again(void)
{
	struct keel_obj *o = begin(NULL), *copy;

	CU_ASSERT_PTR_NULL(e.api->attr(e.mod, "thing", "word"));
	CU_ASSERT_TRUE(stored(o, "word"));
	copy = e.api->clone(e.mod, o, "2", NULL);
	CU_ASSERT_EQUAL(e.api->publish(copy), 0);
	come(&word_again);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, e.api->find(e.mod, "thing", "1"), "word"), "12");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, e.api->find(e.mod, "thing", "2"), "word"), "12");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, engine_thing(&e, "3"), "word"), "-");
	engine_set(&e, o, "word", KEEL_UNSET, NULL, NULL);
	CU_ASSERT_FALSE(stored(o, "word"));
	engine_stop(&e);
}

static void another_type(void)
{
	struct keel_obj *o = begin(&word_long);

	CU_ASSERT_EQUAL(e.api->get_int(o, e.api->attr(e.mod, "thing", "word")), 12);
	engine_stop(&e);
}

static void not_a_value_any_more(void)
{
	struct keel_obj *o = begin(&word_derived);

	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "word"), "42");
	CU_ASSERT_TRUE(stored(o, "12"));
	engine_stop(&e);
}

/* mend D14: a row that is stored and shown otherwise. */
static void stored_and_shown_otherwise(void)
{
	const struct keel_contrib row = KEEL_ROW(ATTR, word_louder);
	const struct keel_attr *a;
	struct keel_obj *o;
	char text[16];

	engine_start(&e);
	come(&word_louder);
	o = engine_thing(&e, "1");
	CU_ASSERT_EQUAL(engine_set(&e, o, "word", KEEL_SET, NULL, "12"), 0);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "word"), "12!");
	o = restart(&row, 1);
	a = e.api->attr(e.mod, "thing", "word");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "word"), "12!");
	CU_ASSERT_STRING_EQUAL(e.api->get_str(o, a), "12");
	CU_ASSERT_EQUAL(e.api->change_peek(NULL, o, a, NULL, text, sizeof(text)), 2);
	CU_ASSERT_STRING_EQUAL(text, "12");
	CU_ASSERT_TRUE(stored(o, "12"));
	CU_ASSERT_FALSE(stored(o, "12!"));
	CU_ASSERT_EQUAL(engine_set(&e, o, "word", KEEL_UNSET, NULL, NULL), 0);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "word"), "!");
	engine_stop(&e);
}

static void not_saved(void)
{
	const struct keel_contrib row = KEEL_ROW(ATTR, word_fleeting);
	struct keel_obj *o;

	engine_start(&e);
	come(&word_fleeting);
	o = engine_thing(&e, "1");
	engine_set(&e, o, "word", KEEL_SET, NULL, "12");
	CU_ASSERT_FALSE(stored(o, "word"));
	CU_ASSERT_STRING_EQUAL(engine_text(&e, restart(&row, 1), "word"), "-");
	engine_stop(&e);
}

static void types_of_modules(void)
{
	struct keel_obj *o;

	engine_start(&e);
	CU_ASSERT_EQUAL(registry_add(e.parts.registry, &e.guest, typed, 4, NULL), 0);
	o = engine_thing(&e, "1");
	engine_set(&e, o, "evens", KEEL_SET, NULL, "21");
	engine_set(&e, o, "halves", KEEL_SET, NULL, "4");
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "evens"), "21");
		CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "halves"), "4");
		o = restart(typed, 4);
	}
	o = restart(NULL, 0);
	CU_ASSERT_TRUE(stored(o, "evens"));
	CU_ASSERT_TRUE(stored(o, "halves"));
	engine_stop(&e);
}

/* A row that goes takes its values along, and those of its type; it may come again. */
static void rows_end(void)
{
	struct keel_obj *o;

	engine_start(&e);
	o = engine_thing(&e, "1");
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(registry_add(e.parts.registry, &e.guest, typed, 4, NULL), 0);
		CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "evens"), "-");
		engine_set(&e, o, "evens", KEEL_SET, NULL, "21");
		registry_remove(e.parts.registry, &e.guest);
		CU_ASSERT_PTR_NULL(e.api->attr(e.mod, "thing", "evens"));
		CU_ASSERT_FALSE(stored(o, "evens"));
	}
	engine_stop(&e);
}

TESTS_MAIN("kept", TEST(same_again), TEST(another_type), TEST(not_a_value_any_more), TEST(not_saved), TEST(stored_and_shown_otherwise),
	   TEST(types_of_modules), TEST(rows_end))
