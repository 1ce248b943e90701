/* SPDX-License-Identifier: Apache-2.0
 *
 * test_change.c - permissions, sentences, and that a set is applied as a whole or leaves no trace.
 */
#include "object/fixture.h"

static struct engine e;
static const struct keel_session user = { .size = sizeof(user), .roles = KEEL_USER, .who = "u@h" };
static const struct keel_session chief = { .size = sizeof(chief), .roles = KEEL_EVERYBODY,
					   .who = "r@h" };

static const struct {
	const struct keel_session *who;
	struct keel_attrop op;
	int32_t code;
	const char *text; /* of the error, or the value afterwards */
} asks[] = {
	{ &user, { "Name", NULL, "abc", KEEL_SET }, 0, "abc" },
	{ &user, { "name", NULL, "ab", KEEL_SET }, 0, "ab" }, /* any case */
	{ &user, { "nosuch", NULL, "1", KEEL_SET }, 15002, "Undefined attribute  nosuch" },
	{ &user, { NULL, NULL, "1", KEEL_SET }, 15002, "Undefined attribute " },
	{ &chief, { "state", NULL, "x", KEEL_SET }, 15003,
	  "Cannot set attribute, read only or insufficient permission  state" },
	{ &user, { "secret", NULL, "x", KEEL_SET }, 15003,
	  "Cannot set attribute, read only or insufficient permission  secret" },
	{ &chief, { "secret", NULL, "x", KEEL_SET }, 0, "x" },
	{ &chief, { "twice", NULL, "3", KEEL_SET }, 15003,
	  "Cannot set attribute, read only or insufficient permission  twice" },
	{ &user, { "once", NULL, "x", KEEL_SET }, 15003,
	  "Cannot set attribute, read only or insufficient permission  once" },
	{ NULL, { "state", NULL, "Q", KEEL_SET }, 0, "Q" }, /* the system */
	{ &user, { "count", NULL, "abc", KEEL_SET }, 15014,
	  "Illegal attribute or resource value count" },
	{ &user, { "count", "x", "1", KEEL_SET }, 15014,
	  "Illegal attribute or resource value count.x" },
	{ &user, { "count", NULL, NULL, KEEL_SET }, 15014,
	  "Illegal attribute or resource value count" },
	{ &user, { "pairs", NULL, "5", KEEL_SET }, 15014,
	  "Illegal attribute or resource value pairs" },
	{ &user, { "pairs", "alien", "5", KEEL_SET }, 15035, "Unknown resource pairs.alien" },
	{ &user, { "pairs", "a", "5", KEEL_SET }, 0, "a=5" },
	{ &user, { "pairs", "b", "6", KEEL_SET }, 0, "a=5,b=6" },
	{ &user, { "pairs", "a", "2", KEEL_INCR }, 0, "a=7,b=6" },
	{ &user, { "pairs", "a", NULL, KEEL_UNSET }, 0, "b=6" },
	{ &user, { "pairs", "b", NULL, KEEL_UNSET }, 0, "-" },
	{ &user, { "plain", NULL, "4", KEEL_INCR }, 0, "4" },
	{ &user, { "plain", NULL, "4", KEEL_SET }, 0, "4" },
	{ &user, { "even", NULL, "3", KEEL_SET }, 15014,
	  "Illegal attribute or resource value even" },
	{ &user, { "even", NULL, "4", KEEL_SET }, 0, "4" },
	{ &user, { "even", NULL, "1", KEEL_INCR }, 15014,
	  "Illegal attribute or resource value even" },
	{ &user, { "even", NULL, "2", KEEL_INCR }, 0, "6" },
	{ &user, { "even", NULL, NULL, KEEL_UNSET }, 0, "-" },
	{ &user, { "back", NULL, "30", KEEL_SET }, 0, "30" },
	{ &user, { "back", NULL, NULL, KEEL_UNSET }, 0, "600" },
	{ &user, { "list", NULL, "a,b", KEEL_SET }, 0, "a,b" },
	{ &user, { "list", NULL, "", KEEL_SET }, 0, "-" },
	{ &user, { "count", NULL, "1", KEEL_GT }, 15004, "Invalid request" },
};

