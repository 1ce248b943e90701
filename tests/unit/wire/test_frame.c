/* SPDX-License-Identifier: Apache-2.0
 *
 * test_frame.c - frames out of a stream that comes in pieces, and streams that are none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "harness.h"

static void feed(struct frame_reader *r, const void *bytes, size_t n)
{
	char *room;
	size_t len;

	CU_ASSERT_EQUAL_FATAL(frame_reader_room(r, n, &room, &len), 0);
	CU_ASSERT_FATAL(len >= n);
	memcpy(room, bytes, n);
	frame_reader_added(r, n);
}

static size_t make(char *out, uint16_t type, uint64_t corr, const char *body)
{
	frame_header(out, type, corr, (uint32_t)strlen(body));
	memcpy(out + WIRE_HEADER_SIZE, body, strlen(body));
	return WIRE_HEADER_SIZE + strlen(body);
}

static void test_header_bytes(void)
{
	static const char expected[WIRE_HEADER_SIZE] = { 0,    0, 1, 2, 0, 3, 0, 0,
							 0x11, 0, 0, 0, 0, 0, 0, 0x22 };
	char head[WIRE_HEADER_SIZE];

	frame_header(head, WIRE_PART, 0x1100000000000022ull, 258);
	CU_ASSERT_EQUAL(memcmp(head, expected, sizeof(head)), 0);
}

static void test_byte_by_byte(void)
{
	struct frame_reader r;
	struct frame f;
	char bytes[64];
	size_t n = make(bytes, WIRE_REPLY, 7, "hello");

	frame_reader_init(&r, 100);
	for (size_t i = 0; i < n; i++) {
		CU_ASSERT_EQUAL(frame_next(&r, &f), 0);
		feed(&r, bytes + i, 1);
	}
	CU_ASSERT_EQUAL_FATAL(frame_next(&r, &f), 1);
	CU_ASSERT_EQUAL(f.type, WIRE_REPLY);
	CU_ASSERT_EQUAL(f.corr, 7);
	CU_ASSERT_EQUAL(f.len, 5);
	CU_ASSERT_EQUAL(memcmp(f.body, "hello", 5), 0);
	CU_ASSERT_EQUAL(frame_next(&r, &f), 0);
	frame_reader_fini(&r);
}

static void test_several_at_once(void)
{
	struct frame_reader r;
	struct frame f;
	char bytes[256];
	size_t n = make(bytes, WIRE_PART, 1, "one");

	n += make(bytes + n, WIRE_PART, 1, "");
	n += make(bytes + n, WIRE_REPLY, 1, "three");
	frame_reader_init(&r, 100);
	feed(&r, bytes, n - 2);
	CU_ASSERT_EQUAL(frame_next(&r, &f), 1);
	CU_ASSERT_EQUAL(frame_next(&r, &f), 1);
	CU_ASSERT_EQUAL(f.len, 0);
	CU_ASSERT_EQUAL(frame_next(&r, &f), 0);
	feed(&r, bytes + n - 2, 2); /* after what was read moved away */
	CU_ASSERT_EQUAL_FATAL(frame_next(&r, &f), 1);
	CU_ASSERT_EQUAL(memcmp(f.body, "three", 5), 0);
	frame_reader_fini(&r);
}

static void refused(const char *head, uint32_t body_max)
{
	struct frame_reader r;
	struct frame f;

	frame_reader_init(&r, body_max);
	feed(&r, head, WIRE_HEADER_SIZE);
	CU_ASSERT_EQUAL(frame_next(&r, &f), -EPROTO);
	CU_ASSERT_EQUAL(frame_next(&r, &f), -EPROTO);
	frame_reader_fini(&r);
}

static void test_bad_headers(void)
{
	char head[WIRE_HEADER_SIZE];

	frame_header(head, 0, 1, 1);
	refused(head, 100);
	frame_header(head, WIRE_GOODBYE + 1, 1, 1);
	refused(head, 100);
	frame_header(head, WIRE_REPLY, 1, 101);
	refused(head, 100);
	frame_header(head, WIRE_REPLY, 1, UINT32_MAX);
	refused(head, WIRE_BODY_MAX);
	frame_header(head, WIRE_REPLY, 1, WIRE_BODY_MAX + 1); /* past sdk/include/keel/wire.h WIRE_BODY_MAX */
	refused(head, WIRE_BODY_MAX);
	frame_header(head, WIRE_REPLY, 1, 1);
	head[7] = 1; /* a flag */
	refused(head, 100);
}

static void test_announced_length_is_not_allocated(void)
{
	struct frame_reader r;
	struct frame f;
	char head[WIRE_HEADER_SIZE];

	frame_reader_init(&r, WIRE_BODY_MAX);
	frame_header(head, WIRE_REPLY, 1, WIRE_BODY_MAX);
	feed(&r, head, sizeof(head));
	CU_ASSERT_EQUAL(frame_next(&r, &f), 0);
	CU_ASSERT(r.size < 65536);
	frame_reader_fini(&r);
}

