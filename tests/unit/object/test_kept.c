/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kept.c - the test host unloads a module and loads it again: what it had on objects is stored meanwhile, and there
 * again, as over a restart without the module.
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

static void go(void)
{
	registry_remove(e.parts.registry, &e.guest);
	CU_ASSERT_PTR_NULL(e.api->attr(e.mod, "thing", "word"));
}

static bool stored(struct keel_obj *o, const char *text)
{
	const char *klass, *id;
	const void *bytes;
	uint32_t len;
	bool deleted;

	CU_ASSERT_EQUAL(objects_encode(o, &klass, &id, &bytes, &len, &deleted), 0);
	return memmem(bytes, len, text, strlen(text)) != NULL;
}

/* The object "1", with a word. */
static struct keel_obj *begin(void)
{
	struct keel_obj *o;

	engine_start(&e);
	come(&word);
	o = engine_thing(&e, "1");
	CU_ASSERT_EQUAL(engine_set(&e, o, "word", KEEL_SET, NULL, "12"), 0);
	go();
	return o;
}

static void same_again(void)
{
	struct keel_obj *o = begin(), *copy;

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
	struct keel_obj *o = begin();

	come(&word_long);
	o = e.api->find(e.mod, "thing", "1");
	CU_ASSERT_EQUAL(e.api->get_int(o, e.api->attr(e.mod, "thing", "word")), 12);
	engine_stop(&e);
}

static void not_a_value_any_more(void)
{
	struct keel_obj *o = begin();

	come(&word_derived);
	o = e.api->find(e.mod, "thing", "1");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "word"), "42");
	CU_ASSERT_TRUE(stored(o, "12"));
	engine_stop(&e);
}

/* mend D14: a row that is stored and shown otherwise. */
static void stored_and_shown_otherwise(void)
{
	struct keel_obj *o;
	const struct keel_attr *a;
	char text[16];

	engine_start(&e);
	come(&word_louder);
	o = engine_thing(&e, "1");
	CU_ASSERT_EQUAL(engine_set(&e, o, "word", KEEL_SET, NULL, "12"), 0);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "word"), "12!");
	go();
	come(&word_louder);
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
	struct keel_obj *o;

	engine_start(&e);
	come(&word_fleeting);
	o = engine_thing(&e, "1");
	engine_set(&e, o, "word", KEEL_SET, NULL, "12");
	go();
	CU_ASSERT_FALSE(stored(o, "word"));
	come(&word_fleeting);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "word"), "-");
	engine_stop(&e);
}

static void types_go_too(void)
{
	struct keel_obj *o;

	engine_start(&e);
	o = engine_thing(&e, "1");
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(registry_add(e.parts.registry, &e.guest, typed, 4, NULL), 0);
		CU_ASSERT_PTR_EQUAL(e.api->find(e.mod, "thing", "1"), o);
		if (i == 0) {
			engine_set(&e, o, "evens", KEEL_SET, NULL, "21");
			engine_set(&e, o, "halves", KEEL_SET, NULL, "4");
		}
		CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "evens"), "21");
		CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "halves"), "4");
		go();
		CU_ASSERT_TRUE(stored(o, "evens"));
		CU_ASSERT_TRUE(stored(o, "halves"));
	}
	engine_stop(&e);
}

/* A type with memory of its own. */
static int32_t word_parse(struct keel_mod *m, const struct keel_attr *a, int32_t op, const char *key,
			  const char *text, union keel_slot *slot, bool *is_set, struct keel_err *err)
{
	(void)m, (void)a, (void)op, (void)key, (void)err;
	if (*is_set)
		free(slot->p);
	slot->p = strdup(text);
	*is_set = true;
	return 0;
}

static void word_format(struct keel_mod *m, const union keel_slot *slot, const char *key,
			const struct keel_emit *emit)
{
	(void)m, (void)key;
	emit->fn(emit->arg, NULL, slot->p, (uint32_t)strlen(slot->p));
}

static void word_fini(struct keel_mod *m, union keel_slot *slot)
{
	(void)m;
	free(slot->p);
}

static const struct keel_type_def words_type = { .size = sizeof(words_type), .name = "words",
						 .flags = KEEL_TYPE_STRING,
						 .parse = word_parse, .format = word_format, .fini = word_fini };
static const struct keel_attr_def words = ROW("words", "words", SAVED), words_long = ROW("words", "long", SAVED);

static void memory_of_types(void)
{
	const struct keel_contrib rows[] = { KEEL_ROW(TYPE, words_type), KEEL_ROW(ATTR, words) };
	struct keel_obj *o, *gone;

	engine_start(&e);
	CU_ASSERT_EQUAL(registry_add(e.parts.registry, &e.guest, rows, 2, NULL), 0);
	o = engine_thing(&e, "1");
	gone = engine_thing(&e, "2");
	engine_set(&e, o, "words", KEEL_SET, NULL, "12");
	engine_set(&e, gone, "words", KEEL_SET, NULL, "lost");
	go();
	CU_ASSERT_TRUE(stored(o, "words"));
	e.api->destroy(gone);
	CU_ASSERT_EQUAL(registry_add(e.parts.registry, &e.guest, rows, 2, NULL), 0);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, e.api->find(e.mod, "thing", "1"), "words"), "12");
	go();
	come(&words_long);
	o = e.api->find(e.mod, "thing", "1");
	CU_ASSERT_EQUAL(e.api->get_int(o, e.api->attr(e.mod, "thing", "words")), 12);
	engine_stop(&e);
}

/* Modules come and go, each with rows of its own: their values do not use up the numbers of the class. */
static void many(void)
{
	static char names[600][8];
	static struct keel_attr_def rows[600];
	struct keel_obj *o;

	engine_start(&e);
	o = engine_thing(&e, "1");
	for (int i = 0; i < 600; i++) {
		snprintf(names[i], sizeof(names[i]), "n%d", i);
		rows[i] = (struct keel_attr_def)ROW(names[i], "long", SAVED);
		come(&rows[i]);
		engine_set(&e, o, names[i], KEEL_SET, NULL, "1");
		go();
	}
	CU_ASSERT_TRUE(stored(o, "n0"));
	CU_ASSERT_TRUE(stored(o, "n599"));
	come(&rows[7]);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, e.api->find(e.mod, "thing", "1"), "n7"), "1");
	engine_stop(&e);
}

TESTS_MAIN("kept", TEST(same_again), TEST(another_type), TEST(not_a_value_any_more), TEST(not_saved), TEST(stored_and_shown_otherwise),
	   TEST(types_go_too), TEST(memory_of_types),
	   TEST(many))