static void asking(void)
{
	struct keel_obj *o;
	struct keel_changes *c;
	char now[256];

	engine_start(&e);
	o = engine_thing(&e, "1");
	c = e.api->changes(e.mod);
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		struct keel_err err = { 0 };
		int32_t code = e.api->change(c, asks[i].who, o, &asks[i].op, &err);
		const char *is = err.text;

		CU_ASSERT_EQUAL(code, asks[i].code);
		CU_ASSERT_EQUAL(err.code, asks[i].code);
		if (!code) {
			char name[64];

			snprintf(name, sizeof(name), "%s", asks[i].op.name);
			name[0] = strcmp(name, "name") ? name[0] : 'N';
			if (e.api->change_peek(c, o, e.api->attr(e.mod, "thing", name), NULL, now,
					       sizeof(now)) < 0)
				strcpy(now, "-");
			is = now;
		}
		if (strcmp(is, asks[i].text) != 0)
			printf("\n%s: got '%s', not '%s'\n", asks[i].op.name, is, asks[i].text);
		CU_ASSERT_STRING_EQUAL(is, asks[i].text);
	}
	CU_ASSERT_STRING_NOT_EQUAL(seen.checked_text, "(unset)"); /* no value, nothing to judge */
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "Name"), "-"); /* not committed */
	e.api->discard(c);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "Name"), "-");
	e.api->discard(NULL);
	engine_stop(&e);
}

static void emitted(void *arg, const char *key, const char *text, uint32_t len)
{
	char *all = arg;

	(void)key;
	snprintf(all + strlen(all), 64 - strlen(all), "<%.*s>", (int)len, text);
}

/* What has no change is as it is. */
static void emitting(void)
{
	const struct keel_attr *name, *count;
	struct keel_changes *c;
	struct keel_obj *o;
	char all[64] = "";
	const struct keel_emit emit = { emitted, all };

	engine_start(&e);
	o = engine_thing(&e, "1");
	name = e.api->attr(e.mod, "thing", "Name");
	count = e.api->attr(e.mod, "thing", "count");
	e.api->set_text(o, name, KEEL_SET, NULL, "old", NULL);
	e.api->set_text(o, count, KEEL_SET, NULL, "4", NULL);
	c = e.api->changes(e.mod);
	e.api->change_emit(c, o, name, NULL, &emit);
	CU_ASSERT_EQUAL(e.api->change_text(c, o, name, KEEL_SET, NULL, "new", NULL), 0);
	CU_ASSERT_EQUAL(e.api->change_text(c, o, count, KEEL_UNSET, NULL, NULL, NULL), 0);
	e.api->change_emit(c, o, name, NULL, &emit);
	e.api->change_emit(c, o, count, NULL, &emit);
	e.api->change_emit(NULL, o, count, NULL, &emit);
	CU_ASSERT_STRING_EQUAL(all, "<old><new><4>");
	e.api->discard(c);
	engine_stop(&e);
}

static void only_when_created(void)
{
	const struct keel_attrop op = { "once", NULL, "x", KEEL_SET };
	struct keel_obj *o;
	struct keel_changes *c;

	engine_start(&e);
	o = e.api->draft(e.mod, "thing", "1", NULL);
	c = e.api->changes(e.mod);
	CU_ASSERT_EQUAL(e.api->change(c, &user, o, &op, NULL), 0);
	e.api->commit(c);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "once"), "x");
	CU_ASSERT_EQUAL(e.n_dirty, 0);
	e.api->publish(o);
	engine_stop(&e);
}

static void count_entry(void *arg, struct keel_obj *o, const struct keel_attr *a)
{
	(void)o, (void)a;
	++*(unsigned *)arg;
}

static void committing(void)
{
	const struct keel_attr *count, *name;
	struct keel_obj *o[40];
	struct keel_changes *c;
	unsigned entries = 0;
	char id[16];

	engine_start(&e);
	c = e.api->changes(e.mod);
	count = e.api->attr(e.mod, "thing", "count");
	name = e.api->attr(e.mod, "thing", "Name");
	for (int i = 0; i < 40; i++) {
		snprintf(id, sizeof(id), "%d", i);
		o[i] = engine_thing(&e, id);
		e.api->set_str(o[i], name, "old");
		CU_ASSERT_EQUAL(e.api->change_text(c, o[i], count, KEEL_SET, NULL, "5", NULL), 0);
		CU_ASSERT_EQUAL(e.api->change_text(c, o[i], name, KEEL_INCR, NULL, "er", NULL), 0);
		CU_ASSERT_EQUAL(e.api->change_text(c, o[i], name, KEEL_INCR, NULL, "!", NULL), 0);
		CU_ASSERT_EQUAL(e.api->change_text(c, o[i], count, KEEL_INCR, NULL, "x", NULL),
				15014);
	}
	CU_ASSERT_EQUAL(e.api->change_slot(c, o[3], count)->i, 5);
	e.api->change_each(c, count_entry, &entries);
	CU_ASSERT_EQUAL(entries, 80);
	engine_saved(&e);
	e.api->destroy(o[7]); /* died while the set waited */
	e.api->commit(c);
	CU_ASSERT_EQUAL(seen.changed, 39);
	CU_ASSERT_EQUAL(e.n_dirty, 40);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o[39], "Name"), "older!");
	CU_ASSERT_EQUAL(e.api->get_int(o[39], count), 5);
	engine_saved(&e);
	engine_stop(&e);
}