static void test_room_too_large(void)
{
	struct frame_reader r;
	char *room;
	size_t len;

	frame_reader_init(&r, 100);
	CU_ASSERT_EQUAL(frame_reader_room(&r, SIZE_MAX / 2 + 2, &room, &len), -ENOMEM);
	frame_reader_fini(&r);
	frame_reader_fini(&r);
}

static void test_memory_of_the_last_frame(void)
{
	struct frame_reader r;
	struct frame one, two;
	char bytes[64], *memory;
	size_t n = make(bytes, WIRE_REQUEST, 1, "one");

	n += make(bytes + n, WIRE_REQUEST, 2, "two");
	frame_reader_init(&r, 100);
	feed(&r, bytes, n);
	CU_ASSERT_EQUAL_FATAL(frame_next(&r, &one), 1);
	CU_ASSERT_PTR_NULL(frame_take(&r, &one)); /* another one is behind it */
	CU_ASSERT_EQUAL_FATAL(frame_next(&r, &two), 1);
	CU_ASSERT_PTR_NULL(frame_take(&r, &one));
	memory = frame_take(&r, &two);
	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	CU_ASSERT_EQUAL(memcmp(two.body, "two", 3), 0);
	CU_ASSERT_PTR_EQUAL(two.body, memory + n - 3);
	feed(&r, bytes, n); /* into memory of its own */
	CU_ASSERT_EQUAL(frame_next(&r, &one), 1);
	CU_ASSERT_EQUAL(memcmp(one.body, "one", 3), 0);
	free(memory);
	frame_reader_fini(&r);
}

static void test_no_byte_behind_the_frame(void)
{
	struct frame_reader r;
	struct frame f;
	static char bytes[4096];

	memset(bytes, '.', sizeof(bytes));
	frame_header(bytes, WIRE_REQUEST, 1, sizeof(bytes) - WIRE_HEADER_SIZE);
	frame_reader_init(&r, sizeof(bytes));
	feed(&r, bytes, sizeof(bytes));
	CU_ASSERT_EQUAL_FATAL(r.size, sizeof(bytes));
	CU_ASSERT_EQUAL_FATAL(frame_next(&r, &f), 1);
	CU_ASSERT_PTR_NULL(frame_take(&r, &f));
	frame_reader_fini(&r);
}

/* The memory of a long frame is not the next one's. */
static void test_memory_of_a_longer_one(void)
{
	struct frame_reader r;
	struct frame f;
	static char bytes[1u << 20];
	size_t n = WIRE_HEADER_SIZE + 500000;

	frame_reader_init(&r, sizeof(bytes));
	frame_header(bytes, WIRE_PING, 1, 500000);
	n += make(bytes + n, WIRE_REQUEST, 2, "short");
	feed(&r, bytes, n);
	CU_ASSERT_EQUAL_FATAL(frame_next(&r, &f), 1);
	CU_ASSERT_EQUAL_FATAL(frame_next(&r, &f), 1);
	CU_ASSERT_PTR_NULL(frame_take(&r, &f));
	frame_reader_fini(&r);
}

static void test_what_lacks(void)
{
	struct frame_reader r;
	char bytes[64];
	size_t n = make(bytes, WIRE_REQUEST, 1, "hello");

	frame_reader_init(&r, 100);
	feed(&r, bytes, WIRE_HEADER_SIZE - 1);
	CU_ASSERT_EQUAL(frame_lacks(&r), 0);
	CU_ASSERT_FALSE(frame_is_whole(&r));
	feed(&r, bytes + WIRE_HEADER_SIZE - 1, 3);
	CU_ASSERT_EQUAL(frame_lacks(&r), 3);
	CU_ASSERT_FALSE(frame_is_whole(&r));
	feed(&r, bytes + n - 3, 3);
	CU_ASSERT_EQUAL(frame_lacks(&r), 0);
	CU_ASSERT_TRUE(frame_is_whole(&r));
	frame_reader_fini(&r);
}

struct seen {
	uint32_t n, len;
};

static void see(void *arg, const struct frame *f)
{
	struct seen *s = arg;

	s->n++;
	s->len += f->len;
}

static void test_each_of_a_buffer(void)
{
	struct seen s = { 0 };
	char bytes[128];
	size_t n = make(bytes, WIRE_PART, 1, "one");

	n += make(bytes + n, WIRE_REPLY, 1, "three");
	frames_each(bytes, n, see, &s);
	CU_ASSERT(s.n == 2 && s.len == 8);
	frames_each(bytes, n - 1, see, &s); /* the second is not whole */
	CU_ASSERT(s.n == 3 && s.len == 11);
	memset(bytes, 0xff, sizeof(bytes));
	frames_each(bytes, sizeof(bytes), see, &s);
	CU_ASSERT_EQUAL(s.n, 3);
}

TESTS_MAIN("frame", TEST(test_header_bytes), TEST(test_byte_by_byte), TEST(test_several_at_once),
	   TEST(test_bad_headers), TEST(test_announced_length_is_not_allocated), TEST(test_room_too_large),
	   TEST(test_memory_of_the_last_frame), TEST(test_no_byte_behind_the_frame), TEST(test_memory_of_a_longer_one), TEST(test_what_lacks), TEST(test_each_of_a_buffer))
