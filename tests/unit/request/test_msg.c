/* SPDX-License-Identifier: Apache-2.0
 *
 * test_msg.c - bodies that are built are read the same; bodies of strangers do no harm.
 */
#include "fixture.h"

static struct keel_msg *opened(const char *bytes, size_t len)
{
	struct keel_msg *m = NULL;

	CU_ASSERT_FATAL(msg_open(bytes, len, &m) == 0);
	return m;
}

#define OPEN(literal) opened(literal, sizeof(literal) - 1)

static void test_round_trip(void)
{
	const struct keel_msg_api *api = &msg_api;
	static const char *const names[] = { "one", "", "three" };
	struct keel_out *o = api->out(NULL);
	const char *const *strings;
	struct keel_msg *m;
	const char *bytes;
	uint32_t len, n;

	api->put_str(o, "text", "hello");
	api->put_str(o, "nothing", NULL);
	api->put_int(o, "low", INT64_MIN);
	api->put_int(o, "high", INT64_MAX);
	api->put_bytes(o, "bytes", "a\0b", 3);
	api->put_strings(o, "names", names, 3);
	bytes = out_bytes(o, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	CU_ASSERT_EQUAL(api->length(o), len);
	m = opened(bytes, len);
	api->drop(o);
	CU_ASSERT_STRING_EQUAL(api->str(m, "text"), "hello");
	CU_ASSERT_STRING_EQUAL(api->str(m, "text"), "hello");
	CU_ASSERT_PTR_NULL(api->str(m, "nothing"));
	CU_ASSERT_PTR_NULL(api->str(m, "absent"));
	CU_ASSERT_PTR_NULL(api->str(m, "low"));
	CU_ASSERT_EQUAL(api->integer(m, "low", 0), INT64_MIN);
	CU_ASSERT_EQUAL(api->integer(m, "high", 0), INT64_MAX);
	CU_ASSERT_EQUAL(api->integer(m, "text", -7), -7);
	CU_ASSERT_EQUAL(memcmp(api->bytes(m, "bytes", &n), "a\0b", 3), 0);
	CU_ASSERT_EQUAL(n, 3);
	CU_ASSERT_PTR_NULL(api->bytes(m, "low", &n));
	strings = api->strings(m, "names", &n);
	CU_ASSERT_EQUAL_FATAL(n, 3);
	CU_ASSERT_STRING_EQUAL(strings[0], "one");
	CU_ASSERT_STRING_EQUAL(strings[1], "");
	CU_ASSERT_STRING_EQUAL(strings[2], "three");
	/* Reading strings in place has not disturbed their neighbours. */
	CU_ASSERT_EQUAL(api->integer(m, "low", 0), INT64_MIN);
	msg_destroy(m);
}

static void put_attr(struct keel_out *o, const char *name, const char *key, const char *value, int op)
{
	const struct keel_msg_api *api = &msg_api;

	api->open_list(o);
	api->add_str(o, name);
	api->add_str(o, key);
	api->add_str(o, value);
	api->add_int(o, op);
	api->close(o);
}

static void test_attrs(void)
{
	const struct keel_msg_api *api = &msg_api;
	struct keel_out *o = api->out(NULL);
	const struct keel_attrop *ops;
	struct keel_msg *m;
	const char *bytes;
	uint32_t len, n;

	api->open_array(o, "attrs");
	put_attr(o, "Resource_List", "ncpus", "4", KEEL_SET);
	put_attr(o, "comment", NULL, NULL, KEEL_UNSET);
	api->open_list(o);
	api->add_str(o, "short");
	api->close(o);
	api->close(o);
	bytes = out_bytes(o, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	m = opened(bytes, len);
	api->drop(o);
	CU_ASSERT_EQUAL_FATAL(api->attrs(m, "attrs", &ops, &n), 0);
	CU_ASSERT_EQUAL_FATAL(n, 3);
	CU_ASSERT_STRING_EQUAL(ops[0].name, "Resource_List");
	CU_ASSERT_STRING_EQUAL(ops[0].key, "ncpus");
	CU_ASSERT_STRING_EQUAL(ops[0].value, "4");
	CU_ASSERT_EQUAL(ops[1].op, KEEL_UNSET);
	CU_ASSERT_PTR_NULL(ops[1].key);
	CU_ASSERT_PTR_NULL(ops[1].value);
	CU_ASSERT_STRING_EQUAL(ops[2].name, "short");
	CU_ASSERT_EQUAL(ops[2].op, KEEL_SET);
	CU_ASSERT_EQUAL(api->attrs(m, "absent", &ops, &n), -ENODATA);
	msg_destroy(m);
}

static void expect_bad_attrs(const char *bytes, size_t len)
{
	struct keel_msg *m = opened(bytes, len);
	const struct keel_attrop *ops = NULL;
	uint32_t n;

	CU_ASSERT_EQUAL(msg_api.attrs(m, "a", &ops, &n), -EPROTO);
	CU_ASSERT_PTR_NULL(ops);
	msg_destroy(m);
}

#define BAD_ATTRS(literal) expect_bad_attrs(literal, sizeof(literal) - 1)

static void test_hostile_attrs(void)
{
	BAD_ATTRS("\x81\xa1" "a\x05");                         /* no array */
	BAD_ATTRS("\x81\xa1" "a\x91\x05");                     /* a row that is none */
	BAD_ATTRS("\x81\xa1" "a\x91\x90");                     /* an empty row */
	BAD_ATTRS("\x81\xa1" "a\x91\x91\xc0");                 /* no name */
	BAD_ATTRS("\x81\xa1" "a\x91\x91\xa2x\0");              /* a NUL in the name */
	BAD_ATTRS("\x81\xa1" "a\x91\x93\xa1x\xc0\xa2y\0");     /* and in the value */
	BAD_ATTRS("\x81\xa1" "a\x91\x92\xa1x\x05");            /* a resource that is a number */
	BAD_ATTRS("\x81\xa1" "a\x91\x94\xa1x\xc0\xc0\x0a");    /* an operation that is none */
	BAD_ATTRS("\x81\xa1" "a\x91\x94\xa1x\xc0\xc0\xff");    /* a negative one */
	BAD_ATTRS("\x81\xa1" "a\x91\x95\xa1x\xc0\xc0\x01\x01"); /* one cell too many */
}

static void test_hostile_values(void)
{
	const struct keel_msg_api *api = &msg_api;
	struct keel_msg *m = OPEN("\x83\xa1s\xa3x\0y\xa1l\x92\xa1x\x05\xa1n\x05");
	uint32_t n;

	CU_ASSERT_PTR_NULL(api->str(m, "s"));
	CU_ASSERT_PTR_NULL(api->strings(m, "l", &n));
	CU_ASSERT_EQUAL(n, UINT32_MAX);
	CU_ASSERT_PTR_NULL(api->strings(m, "n", &n));
	CU_ASSERT_EQUAL(n, UINT32_MAX);
	CU_ASSERT_PTR_NULL(api->strings(m, "absent", &n));
	CU_ASSERT_EQUAL(n, 0);
	msg_destroy(m);
	/* keys that are no strings, a key twice: the first counts, the rest is passed over */
	m = OPEN("\x83\x05\x06\xa1k\x01\xa1k\x02");
	CU_ASSERT_EQUAL(api->integer(m, "k", 0), 1);
	msg_destroy(m);
}

static void test_not_a_map(void)
{
	struct keel_msg *m = NULL;

	CU_ASSERT_EQUAL(msg_open("", 0, &m), -EPROTO);
	CU_ASSERT_EQUAL(msg_open("\x91\x05", 2, &m), -EPROTO);
	CU_ASSERT_EQUAL(msg_open("\xa5hello", 6, &m), -EPROTO);
	CU_ASSERT_EQUAL(msg_open("\x81\xa1k", 3, &m), -EPROTO);
	CU_ASSERT_EQUAL(msg_open("\xdf\xff\xff\xff\xff", 5, &m), -EPROTO);
	CU_ASSERT_PTR_NULL(m);
	msg_destroy(NULL);
}

/* What a careless module does wrong is remembered and never sent. */
static void test_wrong_use(void)
{
	const struct keel_msg_api *api = &msg_api;
	struct keel_out *o = api->out(NULL);
	uint32_t len;

	api->open_array(o, "a");
	CU_ASSERT_PTR_NULL(out_bytes(o, &len)); /* still open */
	api->close(o);
	CU_ASSERT_PTR_NOT_NULL(out_bytes(o, &len));
	api->close(o); /* nothing to close */
	CU_ASSERT_PTR_NULL(out_bytes(o, &len));
	api->drop(o);
	o = api->out(NULL);
	api->add_int(o, 5); /* no array */
	CU_ASSERT_PTR_NULL(out_bytes(o, &len));
	api->drop(o);
	o = api->out(NULL);
	api->open_array(o, "a");
	api->put_int(o, "key in an array", 1);
	CU_ASSERT_PTR_NULL(out_bytes(o, &len));
	api->drop(o);
	o = api->out(NULL);
	api->open_array(o, "a");
	for (int i = 0; i < 40; i++)
		api->open_list(o);
	CU_ASSERT_PTR_NULL(out_bytes(o, &len));
	api->drop(o);
	api->put_str(NULL, "k", "v"); /* no memory at creation */
	CU_ASSERT_PTR_NULL(out_bytes(NULL, &len));
	api->drop(NULL);
}

/* past kernel/msg/msg.h WIRE_DEPTH_MAX */
static void test_deepest_is_readable(void)
{
	const struct keel_msg_api *api = &msg_api;
	struct keel_out *o = api->out(NULL);
	uint32_t len;
	const char *bytes;

	api->open_array(o, "a");
	for (int i = 0; i < WIRE_DEPTH_MAX - 2; i++)
		api->open_list(o);
	for (int i = 0; i < WIRE_DEPTH_MAX - 1; i++)
		api->close(o);
	bytes = out_bytes(o, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	CU_ASSERT_EQUAL(pack_check(bytes, len), 0);
	api->drop(o);
	o = api->out(NULL);
	api->open_array(o, "a");
	for (int i = 0; i < WIRE_DEPTH_MAX - 1; i++)
		api->open_list(o);
	CU_ASSERT_PTR_NULL(out_bytes(o, &len));
	api->drop(o);
}

static void test_frame_in_front(void)
{
	struct keel_out *o = out_create();
	struct frame_reader r;
	struct frame f;
	static char block[100000];
	size_t len, room;
	const char *bytes;
	char *at;

	msg_api.put_bytes(o, "block", block, sizeof(block));
	bytes = out_frame(o, WIRE_PART, 0x1122334455667788ull, &len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	frame_reader_init(&r, WIRE_BODY_MAX);
	CU_ASSERT_FATAL(frame_reader_room(&r, len, &at, &room) == 0);
	memcpy(at, bytes, len);
	frame_reader_added(&r, len);
	CU_ASSERT_EQUAL_FATAL(frame_next(&r, &f), 1);
	CU_ASSERT_EQUAL(f.corr, 0x1122334455667788ull);
	CU_ASSERT_EQUAL(f.type, WIRE_PART);
	CU_ASSERT_EQUAL(pack_check(f.body, f.len), 0);
	frame_reader_fini(&r);
	out_drop(o);
}

static char *memory_of(const char *bytes, size_t len)
{
	char *memory = malloc(len + 3);

	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	memcpy(memory + 2, bytes, len);
	memory[len + 2] = 'x';
	return memory;
}

static void test_taken_memory(void)
{
	static const char body[] = "\x81\xa1k\xa5hello";
	struct keel_msg *m;

	CU_ASSERT_EQUAL_FATAL(msg_take(memory_of(body, sizeof(body) - 1), 2, sizeof(body) - 1, &m), 0);
	CU_ASSERT_STRING_EQUAL(msg_api.str(m, "k"), "hello");
	msg_destroy(m);
	CU_ASSERT_EQUAL(msg_take(memory_of(body, sizeof(body) - 2), 2, sizeof(body) - 2, &m), -EPROTO);
}

TESTS_MAIN("msg", TEST(test_round_trip), TEST(test_attrs), TEST(test_hostile_attrs),
	   TEST(test_hostile_values), TEST(test_not_a_map), TEST(test_wrong_use),
	   TEST(test_deepest_is_readable), TEST(test_frame_in_front), TEST(test_taken_memory))