static void the_dead_wait_for_their_sets(void)
{
	struct keel_changes *c;
	struct keel_obj *o;

	engine_start(&e);
	o = engine_thing(&e, "1");
	c = e.api->changes(e.mod);
	CU_ASSERT_EQUAL(e.api->change_text(c, o, e.api->attr(e.mod, "thing", "count"), KEEL_SET,
					   NULL, "5", NULL), 0);
	e.api->destroy(o);
	engine_saved(&e);
	CU_ASSERT_STRING_EQUAL(e.api->id(o), "1"); /* the sanitizer would complain */
	CU_ASSERT_EQUAL(e.api->change(c, NULL, o, &(struct keel_attrop){ "count", NULL, "1", 0 },
				      NULL), 15004);
	e.api->discard(c);
	o = e.api->draft(e.mod, "thing", "2", NULL);
	c = e.api->changes(e.mod);
	CU_ASSERT_EQUAL(e.api->change_text(c, o, e.api->attr(e.mod, "thing", "count"), KEEL_SET,
					   NULL, "5", NULL), 0);
	e.api->destroy(o);
	e.api->commit(c);
	CU_ASSERT_EQUAL(seen.changed, 0);
	engine_stop(&e);
}

static void a_row_leaves_the_sets(void)
{
	const struct keel_contrib row = KEEL_ROW(ATTR, extra_attr);
	struct keel_changes *c;
	struct keel_obj *o;
	unsigned entries = 0;

	engine_start(&e);
	o = engine_thing(&e, "1");
	CU_ASSERT_EQUAL_FATAL(registry_add(e.parts.registry, &e.guest, &row, 1, NULL),
			      0);
	c = e.api->changes(e.mod);
	CU_ASSERT_EQUAL(e.api->change_text(c, o, e.api->attr(e.mod, "thing", "extra"), KEEL_SET,
					   "k", "5", NULL), 0);
	registry_remove(e.parts.registry, &e.guest);
	CU_ASSERT_PTR_NULL(e.api->attr(e.mod, "thing", "extra"));
	e.api->change_each(c, count_entry, &entries);
	CU_ASSERT_EQUAL(entries, 0);
	e.api->commit(c);
	engine_stop(&e);
}

static void direct_writes_and_reserved_room(void)
{
	struct keel_changes *c;
	struct keel_obj *o;

	engine_start(&e);
	o = engine_thing(&e, "1");
	c = e.api->changes(e.mod);
	for (uint32_t i = 1; i < 9; i++)
		(void)e.api->change_text(c, o, e.api->attr(e.mod, "thing", thing_attrs[i].name),
					 KEEL_SET, NULL, "2", NULL);
	engine_set(&e, o, "Name", KEEL_SET, NULL, "x");
	engine_set(&e, o, "once", KEEL_SET, NULL, "x");
	engine_set(&e, o, "state", KEEL_SET, NULL, "x");
	e.api->commit(c);
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "mem"), "2b");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "list"), "2");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "state"), "x");
	e.api->set_str(o, e.api->attr(e.mod, "thing", "state"), "");
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "state"), "-");
	CU_ASSERT_EQUAL(e.api->set_str(o, e.api->attr(e.mod, "thing", "mem"), "bad"), -EINVAL);
	e.api->set_int(o, e.api->attr(e.mod, "thing", "Name"), 5); /* not an integer: ignored */
	CU_ASSERT_STRING_EQUAL(engine_text(&e, o, "Name"), "x");
	engine_stop(&e);
}

TESTS_MAIN("change", TEST(asking), TEST(emitting), TEST(only_when_created), TEST(committing),
	   TEST(the_dead_wait_for_their_sets), TEST(a_row_leaves_the_sets),
	   TEST(direct_writes_and_reserved_room))
