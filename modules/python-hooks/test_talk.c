/* SPDX-License-Identifier: Apache-2.0
 *
 * test_talk.c - what is written is read as the same; what is cut, too deep or no value is refused.
 */
#include "talk.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

/* ["result", 7, {how: "accept", us: 12, changes: [["job", "Priority", nothing, "5"]]}] */
static void result_write(struct pack *p)
{
	uint32_t all = pack_open_list(p), map, list, one;

	pack_text(p, "result");
	pack_int(p, 7);
	map = pack_open_map(p);
	pack_pair_text(p, "how", "accept");
	pack_pair_int(p, "us", 12);
	pack_key(p, "changes");
	list = pack_open_list(p);
	one = pack_open_list(p);
	pack_text(p, "job");
	pack_text(p, "Priority");
	pack_text(p, NULL);
	pack_text(p, "5");
	pack_close(p, one, 4);
	pack_close(p, list, 1);
	pack_close(p, map, 3);
	pack_close(p, all, 3);
}

static void test_same(void)
{
	struct pack p = { .data = NULL };
	struct value all, v, map, changes, change;
	char *text;

	result_write(&p);
	CU_ASSERT_FATAL(!p.failed && value_read(p.data, p.len, &all));
	CU_ASSERT(all.kind == 'l' && all.count == 3);
	CU_ASSERT(value_nth(&all, 0, &v) && value_is(&v, "result") && !value_is(&v, "resul"));
	CU_ASSERT(value_nth(&all, 1, &v) && v.kind == 'i' && v.i == 7);
	CU_ASSERT_FATAL(value_nth(&all, 2, &map) && !value_nth(&all, 3, &v));
	CU_ASSERT(value_find(&map, "how", &v) && value_is(&v, "accept") && !value_find(&map, "hows", &v));
	CU_ASSERT_EQUAL(value_int(&map, "us", 0), 12);
	CU_ASSERT_EQUAL(value_int(&map, "how", -1), -1);
	CU_ASSERT_FATAL(value_find(&map, "changes", &changes) && value_nth(&changes, 0, &change));
	CU_ASSERT(value_nth(&change, 2, &v) && v.kind == 'n');
	CU_ASSERT(value_nth(&change, 3, &v));
	text = value_text(&v);
	CU_ASSERT_STRING_EQUAL(text, "5");
	free(text);
	pack_fini(&p);
}

static void test_walk(void)
{
	struct pack p = { .data = NULL };
	struct value map, v;
	const char *at;
	uint32_t open = pack_open_map(&p), n = 0;

	pack_pair_text(&p, "a", "1");
	pack_pair_int(&p, "b", INT64_MIN);
	pack_close(&p, open, 2);
	CU_ASSERT_FATAL(value_read(p.data, p.len, &map));
	for (at = map.at; value_next(&map, &at, &v); n++)
		CU_ASSERT(n != 3 || v.i == INT64_MIN);
	CU_ASSERT_EQUAL(n, 4);
	pack_fini(&p);
}

/* Each byte that is missing, and one too many. */
static void test_cut(void)
{
	struct pack p = { .data = NULL };
	struct value v;

	result_write(&p);
	for (uint32_t len = 0; len < p.len; len++) {
		char *exact = malloc(len > 0 ? len : 1);

		memcpy(exact, p.data, len);
		CU_ASSERT_FALSE(value_read(exact, len, &v));
		CU_ASSERT_EQUAL(v.kind, 0);
		free(exact);
	}
	pack_nothing(&p);
	CU_ASSERT_FALSE(value_read(p.data, p.len, &v));
	CU_ASSERT_FALSE(value_read(NULL, 0, &v));
	pack_fini(&p);
}

static bool is_read_nested(int depth)
{
	struct pack p = { .data = NULL };
	uint32_t open[TALK_DEPTH + 2];
	struct value v;
	bool ret;

	for (int i = 0; i < depth; i++)
		open[i] = pack_open_list(&p);
	for (int i = depth; i > 0; i--)
		pack_close(&p, open[i - 1], i < depth);
	ret = value_read(p.data, p.len, &v);
	pack_fini(&p);
	return ret;
}

static void test_depth(void)
{
	CU_ASSERT_TRUE(is_read_nested(TALK_DEPTH));
	CU_ASSERT_FALSE(is_read_nested(TALK_DEPTH + 1));
}

/* Counts that the frame cannot hold, kinds that are none, a key that is no text. */
static void test_nonsense(void)
{
	static const char many[] = { 'l', '\xff', '\xff', '\xff', '\xff', 'n' }, wide[] = { 's', '\xff', '\xff', '\xff', '\xff', 'x' };
	static const char pairs[] = { 'm', 0, 0, 0, '\x80', 'n' }, kind[] = { 'x' }, key[] = { 'm', 1, 0, 0, 0, 'n', 'n' };
	struct value v;

	CU_ASSERT_FALSE(value_read(many, sizeof(many), &v));
	CU_ASSERT_FALSE(value_read(wide, sizeof(wide), &v));
	CU_ASSERT_FALSE(value_read(pairs, sizeof(pairs), &v));
	CU_ASSERT_FALSE(value_read(kind, sizeof(kind), &v));
	CU_ASSERT_FALSE(value_read(key, sizeof(key), &v));
}

static void test_bytes(void)
{
	struct pack p = { .data = NULL }, whole = { .data = NULL };
	struct value v;
	char *text;

	pack_bytes(&p, "a\0b\xff", 4);
	CU_ASSERT(value_read(p.data, p.len, &v) && v.len == 4 && memcmp(v.s, "a\0b\xff", 4) == 0);
	text = value_text(&v);
	CU_ASSERT_STRING_EQUAL(text, "a");
	free(text);
	pack_raw(&whole, &p);
	CU_ASSERT(value_read(whole.data, whole.len, &v) && v.len == 4);
	pack_fini(&p);
	pack_raw(&whole, &p); /* of nothing */
	CU_ASSERT_TRUE(whole.failed);
	pack_fini(&whole);
}

/* past modules/python-hooks/talk.c FRAME_MAX */
static void test_long(void)
{
	struct pack p = { .data = NULL };
	struct value v;
	char *text = calloc(1, 300001);
	uint32_t open = pack_open_list(&p);

	memset(text, 'x', 300000);
	for (int i = 0; i < 3; i++)
		pack_text(&p, text);
	pack_close(&p, open, 3);
	CU_ASSERT(value_read(p.data, p.len, &v) && value_nth(&v, 2, &v) && v.len == 300000);
	pack_bytes(&p, text, UINT32_MAX);
	CU_ASSERT_TRUE(p.failed);
	pack_fini(&p);
	free(text);
}

/* json.c. What is no value, also inside, is null. */
static void test_json(void)
{
	struct pack p = { .data = NULL }, nothing = { .data = NULL };
	uint32_t map = pack_open_map(&p), list;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	pack_pair_text(&p, "a \"b\"", "back\\slash\n\x01\xff");
	pack_pair_int(&p, "n", INT64_MIN);
	pack_key(&p, "list");
	list = pack_open_list(&p);
	pack_nothing(&p);
	pack_close(&p, pack_open_list(&p), 0);
	pack_close(&p, pack_open_map(&p), 0);
	pack_close(&p, list, 3);
	pack_close(&p, map, 3);
	json_write(f, &p);
	json_write(f, &nothing);
	fclose(f);
	CU_ASSERT_STRING_EQUAL(text, "{\"a \\\"b\\\"\": \"back\\\\slash\\u000a\\u0001\xff\", \"n\": -9223372036854775808, "
				     "\"list\": [null, [], {}]}null");
	free(text);
	pack_fini(&p);
}

TESTS_MAIN("talk", TEST(test_same), TEST(test_walk), TEST(test_cut), TEST(test_depth), TEST(test_nonsense), TEST(test_bytes),
	   TEST(test_long), TEST(test_json))
